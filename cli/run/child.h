/* child.h - running a command as if we were not there: signals, job control, exit status.
 *
 *   child_guard_enter   signals meant for the command are held for us, before it is started
 *   child_start         fork and exec; a failed exec is known here, not by a strange exit status
 *   child_wait          until it ends: passes signals on, stops and continues with it
 *
 * The command gets the signal mask and the dispositions we were started with, and our stdin, stdout
 * and stderr untouched. One child at a time. */
#ifndef SAMPLER_CLI_CHILD_H
#define SAMPLER_CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "err.h"

/* How we found the signals, to give them to the child. */
struct child_guard {
    sigset_t mask;
    sigset_t held; /* what we wait for instead of dying of it */
    struct sigaction child_action;
};

void child_guard_enter(struct child_guard *guard);

/* In a forked child: everything as child_guard_enter found it. Async-signal-safe. */
void child_guard_leave(const struct child_guard *guard);

/* Starts `file` (with `argv`) as execvp would, after `prepare(context)` in the child (false
 * there: *sys_errno is reported like a failed exec). On failure *sys_errno says why and no child
 * is left. */
MUST_CHECK bool child_start(const struct child_guard *guard, const char *file, char *const argv[],
                            bool (*prepare)(void *context), void *context, pid_t *out,
                            int *sys_errno);

/* Waits for the end of `child`; fills its wait status and the CPU it and its waited-for children
 * used. */
void child_wait(const struct child_guard *guard, pid_t child, int *wait_status,
                struct rusage *usage);

/* What a shell would say in $?: the status, or 128 + the signal's number. */
int child_exit_status(int wait_status);

#endif
