/* program_signal.h - what the program believes it has done with the signal we use.
 *
 * sigaction and the like on our signal are answered from here as if they had worked, and signals of
 * that number that are not our clock's go to the handler the program set.
 * Context    _set: SETUP, HOOK. _get: any. _deliver: SIGNAL, but only called
 * for signals that are not ours, when the program runs a handler of its own. */
#ifndef SAMPLER_PROGRAM_SIGNAL_H
#define SAMPLER_PROGRAM_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

#include "context.h"

void program_signal_set(const struct sigaction *action);
SIGNAL_SAFE void program_signal_get(struct sigaction *action);

/* False when the program has no handler for it. */
bool program_signal_deliver(int signo, siginfo_t *info, void *context);

#endif
