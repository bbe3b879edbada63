/* clock.h - what makes a thread's handler run once a period of what is measured.
 *
 *   perf    a task-clock event of perf_event_open, one for each thread: real rates
 *   timer   a POSIX timer on the thread's CPU clock: fires on the kernel's tick, the rest is made
 *           up for by weights (grid.h)
 *   event   any other event of perf_event_open, for -e EVENT: weights are read from its counter
 *
 * `auto` takes perf, without kernel time when only that is allowed, else timer. A perf event that
 * may not count the kernel stays silent there, and what the kernel used would be credited to
 * whatever runs next; so that one has a slow timer beside it, whose tick comes at the end of the
 * system call that used the time.
 *   wall    for elapsed time: perf or timer, and the watcher's signals (threads/watcher.h)
 *
 * An event has no such stand-in. Where the kernel's share may not be counted it is left out and
 * that is said. The first tick comes `first` (nanoseconds, or events) from now, so that threads
 * shorter than a period are seen as often as they should be. Context    clock_setup: SETUP.
 * clock_arm: SETUP, HOOK; the thread's own or, in SETUP, another. clock_disarm: HOOK, EXIT.
 * clock_tick_of, clock_ticked, clock_read_tick: SIGNAL, by the thread. */
#ifndef SAMPLER_PRELOAD_CLOCK_CLOCK_H
#define SAMPLER_PRELOAD_CLOCK_CLOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture.h"
#include "state/options.h"
#include "sys/context.h"
#include "sys/line.h"

/* si_code of the SIGTRAP some events send: <signal.h> may be too old to have it. */
#define CLOCK_TRAP_OF_PERF 6

struct clock {
    uint32_t kind;     /* enum capture_clock; NONE = not armed                         */
    int why_errno;     /* of the better kind that failed, 0 = this was the first choice */
    int perf_fd;       /* -1 = none                                                    */
    uint64_t perf_id;  /* the kernel's name of the event: is perf_fd still it?         */
    uint64_t counted;  /* events that earlier counters of the thread had counted       */
    int timer_id;      /* kernel's, -1 = none                                          */
    int look_fd;       /* wall: what the thread does, -1 = cannot be asked              */
    int wait_fd;       /* wall: how long it waited for a processor, likewise            */
    bool first_period; /* the event runs with the first, shorter period                */
};

enum clock_tick {
    CLOCK_TICK_FOREIGN, /* a signal of someone else */
    CLOCK_TICK_MAIN,
    CLOCK_TICK_HELPER, /* of the timer beside a perf event */
    CLOCK_TICK_LOOK,   /* of the watcher: where does it stand? */
};

void clock_setup(const struct options *options);

/* An unarmed clock. */
void clock_init(struct clock *clock);

/* Whether what is to be measured can be; if not, why, in `why`. SETUP */
bool clock_check(struct line *why);

/* Arms the clock of thread `tid` (0 = the caller). False when there is none to be had. */
bool clock_arm(struct clock *clock, pid_t tid, uint64_t first);

/* What the grid of thread `tid` (0 = the caller) lies on: its CPU time, or its count of events so
 * far. 0 when it cannot be read. */
SIGNAL_SAFE uint64_t clock_read(const struct clock *clock, pid_t tid);

/* The same at a tick, of the calling thread: cheaper. */
SIGNAL_SAFE uint64_t clock_read_tick(const struct clock *clock);

/* False when it ticks on, and nothing can be done about it. */
bool clock_disarm(struct clock *clock);

/* In a forked child: closes what was inherited of a parent's thread. */
void clock_abandon(struct clock *clock);

SIGNAL_SAFE enum clock_tick clock_tick_of(const struct clock *clock, const siginfo_t *info);

/* Whether a signal says by itself that a clock of ours sent it, of whatever thread. */
SIGNAL_SAFE bool clock_tick_is_ours(const siginfo_t *info);

/* To be told of each tick. */
SIGNAL_SAFE void clock_ticked(struct clock *clock);

#endif
