/* engine.h - the engines of clock.h, which alone calls them (and the watcher, its signal).
 *
 *   perf.c    events of perf_event_open, the task clock among them
 *   timer.c   POSIX timers on the thread's CPU clock
 *   pace.c    which of these two ticks, where both could
 *   wall.c    the files of /proc and the signal by which the watcher measures elapsed time
 *
 * An arm function returns 0 or an errno, and leaves the clock's fields at "none" when it fails.
 *
 * Context    clock_perf_setup, clock_perf_can_wait: SETUP. clock_wall_send: the watcher. The rest:
 *            as the functions of clock.h that call them. */
#ifndef SAMPLER_CLOCK_ENGINE_H
#define SAMPLER_CLOCK_ENGINE_H

#include "clock/clock.h"

/* Period of the timer that helps an event without kernel time (clock.h): faster than the kernel's own
 * tick is of no use. */
#define CLOCK_HELPER_PERIOD_NS UINT64_C(4000000)

/* An event with a shorter period than this is not sure to work (perf.c). */
#define CLOCK_SURE_PERIOD_NS UINT64_C(200000)

struct clock_settings {
    uint64_t period_ns;        /* of the task clock and the timer */
    uint64_t event_period;     /* of `event`, in events */
    const struct event *event; /* NULL: the task clock */
    int signo;
};

/* Finds out how fast ticks may come. Takes 4 ms where they are to come faster than every 200 us. */
void clock_perf_setup(const struct clock_settings *settings);

/* The period of an event of the kernel's timer that should tick every wanted_ns, on a machine where
 * an interrupt takes interrupt_ns: as wanted, but long enough that the thread makes progress. */
SIGNAL_SAFE uint64_t clock_perf_period_ns(uint64_t wanted_ns, uint64_t interrupt_ns);

SIGNAL_SAFE int clock_perf_arm(struct clock *clock, const struct clock_settings *settings,
                               pid_t tid, uint64_t first, bool with_kernel);
SIGNAL_SAFE void clock_perf_disarm(struct clock *clock);
/* Stops the event before the caller disarms its clock: a child that was forked a moment ago may hold
 * it open. Not for a forked child, whose descriptor is that of its parent's event. */
SIGNAL_SAFE void clock_perf_stop(const struct clock *clock);
/* Changes from the first period to its own. False when it is not our event any more. */
SIGNAL_SAFE bool clock_perf_set_period(const struct clock *clock);

/* What the event has counted, 0 when that cannot be read. `sure`: a tick has just shown that the
 * descriptor is still ours. */
SIGNAL_SAFE uint64_t clock_perf_count(const struct clock *clock, bool sure);

/* Whether a signal is a tick of an event that waits for the return to user mode. */
SIGNAL_SAFE bool clock_perf_sent(const struct clock *clock, const siginfo_t *info);

/* Whether this kernel has ticks that wait for the return to user mode, and does not lose them. */
bool clock_perf_can_wait(void);

SIGNAL_SAFE int clock_timer_arm(struct clock *clock, const struct clock_settings *settings,
                                pid_t tid, uint64_t first_ns, uint64_t period_ns);
/* A tick for the calling thread after wait_ns of elapsed time, and every again_ns from there on, 0 =
 * no other. */
SIGNAL_SAFE int clock_timer_arm_elapsed(struct clock *clock, const struct clock_settings *settings,
                                        uint64_t wait_ns, uint64_t again_ns);
/* Sets that timer anew. */
SIGNAL_SAFE bool clock_timer_set_elapsed(const struct clock *clock, uint64_t wait_ns,
                                         uint64_t again_ns);
/* False when a timer still runs: the program has forbidden itself the call since (seccomp). */
SIGNAL_SAFE bool clock_timer_disarm(struct clock *clock);

void clock_pace_setup(void);
SIGNAL_SAFE void clock_pace_init(struct clock_pace *pace);
/* What clock_pace does once in a while. */
SIGNAL_SAFE bool clock_pace_look(struct clock *clock, const struct clock_settings *settings,
                                 uint64_t cpu_ns);

SIGNAL_SAFE void clock_wall_arm(struct clock *clock, pid_t tid);
SIGNAL_SAFE void clock_wall_disarm(struct clock *clock);

/* Makes thread `tid` take a sample of itself, by our signal (threads/watcher.h); _sent recognises
 * it. */
void clock_wall_send(pid_t tid, int signo);
SIGNAL_SAFE bool clock_wall_sent(const siginfo_t *info);

/* Whether a signal is of one of this clock's timers: it carries the clock's address. */
SIGNAL_SAFE bool clock_timer_sent(const struct clock *clock, const siginfo_t *info);

#endif
