/* saturated.h - sums and products of unsigned numbers that stay at UINT64_MAX where they would
 * overflow.
 *
 * Weights and times come from files: a sum that wraps round would turn the largest entry of a
 * profile into the smallest. Where that matters to the user, the caller notes it (fold.h,
 * losses). */
#ifndef SAMPLER_SATURATED_H
#define SAMPLER_SATURATED_H

#include <stdint.h>

static inline uint64_t add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t multiply_saturated(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* *sum += more. */
static inline void add_to(uint64_t *sum, uint64_t more)
{
    *sum = add_saturated(*sum, more);
}

#endif
