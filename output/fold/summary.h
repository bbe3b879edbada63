/* summary.h - self and total weight per function, module, line or thread: what `sampler top` shows.
 *
 * self   weight of samples with the entry at the leaf
 * total  weight of samples with the entry anywhere, counted once per stack however often it recurs
 *
 * Weights are those of fold_unit_choose (fold.h) with nanoseconds where they are known. Idle
 * samples (leaf frame PROFILE_FRAME_IDLE) count nowhere but in `idle`. A profile of spans is taken
 * by self times. Sums stop at 2^64 - 1. */
#ifndef SAMPLER_SUMMARY_H
#define SAMPLER_SUMMARY_H

#include "model/profile.h"

enum summary_by { SUMMARY_BY_FUNCTION, SUMMARY_BY_MODULE, SUMMARY_BY_LINE, SUMMARY_BY_THREAD };

/* Which of the ids mean something depends on what the summary is by. Ids of the profile given. */
struct summary_row {
    uint64_t self;
    uint64_t total;
    uint32_t id;   /* function (also by line), module or thread; 0 = none: "unknown" */
    uint32_t line; /* by line: the executed one; 0 = unknown */
};

struct summary {
    struct summary_row *rows; /* most self first, then most total, then by id and line */
    size_t n;
    uint64_t all; /* weight of all samples that are not idle */
    uint64_t idle;
    enum profile_unit unit;
};

/* The caller gives it back with summary_deinit. */
MUST_CHECK bool summary_init(struct summary *summary, const struct profile *profile,
                             enum summary_by by, struct err *err);
void summary_deinit(struct summary *summary);

/* Puts the rows with most total first instead. */
void summary_sort_by_total(struct summary *summary);

/* What people read for a row: name of the function or thread, or path of the module; never empty.
 */
struct text summary_row_name(const struct profile *profile, enum summary_by by,
                             const struct summary_row *row);

#endif
