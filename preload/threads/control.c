/* control.c - see control.h.
 *
 * A stop loses nothing and leaves nothing behind: a thread is held, so that its handler takes no
 * sample; settled, so that its weights reach up to now; and only then disarmed. Its grid begins
 * anew at the resume, so that what it used in between is in no weight. */
#include "threads/control.h"

#include "state/run.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "threads/life.h"
#include "threads/scan.h"
#include "threads/slots.h"
#include "threads/wall_state.h"

/* How long a stop waits for a handler that is at work in another thread. */
#define HANDLER_WAIT_NS UINT64_C(2000000000)

static char marker; /* its address: what the timer's signal carries */

/* Written under the lock, or in SETUP. */
static struct {
    struct lock lock;
    uint64_t off_cpu_ns; /* CPU of the process when sampling was stopped */
    uint64_t paused_ns;  /* CPU of the process in all stops that are over */
    uint64_t start_ns;   /* CLOCK_MONOTONIC: the timer resumes it; 0 = it does not */
    uint64_t stop_ns;    /* CLOCK_MONOTONIC: the timer stops it; 0 = it does not (yet) */
    bool is_timed;       /* the duration has begun */
    int timer_id;        /* kernel's, -1 = none */
} control = {.timer_id = -1};

/* any context */
bool control_is_on(void)
{
    return __atomic_load_n(&session.is_off, __ATOMIC_SEQ_CST) == 0;
}

/* any context */
/* Sets the timer to the next switch; 0 disarms it. any context */
SIGNAL_SAFE static void timer_set(void)
{
    uint64_t at_ns = control_is_on() ? control.stop_ns : control.start_ns;
    const struct itimerspec spec = {.it_value = {.tv_sec = (time_t)(at_ns / OS_NS_PER_S),
                                                 .tv_nsec = (long)(at_ns % OS_NS_PER_S)}};
    if (control.timer_id >= 0)
        os_call(SYS_timer_settime, control.timer_id, TIMER_ABSTIME, &spec, NULL);
}

/* Sampling is on for the first time, at `now_ns`: now its end is known. any context */
SIGNAL_SAFE static void duration_begin(uint64_t now_ns)
{
    if (control.is_timed || session.settings.duration_ns == 0)
        return;
    control.is_timed = true;
    control.stop_ns = now_ns + session.settings.duration_ns;
}

/* Lock held, `thread` too. One whose handler does not come to an end keeps its clock: its ticks
 * count on, which is better than two writers on one stream. any context */
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
    bool by_events = session.settings.measure == SETTINGS_EVENT;
    grid_init(&thread->grid, session.settings.step,
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

/* CPU time used in stops, of `cpu_ns` in all. any context */
SIGNAL_SAFE static uint64_t paused_ns_at(uint64_t cpu_ns)
{
    bool is_more = !control_is_on() && cpu_ns > control.off_cpu_ns;
    return control.paused_ns + (is_more ? cpu_ns - control.off_cpu_ns : 0);
}

/* Lock held. is_off first, then the slots: threads that begin look at it after they are HELD. any
 * context */
SIGNAL_SAFE static void go_on(void)
{
    struct capture_header *header = session.recording.header;
    uint64_t cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    control.paused_ns = paused_ns_at(cpu_ns);
    __atomic_store_n(&header->paused_cpu_ns, control.paused_ns, __ATOMIC_RELAXED);
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
    scan_wait_no_more();
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
    uint64_t saved = lock_take_masked(&control.lock);
    if (is_running()) {
        switch_to(on);
        done = true;
    }
    lock_give_masked(&control.lock, saved);
    return done;
}

/* any context */
void control_toggle(void)
{
    if (!is_running())
        return;
    uint64_t saved = lock_take_masked(&control.lock);
    if (is_running())
        switch_to(!control_is_on());
    lock_give_masked(&control.lock, saved);
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
    uint64_t saved = lock_take_masked(&control.lock), now_ns = os_clock_ns(CLOCK_MONOTONIC);
    if (is_running() && !control_is_on() && control.start_ns != 0 && now_ns >= control.start_ns)
        switch_to(true);
    else if (is_running() && control_is_on() && control.stop_ns != 0 && now_ns >= control.stop_ns)
        switch_to(false);
    lock_give_masked(&control.lock, saved);
}

/* Times count from when sampler-run began, where it did: a command and what it starts are one run.
 * SETUP */
static void times_of_settings(void)
{
    const struct settings *settings = &session.settings;
    uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
    uint64_t since_ns = settings->since_ns != 0 ? settings->since_ns : now_ns;
    uint64_t start_ns = since_ns + settings->delay_ns;
    bool is_over = settings->duration_ns != 0 && start_ns + settings->duration_ns <= now_ns;
    session.is_off = settings->paused || start_ns > now_ns || is_over;
    if (settings->paused)
        return;
    control.start_ns = start_ns > now_ns ? start_ns : 0;
    if (settings->duration_ns == 0)
        return;
    control.is_timed = true;
    control.stop_ns = is_over ? 0 : start_ns + settings->duration_ns;
}

/* SETUP, HOOK */
void control_begin(void)
{
    static bool has_begun;
    if (!has_begun)
        times_of_settings();
    has_begun = true;
    lock_reset(&control.lock);
    control.off_cpu_ns = session.recording.header->start_cpu_ns;
    control.paused_ns = 0;
}

/* SETUP, HOOK */
void control_timer_start(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = session.settings.signo};
    int timer_id = -1;
    event.sigev_value.sival_ptr = &marker;
    control.timer_id = -1;
    if ((control.start_ns != 0 || control.stop_ns != 0 || session.settings.duration_ns != 0) &&
        os_call(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_id) == 0)
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
        os_call(SYS_timer_delete, control.timer_id);
    control.timer_id = -1;
}

/* any context but SIGNAL */
uint64_t control_note_cpu(void)
{
    uint64_t cpu_ns = os_cpu_used_ns(RUSAGE_SELF);
    __atomic_store_n(&session.recording.header->paused_cpu_ns, paused_ns_at(cpu_ns),
                     __ATOMIC_RELAXED);
    return cpu_ns;
}
