/* sample.h - from an interrupted thread to a record in its stream.
 *
 *   context -> unwind_stack -> frames -> nodes (stack_table, new ones into the stream) -> sample
 *
 * Context    sample_take: SIGNAL. The rest: SIGNAL, or by who ends the thread, its handler silent.
 */
#ifndef SAMPLER_PRELOAD_THREADS_SAMPLE_H
#define SAMPLER_PRELOAD_THREADS_SAMPLE_H

#include <stdint.h>

#include "sys/context.h"
#include "threads/thread.h"

/* One tick of the thread, worth `steps` > 0 grid steps, at CLOCK_MONOTONIC time_ns. */
SIGNAL_SAFE void sample_take(struct thread *thread, const void *context, uint64_t time_ns,
                             uint64_t steps);

/* One tick of a thread that stands at `node`, seen from outside. By who holds its lock. */
void sample_known(struct thread *thread, uint64_t time_ns, uint64_t steps, uint32_t node);

/* Steps that passed up to time_ns, to the stack `node`. By who holds its lock. */
SIGNAL_SAFE void sample_credit(struct thread *thread, uint64_t time_ns, uint64_t steps,
                               uint32_t node);

/* Makes the stack of `context` the thread's last node; false when it cannot be recorded. */
SIGNAL_SAFE bool sample_locate(struct thread *thread, const void *context);

/* Whether so many steps since the thread's last sample cannot be had from a clock that runs and is
 * heard. */
SIGNAL_SAFE bool sample_is_late(const struct thread *thread, uint64_t steps);

/* Steps since the last sample of a thread that ends: to its last stack, or, where they are too
 * many for that to be honest or there is none, to CAPTURE_LOST_TAIL; CAPTURE_LOST_BLOCKED when the
 * thread is known to hold our signal back. */
SIGNAL_SAFE void sample_credit_tail(struct thread *thread, uint64_t steps);

/* In a forked child: the modules are to be recorded again. */
void sample_forget_modules(void);

#endif
