/* toggle.h - the signal from outside that stops and resumes sampling (SAMPLER_TOGGLE).
 *
 * It may reach us in three ways:
 *
 *   the program has no handler for it   ours runs; the program is not shown that it is there
 *   the program sets one                its handler runs after relay_run (relay.h), which calls
 *                                       toggle_taken
 *   a wait of the program takes it      nothing: it is the program's then
 *
 * Context    toggle_install: SETUP. toggle_leave_altstack: HOOK. The rest: any. */
#ifndef SAMPLER_TOGGLE_H
#define SAMPLER_TOGGLE_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

/* Installs our handler, if such a signal was requested. It runs on alternate stacks. */
void toggle_install(void);

/* Our handler, if it is still there, runs on ordinary stacks from now on. */
void toggle_leave_altstack(void);

/* The program has been sent `signo`: switches sampling if that is the signal, else does nothing. */
SIGNAL_SAFE void toggle_taken(int signo);

/* Whether this is what we set for that signal, which the program is not to see. */
bool toggle_is_ours(const struct sigaction *action);

#endif
