/* engine.h - the two engines behind clock.h. Each returns 0 or an errno. */
#ifndef SAMPLER_PRELOAD_CLOCK_ENGINE_H
#define SAMPLER_PRELOAD_CLOCK_ENGINE_H

#include "clock/clock.h"

struct clock_settings {
    uint64_t period_ns;
    uint64_t event_period;
    const struct event *event; /* NULL: the task clock */
    int signo;
};

int clock_perf_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                   uint64_t first, bool with_kernel);
void clock_perf_disarm(struct clock *clock);
SIGNAL_SAFE bool clock_perf_set_period(const struct clock *clock, uint64_t period);

/* What the event has counted, 0 when that cannot be read. `sure`: a tick has just shown that the
 * descriptor is still ours. */
SIGNAL_SAFE uint64_t clock_perf_count(const struct clock *clock, bool sure);

/* Whether a signal is a tick of an event that waits for the return to user mode. */
SIGNAL_SAFE bool clock_perf_sent(const struct clock *clock, const siginfo_t *info);

/* Whether this kernel has ticks that wait for the return to user mode, and does not lose them. */
bool clock_perf_can_wait(void);

int clock_timer_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                    uint64_t first_ns, uint64_t period_ns);
/* False when the timer runs on: the program has had the call forbidden since (seccomp). */
bool clock_timer_disarm(struct clock *clock);

void clock_wall_arm(struct clock *clock, pid_t tid);
void clock_wall_disarm(struct clock *clock);

/* Makes thread `tid` take a sample of itself. The watcher (threads/watcher.h) */
void clock_wall_send(pid_t tid);
SIGNAL_SAFE bool clock_wall_sent(const siginfo_t *info);

/* The signal in use. */
int clock_signo(void);

/* What a timer's signal carries, so that it is known for ours. */
SIGNAL_SAFE bool clock_timer_sent(const struct clock *clock, const siginfo_t *info);

#endif
