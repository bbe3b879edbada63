/* htdump_profiles.h - profiles to write, and a description of a profile in words that does not
 * depend on ids: two profiles that say the same are described alike. */
#ifndef SAMPLER_TESTS_HTDUMP_PROFILES_H
#define SAMPLER_TESTS_HTDUMP_PROFILES_H

#include "model/profile.h"

/* Threads of two processes, some with spans; modules, inlined frames, three kinds of values,
 * values, off-processor times, bookmarks, metadata; names with blanks, non-ASCII, ; quotes and
 * templates. */
struct profile *profile_of_everything(void);

/* Samples of three threads: stacks of 0 to 40 frames, recursion, gaps. `period_ns` 0: intervals. */
struct profile *profile_of_chance(unsigned seed, uint64_t period_ns);

/* Spans only: equal times, touching, crossing, without length. */
struct profile *profile_of_spans(void);

/* Counts without times, as folded files have them. */
struct profile *profile_of_counts(void);

struct profile *profile_of_nothing(void);

/* One sample on a stack of that many frames. */
struct profile *profile_of_depth(uint32_t depth);

struct profile *profile_done(struct profile_builder *builder);

/* Heap. */
char *profile_describe(const struct profile *profile);

#endif
