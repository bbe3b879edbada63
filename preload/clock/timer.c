/* timer.c - a POSIX timer on a thread's CPU clock, by system call: libc's timer_create keeps
 * memory of its own for each and changed its version with libc's. */
#include <errno.h>

#include "clock/engine.h"
#include "sys/os.h"

/* any context */
static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / OS_NS_PER_S),
                             .tv_nsec = (long)(ns % OS_NS_PER_S)};
}

/* SETUP, HOOK */
int clock_timer_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                    uint64_t first_ns, uint64_t period_ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = settings->signo};
    struct itimerspec spec = {.it_value = timespec_of(first_ns),
                              .it_interval = timespec_of(period_ns)};
    int timer_id = -1;
    event.sigev_value.sival_ptr = clock; /* a value no one else puts into a timer of his */
    event._sigev_un._tid = tid != 0 ? tid : os_gettid();
    clockid_t cpu = tid != 0 ? os_thread_clock(tid) : CLOCK_THREAD_CPUTIME_ID;
    if (syscall(SYS_timer_create, cpu, &event, &timer_id) != 0)
        return errno;
    clock->timer_id = timer_id;
    if (syscall(SYS_timer_settime, timer_id, 0, &spec, NULL) == 0)
        return 0;
    int error = errno;
    clock_timer_disarm(clock);
    return error;
}

/* HOOK, EXIT */
bool clock_timer_disarm(struct clock *clock)
{
    if (clock->timer_id < 0)
        return true;
    bool is_deleted = syscall(SYS_timer_delete, clock->timer_id) == 0 || errno == EINVAL;
    clock->timer_id = -1;
    return is_deleted;
}

/* SIGNAL */
bool clock_timer_sent(const struct clock *clock, const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == clock;
}
