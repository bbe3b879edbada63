/* scan.h - finds and covers threads that did not come by pthread_create: those that were there
 * before us, and those made by a raw clone (runtimes of their own, Go).
 *
 *   at the start       all that are there
 *   clone() of libc    at once (hooks/threads.c)
 *   SIGEV_THREAD       by itself (hooks/notify.c)
 *   a raw clone        by a look at /proc/self/task, at a tick: of a thread we know, or of a timer
 *                      on the CPU time of the whole process
 *
 * A look is a question how many threads there are; only when that is not what we know, the folder
 * is read. It is not asked where the only thread known used all the CPU time of the process. Looks
 * come at most every 10 ms, and never cost more than a percent of the CPU time. The longer nothing
 * is found, the later the timer's next look, up to 100 ms of CPU time. Its signal goes to the
 * thread that was last seen to run, so as not to disturb one that waits. As most processes end
 * before their first tick, the timer is made no sooner where that tick is sure to come
 * (clock_await).
 *
 * A thread found is sampled from its birth: its first sample weighs everything it used until then.
 * One that came and went between two looks is in no sample, and missing from what is accounted for.
 *
 * Lock       one look at a time. scan_now skips a second one at the same time, as it would see the
 *            same; the others wait for the first to end.
 * Context    scan_existing: SETUP. scan_start: SETUP, HOOK. scan_stop: HOOK, EXIT. scan_cover_new,
 *            scan_begin_here, scan_thread_ends: HOOK. scan_abandon: HOOK, the only thread. The rest: any, with all
 *            signals blocked. */
#ifndef SAMPLER_SCAN_H
#define SAMPLER_SCAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"

struct thread;

/* Covers the threads that were there before us: their CPU time counts from now on. */
void scan_existing(void);

/* Starts the timer on the process's CPU time; also after a fork, and after an exec that failed.
 * `is_to_tick`: the calling thread is about to be armed, so that the timer may wait for its first
 * tick. */
void scan_start(bool is_to_tick);

/* Makes the timer if it still waits: ticks are about to stop, or rights to go. Signals blocked. */
SIGNAL_SAFE void scan_wait_no_more(void);

/* Deletes the timer. None of its ticks is pending for this thread when this returns, unless the
 * program has our signal blocked. */
void scan_stop(void);

/* Forgets the timer and the lock: this is a forked child, which has neither the one nor whoever may
 * hold the other; or no scan has begun again since scan_stop. */
void scan_abandon(void);

/* Whether a signal is of our timer. any context */
SIGNAL_SAFE bool scan_sent(const siginfo_t *info);

/* What to do at the timer's tick. */
SIGNAL_SAFE void scan_timer_ticked(void);

/* A thread we know ticked at CLOCK_MONOTONIC now_ns: looks, if it is time. */
SIGNAL_SAFE void scan_thread_ticked(uint64_t now_ns);

/* A look, now. */
SIGNAL_SAFE void scan_now(void);

/* Sampling resumes after a stop: what has come meanwhile is covered, its CPU time from now on. */
SIGNAL_SAFE void scan_go_on(void);

/* The calling thread is about to end: the timer's signal goes to another from now on. */
void scan_thread_ends(void);

/* The calling thread, which libc made by itself, becomes `thread`: thread_begin (life.h), while no look
 * can come between. Signals blocked. */
void scan_begin_here(struct thread *thread, uint64_t entered_cpu_ns);

/* Thread `tid` has just been created by something other than pthread_create: covers it. */
void scan_cover_new(pid_t tid);

#endif
