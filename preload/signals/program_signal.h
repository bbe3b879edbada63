/* program_signal.h - what the program believes it has done with the signal we use.
 *
 * sigaction and the like on our signal are answered from here as if they had worked, and signals of
 * that number that are not our clock's go where they would go without us: to the handler the
 * program set, to its end where there is none, or, where the program believes to have it blocked,
 * to whoever unblocks it or waits for it (hooks/own_signal.c). Ours is never blocked, so the kernel
 * does not keep it; we do: one for each thread and one for the process, as the kernel does. Context
 * _set: SETUP, HOOK. _get, _is_held: any. _arrived, _is_kept, _ticked: SIGNAL. The rest: HOOK. */
#ifndef SAMPLER_PRELOAD_SIGNALS_PROGRAM_SIGNAL_H
#define SAMPLER_PRELOAD_SIGNALS_PROGRAM_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

SIGNAL_SAFE void program_signal_set(const struct sigaction *action);
SIGNAL_SAFE void program_signal_get(struct sigaction *action);

struct thread;

/* A signal of our number that is not our clock's came to `thread` (NULL: one we do not know). True:
 * the program's handler, *action, is to be run now; *info may be another signal then, which was
 * kept. */
SIGNAL_SAFE bool program_signal_arrived(int signo, siginfo_t *info, struct thread *thread,
                                        struct sigaction *action);

/* Our clock's tick came to `thread`: as both have one number, it may have come in place of the
 * signal that tells it of one kept for the process. Is there one it takes? Then _ticked takes it
 * (*kept); true: the program's handler, *action, is to be run. */
SIGNAL_SAFE bool program_signal_is_kept(const struct thread *thread);
SIGNAL_SAFE bool program_signal_ticked(int signo, siginfo_t *kept, struct sigaction *action);

/* Runs the program's own handler, as the kernel would; touches no thread-local storage before. A
 * function of its own for check_signal_safe: what it calls is the program's. */
void program_signal_deliver(const struct sigaction *action, int signo, siginfo_t *info,
                            void *context);

/* Whether one waits for the calling thread. */
bool program_signal_is_held(void);

/* Takes the one that waits for the calling thread; false when there is none. */
bool program_signal_take(siginfo_t *info);

/* The calling thread has unblocked it: one that waits comes now. */
void program_signal_release(void);

/* Whether a signal only says that one is kept (sent by this file, to a thread that waits). */
SIGNAL_SAFE bool program_signal_is_poke(const siginfo_t *info);

/* The calling thread sends it to itself. */
void program_signal_raise(bool blocked);

/* The calling thread waits for it, or no longer does. */
void program_signal_wait(bool waits);

#endif
