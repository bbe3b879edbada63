/* number.h - small questions about numbers that files of all components ask alike: the larger of
 * two, their order, the place in a sorted list.
 *
 * Functions and not macros, so that each argument is evaluated once and has one type. Sums and
 * products that may overflow are in saturated.h, digits in digits.h. */
#ifndef SAMPLER_BASE_NUMBER_H
#define SAMPLER_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Less than, equal to or greater than 0, as qsort wants it: a difference would not fit an int. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Index of the first of `n` ascending numbers that is not below `value`; `n` if all of them are. */
static inline size_t lower_bound_u64(const uint64_t *sorted, size_t n, uint64_t value)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
