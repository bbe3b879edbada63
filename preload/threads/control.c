/* control.c - see control.h. */
#include "threads/control.h"

#include "process/session.h"
#include "sys/os.h"
#include "threads/scan.h"
#include "threads/thread.h"

/* For a handler that stands half-way. */
#define HANDLER_WAIT_NS UINT64_C(2000000000)

static char marker; /* its address: what the timer's signal carries */

/* Written under the lock, or in SETUP. */
static struct {
    uint32_t lock;       /* atomic; its holder has all signals blocked            */
    uint64_t off_cpu_ns; /* CPU of the process when sampling was stopped          */
    uint64_t start_ns;   /* CLOCK_MONOTONIC: it goes on by itself; 0 = not        */
    uint64_t stop_ns;    /* it stops by itself; 0 = not (yet)                     */
    bool is_timed;       /* the duration has begun                                */
    int timer_id;        /* kernel's, -1 = none                                   */
} control = {.timer_id = -1};

/* any context */
bool control_is_on(void)
{
    return __atomic_load_n(&session.is_off, __ATOMIC_SEQ_CST) == 0;
}

/* any context */
SIGNAL_SAFE static uint64_t lock(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved = 0;
    os_sigmask(SIG_BLOCK, &all, &saved);
    for (unsigned n = 1; __atomic_exchange_n(&control.lock, 1, __ATOMIC_ACQUIRE) != 0; n++)
        thread_wait_a_moment(n);
    return saved;
}

/* any context */
SIGNAL_SAFE static void unlock(uint64_t saved)
{
    __atomic_store_n(&control.lock, 0, __ATOMIC_RELEASE);
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* The next thing that comes by itself. any context */
SIGNAL_SAFE static void timer_set(void)
{
    uint64_t at_ns = control_is_on() ? control.stop_ns : control.start_ns;
    const struct itimerspec spec = {.it_value = {.tv_sec = (time_t)(at_ns / OS_NS_PER_S),
                                                 .tv_nsec = (long)(at_ns % OS_NS_PER_S)}};
    if (control.timer_id >= 0)
        syscall(SYS_timer_settime, control.timer_id, TIMER_ABSTIME, &spec, NULL);
}

/* Sampling is on for the first time, at `now_ns`: its end is known. any context */
SIGNAL_SAFE static void duration_begin(uint64_t now_ns)
{
    if (control.is_timed || session.options.duration_ns == 0)
        return;
    control.is_timed = true;
    control.stop_ns = now_ns + session.options.duration_ns;
}

/* Lock held. any context */
SIGNAL_SAFE static void thread_stop(struct thread *thread)
{
    uint64_t give_up_ns = os_clock_ns(CLOCK_MONOTONIC) + HANDLER_WAIT_NS;
    if (thread->is_paused || !thread_handler_is_done(thread, give_up_ns))
        return;
    thread_settle_other(thread);
    clock_disarm(&thread->clock);
    thread->is_paused = true;
}

/* Lock held. any context */
SIGNAL_SAFE static void thread_go_on(struct thread *thread)
{
    uint64_t cpu_ns = os_clock_ns(os_thread_clock(thread->tid));
    if (!thread->is_paused)
        return;
    bool by_events = session.options.measure == OPTIONS_EVENT;
    grid_init(&thread->grid, session.options.step,
              by_events ? clock_read(&thread->clock, thread->tid) : cpu_ns, os_random());
    if (thread->wall != NULL)
        wall_reset(thread->wall, cpu_ns);
    thread_arm(thread, false);
    thread->is_paused = false;
}

/* Lock held. any context */
SIGNAL_SAFE static void switch_all(bool on)
{
    uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
    bool is_noted = false;
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot) {
        if (!thread_hold(t))
            continue;
        if (!is_noted)
            is_noted = stream_put_pause(&t->stream, now_ns, !on);
        if (on)
            thread_go_on(t);
        else
            thread_stop(t);
        thread_release(t);
    }
}

/* Lock held. Threads that begin look at is_off after they are HELD: it changes before we look at
 * them. any context */
