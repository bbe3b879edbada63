/* module_names.h - the names of one module as the profile shows them.
 *
 * Every distinct name is demangled once. In short mode functions that differ in their arguments only
 * (overloads, instances of one template) come out with one name; how many they are is counted. */
#ifndef SAMPLER_MODULE_NAMES_H
#define SAMPLER_MODULE_NAMES_H

#include "model/profile.h"
#include "names/module.h"
#include "names/names.h"

struct module_names {
    uint32_t *made;      /* heap: text id in the profile by text id in the module, set for those
                            that are names of frames, 0 for the rest                       */
    uint32_t n_together; /* functions whose short name another one of the module has too   */
};

/* False when out of memory; then there is nothing to free. */
MUST_CHECK bool module_names_make(const struct module_symbols *symbols, enum names_mode mode,
                                  struct profile_builder *builder, struct module_names *out);

#endif
