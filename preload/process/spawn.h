/* spawn.h - runs a program unnoticed by the one we are in (report.h states what that means).
 *
 * Context    EXIT, HOOK. All signals are blocked until the program has been started. */
#ifndef SAMPLER_SPAWN_H
#define SAMPLER_SPAWN_H

/* Runs `path` with `argv` (borrowed) and waits for it. Its exit status, 128 + n when signal n ended
 * it, -1 when it could not be started, 127 when it could not be executed. */
int spawn_and_wait(const char *path, const char *const *argv);

#endif
