/* clock.c - see clock.h: which engine a thread gets.
 *
 *   cpu     perf with the kernel -> perf without it, and a helper timer -> timer
 *   wall    the same, and two files of /proc for the watcher
 *   event   with the kernel -> without it, if only that was refused -> none
 *
 * Each thread tries for itself, since a refusal may be of the moment (no descriptor left). A final
 * one is remembered: where a seccomp filter or the paranoid level forbids perf events, each of a
 * thousand threads would otherwise make two system calls in vain. */
#include "clock/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "clock/engine.h"
#include "sys/os.h"

/* A thread that ran less than this part of the time for which it was awaited sleeps, or shares its
 * processor with many. */
#define AWAIT_RAN_PART UINT64_C(4)

/* A timer takes longer than this to be set, and to tick. */
#define AWAIT_LEAST_NS UINT64_C(10000)

/* Written in SETUP; constant afterwards, but for the errors: set by the first thread that is
 * refused for good, read by later ones, which then do not try. Relaxed: each is valid on its
 * own. */
static struct clock_settings clock_settings;
static enum settings_clock wanted;
static bool is_wall;
static int perf_errno;      /* of the event with the kernel in it */
static int perf_user_errno; /* of the event without */

/* SETUP */
void clock_setup(const struct settings *settings)
{
    bool is_event = settings->measure == SETTINGS_EVENT;
    clock_settings = (struct clock_settings){.period_ns = settings->period_ns,
                                             .event_period = settings->step,
                                             .event = is_event ? &settings->event : NULL,
                                             .signo = settings->signo};
    wanted = settings->clock;
    if (is_event || wanted != SETTINGS_CLOCK_TIMER)
        clock_perf_setup(&clock_settings);
    is_wall = settings->measure == SETTINGS_WALL;
    clock_pace_setup();
}

/* any context */
void clock_init(struct clock *clock)
{
    *clock =
        (struct clock){.perf_fd = -1, .timer_id = -1, .first_id = -1, .look_fd = -1, .wait_fd = -1};
    clock_pace_init(&clock->pace);
}

/* Events that the kernel raises in its own code: without its share there are none. any context */
SIGNAL_SAFE static bool happens_in_kernel(const struct event *event)
{
    return event->at_return;
}

/* Errors that will not change for the next thread, as opposed to a table that is full at the
 * moment. any context */
SIGNAL_SAFE static bool is_final(int error)
{
    return error != EMFILE && error != ENFILE && error != ENOMEM && error != EAGAIN &&
           error != EINTR && error != ESRCH;
}

/* Opens a perf event, unless it was refused before; 0 or an errno. any context */
SIGNAL_SAFE static int perf_try(struct clock *clock, pid_t tid, uint64_t first_ns, bool with_kernel)
{
    int *known = with_kernel ? &perf_errno : &perf_user_errno;
    int error = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (error != 0)
        return error;
    error = clock_perf_arm(clock, &clock_settings, tid, first_ns, with_kernel);
    if (error != 0 && is_final(error))
        __atomic_store_n(known, error, __ATOMIC_RELAXED);
    return error;
}

