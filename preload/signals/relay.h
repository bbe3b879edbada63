/* relay.h - runs the program's handlers from one of ours, which notes the system call they
 * interrupt.
 *
 * restart.h repeats a call that our signal interrupted. A call interrupted by a signal of the
 * program looks the same when our tick comes just as the program's handler returns, and must not be
 * repeated: the program waits for that EINTR. So sigaction and signal put relay_run in place of the
 * program's handler, and answer as if they had not.
 *
 * Left alone: our own signal (program_signal.h); signals of faults (SIGSEGV ...), which interrupt
 * no call; handlers set past the hooks.
 *
 * Context    relay_run: a handler of the program; it may interrupt anything. The rest: HOOK
 *            (async-signal-safe, as sigaction is). */
#ifndef SAMPLER_RELAY_H
#define SAMPLER_RELAY_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

/* What the program had set before: `handler` (NULL = nothing yet), which takes three arguments if
 * has_info (SA_SIGINFO). */
struct relay_before {
    void (*handler)(int);
    bool has_info;
};

/* Whether a handler for this signal is to be replaced: it is a function, and the signal is no
 * fault. */
bool relay_wants(int signo, const struct sigaction *action);

/* What is noted for `signo`; get it before relay_set, for the answer. */
struct relay_before relay_get(int signo);

/* To be called before relay_run is installed in the kernel: it may run at once. */
void relay_set(int signo, const struct sigaction *action);

/* Replaces relay_run, where it stands in what the kernel returned as the old action, by what the
 * program had set. */
void relay_answer(struct sigaction *old, const struct relay_before *before);

/* The handler itself. */
void relay_run(int signo, siginfo_t *info, void *context);

/* relay_run with the type that signal() takes: the kernel passes all three arguments to any
 * handler. */
void (*relay_run_short(void))(int);

#endif
