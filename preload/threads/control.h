/* control.h - sampling is stopped and resumed while the program runs.
 *
 *   SAMPLER_DELAY, SAMPLER_DURATION   a timer of the process, on CLOCK_MONOTONIC
 *   SAMPLER_TOGGLE                    a signal from outside (signals/toggle.h)
 *   sampler.h                         the program itself
 *
 * While stopped no clock is armed and nothing ticks; threads are registered all the same, so that
 * all of them are armed at the resume. What the process uses meanwhile is in paused_cpu_ns of the
 * header, in no weight, and not in what is to be accounted for.
 *
 * Switch     whoever stops or resumes holds the slot of each thread in turn (threads/slots.h),
 *            settles what the thread has used, and disarms or arms its clock. What a thread uses
 *            from the moment of the switch until it has followed is known (session.behind_ns), and
 *            counts as sampled at a stop, as paused at a resume. A thread that begins just then
 *            looks at session.is_off after it is HELD; is_off is stored after that moment and
 *            before the slots are gone over once more: one of the two sees the other.
 * Timer      its signal is ours, so a program that blocks everything cannot keep it off; it goes to
 *            any thread, and a call it interrupts is made again (signals/restart.h).
 * Lock       one switch at a time; its holder has all signals blocked, so a handler never waits for
 *            the thread it interrupted.
 * Context    stated at each function. */
#ifndef SAMPLER_CONTROL_H
#define SAMPLER_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"

struct thread;

/* Before the session's first thread begins: on or off by the settings; in a forked child as the
 * parent was. SETUP, HOOK */
void control_begin(void);

/* After it has begun, with our signal blocked: a stop that sampling begins with goes into its
 * records, and the timer starts. SETUP, HOOK */
void control_begun(struct thread *thread);

/* Around an exec: a tick of the timer would end the new program. HOOK; control_timer_start SETUP
 * too */
void control_timer_stop(void);
void control_timer_start(void);

/* Whether samples are taken, as far as it depends on these switches. any context */
SIGNAL_SAFE bool control_is_on(void);

/* Resumes or stops; no effect when it is so already. False when there is no session. any context */
SIGNAL_SAFE bool control_switch(bool on);
SIGNAL_SAFE void control_toggle(void);

/* Whether a signal is of our timer; what to do then: switch, if it is time. any context */
SIGNAL_SAFE bool control_sent(const siginfo_t *info);
SIGNAL_SAFE void control_timer_ticked(void);

/* The process's CPU time as getrusage has it, 0 when it cannot be read. What of it was used in
 * stops, one that goes on included, is put into the header. any context but SIGNAL */
uint64_t control_note_cpu(void);

#endif
