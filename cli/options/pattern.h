/* pattern.h - names of output files as patterns.
 *
 *   %n   the command's name      %h   the host
 *   %p   its pid                 %r   the MPI or Slurm rank, 0 without
 *   %%   a percent sign
 *
 * Any other letter after a percent sign is refused: it may get a meaning later. Names and hosts
 * lose what would leave the folder or steer a terminal. */
#ifndef SAMPLER_CLI_PATTERN_H
#define SAMPLER_CLI_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct pattern_values {
    const char *command; /* path or name; its last part is used, with odd characters replaced */
    uint64_t pid;
};

/* Expands into `out`. Fails on an unknown letter, and when the result is too long. */
MUST_CHECK bool pattern_expand(const char *pattern, const struct pattern_values *values, char *out,
                               size_t out_bytes, struct err *err);

/* The folder of a pattern's file, "." if none is named. Fails when the folder depends on the pid:
 * it must exist before the program starts. */
MUST_CHECK bool pattern_folder(const char *pattern, const struct pattern_values *values, char *out,
                               size_t out_bytes, struct err *err);

/* True when different pids give different names. */
bool pattern_has_pid(const char *pattern);

/* "out.folded" and 12 -> "out.12.folded": the extension stays, also a double one like .diff.folded.
 */
MUST_CHECK bool path_add_pid(const char *path, uint64_t pid, char *out, size_t out_bytes,
                             struct err *err);

#endif
