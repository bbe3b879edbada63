/* watcher.h - elapsed time: every thread, running and blocked, with the stack it stands at.
 *
 *   elapsed time = CPU time + time off the processor
 *
 * CPU time is measured as for -e cpu, by ticks of the thread's own clock. For the time off the
 * processor a thread of ours, the watcher, wakes once a period (at a random moment of it) and looks
 * at each thread's CPU clock:
 *
 *   has not moved               it still stands where it was last seen; its time is recorded later
 *   moved, blocks at a known    a sample of that stack is written for it
 *   place (wall_place.h)
 *   moved, blocks elsewhere     it gets a signal and samples itself
 *   computes, or waits for a    nothing: its time off goes to where it blocks next, except what it
 *   processor                   waited while it computed (/proc/self/task/TID/schedstat) and what
 *                               a hypervisor took; that goes to its next tick
 *
 * So a thread is disturbed once for each place it blocks at, not once for each time, and one that
 * stays blocked is not even looked at often. A watcher that is late, because all processors are
 * busy, takes nothing from the threads that keep them busy. Where /proc/self/task/TID/syscall
 * cannot be read, a thread that has hardly run since it was found in a system call is assumed to be
 * there still.
 *
 * Two other ways were tried and left: a tick at each context switch is exact, but ordinary users
 * may not count those, and at 100 000 switches a second the ticks cost more than the switches; a
 * timer for each thread signals the blocked ones again and again.
 *
 * Lock       thread->in_handler is the lock of a thread's stream and of its struct wall: 1 the
 *            thread, 2 the watcher.
 * Context    watcher_start, watcher_stop: SETUP, HOOK. watcher_leave, watcher_return: HOOK.
 *            watcher_is: any. */
#ifndef SAMPLER_WATCHER_H
#define SAMPLER_WATCHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "sys/context.h"

/* Starts the watcher of this process, if there is none; it does nothing before the session runs.
 * False, with errno, when no thread can be created. */
bool watcher_start(void);

/* In a forked child: notes that there is no watcher. Otherwise: waits until it is not looking at
 * any thread; it stays, and looks again when the session runs. */
void watcher_stop(bool is_child);

/* Around a call for which the process must have no thread of ours: libc makes each thread of a
 * process change its user, and ends the process where one cannot; the kernel refuses some namespaces
 * to a process with several threads. The thread is gone when watcher_leave returns. Calls of several
 * threads may overlap: the last one's watcher_return starts the thread again; false, with errno,
 * when it cannot be started. */
void watcher_leave(void);
bool watcher_return(void);

/* Whether thread `tid` is the watcher. */
SIGNAL_SAFE bool watcher_is(pid_t tid);

#endif
