/* perf.c - events of perf_event_open, the task clock above all, as a thread's clock.
 *
 * The event runs freely (sample_period, no PERF_EVENT_IOC_REFRESH: re-arming a CPU clock event from
 * its own overflow froze Linux 6.16 and 6.17). It has no buffer: each overflow raises the signal of
 * F_SETSIG at the owner of F_SETOWN_EX, which is the thread itself.
 *
 * Events that happen inside system calls which may block (struct event, at_return) raise SIGTRAP
 * instead, on the way back to user mode (attr.sigtrap). A signal of F_SETSIG would be pending when
 * the thread goes to sleep and wake it at once: the call would be interrupted, made again, and
 * raise the event again, for ever. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "clock/engine.h"
#include "sys/fds.h"
#include "sys/os.h"

/* The kernel itself rounds shorter periods up to this (perf_swevent_hrtimer). */
#define MIN_PERIOD_NS UINT64_C(10000)

/* Where a timer interrupt takes longer than the period, the next one is due before the thread has
 * run one instruction: it is stuck for good, since not even our handler gets to run, which could
 * stop the event. An interrupt takes 1 or 2 us on real hardware, 30 to 50 on a virtual machine. So
 * no period shorter than this many interrupts is requested; the ticks then weigh more. */
#define PERIOD_MIN_INTERRUPTS 3u

/* Only for periods shorter than CLOCK_SURE_PERIOD_NS is it worth measuring how long an interrupt
 * takes. An event also repeats its first period until the handler sets the real one, and where a
 * thread has its first point is chance. So a first tick that comes sooner is left to a timer that
 * fires once. */
/* How long the measurement runs, and the period of its interrupts. */
#define MEASURED_NS UINT64_C(4000000)
#define MEASURED_PERIOD_NS UINT64_C(250000)

/* The period of every event after its first tick; written in SETUP. */
static uint64_t usual_period;

/* Where si_perf_data of such a SIGTRAP lies: <signal.h> may be too old to know. */
#define PERF_DATA_OFFSET 24

/* any context */
SIGNAL_SAFE static int event_open(const struct clock *clock, const struct event *event, pid_t tid,
                                  uint64_t period, bool with_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = PERF_ATTR_SIZE_VER0, /* all we use is in the oldest: fits any kernel */
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .disabled = 1,
        .exclude_kernel = with_kernel ? 0 : 1,
        .exclude_hv = 1,
        .wakeup_events = 1,
    };
    if (event != NULL) {
        attr.type = event->type;
        attr.config = event->config;
        attr.read_format = PERF_FORMAT_ID;
        if (event->at_return) {
            attr.size = PERF_ATTR_SIZE_VER7;
            attr.sigtrap = 1;
            attr.remove_on_exec = 1; /* the kernel insists on it with sigtrap */
            attr.sig_data = (uintptr_t)clock;
        }
    }
    return (int)os_call(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* any context */
SIGNAL_SAFE static bool event_route(struct clock *clock, const struct clock_settings *settings,
                                    pid_t tid)
{
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid != 0 ? tid : os_gettid()};
    int fd = clock->perf_fd;
    bool traps = settings->event != NULL && settings->event->at_return;
    /* O_ASYNC last: it stores the number that si_fd will show. */
    bool is_routed = traps || (os_fcntl(fd, F_SETSIG, settings->signo) == 0 &&
                               os_fcntl(fd, F_SETOWN_EX, (long)&owner) == 0 &&
                               os_fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC) == 0);
    return is_routed && os_ioctl(fd, PERF_EVENT_IOC_ID, &clock->perf_id) == 0 &&
           os_ioctl(fd, PERF_EVENT_IOC_ENABLE, NULL) == 0;
}

/* Whether the kernel ticks by a timer, instead of by counting. any context */
SIGNAL_SAFE static bool is_timed(const struct event *event)
{
    return event == NULL ||
           (event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_TASK_CLOCK ||
                                                  event->config == PERF_COUNT_SW_CPU_CLOCK));
}

/* any context */
uint64_t clock_perf_period_ns(uint64_t wanted_ns, uint64_t one_interrupt_ns)
{
    uint64_t least_ns = PERIOD_MIN_INTERRUPTS * one_interrupt_ns;
    if (least_ns < MIN_PERIOD_NS)
        least_ns = MIN_PERIOD_NS;
    return wanted_ns < least_ns ? least_ns : wanted_ns;
}

/* Keeps the `n` longest durations, the longest first. SETUP */
static void keep_longest(uint64_t *longest, size_t n, uint64_t duration_ns)
{
    if (duration_ns <= longest[n - 1])
        return;
    size_t at = n - 1;
    for (; at > 0 && longest[at - 1] < duration_ns; at--)
        longest[at] = longest[at - 1];
    longest[at] = duration_ns;
}

