/* saturated.h - sums and products of unsigned numbers that stay at UINT64_MAX where they would
 * overflow. */
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

#endif
