/* clock_perf.c - the task-clock event of perf_event_open as a thread's clock.
 *
 * The event runs freely (sample_period, no PERF_EVENT_IOC_REFRESH: re-arming a CPU clock event from
 * its own overflow froze Linux 6.16 and 6.17). It has no buffer: each overflow raises the signal of
 * F_SETSIG at the owner of F_SETOWN_EX, which is the thread itself. */
#include <errno.h>
#include <linux/perf_event.h>

#include "clock_engine.h"
#include "fds.h"
#include "os.h"

/* Shorter periods the kernel rounds up itself (perf_swevent_hrtimer). */
#define MIN_PERIOD_NS UINT64_C(10000)

/* SETUP, HOOK */
static int event_open(pid_t tid, uint64_t period_ns, bool with_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = PERF_ATTR_SIZE_VER0, /* all we use is in the oldest: fits any kernel */
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period_ns,
        .disabled = 1,
        .exclude_kernel = with_kernel ? 0 : 1,
        .exclude_hv = 1,
        .wakeup_events = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* SETUP, HOOK */
static bool event_route(struct clock *clock, int signo, pid_t tid)
{
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid != 0 ? tid : os_gettid()};
    int fd = clock->perf_fd;
    /* O_ASYNC last: it stores the number that si_fd will show. */
    return os_fcntl(fd, F_SETSIG, signo) == 0 && os_fcntl(fd, F_SETOWN_EX, (long)&owner) == 0 &&
           os_fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC) == 0 &&
           os_ioctl(fd, PERF_EVENT_IOC_ID, &clock->perf_id) == 0 &&
           os_ioctl(fd, PERF_EVENT_IOC_ENABLE, NULL) == 0;
}

/* SETUP, HOOK */
int clock_perf_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                   uint64_t first_ns, bool with_kernel)
{
    uint64_t period_ns = first_ns > MIN_PERIOD_NS ? first_ns : MIN_PERIOD_NS;
    int fd = event_open(tid, period_ns, with_kernel);
    if (fd < 0)
        return errno;
    clock->perf_fd = fds_adopt(fd);
    if (clock->perf_fd < 0)
        return errno;
    clock->first_period = true;
    if (event_route(clock, settings->signo, tid))
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
bool clock_perf_set_period(const struct clock *clock, uint64_t period_ns)
{
    uint64_t period = period_ns > MIN_PERIOD_NS ? period_ns : MIN_PERIOD_NS;
    return event_is_ours(clock) && os_ioctl(clock->perf_fd, PERF_EVENT_IOC_PERIOD, &period) == 0;
}
