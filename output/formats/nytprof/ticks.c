/* ticks.c - see formats/nytprof/ticks.h. */
#include "formats/nytprof/ticks.h"

#include "model/convert.h"

typedef nytprof_u128 u128;

#define NS_PER_SECOND 1000000000U
#define TICKS_PER_SECOND 10000000U
#define EVENT_NS 1000 /* what has no time at all: a byte, an event */

/* Perl prints sums with 15 digits, and its tools compare what was printed. And a record of time
 * holds 31 bits only: beyond 65536 records more than there are samples, longer ticks are better. */
static u128 max_ticks(const struct nytprof_graph *graph)
{
    u128 by_records = ((u128)graph->profile->n_samples + 65536) << 31;
    u128 by_digits = 100000000000000;
    return by_records < by_digits ? by_records : by_digits;
}

static u128 ticks_of(const struct nytprof_ticks *ticks, uint64_t units)
{
    return (u128)units * ticks->ns_per_unit * ticks->per_second / NS_PER_SECOND;
}

static void reduce(struct nytprof_ticks *ticks)
{
    /* A period has at most 40 bits, ticks per second at most 24. */
    uint64_t multiplier = ticks->ns_per_unit * ticks->per_second;
    uint64_t a = multiplier;
    uint64_t b = NS_PER_SECOND;
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    ticks->multiplier = multiplier / a;
    ticks->divisor = NS_PER_SECOND / a;
}

struct nytprof_ticks nytprof_ticks_make(const struct nytprof_graph *graph)
{
    const struct profile *profile = graph->profile;
    struct nytprof_ticks ticks = {.unit = PROFILE_UNIT_COUNT, .per_second = TICKS_PER_SECOND};
    if (profile->n_kinds != 0)
        ticks.unit = profile->kinds[graph->kind].unit;
    if (ticks.unit == PROFILE_UNIT_NS)
        ticks.ns_per_unit = 1;
    else if (ticks.unit == PROFILE_UNIT_COUNT)
        ticks.ns_per_unit = profile->period != 0 ? profile->period : CONVERT_UNKNOWN_PERIOD_NS;
    else
        ticks.ns_per_unit = EVENT_NS;
    for (size_t i = 0; i < profile->n_samples; i++)
        ticks.total = add_saturated(ticks.total, nytprof_weight(graph, i));
    if (ticks.ns_per_unit > (uint64_t)1 << 40) /* a quarter of an hour: no period */
        ticks.ns_per_unit = CONVERT_UNKNOWN_PERIOD_NS;
    while (ticks_of(&ticks, ticks.total) >= max_ticks(graph) && ticks.per_second > 1)
        ticks.per_second /= 10;
    while (ticks_of(&ticks, ticks.total) >= max_ticks(graph) && ticks.ns_per_unit > 1)
        ticks.ns_per_unit = (ticks.ns_per_unit + 9) / 10;
    reduce(&ticks);
    return ticks;
}

double nytprof_to_seconds(const struct nytprof_ticks *ticks, uint64_t units)
{
    return (double)units * (double)ticks->ns_per_unit / NS_PER_SECOND;
}

uint64_t nytprof_carry_ticks(const struct nytprof_ticks *ticks, uint64_t *sum, uint64_t units)
{
    uint64_t before = nytprof_to_ticks(ticks, *sum);
    *sum = add_saturated(*sum, units);
    return nytprof_to_ticks(ticks, *sum) - before;
}
