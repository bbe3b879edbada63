/* sample_clock.h - a fast CPU clock with signals, for test programs.
 *
 * One perf_event task-clock of the calling thread, each period a SIGPROF to it; where perf_event is
 * refused, a timer on the thread's CPU clock (no faster than the kernel's tick). */
#ifndef SAMPLER_TESTS_SAMPLE_CLOCK_H
#define SAMPLER_TESTS_SAMPLE_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* SIGPROF at `frequency_hz` goes to `handler(context)` from now on. False, with a message on
 * stderr, when no clock can be had. */
int sample_clock_start(unsigned frequency_hz, void (*handler)(const void *context));
void sample_clock_stop(void);

#ifdef __cplusplus
}
#endif

#endif
