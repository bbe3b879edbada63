/* digits.h - decimal digits of a number and hexadecimal ones of bytes, into memory of the caller.
 *
 * By hand, not by printf: files hold millions of numbers, and printf is several times slower. */
#ifndef SAMPLER_BASE_DIGITS_H
#define SAMPLER_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define DIGITS_MAX 20 /* of a uint64_t */

/* Writes the digits of `value` so that they end before `end`; returns where they begin, at most
 * DIGITS_MAX bytes before it. */
static inline char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return end;
}

/* Writes two lower-case hexadecimal digits for each of the `n` bytes; no NUL. */
static inline void hex_digits(char *out, const void *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i++) {
        *out++ = digits[from[i] >> 4];
        *out++ = digits[from[i] & 15];
    }
}

/* The value of a lower-case hexadecimal digit; -1: it is none. */
static inline int hex_digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The bytes that pairs of hexadecimal digits stand for, up to `out_bytes` of them, as far as they are
 * such pairs. Returns their number. */
static inline size_t hex_bytes(const char *digits, size_t n, uint8_t *out, size_t out_bytes)
{
    size_t done = 0;
    while (done < out_bytes && n - 2 * done >= 2) {
        int high = hex_digit_value(digits[2 * done]), low = hex_digit_value(digits[2 * done + 1]);
        if (high < 0 || low < 0)
            break;
        out[done++] = (uint8_t)(high << 4 | low);
    }
    return done;
}

#endif
