/* spawn.h - runs a program unnoticed by the one we are in (report.h says what that means).
 *
 * Context    EXIT. */
#ifndef SAMPLER_PRELOAD_PROCESS_SPAWN_H
#define SAMPLER_PRELOAD_PROCESS_SPAWN_H

/* Runs `path` with `argv` and waits for it. Its exit status, 128 + n when signal n ended it, -1
 * when it could not be started. */
int spawn_and_wait(const char *path, const char *const *argv);

#endif
