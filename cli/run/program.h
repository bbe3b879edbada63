/* program.h - which program a command names, and whether a library can be preloaded into it.
 *
 * Asked before the command is started: a static program would run as usual and leave an empty
 * profile, and only its user would know why. */
#ifndef SAMPLER_CLI_PROGRAM_H
#define SAMPLER_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "sanitizer.h"

/* Exit statuses of the launcher, as env(1), nohup(1) and timeout(1) use them. */
enum launch_status {
    LAUNCH_FAILED = 125, /* our own failure, before the command was started */
    LAUNCH_NOT_EXECUTABLE = 126,
    LAUNCH_NOT_FOUND = 127,
};

/* Finds the file execvp would run. Returns 0 with `path` set, or the launch_status with *err. */
MUST_CHECK int program_find(const char *command, char *path, size_t path_bytes, struct err *err);

/* Sets `runtime` to the library that has to come before ours in the program (sanitizer.h), "" where
 * there is none. False, saying why, for what the dynamic linker never gets to preload into: static programs, those
 * of another machine or word size, of another libc, those that run with more rights than ours, and
 * scripts whose interpreter is one of these. A file that cannot be read is let through: the kernel
 * may still run it. */
MUST_CHECK bool program_check_preload(const char *path, char runtime[SANITIZER_NAME_BYTES],
                                      struct err *err);

#endif
