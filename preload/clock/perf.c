/* perf.c - events of perf_event_open, the task clock above all, as a thread's clock.
 *
 * The event runs freely (sample_period, no PERF_EVENT_IOC_REFRESH: re-arming a CPU clock event from
 * its own overflow froze Linux 6.16 and 6.17). It has no buffer: each overflow raises the signal of
 * F_SETSIG at the owner of F_SETOWN_EX, which is the thread itself.
 *
 * Events that happen inside system calls which may block (struct event, at_return) raise SIGTRAP
 * instead, on the way back to user mode (attr.sigtrap). A signal of F_SETSIG would be waiting when
 * the thread goes to sleep and wake it at once: the call would be broken off, made again, and meet
 * the event again, for ever. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "clock/engine.h"
#include "sys/fds.h"
#include "sys/os.h"

/* Shorter periods the kernel rounds up itself (perf_swevent_hrtimer). */
#define MIN_PERIOD_NS UINT64_C(10000)

/* Where si_perf_data of such a SIGTRAP lies: <signal.h> may be too old to know. */
#define PERF_DATA_OFFSET 24

/* SETUP, HOOK */
static int event_open(const struct clock *clock, const struct event *event, pid_t tid,
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
            attr.remove_on_exec = 1; /* the kernel asks for it */
            attr.sig_data = (uintptr_t)clock;
        }
    }
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* SETUP, HOOK */
static bool event_route(struct clock *clock, const struct clock_settings *settings, pid_t tid)
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

/* SETUP, HOOK */
int clock_perf_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                   uint64_t first, bool with_kernel)
{
    uint64_t period = first;
    if (settings->event == NULL && period < MIN_PERIOD_NS)
        period = MIN_PERIOD_NS;
    int fd = event_open(clock, settings->event, tid, period, with_kernel);
    if (fd < 0)
        return errno;
    clock->perf_fd = fds_adopt(fd);
    if (clock->perf_fd < 0)
        return errno;
    clock->first_period = settings->event == NULL || first != settings->event_period;
    if (event_route(clock, settings, tid))
        return 0;
    int error = errno;
    fds_close(clock->perf_fd);
    clock->perf_fd = -1;
    return error;
}

/* Whether perf_fd is still our event and not a file the program opened under its number. Where the
 * program has had the question forbidden since (seccomp), it is taken to be ours: a clock that goes
 * on would end the program that comes by exec. */
SIGNAL_SAFE static bool event_is_ours(const struct clock *clock)
{
    uint64_t id = 0;
    if (os_ioctl(clock->perf_fd, PERF_EVENT_IOC_ID, &id) == 0)
        return id == clock->perf_id;
    return errno != EBADF && errno != ENOTTY && errno != EINVAL;
}

/* HOOK, EXIT */
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
bool clock_perf_set_period(const struct clock *clock, uint64_t period)
{
    if (clock->kind != CAPTURE_CLOCK_EVENT && period < MIN_PERIOD_NS)
        period = MIN_PERIOD_NS;
    return event_is_ours(clock) && os_ioctl(clock->perf_fd, PERF_EVENT_IOC_PERIOD, &period) == 0;
}

/* SIGNAL */
uint64_t clock_perf_count(const struct clock *clock, bool sure)
{
    struct {
        uint64_t value;
        uint64_t id;
    } count = {0};
    if (clock->perf_fd < 0 || (!sure && !event_is_ours(clock)))
        return 0;
    long n = syscall(SYS_read, clock->perf_fd, &count, sizeof count);
    return n == (long)sizeof count && count.id == clock->perf_id ? count.value : 0;
}

/* SIGNAL */
bool clock_perf_sent(const struct clock *clock, const siginfo_t *info)
{
    uint64_t data;
    memcpy(&data, (const char *)info + PERF_DATA_OFFSET, sizeof data);
    return info->si_signo == SIGTRAP && info->si_code == CLOCK_TRAP_OF_PERF &&
           data == (uintptr_t)clock;
}

/* Linux 5.13 has attr.sigtrap; before 6.1 a tick on the way out of a processor could get lost, and
 * before 5.18 one that met our signal blocked ended the program. SETUP */
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