/* any context */
SIGNAL_SAFE static bool event_arm(struct clock *clock, pid_t tid, uint64_t first)
{
    bool with_kernel = !clock_settings.event->user_only;
    clock->kind = CAPTURE_CLOCK_EVENT;
    if (with_kernel) {
        clock->why_errno = perf_try(clock, tid, first, true);
        if (clock->why_errno == 0)
            return true;
        if (happens_in_kernel(clock_settings.event) ||
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
    if (clock_settings.event == NULL)
        return true;
    if (clock_settings.event->at_return && !clock_perf_can_wait()) {
        line_add(why, "it needs Linux 6.1");
        return false;
    }
    struct clock probe;
    clock_init(&probe);
    bool is_armed = event_arm(&probe, 0, UINT64_C(1) << 40);
    int error = probe.why_errno;
    clock_disarm(&probe);
    if (is_armed)
        return true;
    const char *advice = advice_for(error);
    line_add(why, advice != NULL ? advice : strerror(error));
    return false;
}

/* any context */
bool clock_arm(struct clock *clock, pid_t tid, uint64_t first_ns)
{
    int perf_error = 0;
    uint64_t counted = clock->counted;
    clock_init(clock);
    clock->counted = counted;
    if (clock_settings.event != NULL)
        return event_arm(clock, tid, first_ns);
    if (is_wall)
        clock_wall_arm(clock, tid);
    if (wanted != SETTINGS_CLOCK_TIMER) {
        perf_error = perf_try(clock, tid, first_ns, true);
        if (perf_error == 0) {
            clock->kind = CAPTURE_CLOCK_PERF;
            return true;
        }
        int user_error = perf_try(clock, tid, first_ns, false);
        if (user_error == 0) {
            clock->kind = CAPTURE_CLOCK_PERF_USER;
            clock->why_errno = perf_error;
            uint64_t helper_ns = clock_settings.period_ns > CLOCK_HELPER_PERIOD_NS
                                     ? clock_settings.period_ns
                                     : CLOCK_HELPER_PERIOD_NS;
            clock_timer_arm(clock, &clock_settings, tid, helper_ns, helper_ns);
            return true;
        }
    }
    int timer_error =
        clock_timer_arm(clock, &clock_settings, tid, first_ns, clock_settings.period_ns);
    clock->why_errno = perf_error != 0 ? perf_error : timer_error;
    if (timer_error == 0)
        clock->kind = CAPTURE_CLOCK_TIMER;
    return timer_error == 0;
}

/* The kind of clock that a thread of this process is likely to get. any context */
SIGNAL_SAFE static enum capture_clock kind_expected(int *why_errno)
{
    *why_errno = 0;
    if (wanted == SETTINGS_CLOCK_TIMER)
        return CAPTURE_CLOCK_TIMER;
    *why_errno = __atomic_load_n(&perf_errno, __ATOMIC_RELAXED);
    if (*why_errno == 0)
        return CAPTURE_CLOCK_PERF;
    return __atomic_load_n(&perf_user_errno, __ATOMIC_RELAXED) == 0 ? CAPTURE_CLOCK_PERF_USER
                                                                    : CAPTURE_CLOCK_TIMER;
}

/* any context */
bool clock_can_await(void)
{
    return clock_settings.event == NULL && !is_wall &&
           clock_settings.period_ns >= CLOCK_SURE_PERIOD_NS;
}

/* any context */
bool clock_arm_unheard(struct clock *clock, pid_t tid, uint64_t first_ns)
{
    int why_errno;
    enum capture_clock kind = kind_expected(&why_errno);
    clock_init(clock);
    if (clock_settings.event != NULL || is_wall || wanted != SETTINGS_CLOCK_AUTO ||
        kind == CAPTURE_CLOCK_TIMER ||
        clock_timer_arm(clock, &clock_settings, tid, first_ns, clock_settings.period_ns) != 0)
        return clock_arm(clock, tid, first_ns);
    clock->kind = kind;
    clock->why_errno = why_errno;
    clock->pace.is_by_timer = true;
    return true;
}

/* The timer ticks again, in case its first tick comes while nobody can act on it: a thread that
 * another one holds, or an exec under way that will fail. any context */
bool clock_await(struct clock *clock, uint64_t first_ns)
{
    uint64_t period_ns = clock_settings.period_ns;
    clock_init(clock);
    if (!clock_can_await() ||
        clock_timer_arm_elapsed(clock, &clock_settings, first_ns, period_ns) != 0)
        return clock_arm(clock, 0, first_ns);
    clock->kind = kind_expected(&clock->why_errno);
    clock->await_ns = first_ns;
    return true;
}

/* SIGNAL */
bool clock_await_rest(struct clock *clock, uint64_t rest_ns)
{
    if (AWAIT_RAN_PART * rest_ns > (AWAIT_RAN_PART - 1) * clock->await_ns)
        return false;
    clock->await_ns = rest_ns > AWAIT_LEAST_NS ? rest_ns : AWAIT_LEAST_NS;
    return clock_timer_set_elapsed(clock, clock->await_ns, clock_settings.period_ns);
}

/* any context */
bool clock_disarm(struct clock *clock)
{
    if (clock->kind == CAPTURE_CLOCK_EVENT)
        clock->counted += clock_perf_count(clock, false);
    clock_perf_disarm(clock);
    clock_wall_disarm(clock);
    bool is_silent = clock_timer_disarm(clock);
    clock->await_ns = 0;
    clock->kind = CAPTURE_CLOCK_NONE;
    return is_silent;
}

/* HOOK: a forked child. Timers are not inherited; descriptors are. */
void clock_abandon(struct clock *clock)
{
    clock->timer_id = -1;
    clock->first_id = -1;
    clock->await_ns = 0;
    clock_perf_disarm(clock);
    clock_wall_disarm(clock);
    clock->kind = CAPTURE_CLOCK_NONE;
}

/* SIGNAL, HOOK */
enum clock_tick clock_tick_of(const struct clock *clock, const siginfo_t *info)
{
    if (clock->perf_fd >= 0 && (info->si_code == POLL_IN || info->si_code == POLL_HUP) &&
        info->si_fd == clock->perf_fd)
        return CLOCK_TICK_MAIN;
    if (is_wall && clock_wall_sent(info))
        return CLOCK_TICK_LOOK;
    if (clock->perf_fd >= 0 && clock_perf_sent(clock, info))
        return CLOCK_TICK_MAIN;
    if ((clock->timer_id >= 0 || clock->first_id >= 0) && clock_timer_sent(clock, info))
        return clock->kind == CAPTURE_CLOCK_TIMER || clock_is_awaited(clock) ? CLOCK_TICK_MAIN
                                                                             : CLOCK_TICK_HELPER;
    return CLOCK_TICK_FOREIGN;
}

/* SIGNAL, HOOK */
bool clock_tick_is_ours(const siginfo_t *info)
{
    return (info->si_signo == SIGTRAP && info->si_code == CLOCK_TRAP_OF_PERF) ||
           (is_wall && clock_wall_sent(info));
}

/* SIGNAL */
bool clock_pace(struct clock *clock, uint64_t cpu_ns)
{
    const struct clock_pace *pace = &clock->pace;
    if (likely(!pace->is_by_timer && cpu_ns - pace->since_ns < pace->window_ns) ||
        wanted == SETTINGS_CLOCK_PERF || clock_is_awaited(clock) ||
        (clock->kind != CAPTURE_CLOCK_PERF && clock->kind != CAPTURE_CLOCK_PERF_USER))
        return false;
    return clock_pace_look(clock, &clock_settings, cpu_ns);
}

/* SIGNAL */
enum capture_clock clock_kind(const struct clock *clock)
{
    return clock->pace.is_by_timer ? CAPTURE_CLOCK_STAND_IN : (enum capture_clock)clock->kind;
}

/* SIGNAL */
void clock_ticked(struct clock *clock)
{
    if (unlikely(clock->first_period)) {
        clock->first_period = false;
        clock_perf_set_period(clock);
    }
}

/* SIGNAL */
void clock_put_off(struct clock *clock)
{
    if (clock->perf_fd >= 0 && clock_settings.event == NULL)
        clock_perf_set_period(clock);
}

/* any context */
uint64_t clock_read(const struct clock *clock, pid_t tid)
{
    if (clock_settings.event != NULL)
        return clock->counted + clock_perf_count(clock, false);
    return os_clock_ns(tid != 0 ? os_thread_clock(tid) : CLOCK_THREAD_CPUTIME_ID);
}

/* SIGNAL */
uint64_t clock_read_tick(const struct clock *clock)
{
    if (clock_settings.event != NULL)
        return clock->counted + clock_perf_count(clock, true);
    return os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
