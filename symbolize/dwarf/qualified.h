/* qualified.h - what the language of a unit tells of its functions, and a C++ function's name with what
 * encloses it, for those that have no mangled name.
 *
 *   norm in namespace acme::detail               acme::detail::norm
 *   up, of a class in an unnamed namespace       (anonymous namespace)::Q::up
 *   a lambda of line 19 in run(int)              run::{lambda:19}::operator()
 *
 * gcc 12 gives none to functions other units cannot call: static ones, those of unnamed namespaces,
 * of classes within functions, lambdas, and templates made with one of these. What encloses is read
 * from the DIEs around the declaration. Arguments are not in it: their types would have to be
 * written as demanglers do, and the plain names of templates have theirs already.
 *
 * Here is how the parts are written; our own reader (enclosing.c) and the one with libdw
 * (names/dwarf_enclosing.c) each find in their way which there are. */
#ifndef SAMPLER_DWARF_QUALIFIED_H
#define SAMPLER_DWARF_QUALIFIED_H

#include <stdbool.h>
#include <stdint.h>

#include "vector.h"

/* Of DW_AT_language. */
struct language {
    bool mangles;       /* linkers know functions by mangled names         */
    bool through_types; /* functions with code may stand within types      */
    bool qualifies;     /* a plain name is only part of one: a::b::c       */
};

struct language language_of(uint64_t code);

/* Enclosing DIEs looked at; compilers make some ten. Of more the inner ones are written. */
#define QUALIFIED_MAX_PARTS 32u

/* Nested deeper they are not looked for. */
#define QUALIFIED_MAX_DEPTH 512u

/* Longer names are left plain. */
#define QUALIFIED_MAX_BYTES 16384u

/* An enclosing DIE, or the function itself. */
struct qualified_part {
    unsigned tag;     /* DW_TAG                 */
    const char *name; /* NULL or "": it has none */
    uint64_t line;    /* of its declaration; 0: unknown */
};

/* Whether what is in the DIE is named after it. */
bool qualified_encloses(unsigned tag);

/* Whether `part` is the class of a lambda, of which `inner` is a function. */
bool qualified_is_lambda(const struct qualified_part *part, const struct qualified_part *inner);

/* Writes parts, the innermost first, to `out`, which it empties, with a NUL behind. False: longer
 * than it may be, or out of memory. */
bool qualified_write(const struct qualified_part *parts, size_t n, struct chars *out);

#endif