SIGNAL_SAFE static void go_on(void)
{
    struct capture_header *header = session.recording.header;
    uint64_t cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (cpu_ns > control.off_cpu_ns)
        recording_count(&header->paused_cpu_ns, cpu_ns - control.off_cpu_ns);
    __atomic_store_n(&session.is_off, 0, __ATOMIC_SEQ_CST);
    duration_begin(os_clock_ns(CLOCK_MONOTONIC));
    control.start_ns = 0;
    scan_go_on();
    switch_all(true);
}

/* Lock held. any context */
SIGNAL_SAFE static void stop(void)
{
    __atomic_store_n(&session.is_off, 1, __ATOMIC_SEQ_CST);
    control.stop_ns = 0;
    switch_all(false);
    control.off_cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Lock held. any context */
SIGNAL_SAFE static void switch_to(bool on)
{
    if (on && !control_is_on())
        go_on();
    else if (!on && control_is_on())
        stop();
    timer_set();
}

/* any context */
SIGNAL_SAFE static bool is_running(void)
{
    return session_phase() == SESSION_RUNNING && session_is_ours();
}

/* any context */
bool control_switch(bool on)
{
    bool done = false;
    if (!is_running())
        return done;
    uint64_t saved = lock();
    if (is_running()) {
        switch_to(on);
        done = true;
    }
    unlock(saved);
    return done;
}

/* any context */
void control_toggle(void)
{
    if (!is_running())
        return;
    uint64_t saved = lock();
    if (is_running())
        switch_to(!control_is_on());
    unlock(saved);
}

/* any context */
bool control_sent(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &marker;
}

/* any context */
void control_timer_ticked(void)
{
    if (!is_running())
        return;
    uint64_t saved = lock(), now_ns = os_clock_ns(CLOCK_MONOTONIC);
    if (is_running() && !control_is_on() && control.start_ns != 0 && now_ns >= control.start_ns)
        switch_to(true);
    else if (is_running() && control_is_on() && control.stop_ns != 0 && now_ns >= control.stop_ns)
        switch_to(false);
    unlock(saved);
}

/* Times count from when sampler-run began, if it did: a command that starts another is one run.
 * SETUP */
static void times_of_options(void)
{
    const struct options *options = &session.options;
    uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
    uint64_t since_ns = options->since_ns != 0 ? options->since_ns : now_ns;
    uint64_t start_ns = since_ns + options->delay_ns;
    bool is_over = options->duration_ns != 0 && start_ns + options->duration_ns <= now_ns;
    session.is_off = options->paused || start_ns > now_ns || is_over;
    if (options->paused)
        return;
    control.start_ns = start_ns > now_ns ? start_ns : 0;
    if (options->duration_ns == 0)
        return;
    control.is_timed = true;
    control.stop_ns = is_over ? 0 : start_ns + options->duration_ns;
}

/* SETUP, HOOK */
void control_begin(void)
{
    static bool has_begun;
    if (!has_begun)
        times_of_options();
    has_begun = true;
    control.lock = 0; /* in a forked child: of a thread that is not there */
    control.off_cpu_ns = session.recording.header->start_cpu_ns;
}

/* SETUP, HOOK */
void control_timer_start(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = session.options.signo};
    int timer_id = -1;
    event.sigev_value.sival_ptr = &marker;
    control.timer_id = -1;
    if ((control.start_ns != 0 || control.stop_ns != 0 || session.options.duration_ns != 0) &&
        syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_id) == 0)
        control.timer_id = timer_id;
    timer_set();
}

/* SETUP, HOOK */
void control_begun(struct thread *thread)
{
    if (!control_is_on())
        stream_put_pause(&thread->stream, session.recording.header->start_time_ns, true);
    control_timer_start();
}

/* HOOK */
void control_timer_stop(void)
{
    if (control.timer_id >= 0)
        syscall(SYS_timer_delete, control.timer_id);
    control.timer_id = -1;
}

/* any context but SIGNAL */
uint64_t control_cpu_ns(void)
{
    struct rusage usage;
    if (!control_is_on())
        return control.off_cpu_ns;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    uint64_t micros = (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return seconds * OS_NS_PER_S + micros * 1000;
}
