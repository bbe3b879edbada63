/* names.h - names as people wrote them.
 *
 *   _ZN2ns3FooIiE3barEd   full  ns::Foo<int>::bar(double)
 *                         short ns::Foo<...>::bar
 *                         raw   _ZN2ns3FooIiE3barEd
 *
 * C++ (Itanium), Rust (both schemes) and D. A name of none of them comes back as it is, but for
 * the clone suffixes of compilers (.cold, .isra.0, .constprop.0, .part.0, .lto_priv.0, .llvm.123, and
 * .actor, .resume ... of coroutines), which full and short drop. Short ones (short_name.h) are made of plain names too, where debug
 * information has one with what encloses it. Two overloads have the same short name.
 *
 * Hostile names: long ones, and those whose text would explode, come back as they are.
 * Context: one thread at a time per buffer; not signal safe.
 * The file is not called demangle.h because libiberty has a header of that name. */
#ifndef SAMPLER_NAMES_H
#define SAMPLER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum names_mode { NAMES_FULL, NAMES_SHORT, NAMES_RAW };

/* Texts longer than this are not made. */
#define NAMES_MAX_BYTES 32768u

/* Mangled names longer than this are left as they are. */
#define NAMES_MAX_MANGLED_BYTES 16384u

struct names_buffer {
    size_t length;
    char text[NAMES_MAX_BYTES];         /* NUL after `length`                   */
    char base[NAMES_MAX_MANGLED_BYTES]; /* the name without its clone suffixes   */
    char brief[NAMES_MAX_BYTES];        /* the short form                        */
};

/* The mangled name without its clone suffixes, a view of it. */
struct text names_base(struct text name);

/* The name in the wanted form; valid until the next call with this buffer, or `name` itself. */
const char *demangle(const char *name, enum names_mode mode, struct names_buffer *buffer);

#endif
