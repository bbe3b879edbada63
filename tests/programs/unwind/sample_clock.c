/* sample_clock.c - see sample_clock.h. */
#include "sample_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void (*sample_handler)(const void *context);
static int event_fd = -1;
static timer_t cpu_timer;
static int has_timer;

static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)number;
    (void)info;
    /* The clock stands meanwhile: a sample that takes longer than the period, on a machine that is
     * busy, would have the next tick follow at once, and the program would never get on. */
    if (event_fd >= 0)
        ioctl(event_fd, PERF_EVENT_IOC_DISABLE, 0);
    sample_handler(context);
    if (event_fd >= 0)
        ioctl(event_fd, PERF_EVENT_IOC_ENABLE, 0);
    errno = saved_errno;
}

static int event_start(unsigned frequency_hz)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = 1000000000u / frequency_hz;
    attributes.wakeup_events = 1;
    attributes.exclude_kernel = 1;
    attributes.disabled = 1;
    event_fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (event_fd < 0)
        return 0;
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid)};
    int ok = fcntl(event_fd, F_SETFL, O_ASYNC) == 0 && fcntl(event_fd, F_SETSIG, SIGPROF) == 0 &&
             fcntl(event_fd, F_SETOWN_EX, &owner) == 0 &&
             ioctl(event_fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
    return ok;
}

static int timer_start(unsigned frequency_hz)
{
    struct sigevent event;
    struct itimerspec spec = {.it_interval = {.tv_nsec = 1000000000 / (long)frequency_hz}};
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    spec.it_value = spec.it_interval;
    has_timer = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &cpu_timer) == 0;
    return has_timer && timer_settime(cpu_timer, 0, &spec, NULL) == 0;
}

int sample_clock_start(unsigned frequency_hz, void (*handler)(const void *context))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sample_handler = handler;
    if (sigaction(SIGPROF, &action, NULL) != 0) {
        perror("sigaction");
        return 0;
    }
    if (event_start(frequency_hz) || timer_start(frequency_hz))
        return 1;
    perror("no CPU clock");
    return 0;
}

void sample_clock_stop(void)
{
    if (event_fd >= 0)
        close(event_fd);
    if (has_timer)
        timer_delete(cpu_timer);
    event_fd = -1;
    has_timer = 0;
}
