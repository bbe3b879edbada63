/* merge.h - several profiles in one.
 *
 * Texts, modules, functions, frames and stacks that are equal become one; processes and threads
 * stay apart, even with equal ids.
 *
 * Kinds: those all profiles with samples have (same unit, and same name where a unit occurs twice),
 * in the order of the first; the others are dropped with a note. Where that leaves none but each
 * profile knows the time its samples stand for, one kind "time" in ns. Otherwise ERR_UNSUPPORTED.
 *
 * Times: on a common axis. By the monotonic clock when all profiles say where on it they start and
 * it is the same clock as far as their wall clocks can tell (within a second); else by the wall
 * clock; else each begins at 0. Samples have times if those of all have.
 *
 * Period: that of all. When they differ, that of the first with samples if a kind is in ns (weights
 * stay right, and formats that count periods count time in those), else 0.
 *
 * Spans: where some profiles have only samples and others only spans, the self times of the spans
 * become samples (convert.h), so that one of the two tells the whole story.
 *
 * Metadata: of all; equal entries once. */
#ifndef SAMPLER_MERGE_H
#define SAMPLER_MERGE_H

#include "model/notes.h"
#include "model/profile.h"

/* `n` >= 1 profiles, borrowed. `notes` may be NULL. */
MUST_CHECK bool profile_merge(const struct profile *const *profiles, size_t n,
                              const struct format_notes *notes, struct profile **out,
                              struct err *err);

#endif
