/* program_signal.h - what the program believes it has done with the signal we use.
 *
 * sigaction and the like on our signal are answered from here as if they had worked, and a signal
 * of that number that is not our clock's goes where it would go without us:
 *
 *   the program has set a handler      to that
 *   it has not                         the default action: mostly the end of the process
 *   it believes the signal is blocked  held, until a thread unblocks it or waits for it
 *                                      (hooks/own_signal.c)
 *
 * The kernel never has our signal blocked, so it does not hold it; we do, as the kernel would: one
 * for each thread and one for the process, and a further one meanwhile is the same one.
 *
 * Context    _set, _get, _is_poke: any. _arrived, _is_kept, _ticked, _deliver: SIGNAL.
 *            The rest: HOOK. */
#ifndef SAMPLER_PROGRAM_SIGNAL_H
#define SAMPLER_PROGRAM_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

/* The action that the program believes is installed. Setting it in a vfork child does nothing. */
SIGNAL_SAFE void program_signal_set(const struct sigaction *action);
SIGNAL_SAFE void program_signal_get(struct sigaction *action);

struct thread;

/* A signal of our number that is not our clock's came to `thread` (NULL: one we do not know). True:
 * the program's handler, *action, must be run now; *info may then be another signal, one that was
 * held. */
SIGNAL_SAFE bool program_signal_arrived(int signo, siginfo_t *info, struct thread *thread,
                                        struct sigaction *action);

/* Our clock's tick came to `thread`. Since both have one number, it may have come in place of the
 * signal that announces one held for the process. _is_kept: is there one that the thread takes?
 * Then _ticked takes it (*kept); true: the program's handler, *action, must be run. */
SIGNAL_SAFE bool program_signal_is_kept(const struct thread *thread);
SIGNAL_SAFE bool program_signal_ticked(int signo, siginfo_t *kept, struct sigaction *action);

/* Runs the program's own handler, as the kernel would; touches no thread-local storage before. A
 * function of its own for check_signal_safe: what it calls is the program's. */
SIGNAL_SAFE void program_signal_deliver(const struct sigaction *action, int signo, siginfo_t *info,
                                        void *context);

/* Whether one is held for the calling thread, or for the process. */
bool program_signal_is_held(void);

/* Takes one that is held for the calling thread or the process; false when there is none. */
bool program_signal_take(siginfo_t *info);

/* The calling thread has unblocked it: those held are sent to it now. */
void program_signal_release(void);

/* Whether a signal only announces that one is held (this file sends it to a thread that would take
 * it). */
SIGNAL_SAFE bool program_signal_is_poke(const siginfo_t *info);

/* raise(): the calling thread sends it to itself; `blocked`: it believes the signal is blocked. */
void program_signal_raise(bool blocked);

/* The calling thread waits for it (sigwait), or no longer does. One thread at a time is known
 * to. */
void program_signal_wait(bool waits);

#endif
