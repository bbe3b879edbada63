/* clock.h - what makes a thread's handler run once a period of what is measured.
 *
 *   perf    a task-clock event of perf_event_open, one for each thread: real rates
 *   timer   a POSIX timer on the thread's CPU clock: fires on the kernel's tick; weights make up
 *           for the ticks that are missing (grid.h)
 *   event   any other event of perf_event_open, for -e EVENT: weights are read from its counter
 *   wall    for elapsed time: perf or timer, and the watcher's signals (threads/watcher.h)
 *
 * `auto` takes perf, without kernel time when only that is allowed, else timer. A perf event that
 * may not count the kernel stays silent there, and what the kernel used would be credited to
 * whatever runs next; so it gets a slow timer as a helper, whose tick comes at the end of the
 * system call that used the time. An event has no such stand-in: where the kernel's share may not
 * be counted it is left out, and the recording states that.
 *
 * With `auto` a thread that switches often gets its ticks from a timer for as long as it does, since
 * each switch makes an event costly (pace.c).
 *
 * The first tick comes `first` (nanoseconds, or events) from now, so that threads shorter than a
 * period are seen as often as they should be.
 *
 * Most threads of most programs end before that. Where CPU time is measured a thread therefore gets
 * no more at first than a timer on elapsed time, a tenth of what an event costs, and the clock proper
 * when that has ticked (clock_await). Whether events are allowed is known no sooner: what a clock says
 * it is until then is what is expected.
 *
 * Owner      a clock lies in its thread's slot. It is armed and disarmed by the thread itself, or
 *            by whoever holds the slot.
 * Context    clock_setup, clock_check: SETUP. clock_abandon: HOOK. clock_ticked, clock_read_tick:
 *            SIGNAL, by the thread. The rest: any. */
#ifndef SAMPLER_CLOCK_H
#define SAMPLER_CLOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture.h"
#include "state/settings.h"
#include "sys/context.h"
#include "sys/line.h"

/* si_code of the SIGTRAP some events send: <signal.h> may be too old to have it. */
#define CLOCK_TRAP_OF_PERF 6

/* Of a thread with perf: how often it switches (pace.c). */
struct clock_pace {
    bool is_by_timer;    /* the event is closed and the timer ticks */
    uint64_t since_ns;   /* CPU time when its switches were last counted */
    uint64_t n_switches; /* and how many there were */
    uint64_t window_ns;  /* CPU time until they are counted again */
    uint64_t stay_ns;    /* how long it keeps the timer next time */
    uint64_t keep_ns;    /* how long it keeps the event next time the timer did not see it */
    uint64_t ticked_ns;  /* CPU time at the timer's last tick */
};

struct clock {
    uint32_t kind;     /* enum capture_clock it was armed as; NONE = not armed */
    int why_errno;     /* of the better kind that failed, 0 = this was the first choice */
    int perf_fd;       /* -1 = none */
    uint64_t perf_id;  /* the kernel's name of the event: is perf_fd still it? */
    uint64_t counted;  /* events that earlier counters of the thread had counted */
    int timer_id;      /* kernel's, -1 = none */
    int first_id;      /* of a timer on elapsed time for the first tick, -1 = none */
    int look_fd;       /* wall: what the thread does, -1 = cannot be read; atomic */
    int wait_fd;       /* wall: how long it waited for a processor, -1 = cannot be read; atomic */
    uint64_t await_ns; /* that timer is all there is yet, set to tick after this time; else 0 */
    bool first_period; /* the event does not run with its own period yet */
    struct clock_pace pace;
};

enum clock_tick {
    CLOCK_TICK_FOREIGN, /* a signal of someone else, or of another thread's clock */
    CLOCK_TICK_MAIN,
    CLOCK_TICK_HELPER, /* of a timer next to a perf event, or in its place */
    CLOCK_TICK_LOOK,   /* of the watcher: where does the thread stand? */
};

/* Keeps `settings`' event, reads the rest. Takes 4 ms where ticks are to come faster than every
 * 200 us: it measures what an interrupt costs on this machine. */
void clock_setup(const struct settings *settings);

/* An unarmed clock. */
SIGNAL_SAFE void clock_init(struct clock *clock);

/* Whether what is requested can be measured; if not, the reason is added to `why`. */
bool clock_check(struct line *why);

/* Arms the clock of thread `tid` (0 = the caller), which must not be armed. False when no kind is
 * available: kind is NONE, why_errno the reason. A refusal that will not change for the next thread
 * is remembered for the process; an error of the moment (no descriptor left) costs this thread
 * alone its better clock. */
SIGNAL_SAFE bool clock_arm(struct clock *clock, pid_t tid, uint64_t first);

/* The same for a thread that lets none of its ticks through: it gets the timer, even where it would
 * get an event, which costs each time it gives its processor up (pace.c). */
SIGNAL_SAFE bool clock_arm_unheard(struct clock *clock, pid_t tid, uint64_t first);

/* Whether clock_await awaits: the thread then ticks after so much elapsed time, even if it sleeps. */
SIGNAL_SAFE bool clock_can_await(void);

/* Arms the clock of the calling thread as clock_arm does, if need be; else it is awaited from now on,
 * and ticks come until it is disarmed and armed. `kind` and why_errno are what is expected then. */
SIGNAL_SAFE bool clock_await(struct clock *clock, uint64_t first);

/* Only the timer is there yet. */
SIGNAL_SAFE static inline bool clock_is_awaited(const struct clock *clock)
{
    return clock->await_ns != 0;
}

/* The tick of a clock that is awaited has come `rest_ns` too soon, as the thread did not run all the
 * while. Sets the timer again, unless the thread ran so little that it would tick many times; false
 * then. */
SIGNAL_SAFE bool clock_await_rest(struct clock *clock, uint64_t rest_ns);

/* The position of thread `tid` (0 = the caller) on its grid's clock: its CPU time, or its count of
 * events so far. 0 when it cannot be read. */
SIGNAL_SAFE uint64_t clock_read(const struct clock *clock, pid_t tid);

/* The same at a tick of the calling thread, cheaper: the tick has shown that the event is ours. */
SIGNAL_SAFE uint64_t clock_read_tick(const struct clock *clock);

/* Disarms; no error if it is not armed. False when it still ticks, and nothing can be done about
 * it. */
SIGNAL_SAFE bool clock_disarm(struct clock *clock);

/* In a forked child: closes what was inherited of a parent's thread. */
void clock_abandon(struct clock *clock);

/* Which of the clock's sources has sent a signal that came to its thread. */
SIGNAL_SAFE enum clock_tick clock_tick_of(const struct clock *clock, const siginfo_t *info);

/* Whether a signal shows on its own that a clock of ours sent it, to whichever thread. */
SIGNAL_SAFE bool clock_tick_is_ours(const siginfo_t *info);

/* To be called at a tick with the thread's CPU time: sees to it that the clock of a thread that
 * switches often costs little. True when what ticks has changed. */
SIGNAL_SAFE bool clock_pace(struct clock *clock, uint64_t cpu_ns);

/* What ticks at present, for the recording. */
SIGNAL_SAFE enum capture_clock clock_kind(const struct clock *clock);

/* At the end of a tick that was handled at some length: the next one is a period from here. */
SIGNAL_SAFE void clock_put_off(struct clock *clock);

/* To be called at each tick: after the first one the event gets its own period. */
SIGNAL_SAFE void clock_ticked(struct clock *clock);

#endif
