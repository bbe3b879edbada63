/* ticks.h - weights as ticks, so that sums come out right.
 *
 * A tick is 100 ns, as Perl has it; longer only where a profile would not fit otherwise. What is
 * less than a tick is carried along: of the weights given one after the other for one key, the
 * ticks add up to the sum of the weights, cut off once. Never rounded up: Perl's tools complain of
 * a sum that is longer than the run. */
#ifndef SAMPLER_NYTPROF_TICKS_H
#define SAMPLER_NYTPROF_TICKS_H

#include "formats/nytprof/graph.h"

struct nytprof_ticks {
    enum profile_unit unit;
    uint64_t ns_per_unit; /* what one unit of weight is shown as     */
    uint64_t per_second;  /* ticks                                   */
    uint64_t total;       /* units                                   */
    uint64_t multiplier;  /* ticks = units * multiplier / divisor, in lowest terms */
    uint64_t divisor;
};

struct nytprof_ticks nytprof_ticks_make(const struct nytprof_graph *graph);

__extension__ typedef unsigned __int128 nytprof_u128;

/* Cut off. */
static inline uint64_t nytprof_to_ticks(const struct nytprof_ticks *ticks, uint64_t units)
{
    uint64_t product;
    if (!__builtin_mul_overflow(units, ticks->multiplier, &product)) /* a quick division */
        return product / ticks->divisor;
    return (uint64_t)((nytprof_u128)units * ticks->multiplier / ticks->divisor);
}

double nytprof_to_seconds(const struct nytprof_ticks *ticks, uint64_t units);

/* Ticks of `units` more in a sum that was *sum before. */
uint64_t nytprof_carry_ticks(const struct nytprof_ticks *ticks, uint64_t *sum, uint64_t units);

#endif
