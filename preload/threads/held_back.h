/* held_back.h - ticks that a thread held back by blocking our signal.
 *
 * What libc offers for blocking is hooked (hooks/masks.c); a bare system call is not. The clock's
 * signal is then pending, one signal however many ticks there were, and comes when it is let
 * through: its steps belong to code that is over, and are counted as CAPTURE_LOST_BLOCKED.
 *
 * A long system call delays ticks too, but those rightly go to the stack of the call. The two are
 * told apart by where the late tick finds the thread:
 *
 *   not right after a system call     held back
 *   right after one that sets a mask  held back
 *   right after any other call        delayed by that call: a sample like any other
 *
 * Context    stated at each function. */
#ifndef SAMPLER_HELD_BACK_H
#define SAMPLER_HELD_BACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"

/* What a thread's mask holds back. */
enum held_back {
    HELD_BACK_NOT,
    HELD_BACK_OURS, /* our signal, not all */
    HELD_BACK_ALL,  /* all that can be, but for those that libc keeps for itself */
};

/* Whether the tick whose ucontext_t this is, which is known to be late, was held back. A clock that
 * is not `is_exact` (the timer, on an overloaded machine) is sometimes late on its own: then only a
 * call that sets the mask counts. SIGNAL */
SIGNAL_SAFE bool held_back_tick(const void *context, bool is_exact);

/* Whether a handler was entered at the end of a system call, or where one is made again. SIGNAL */
SIGNAL_SAFE bool held_back_at_call(const void *context);

/* By a mask as the kernel has it. any context */
SIGNAL_SAFE enum held_back held_back_by(uint64_t mask);

/* By the mask of thread `tid`; HELD_BACK_NOT when that cannot be read. any context */
SIGNAL_SAFE enum held_back held_back_now(pid_t tid);

#endif
