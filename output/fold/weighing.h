/* weighing.h - what samples of each stack weigh together: where sums, trees and lists begin.
 *
 * Weights are those of fold_unit_choose (fold.h) with nanoseconds where they are known. Idle
 * samples (leaf frame PROFILE_FRAME_IDLE) count nowhere but in `idle`. Sums stop at 2^64 - 1. */
#ifndef SAMPLER_WEIGHING_H
#define SAMPLER_WEIGHING_H

#include "model/profile.h"

/* What was weighed: all that is common to the rows. */
struct weighed {
    uint64_t all; /* of all samples that are not idle */
    uint64_t idle;
    enum profile_unit unit;
    uint32_t measure; /* text: the name of what is summed, "cpu", "wall", an event; 0 = unknown */
};

struct weighing {
    uint64_t *weights; /* by stack, or by thread */
    struct weighed weighed;
};

/* Of a profile with samples (profile_with_samples, convert.h). False when out of memory; to be
 * given back in every case. */
MUST_CHECK bool weighing_init(struct weighing *weighing, const struct profile *profile,
                              bool by_thread);
void weighing_deinit(struct weighing *weighing);

#endif
