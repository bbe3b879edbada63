/* next_command.h - what to type after a run to see its profile, as a line for a shell.
 *
 *   app.7.sprofile in this folder, sampler in PATH   ->  sampler top
 *   /tmp/out/app.folded, sampler not in PATH         ->  /opt/s/bin/sampler top /tmp/out/app.folded
 *   the same, called from /opt                       ->  s/bin/sampler top /tmp/out/app.folded */
#ifndef SAMPLER_CLI_NEXT_COMMAND_H
#define SAMPLER_CLI_NEXT_COMMAND_H

#include <stddef.h>

/* `path` is a profile that has just been written, as it was named. Returns `out`; "" where there is
 * nothing to read again (a pipe, a device), the name cannot be shown or the buffer is too small. Reads
 * PATH. */
const char *next_command(const char *path, char *out, size_t out_bytes);

#endif
