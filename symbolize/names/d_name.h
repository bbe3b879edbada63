/* d_name.h - names of D as people wrote them: _D4tool3runFiZv -> tool.run(int).
 *
 * libiberty's demangler of D gives a text of the heap, whatever its length, and a name of a hundred
 * characters can stand for gigabytes: a tuple of two types that are the tuple before. It asks xmalloc
 * and xrealloc for its memory, so these are wrapped (-Wl,--wrap, symbolize/CMakeLists.txt), and a
 * name that wants too much is abandoned there. What it had cannot be given back; so from then on
 * no name of D is demangled.
 *
 * Context: any thread; not signal safe. */
#ifndef SAMPLER_NAMES_D_NAME_H
#define SAMPLER_NAMES_D_NAME_H

#include <stddef.h>

/* Writes the text with a NUL and returns its length; 0: it is no such name, does not fit into
 * `room` bytes, or wants too much. */
size_t d_name_demangle(const char *name, char *out, size_t room);

#endif
