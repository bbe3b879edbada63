/* life.h - a thread's sampling begins, is settled in between, and ends.
 *
 *   made by pthread_create, and the first thread:
 *       thread_begin by itself -> ticks -> thread_end by itself,
 *       or thread_finish when the process ends
 *   found later (scan.h):
 *       thread_begin_other by whoever found it -> ticks -> thread_reap by whoever finds it gone
 *
 * To settle is to credit what the thread used since its last sample to its last stack, so that
 * weights add up to the clock whenever a file may be read. Where that is too much to be honest it
 * is counted as lost (sample.h).
 *
 * Own cost   What our code uses of a thread's CPU clock where it begins and ends is recorded apart
 *            (THREAD_COST) and weighed by no sample: else it would go to the functions that the
 *            program runs first and last there, a third of the time of a thread of 100 us.
 * Order      THREAD_START, samples, THREAD_END: one writer at a time, by the slot's state
 *            (thread.h).
 * Context    stated at each function. */
#ifndef SAMPLER_LIFE_H
#define SAMPLER_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"
#include "threads/thread.h"

/* The calling thread becomes `thread` and is sampled from the return on. Our code began to run in it
 * when its CPU clock stood at `entered_cpu_ns`: what it uses from there to the return is our own
 * cost. `is_new`: it was created just now, and what its clock showed by then is what libc and the
 * kernel took to begin it. All signals blocked; SETUP, HOOK */
void thread_begin(struct thread *thread, uint64_t entered_cpu_ns, bool is_new);

/* Thread `tid`, which pthread_create did not make, is sampled from now on, its CPU time from
 * `start_cpu_ns` of its clock. False when it has ended; the slot is free again then. All signals
 * blocked; any context */
SIGNAL_SAFE bool thread_begin_other(struct thread *thread, pid_t tid, uint64_t start_cpu_ns);

/* The kernel no longer knows thread `tid`, which did not report its end: writes it, gives the slot
 * back, unless that belongs to another thread by now. (What the thread used since its last sample
 * is not known any more.) All signals blocked; any context */
SIGNAL_SAFE void thread_reap(struct thread *thread, pid_t tid);

/* The calling thread is over: credits its tail, gives the slot back. Our signal stays blocked in
 * it. HOOK */
void thread_end(struct thread *thread);

/* Settles and writes the end of `thread`, unless it is doing that itself. EXIT */
void thread_finish(struct thread *thread);

/* Arms the clock of a thread that is held, or begins; its first tick is due at the grid's next
 * point. Without a clock the thread is counted as missed. `mine`: it is the calling thread. any
 * context */
SIGNAL_SAFE void thread_arm(struct thread *thread, bool mine);

/* The thread, whose CPU clock shows `cpu_ns`, follows the last switch of sampling, or ends: what it
 * has used since the moment of the switch goes into session.behind_ns. By its holder; any context */
SIGNAL_SAFE void thread_catch_up(struct thread *thread, uint64_t cpu_ns);

/* Arms the calling thread's clock again after an exec that failed. HOOK */
void thread_rearm(struct thread *thread);

/* Settles `thread`, whose handler is known not to run; `mine`: it is the calling thread. HOOK,
 * EXIT */
void thread_settle(struct thread *thread, bool mine);

/* The calling thread has had the process's first sample, of a tick that came to its handler at
 * `ticked_ns` of its CPU clock: what it used since is our own cost, and not of the period that
 * follows. SIGNAL */
SIGNAL_SAFE void thread_count_first(struct thread *thread, uint64_t ticked_ns);

/* The tick for which the calling thread's clock was awaited (clock.h) came to its handler at
 * `ticked_ns` of its CPU clock, and was dealt with: arms the clock. Or the thread may not get one
 * later: `ticked_ns` is now. What it used since is our own cost, as above. The thread is held, or its
 * handler runs. SIGNAL, HOOK */
SIGNAL_SAFE void thread_arm_awaited(struct thread *thread, uint64_t ticked_ns);

/* The calling thread is about to exec, and `settled_cpu_ns` is what its CPU clock showed when it was
 * settled: what it used since is our own cost. HOOK */
void thread_count_own(struct thread *thread, uint64_t settled_cpu_ns);

/* Settles another thread, which the caller holds. any context */
SIGNAL_SAFE void thread_settle_other(struct thread *thread, uint64_t time_ns);

#endif
