/* sample.h - from an interrupted thread to a record in its stream.
 *
 *   context -> unwind_stack -> frames -> nodes (stack_table, new ones into the stream) -> sample
 *
 * Loss       what cannot be recorded is counted: no room in the file as LOST_DISK; no number left
 *            for a node (after four thousand million) as LOST_NODES, and the sample stands at the
 *            part of its stack that is known; late steps as LOST_BLOCKED or LOST_TAIL.
 * Context    sample_take, sample_locate: SIGNAL, by the thread (sample_locate also HOOK and EXIT,
 *            its handler silent). The rest: by whoever may write the stream (record/stream.h). */
#ifndef SAMPLER_SAMPLE_H
#define SAMPLER_SAMPLE_H

#include <stdint.h>

#include "sys/context.h"
#include "threads/thread.h"

struct tick {
    enum clock_tick kind;
    uint64_t time_ns;    /* CLOCK_MONOTONIC */
    uint64_t steps;      /* of the thread's grid */
    uint64_t wait_steps; /* that it waited for a processor, to go on where it was (wall_state.h) */
};

/* One tick of the thread, worth a step at least. */
SIGNAL_SAFE void sample_take(struct thread *thread, const void *context, const struct tick *tick);

/* One tick of a thread that stands at `node`, seen from outside: a sample. By the watcher, which
 * holds thread->in_handler. */
void sample_known(struct thread *thread, uint64_t time_ns, uint64_t steps, uint32_t node);

/* Credits steps that passed up to time_ns to the stack `node`, without a sample. */
SIGNAL_SAFE void sample_credit(struct thread *thread, uint64_t time_ns, uint64_t steps,
                               uint32_t node);

/* Makes the stack of `context` the thread's last node, without a sample; false when it cannot be
 * recorded. */
SIGNAL_SAFE bool sample_locate(struct thread *thread, const void *context);

/* Whether this many steps since the thread's last sample cannot come from a clock that runs and
 * whose ticks arrive. */
SIGNAL_SAFE bool sample_is_late(const struct thread *thread, uint64_t steps);

/* Steps that no stack of the thread fits: lost as its tail, or as held back by it, if that is
 * known. */
SIGNAL_SAFE void sample_lose_tail(const struct thread *thread, uint64_t steps);

/* Steps since the last sample of a thread that ends or is settled: to its last stack, or lost where
 * they are too many for that to be honest or there is none. */
SIGNAL_SAFE void sample_credit_tail(struct thread *thread, uint64_t steps);

#endif
