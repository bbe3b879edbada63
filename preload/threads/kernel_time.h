/* kernel_time.h - which stack gets the time in the kernel, where the clock ticks in user mode only.
 *
 * An event that must not count the kernel, as that of an ordinary user, drops the ticks that fall
 * there. The thread's CPU clock has that time all the same: the next tick, somewhere in the program,
 * finds several steps passed, and would weigh a stack of user code with what a system call before it
 * used. So a tick of the event gets one step, and the others go:
 *
 *   system calls    aside, until a tick of the helper timer (clock/clock.h) comes at the end of a
 *                   call: all that is aside goes to that stack
 *   page faults     to the stack of this tick: of a loop that touches new memory it is the right
 *                   one, of short bursts of faults it is the code after them
 *
 * Faults are known by their number only, so what they cost is estimated; calls get the rest. A helper
 * tick that comes anywhere else gets nothing, as the event sees what passes there. (A second event,
 * of page faults, would know where they are; it would cost every thread its switches.)
 *
 * Not done: a helper tick for a step of its own period each, the rest to the next tick of the event.
 * The helper's ticks come by chance, so what is aside would wander, and to keep it above zero and
 * small would move some of the calls' time to user code.
 *
 * Context    by the thread, in its handler; kernel_time_rest: whoever settles it. */
#ifndef SAMPLER_KERNEL_TIME_H
#define SAMPLER_KERNEL_TIME_H

#include "threads/thread.h"

/* The steps that belong to the stack of this tick, of the `steps` that have passed. Zero: there is
 * nothing to sample. */
SIGNAL_SAFE uint64_t kernel_time_steps(struct thread *thread, enum clock_tick tick,
                                       const void *context, uint64_t steps);

/* A tick of the event that was left out, whose step the next one gets as well. */
SIGNAL_SAFE void kernel_time_left_out(struct thread *thread);

/* What is aside, which is nobody's any more. */
SIGNAL_SAFE uint64_t kernel_time_rest(struct thread *thread);

#endif
