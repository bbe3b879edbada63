/* mangled_names.h - functions known by their plain name, by the mangled one of their symbol.
 *
 * Functions that other units cannot call have only a plain name in gcc's DWARF, those of clang
 * -gmlt all. Their symbol says more: the types of their arguments. Where such a function was
 * inlined there is no symbol; it gets the name of the one that was not, so that it is one function
 * in the profile. */
#ifndef SAMPLER_MANGLED_NAMES_H
#define SAMPLER_MANGLED_NAMES_H

#include "dwarf/chain.h"
#include "intern.h"
#include "names/symbols.h"

/* The frames of the chains and their names, which are in `texts`. */
struct named_chains {
    const struct chain *chains;
    size_t n;
    struct chain_frame *frames;
    size_t n_frames;
    struct intern *texts;
};

/* Names that are mangled are in no frame `unmangled` afterwards. False when out of memory. */
MUST_CHECK bool mangled_names_use(const struct named_chains *named, const struct symbols *symbols);

bool is_mangled_name(const char *name, size_t length);

#endif
