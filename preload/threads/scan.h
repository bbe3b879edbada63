/* scan.h - threads that did not come by pthread_create are found and covered: those that were there
 * before us, and those made by a raw clone (runtimes of their own, Go).
 *
 *   at the start          all that are there
 *   clone() of libc       at once (hooks/threads.c)
 *   a raw clone           by a look at /proc/self/task, at a tick: of a thread we know, or of a
 * timer on the CPU time of the whole process, which is taken by whatever thread runs
 *
 * A look is a question how many threads there are; only when that is not what we know, the folder
 * is read. It comes at most every 10 ms, and never costs more than a percent of the time. The timer
 * is put off further the longer nothing is found. Where a kernel (before 6.4) gives the timer's
 * signal to the first thread though it waits, it is put off to seconds, so as not to disturb.
 * A thread found is sampled from its birth: its first sample weighs all it used until then. One
 * that came and went between two looks is in no sample, and missing in what is explained. Context
 * scan_existing: SETUP. scan_start: SETUP, HOOK. scan_stop: HOOK, EXIT. The rest: any. */
#ifndef SAMPLER_PRELOAD_THREADS_SCAN_H
#define SAMPLER_PRELOAD_THREADS_SCAN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"

/* Covers the threads that were there before us: their CPU time counts from now on. */
void scan_existing(void);

/* The timer on the process's CPU time; after a fork and after an exec that failed, too. */
void scan_start(void);

/* No tick of the timer is pending when it returns. */
void scan_stop(void);

/* Whether the signal is the timer's. */
SIGNAL_SAFE bool scan_sent(const siginfo_t *info);

/* The timer's tick. */
SIGNAL_SAFE void scan_timer_ticked(void);

/* A thread we know ticked, at CLOCK_MONOTONIC now_ns. */
SIGNAL_SAFE void scan_thread_ticked(uint64_t now_ns);

/* A look, now. All signals blocked. */
SIGNAL_SAFE void scan_now(void);

/* Sampling goes on after a stop: what has come meanwhile is covered, from now on. All signals
 * blocked. */
SIGNAL_SAFE void scan_go_on(void);

/* Thread `tid` has just been made by someone else than pthread_create. */
void scan_cover_new(pid_t tid);

#endif
