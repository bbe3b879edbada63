/* progress.h - a sign of life for long work, on a terminal only.
 *
 * Nothing is shown for the first second, nor where stderr is no terminal; then one line with the
 * seconds gone, which disappears when the work is done, or a message takes its place. */
#ifndef SAMPLER_CLI_PROGRESS_H
#define SAMPLER_CLI_PROGRESS_H

#include <stddef.h>

struct progress;

/* "reading app.7.sprofile": `what`, and `path` if it is not NULL. NULL when there is nothing to
 * show to. */
struct progress *progress_start(const char *what, const char *path);

/* The same; what `describe` says at the time stands behind `what`, unless it is "". It is called by
 * another thread, until progress_stop; returns `out`. */
struct progress *progress_start_described(const char *what,
                                          const char *(*describe)(void *context, char *out,
                                                                  size_t out_bytes),
                                          void *context);
void progress_stop(struct progress *progress); /* takes NULL */

#endif
