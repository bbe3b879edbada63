/* held_back.h - ticks that a thread kept back by blocking our signal.
 *
 * What libc offers for that is hooked (hooks/masks.c); a bare system call is not. The clock's
 * signal then waits, one however many ticks there were, and comes when it is let through: its steps
 * belong to code that is over, and are counted as CAPTURE_LOST_BLOCKED. Told from a long system
 * call, whose ticks wait as well, but rightly come to the stack of the call: a tick that comes late
 * not right behind a system call, or right behind one that sets the mask. Context    stated at each
 * function. */
#ifndef SAMPLER_PRELOAD_THREADS_HELD_BACK_H
#define SAMPLER_PRELOAD_THREADS_HELD_BACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"

/* Whether the tick whose ucontext_t this is, which is known to be late, was held back. A clock that
 * is not `is_exact` (the timer, on a machine with more to do than it can) is late by itself at
 * times: then only the call that sets the mask tells. SIGNAL */
SIGNAL_SAFE bool held_back_tick(const void *context, bool is_exact);

/* Whether thread `tid` has our signal blocked, as the kernel sees it. any context */
SIGNAL_SAFE bool held_back_now(pid_t tid);

#endif
