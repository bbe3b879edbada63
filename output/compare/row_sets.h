/* row_sets.h - which rows of a table a sample counts in, by the same ids for several runs.
 *
 *     row_names_create(&names, err)
 *     row_sets_create(names, profile, by, by_total, &sets, err)   for each run
 *     for (ids from 1) row_sets_of(sets, &profile->samples[i], &n)[...]
 *
 * Rows are matched by same_name.h: equal names, equal id, 1 to row_names_count - 1. */
#ifndef SAMPLER_ROW_SETS_H
#define SAMPLER_ROW_SETS_H

#include "fold/summary.h"

struct row_names;
struct row_sets;

MUST_CHECK bool row_names_create(struct row_names **out, struct err *err);
void row_names_destroy(struct row_names *names); /* takes NULL */
uint32_t row_names_count(const struct row_names *names);

/* Where a row was seen first. */
struct row_origin {
    const struct profile *profile;
    struct summary_key key;
};
struct row_origin row_names_origin(const struct row_names *names, uint32_t row);

/* Of the profile's samples that are not idle. `by_total`: the rows of all frames of a stack, each
 * once; else that of the leaf. `names` and `profile` must outlive it. */
MUST_CHECK bool row_sets_create(struct row_names *names, const struct profile *profile,
                                enum summary_by by, bool by_total, struct row_sets **out,
                                struct err *err);
void row_sets_destroy(struct row_sets *sets); /* takes NULL */

/* The rows of a sample that is not idle; of an idle one none. */
const uint32_t *row_sets_of(const struct row_sets *sets, const struct profile_sample *sample,
                            size_t *n);

#endif
