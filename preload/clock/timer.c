/* timer.c - POSIX timers for a thread, by system call: libc's timer_create allocates memory for
 * each, and its symbol version changed with libc's.
 *
 * A timer's signal carries the address of its clock. Slots of threads are never unmapped, so no one
 * else's value can be equal. */
#include <errno.h>

#include "clock/engine.h"
#include "sys/os.h"

/* any context */
SIGNAL_SAFE static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / OS_NS_PER_S),
                             .tv_nsec = (long)(ns % OS_NS_PER_S)};
}

/* Deletes the timer *id, if there is one. any context */
SIGNAL_SAFE static bool timer_end(int *id)
{
    if (*id < 0)
        return true;
    bool is_deleted = os_call(SYS_timer_delete, *id) == 0 || errno == EINVAL;
    *id = -1;
    return is_deleted;
}

/* Starts a timer that signals `tid`, and stores its number. Returns 0 or an errno. any context */
SIGNAL_SAFE static int timer_start(int *id, clockid_t measured, const struct itimerspec *spec,
                                   int signo, pid_t tid, struct clock *clock)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signo};
    int timer_id = -1;
    event.sigev_value.sival_ptr = clock; /* a value no one else has */
    event._sigev_un._tid = tid;
    if (os_call(SYS_timer_create, measured, &event, &timer_id) != 0)
        return errno;
    *id = timer_id;
    if (os_call(SYS_timer_settime, timer_id, 0, spec, NULL) == 0)
        return 0;
    int error = errno;
    timer_end(id);
    return error;
}

/* any context */
int clock_timer_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                    uint64_t first_ns, uint64_t period_ns)
{
    struct itimerspec spec = {.it_value = timespec_of(first_ns),
                              .it_interval = timespec_of(period_ns)};
    clockid_t cpu = tid != 0 ? os_thread_clock(tid) : CLOCK_THREAD_CPUTIME_ID;
    return timer_start(&clock->timer_id, cpu, &spec, settings->signo, tid != 0 ? tid : os_gettid(),
                       clock);
}

/* Timers on CPU time fire with the kernel's own tick, milliseconds later. any context */
int clock_timer_arm_elapsed(struct clock *clock, const struct clock_settings *settings,
                            uint64_t wait_ns, uint64_t again_ns)
{
    struct itimerspec spec = {.it_value = timespec_of(wait_ns),
                              .it_interval = timespec_of(again_ns)};
    timer_end(&clock->first_id);
    return timer_start(&clock->first_id, CLOCK_MONOTONIC, &spec, settings->signo, os_gettid(),
                       clock);
}

/* SIGNAL */
bool clock_timer_set_elapsed(const struct clock *clock, uint64_t wait_ns, uint64_t again_ns)
{
    struct itimerspec spec = {.it_value = timespec_of(wait_ns),
                              .it_interval = timespec_of(again_ns)};
    return os_call(SYS_timer_settime, clock->first_id, 0, &spec, NULL) == 0;
}

/* any context */
bool clock_timer_disarm(struct clock *clock)
{
    bool is_first_silent = timer_end(&clock->first_id);
    return timer_end(&clock->timer_id) && is_first_silent;
}

/* SIGNAL, HOOK */
bool clock_timer_sent(const struct clock *clock, const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == clock;
}
