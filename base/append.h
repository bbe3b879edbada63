/* append.h - texts put together in a buffer of fixed size. */
#ifndef SAMPLER_BASE_APPEND_H
#define SAMPLER_BASE_APPEND_H

#include <stddef.h>

/* Appends to `out` at *used and moves *used on, never past the end; what has no room is left out.
 */
void append(char *out, size_t out_bytes, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
