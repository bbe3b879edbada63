/* intervals.h - what side_by_side.h put into a profile of two runs besides its numbers, read back. */
#ifndef SAMPLER_INTERVALS_H
#define SAMPLER_INTERVALS_H

#include "model/profile.h"
#include "vector.h"

VECTOR_DEFINE(doubles, double)

/* Intervals (changes.h) are in the unit of the kinds; INFINITY: unknown. */
struct intervals {
    double whole;
    struct doubles
        stacks; /* of what a stack and all below it have; by its number, as far as they are known */
    struct chars
        before; /* names of the files without their folders, ", " between; empty: unknown */
    struct chars after;
    struct chars measure; /* the name of what is summed, or empty */
};

/* Of a profile without such metadata, or with what this version does not know, all is unknown.
 * False when out of memory; the caller gives it back with intervals_deinit in every case. */
MUST_CHECK bool intervals_init(struct intervals *intervals, const struct profile *profile);
void intervals_deinit(struct intervals *intervals);

/* Of what a stack and all below it have. */
double intervals_of_stack(const struct intervals *intervals, uint32_t stack);

#endif
