/* clock.c - see clock.h: which engine a thread gets. */
#include "clock/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "clock/engine.h"
#include "sys/os.h"

/* Ticks of the timer beside a perf event: no faster than the kernel's own tick is of use. */
#define HELPER_PERIOD_NS UINT64_C(4000000)

/* Written in SETUP; afterwards constant, but for the errors: set by the first thread that is
 * refused for good, read by the later ones, which then do not ask again. Relaxed: each alone is
 * right. */
static struct clock_settings settings;
static enum options_clock wanted;
static bool is_wall;
static int perf_errno;      /* of the event with the kernel in it */
static int perf_user_errno; /* of the event without */

/* SETUP */
void clock_setup(const struct options *options)
{
    bool is_event = options->measure == OPTIONS_EVENT;
    settings = (struct clock_settings){.period_ns = options->period_ns,
                                       .event_period = options->step,
                                       .event = is_event ? &options->event : NULL,
                                       .signo = options->signo};
    wanted = options->clock;
    is_wall = options->measure == OPTIONS_WALL;
}

/* any context */
void clock_init(struct clock *clock)
{
    *clock = (struct clock){.perf_fd = -1, .timer_id = -1, .look_fd = -1, .wait_fd = -1};
}

/* any context */
int clock_signo(void)
{
    return settings.signo;
}

/* Events that the kernel raises while it runs itself: without its share there are none. */
static bool happens_in_kernel(const struct event *event)
{
    return event->at_return;
}

/* Errors that will not change for the next thread, as opposed to a table that is full just now. */
static bool is_final(int error)
{
    return error != EMFILE && error != ENFILE && error != ENOMEM && error != EAGAIN &&
           error != EINTR && error != ESRCH;
}

/* Asks for a perf event unless it was refused before. SETUP, HOOK */
static int perf_try(struct clock *clock, pid_t tid, uint64_t first_ns, bool with_kernel)
{
    int *known = with_kernel ? &perf_errno : &perf_user_errno;
    int error = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (error != 0)
        return error;
    error = clock_perf_arm(clock, &settings, tid, first_ns, with_kernel);
    if (error != 0 && is_final(error))
        __atomic_store_n(known, error, __ATOMIC_RELAXED);
    return error;
}

/* SETUP, HOOK */
static bool event_arm(struct clock *clock, pid_t tid, uint64_t first)
{
    bool with_kernel = !settings.event->user_only;
    clock->kind = CAPTURE_CLOCK_EVENT;
    if (with_kernel) {
        clock->why_errno = perf_try(clock, tid, first, true);
        if (clock->why_errno == 0)
            return true;
        if (happens_in_kernel(settings.event) ||
            (clock->why_errno != EACCES && clock->why_errno != EPERM)) {
            clock->kind = CAPTURE_CLOCK_NONE;
            return false;
        }
    }
    int user_error = perf_try(clock, tid, first, false);
    if (user_error == 0)
        return true;
    clock->why_errno = user_error;
    clock->kind = CAPTURE_CLOCK_NONE;
    return false;
}

/* What to do about an error of perf_event_open. SETUP */
static const char *advice_for(int error)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "this machine does not count it (virtual machines often have no hardware counters): "
               "cpu, wall and page-faults need none";
    case EINVAL:
        return "the kernel does not take samples of it";
    case EACCES:
    case EPERM:
        return "not allowed: it needs /proc/sys/kernel/perf_event_paranoid at 1 or below, the "
               "capability CAP_PERFMON, and a container that does not forbid perf_event_open";
    case ENOSYS:
        return "this kernel or container has no perf_event_open: cpu and wall need none";
    default:
        return NULL;
    }
}

/* SETUP */
bool clock_check(struct line *why)
{
    if (settings.event == NULL)
        return true;
    if (settings.event->at_return && !clock_perf_can_wait()) {
        line_add(why, "it needs Linux 6.1");
        return false;
    }
    struct clock probe = {.perf_fd = -1, .timer_id = -1, .look_fd = -1, .wait_fd = -1};
    bool is_armed = event_arm(&probe, 0, UINT64_C(1) << 40);
    int error = probe.why_errno;
    clock_disarm(&probe);
    if (is_armed)
        return true;
    const char *advice = advice_for(error);
    line_add(why, advice != NULL ? advice : strerror(error));
    return false;
}

