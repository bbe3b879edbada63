/* control.h - sampling is stopped, and goes on, while the program runs.
 *
 *   SAMPLER_DELAY, SAMPLER_DURATION   a timer of the process, on CLOCK_MONOTONIC
 *   SAMPLER_TOGGLE                    a signal from outside
 *   sampler.h                         the program itself
 *
 * While it is stopped no clock is armed and nothing ticks; threads are known all the same, so that
 * all are armed when it goes on. What the process uses meanwhile is in paused_cpu_ns of the header,
 * in no weight and in nothing that is to be explained.
 * The timer's signal is ours, so that a program that blocks everything cannot keep it off; it goes
 * to any thread, and a call it breaks off goes on (restart.h).
 * Context    stated at each function. */
#ifndef SAMPLER_PRELOAD_THREADS_CONTROL_H
#define SAMPLER_PRELOAD_THREADS_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"

struct thread;

/* Before the session's first thread begins: on or off, by the options; in a forked child as the
 * parent was. SETUP, HOOK */
void control_begin(void);

/* The stop sampling begins with goes into the first thread's records, and the timer starts. SETUP,
 * HOOK; with our signal blocked */
void control_begun(struct thread *thread);

/* Around an exec: its timer would tick into the new program. HOOK */
void control_timer_stop(void);
void control_timer_start(void);

SIGNAL_SAFE bool control_is_on(void);

/* False when there is nothing to switch (no session). any context */
SIGNAL_SAFE bool control_switch(bool on);
SIGNAL_SAFE void control_toggle(void);

SIGNAL_SAFE bool control_sent(const siginfo_t *info);
SIGNAL_SAFE void control_timer_ticked(void);

/* The process's CPU time as getrusage has it, but for what it has used since a stop that lasts. any
 * context but SIGNAL */
uint64_t control_cpu_ns(void);

#endif
