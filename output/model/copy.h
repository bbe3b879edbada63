/* copy.h - taking a profile's tables over into a builder; for merge and conversions.
 *
 *   profile_map_init     texts, modules, functions, frames, stacks, processes, threads -> the map
 *   profile_copy_*       what refers to them, by the map
 *   profile_builder_like all of it at once, into a builder of its own
 *
 * Ids     Equal rows become one, so ids change: the map says how. Into an empty builder everything
 *         keeps its id.
 * Apart   Processes and threads are always added anew: two runs may have used one id.
 * Times   move by shift_ns and stay at UINT64_MAX where they would pass it. */
#ifndef SAMPLER_PROFILE_COPY_H
#define SAMPLER_PROFILE_COPY_H

#include "model/profile.h"

/* New ids by old id. */
struct profile_map {
    uint32_t *texts, *modules, *functions, *frames, *stacks, *processes, *threads;
};

/* Adds all tables of `in`. Times of processes and threads move by shift_ns. */
MUST_CHECK bool profile_map_init(struct profile_map *map, struct profile_builder *builder,
                                 const struct profile *in, uint64_t shift_ns, struct err *err);
void profile_map_deinit(struct profile_map *map); /* an all zero map is fine */

/* Adds instants, off-processor times and bookmarks (times moved by shift_ns). */
void profile_copy_events(struct profile_builder *builder, const struct profile *in,
                         const struct profile_map *map, uint64_t shift_ns);
void profile_copy_spans(struct profile_builder *builder, const struct profile *in,
                        const struct profile_map *map, uint64_t shift_ns);
void profile_copy_metadata(struct profile_builder *builder, const struct profile *in);

/* Kinds (with texts of `map`), times and period, as they are. */
void profile_copy_scalars(struct profile_builder *builder, const struct profile *in,
                          const struct profile_map *map);

/* A builder that holds everything of `in` but samples and spans. Nothing merges in an empty
 * builder, so all ids are as in `in`. */
MUST_CHECK bool profile_builder_like(const struct profile *in, struct profile_builder **out,
                                     struct err *err);

/* Adds these, too. */
void profile_builder_fill(struct profile_builder *builder, const struct profile *in);

#endif