/* SETUP, HOOK */
bool clock_arm(struct clock *clock, pid_t tid, uint64_t first_ns)
{
    int perf_error = 0;
    uint64_t counted = clock->counted;
    clock_init(clock);
    clock->counted = counted;
    if (settings.event != NULL)
        return event_arm(clock, tid, first_ns);
    if (is_wall)
        clock_wall_arm(clock, tid);
    if (wanted != OPTIONS_CLOCK_TIMER) {
        perf_error = perf_try(clock, tid, first_ns, true);
        if (perf_error == 0) {
            clock->kind = CAPTURE_CLOCK_PERF;
            return true;
        }
        int user_error = perf_try(clock, tid, first_ns, false);
        if (user_error == 0) {
            clock->kind = CAPTURE_CLOCK_PERF_USER;
            clock->why_errno = perf_error;
            uint64_t helper_ns =
                settings.period_ns > HELPER_PERIOD_NS ? settings.period_ns : HELPER_PERIOD_NS;
            clock_timer_arm(clock, &settings, tid, helper_ns, helper_ns);
            return true;
        }
    }
    int timer_error = clock_timer_arm(clock, &settings, tid, first_ns, settings.period_ns);
    clock->why_errno = perf_error != 0 ? perf_error : timer_error;
    if (timer_error == 0)
        clock->kind = CAPTURE_CLOCK_TIMER;
    return timer_error == 0;
}

/* HOOK, EXIT */
bool clock_disarm(struct clock *clock)
{
    if (clock->kind == CAPTURE_CLOCK_EVENT)
        clock->counted += clock_perf_count(clock, false);
    clock_perf_disarm(clock);
    clock_wall_disarm(clock);
    bool is_silent = clock_timer_disarm(clock);
    clock->kind = CAPTURE_CLOCK_NONE;
    return is_silent;
}

/* HOOK: a forked child. Timers are not inherited; descriptors are. */
void clock_abandon(struct clock *clock)
{
    clock->timer_id = -1;
    clock_perf_disarm(clock);
    clock_wall_disarm(clock);
    clock->kind = CAPTURE_CLOCK_NONE;
}

/* SIGNAL */
enum clock_tick clock_tick_of(const struct clock *clock, const siginfo_t *info)
{
    if (clock->perf_fd >= 0 && (info->si_code == POLL_IN || info->si_code == POLL_HUP) &&
        info->si_fd == clock->perf_fd)
        return CLOCK_TICK_MAIN;
    if (is_wall && clock_wall_sent(info))
        return CLOCK_TICK_LOOK;
    if (clock->perf_fd >= 0 && clock_perf_sent(clock, info))
        return CLOCK_TICK_MAIN;
    if (clock->timer_id >= 0 && clock_timer_sent(clock, info))
        return clock->kind == CAPTURE_CLOCK_TIMER ? CLOCK_TICK_MAIN : CLOCK_TICK_HELPER;
    return CLOCK_TICK_FOREIGN;
}

/* SIGNAL, HOOK */
bool clock_tick_is_ours(const siginfo_t *info)
{
    return (info->si_signo == SIGTRAP && info->si_code == CLOCK_TRAP_OF_PERF) ||
           (is_wall && clock_wall_sent(info));
}

/* SIGNAL */
void clock_ticked(struct clock *clock)
{
    if (unlikely(clock->first_period)) {
        clock->first_period = false;
        clock_perf_set_period(clock,
                              settings.event != NULL ? settings.event_period : settings.period_ns);
    }
}

/* SIGNAL */
uint64_t clock_read(const struct clock *clock, pid_t tid)
{
    if (settings.event != NULL)
        return clock->counted + clock_perf_count(clock, false);
    return os_clock_ns(tid != 0 ? os_thread_clock(tid) : CLOCK_THREAD_CPUTIME_ID);
}

/* SIGNAL */
uint64_t clock_read_tick(const struct clock *clock)
{
    if (settings.event != NULL)
        return clock->counted + clock_perf_count(clock, true);
    return os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
