/* progress.h - a sign of life for long work, on a terminal only.
 *
 * Nothing is shown for the first second, nor where stderr is no terminal; then one line with the
 * seconds gone, which disappears when the work is done. */
#ifndef SAMPLER_CLI_PROGRESS_H
#define SAMPLER_CLI_PROGRESS_H

struct progress;

/* `what` is kept until progress_stop. NULL when there is nothing to show to. */
struct progress *progress_start(const char *what);
void progress_stop(struct progress *progress); /* takes NULL */

#endif
