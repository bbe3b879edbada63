/* diff.h - two profiles side by side: what `sampler diff` makes and .diff.folded holds.
 *
 * The result is an ordinary profile with two kinds, so that every format that keeps all kinds
 * can hold it; profile_is_diff is how others know one. */
#ifndef SAMPLER_DIFF_H
#define SAMPLER_DIFF_H

#include "model/notes.h"
#include "model/profile.h"

/* A profile with the kinds "before" and "after" and one sample per stack of either (0 where the
 * other has none), sorted by the stacks' bytes. Stacks are matched by the names of their frames, as
 * a folded file would show them; times, lines, threads go.
 * Numbers are what a folded file of each would hold; where both know times and their sampling
 * periods differ, nanoseconds, so that they can be compared. A process's name becomes the root
 * frame on both sides if one of them has several. ERR_UNSUPPORTED where the units cannot be
 * compared. */
MUST_CHECK bool profile_diff(const struct profile *before, const struct profile *after,
                             bool count_ns, const struct format_notes *notes, struct profile **out,
                             struct err *err);

extern const char *const profile_diff_kinds[2];

/* Whether a profile has these two kinds. */
bool profile_is_diff(const struct profile *profile);

#endif
