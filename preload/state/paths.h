/* paths.h - where the recording and the profile of this process go.
 *
 *   plain LD_PRELOAD   next to the output, .sampler for its extension
 *   under sampler-run  PID.ATTEMPT.sampler in its folder; the launcher names the output
 *
 * Only names are made here. A name that exists is never overwritten: the caller creates the file
 * exclusively and tries the next attempt.
 *
 * Context    SETUP; HOOK in a forked child. */
#ifndef SAMPLER_PATHS_H
#define SAMPLER_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/line.h"

/* Adds `pattern` with %n %p %h %r %% filled in, made absolute; state/settings.h has what they mean.
 * A % before anything else stays. A slash in what is filled in becomes an underscore. */
void paths_add_output(struct line *line, const char *pattern);

/* The recording's path next to `output`, and the output that belongs to it, for the attempt-th try
 * (from 0) to find a free name: a/b.folded -> a/b.sampler, a/b.folded; then a/b.1.sampler,
 * a/b.1.folded ... */
void paths_beside(struct line *recording, struct line *result, const char *output,
                  unsigned attempt);

/* That of a path, with its dot; "" if it has none. EXIT */
const char *paths_extension(const char *path);

/* `path` with another extension: a/b.folded, ".sprofile" -> a/b.sprofile. EXIT */
void paths_with_extension(struct line *line, const char *path, const char *extension);

#endif
