/* sources.h - the text of source files that a profile carries, so that its lines can be read where the
 * files are not, or are others by now.
 *
 * They are metadata of the key "source:PATH", PATH being that of the profile's functions and frames. */
#ifndef SAMPLER_SOURCES_H
#define SAMPLER_SOURCES_H

#include "model/profile.h"

/* False: the profile does not have it. `*out` is the profile's. */
bool profile_source(const struct profile *profile, struct text path, struct text *out);

/* `path` is shorter than PATH_MAX; the builder should have none of it yet: the first is the one that is found.
 * Out of memory is told by profile_builder_finish. */
void profile_add_source(struct profile_builder *builder, const char *path, struct text source);

#endif
