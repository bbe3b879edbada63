/* fold.h - stacks merged by the names of their frames: what folded files, their dumps and diffs are
 * made of.
 *
 *   profiles -> fold_add -> a tree of names with sums -> fold_visit, in byte order
 *                                                     -> fold_to_profile
 *
 * Shape     Addresses, lines, threads and processes disappear; one or two columns of sums remain.
 *           Threads and processes can be kept as frames in front (struct fold_roots).
 * Memory    Some 80 bytes per distinct path of names; nothing per sample.
 * Failure   Out of memory, which leaves a fold that can only be destroyed.
 * Context   One thread at a time. */
#ifndef SAMPLER_FOLD_H
#define SAMPLER_FOLD_H

#include "model/profile.h"

#define FOLD_MAX_COLUMNS 2
#define FOLD_MAX_DEPTH 4000 /* frames; speedscope fails at 5000 */

/* FOLD_CLEAN  for files: names as fold/name.h makes them, deep stacks cut to the frames next to the
 *             leaf, idle samples and paths without weight left out
 * FOLD_RAW    for dumps: all as it came */
enum fold_style { FOLD_CLEAN, FOLD_RAW };

/* What the numbers of a column are: a kind of the profile, times `multiplier`, divided by `divisor`
 * when visited. One of the two is 1. */
struct fold_unit {
    uint32_t kind;
    uint64_t multiplier;
    uint64_t divisor;
    enum profile_unit unit; /* of the result */
};

/* What a format with one number per stack shows of a profile:
 *   spans and no samples                  nanoseconds: their self times
 *   kinds[0] neither a time nor a count   its values
 *   count_ns                              nanoseconds; without a time kind: counts x period, or the
 *                                         counts themselves when the period is unknown
 *   else                                  periods (nanoseconds / period); without time or period:
 *                                         counts; without counts: nanoseconds */
struct fold_unit fold_unit_choose(const struct profile *profile, bool count_ns);

struct fold;

MUST_CHECK bool fold_create(uint32_t n_columns, enum fold_style style, struct fold **out,
                            struct err *err);
void fold_destroy(struct fold *fold); /* takes NULL */

/* Frames put in front of every stack, the process before the thread. */
struct fold_roots {
    bool processes; /* the process's name, if it has one */
    bool threads;   /* then "name-pid/tid" of the thread */
};

/* Whether more than one named process has samples or spans. Rows of one name and process id are one
 * process. */
bool fold_needs_process_roots(const struct profile *profile);

/* Adds a profile's samples (or, where it has only spans, their self times) to a column. Its divisor
 * counts for the whole column. Samples whose leaf is idle are left out (FOLD_CLEAN). */
MUST_CHECK bool fold_add(struct fold *fold, uint32_t column, const struct profile *profile,
                         struct fold_unit unit, struct fold_roots roots, struct err *err);

/* One path: names joined by ";", and a number per column. Borrowed for the call. */
typedef void fold_line(void *context, const char *stack, size_t length, const uint64_t *numbers);

/* Shows all paths that have samples of their own, sorted by bytes. With a divisor, column sums are
 * rounded so that they add up: a number is the growth of the rounded running total. */
MUST_CHECK bool fold_visit(struct fold *fold, fold_line *line, void *context, struct err *err);

/* A profile of the paths, in the order of fold_visit; a kind per column. */
MUST_CHECK bool fold_to_profile(struct fold *fold, const char *const *kind_names,
                                enum profile_unit unit, struct profile **out, struct err *err);

/* What was not taken as it is, for notes. */
struct fold_losses {
    uint64_t n_cut;       /* stacks deeper than FOLD_MAX_DEPTH */
    uint64_t n_idle;      /* idle samples                      */
    uint64_t n_saturated; /* sums over 2^64 - 1                */
};
struct fold_losses fold_losses(const struct fold *fold);

#endif
