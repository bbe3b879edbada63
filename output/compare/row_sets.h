/* row_sets.h - which rows of a table a sample counts in, by the same ids for several runs.
 *
 *     row_names_create(&names, err)
 *     row_sets_create(names, profile, by, scope, &sets, err)   for each run
 *     for (ids from 1) row_sets_of(sets, &profile->samples[i], &n)[...]
 *
 * Rows are matched by same_name.h: equal names, equal id, 1 to row_names_count - 1. */
#ifndef SAMPLER_ROW_SETS_H
#define SAMPLER_ROW_SETS_H

#include "fold/summary.h"

struct row_names;
struct row_sets;

/* Which rows a sample counts in. */
enum row_scope {
    ROWS_OF_LEAF,
    ROWS_OF_STACK, /* of all its frames, each once                                                */
    ROWS_OF_TREE /* by function: that, the leaf's function apart from others (ROW_AT_LEAF), and each
                      path of functions from the outermost one                                     */
};

enum row_kind { ROW_NAMED, ROW_AT_LEAF, ROW_PATH };

MUST_CHECK bool row_names_create(struct row_names **out, struct err *err);
void row_names_destroy(struct row_names *names); /* takes NULL */
uint32_t row_names_count(const struct row_names *names);

/* Where a row was seen first. */
struct row_origin {
    const struct profile *profile;
    struct summary_key key;
    enum row_kind kind;
    uint32_t named;  /* of others than ROW_NAMED: the row of that name                    */
    uint32_t parent; /* of a path: that of the callers, smaller than its own; 0 = none    */
    uint32_t frame;  /* of a path: of the profile                                         */
};
struct row_origin row_names_origin(const struct row_names *names, uint32_t row);

/* Of the profile's samples that are not idle. ROWS_OF_LEAF where rows are of whole samples.
 * `names` and `profile` must outlive it. */
MUST_CHECK bool row_sets_create(struct row_names *names, const struct profile *profile,
                                enum summary_by by, enum row_scope scope, struct row_sets **out,
                                struct err *err);
void row_sets_destroy(struct row_sets *sets); /* takes NULL */

/* The rows of a sample that is not idle; of an idle one none. */
const uint32_t *row_sets_of(const struct row_sets *sets, const struct profile_sample *sample,
                            size_t *n);

#endif
