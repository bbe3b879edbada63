/* paths.h - where the recording and the profile of this process go.
 *
 * Context    SETUP; HOOK in a forked child. */
#ifndef SAMPLER_PRELOAD_STATE_PATHS_H
#define SAMPLER_PRELOAD_STATE_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/line.h"

/* Adds `pattern` with %n %p %h %r %% filled in, made absolute. A % before anything else stays. */
void paths_add_output(struct line *line, const char *pattern);

/* The recording's path beside `output`, and the output that belongs to it, for the attempt-th try
 * (from 0) to find a free name: a/b.folded -> a/b.sampler, a/b.folded; then a/b.1.sampler,
 * a/b.1.folded ... */
void paths_beside(struct line *recording, struct line *result, const char *output,
                  unsigned attempt);

/* FOLDER/PID.ATTEMPT.sampler */
void paths_in_folder(struct line *recording, const char *folder, unsigned attempt);

#endif
