/* digits.h - decimal digits of a number, into memory. */
#ifndef SAMPLER_BASE_DIGITS_H
#define SAMPLER_BASE_DIGITS_H

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

#endif
