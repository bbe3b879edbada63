/* side_by_side.h - runs before and after as one profile, for whoever shows them as trees: two numbers
 * of each path of functions, and how large a change by chance may be.
 *
 * Kinds      "before" and "after" (profile_is_diff), means over the runs of a side in whole units: what a
 *            stack has with all below it is less than 1 off
 * Stacks     are paths of functions, each with one sample; equal names are one function (same_name.h).
 *            Module, file and line are those of a run after, if one has the function. Lines executed,
 *            addresses, threads and times go
 * Metadata   command, exe and host of the first run after, and "changes" (docs/formats/README.md): the
 *            files, and the interval (changes.h) of each stack's and each function's change
 *
 * profile_diff (fold/diff.h) is the same for folded files: it keeps names as they are, and knows no chance. */
#ifndef SAMPLER_SIDE_BY_SIDE_H
#define SAMPLER_SIDE_BY_SIDE_H

#include "compare/changes.h"

/* `request` has `by` function and `scope` tree. `paths`: what the runs are called, those before first; NULL: they have no
 * names. ERR_UNSUPPORTED: the profiles hold what cannot be compared. */
MUST_CHECK bool profile_side_by_side(const struct changes_request *request,
                                     const char *const *paths, const struct format_notes *notes,
                                     struct profile **out, struct err *err);

/* The same of what profile_is_diff knows but no more than its numbers, such as a .diff.folded file. */
MUST_CHECK bool profile_diff_side_by_side(const struct profile *diff,
                                          const struct format_notes *notes, struct profile **out,
                                          struct err *err);

/* Whether it has these intervals already. */
bool profile_is_side_by_side(const struct profile *profile);

/* The metadata "changes" of such a profile (intervals.h reads it); "" of others. */
struct text profile_changes_text(const struct profile *profile);

#endif
