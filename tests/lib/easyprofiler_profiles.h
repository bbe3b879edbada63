/* easyprofiler_profiles.h - profiles for the tests of the easyprofiler writer, and what builds
 * them. */
#ifndef SAMPLER_TESTS_EASYPROFILER_PROFILES_H
#define SAMPLER_TESTS_EASYPROFILER_PROFILES_H

#include "model/profile.h"

/* A builder of a profile that begins and lasts so long, without kinds of samples. */
struct profile_builder *timed_builder(uint64_t start_ns, uint64_t duration_ns);

uint32_t add_thread(struct profile_builder *builder, uint32_t process, uint64_t tid,
                    const char *name);
uint32_t add_frame(struct profile_builder *builder, const char *name, const char *file,
                   uint32_t line);
void add_span(struct profile_builder *builder, uint32_t thread, uint32_t frame, uint64_t begin_ns,
              uint64_t end_ns);

/* All that the format keeps, with odd names. */
struct profile *rich_profile(void);

/* A chain of `n` spans, each in the one before, and an event in the innermost. */
struct profile *chain_profile(uint32_t n, bool with_event);

struct profile *sampled_profile(void);

#endif
