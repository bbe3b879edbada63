/* relay.h - the program's handlers run behind one of ours, which notes the system call they broke
 * off.
 *
 * restart.h makes a call go on that our signal broke off. A call broken off by a signal of the
 * program looks the same when our tick comes just as the program's handler returns, and must not go
 * on: the program waits for that EINTR. So sigaction and signal put relay_run in place of the
 * program's handler, and answer as if they had not.
 *
 * Left alone: our own signal (program_signal.h), signals of faults (SIGSEGV ...), which break off
 * nothing, and handlers set behind the hooks.
 * Context    relay_wants, relay_set, relay_answer: HOOK (async-signal-safe, as sigaction is).
 * relay_run: a handler of the program; it may interrupt anything. */
#ifndef SAMPLER_PRELOAD_SIGNALS_RELAY_H
#define SAMPLER_PRELOAD_SIGNALS_RELAY_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

/* What the program had set before: `handler`, NULL = nothing yet, takes three arguments if has_info
 * (SA_SIGINFO). */
struct relay_before {
    void (*handler)(int);
    bool has_info;
};

/* Whether a handler for this signal is to be replaced: it is a function, and of such a signal. */
bool relay_wants(int signo, const struct sigaction *action);

struct relay_before relay_get(int signo);

/* To be called before the kernel is told of relay_run. */
void relay_set(int signo, const struct sigaction *action);

/* Puts into what the kernel says of a signal what the program set, if relay_run stands there. */
void relay_answer(struct sigaction *old, const struct relay_before *before);

void relay_run(int signo, siginfo_t *info, void *context);

/* The same function under the type that signal() takes: the kernel passes all three arguments to
 * any handler. */
void (*relay_run_short(void))(int);

#endif
