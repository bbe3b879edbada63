/* grid.h - how much a sample weighs.
 *
 * The CPU clock of a thread carries points one period apart, the first at a random place in the
 * first period. A sample weighs the points passed since the sample before it:
 *
 *   clock  |----x-------x-------x-------x-------x----   x grid point
 *   ticks  |     ^               ^       ^              weights 1, 2, 1
 *
 * so ticks that come late, are merged or get lost take nothing away: weights add up to the clock. A
 * thread shorter than a period weighs one period as often as its length is a part of one.
 *
 * Names say ns; where an event is measured the unit is the event.
 *
 * Context    any; one owner at a time. */
#ifndef SAMPLER_GRID_H
#define SAMPLER_GRID_H

#include <stdint.h>

/* Where in the period the first point of thread number `n` lies, of those that share `random`.
 * Multiples of the golden ratio: any run of threads has its points evenly spread over the period,
 * so that many short threads add up to their CPU time within a few periods. With an independent
 * random point for each, the sum over a thousand threads would be off by thirty times as much. */
static inline uint64_t grid_phase_ns(uint64_t period_ns, uint64_t random, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t fraction = random + n * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)(((wide)fraction * period_ns) >> 64);
}

struct grid {
    uint64_t period_ns; /* > 0 */
    uint64_t next_ns;   /* the first point not yet counted */
};

/* Points lie in (start_ns, infinity), the first at start_ns + 1 + phase_ns modulo the period. */
static inline void grid_init(struct grid *grid, uint64_t period_ns, uint64_t start_ns,
                             uint64_t phase_ns)
{
    grid->period_ns = period_ns;
    grid->next_ns = start_ns + 1 + phase_ns % period_ns;
}

/* The number of points up to and including `now_ns` that no earlier call counted. A clock that
 * seems to stand or go back gives 0. */
static inline uint64_t grid_advance(struct grid *grid, uint64_t now_ns)
{
    if (now_ns < grid->next_ns)
        return 0;
    uint64_t n_points = 1;
    if (now_ns - grid->next_ns >= grid->period_ns)
        n_points += (now_ns - grid->next_ns) / grid->period_ns;
    grid->next_ns += n_points * grid->period_ns;
    return n_points;
}

/* From `now_ns` to the next point, at least 1: when the first tick should come. */
static inline uint64_t grid_wait_ns(const struct grid *grid, uint64_t now_ns)
{
    return now_ns < grid->next_ns ? grid->next_ns - now_ns : 1;
}

#endif
