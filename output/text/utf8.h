/* utf8.h - names are any bytes; formats that must be UTF-8 find the bad ones here.
 *
 * Ill-formed input is divided as Unicode 3.9 recommends ("maximal subparts") and as decoders of the
 * web do, so that the same name gets the same number of replacement characters everywhere. */
#ifndef SAMPLER_UTF8_H
#define SAMPLER_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Length of the byte order mark (U+FEFF) that `bytes` begin with: 3, or 0 if there is none. */
static inline size_t utf8_mark_bytes(const void *bytes, size_t length)
{
    return length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* How many bytes the next character takes (1 to 4), or the piece to be replaced (1 to 3) when
 * *is_valid comes out false. `left` > 0 bytes may be read. */
size_t utf8_next(const char *bytes, size_t left, bool *is_valid);

/* Whether all of `bytes` is UTF-8. */
bool utf8_is_valid(const char *bytes, size_t length);

#endif
