/* base64.h - bytes as text (RFC 4648, section 4), for files that must stay text. */
#ifndef SAMPLER_TEXT_BASE64_H
#define SAMPLER_TEXT_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "sink.h"

/* Writes `data` in lines of 4096 letters, the last one shorter, each with its line end. */
void base64_write(struct sink *out, const uint8_t *data, size_t size_bytes);

/* How many bytes `length` letters can be at most. */
#define BASE64_BYTES_MOST(length) ((length) / 4 * 3 + 3)

/* Reads all of `text`; white space counts for nothing, padding may be missing. `out` has room for
 * BASE64_BYTES_MOST(length); *n: how many were written. False at what is no base64: err->offset is
 * its place in `text`. */
MUST_CHECK bool base64_read(const char *text, size_t length, uint8_t *out, size_t *n,
                            struct err *err);

#endif