/* How long an interrupt keeps this thread from running: an event without a signal interrupts it,
 * and the clock, read again and again, shows when it did not run. The median of the longest gaps,
 * as many as there were interrupts; other things stop a thread too, but not as often. 0 without
 * perf events. SETUP */
static uint64_t measure_interrupt(void)
{
    uint64_t longest[MEASURED_NS / MEASURED_PERIOD_NS] = {0};
    const size_t n = sizeof longest / sizeof *longest;
    struct clock none = {.perf_fd = -1};
    int fd = event_open(&none, NULL, 0, MEASURED_PERIOD_NS, true);
    if (fd < 0)
        fd = event_open(&none, NULL, 0, MEASURED_PERIOD_NS, false);
    if (fd < 0)
        return 0;
    os_ioctl(fd, PERF_EVENT_IOC_ENABLE, NULL);
    uint64_t start_ns = os_clock_ns(CLOCK_MONOTONIC), before_ns = start_ns;
    while (before_ns - start_ns < MEASURED_NS) {
        uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
        if (now_ns == 0)
            break; /* no clock to be read */
        keep_longest(longest, n, now_ns - before_ns);
        before_ns = now_ns;
    }
    os_close(fd);
    return longest[n / 2];
}

/* SETUP */
void clock_perf_setup(const struct clock_settings *settings)
{
    uint64_t period = settings->event != NULL ? settings->event_period : settings->period_ns;
    usual_period = period;
    if (is_timed(settings->event) && period < CLOCK_SURE_PERIOD_NS)
        usual_period = clock_perf_period_ns(period, measure_interrupt());
}

/* any context */
int clock_perf_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                   uint64_t first, bool with_kernel)
{
    uint64_t period = first;
    bool is_soon = is_timed(settings->event) && first < CLOCK_SURE_PERIOD_NS;
    if (is_soon)
        period = CLOCK_SURE_PERIOD_NS;
    int fd = event_open(clock, settings->event, tid, period, with_kernel);
    if (fd < 0)
        return errno;
    clock->perf_fd = fds_adopt(fd);
    if (clock->perf_fd < 0)
        return errno;
    clock->first_period = is_soon || period != usual_period;
    if (event_route(clock, settings, tid)) {
        if (is_soon && tid == 0)
            clock_timer_arm_elapsed(clock, settings, first, 0);
        return 0;
    }
    int error = errno;
    fds_close(clock->perf_fd);
    clock->perf_fd = -1;
    return error;
}

/* Whether perf_fd is still our event and not a file the program opened under its number. Where the
 * program has forbidden itself the question since (seccomp), it is taken to be ours: a clock left
 * running would end the program that comes by exec. */
SIGNAL_SAFE static bool event_is_ours(const struct clock *clock)
{
    uint64_t id = 0;
    if (os_ioctl(clock->perf_fd, PERF_EVENT_IOC_ID, &id) == 0)
        return id == clock->perf_id;
    return errno != EBADF && errno != ENOTTY && errno != EINVAL;
}

/* any context */
void clock_perf_disarm(struct clock *clock)
{
    if (clock->perf_fd < 0)
        return;
    if (event_is_ours(clock))
        fds_close(clock->perf_fd);
    else
        fds_forget(clock->perf_fd);
    clock->perf_fd = -1;
}

/* SIGNAL */
void clock_perf_stop(const struct clock *clock)
{
    if (event_is_ours(clock))
        os_ioctl(clock->perf_fd, PERF_EVENT_IOC_DISABLE, NULL);
}

/* SIGNAL */
bool clock_perf_set_period(const struct clock *clock)
{
    uint64_t period = usual_period;
    return event_is_ours(clock) && os_ioctl(clock->perf_fd, PERF_EVENT_IOC_PERIOD, &period) == 0;
}

/* any context */
uint64_t clock_perf_count(const struct clock *clock, bool sure)
{
    struct {
        uint64_t value;
        uint64_t id;
    } count = {0};
    if (clock->perf_fd < 0 || (!sure && !event_is_ours(clock)))
        return 0;
    long n = os_call(SYS_read, clock->perf_fd, &count, sizeof count);
    return n == (long)sizeof count && count.id == clock->perf_id ? count.value : 0;
}

/* SIGNAL, HOOK */
bool clock_perf_sent(const struct clock *clock, const siginfo_t *info)
{
    uint64_t data;
    memcpy(&data, (const char *)info + PERF_DATA_OFFSET, sizeof data);
    return info->si_signo == SIGTRAP && info->si_code == CLOCK_TRAP_OF_PERF &&
           data == (uintptr_t)clock;
}

/* Linux 5.13 has attr.sigtrap; before 6.1 a tick on the way out of a processor could get lost, and
 * before 5.18 one that found our signal blocked ended the program. SETUP */
bool clock_perf_can_wait(void)
{
    struct utsname names;
    if (uname(&names) != 0)
        return false;
    char *end = NULL;
    unsigned long major = strtoul(names.release, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 1);
}
