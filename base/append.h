/* append.h - messages put together piece by piece in a buffer of fixed size.
 *
 * For lines on stderr and lists of words, where cutting a text that is too long is better than
 * failing. Whatever must not be cut goes through a sink (sink.h) or struct chars (vector.h). */
#ifndef SAMPLER_BASE_APPEND_H
#define SAMPLER_BASE_APPEND_H

#include <stddef.h>

/* Writes at out + *used as printf does and adds what was written to *used, which stays below
 * `out_bytes` (> 0). What has no room is left out; `out` always ends in NUL. Start with *used =
 * 0. */
void append(char *out, size_t out_bytes, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
