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

/* How long a moment is, and how often one is looked for. */
#define MOMENT_NS UINT64_C(2000000)
#define MARK_ATTEMPTS 8u

static char marker; /* its address: what the timer's signal carries */

/* Written under the lock, or in SETUP. */
static struct {
    struct lock lock;
    uint64_t off_cpu_ns; /* CPU of the process when sampling was stopped */
    uint64_t paused_ns;  /* CPU of the process in all stops that are over */
    uint64_t start_ns;   /* CLOCK_MONOTONIC: the timer resumes it; 0 = it does not */
    uint64_t stop_ns;    /* CLOCK_MONOTONIC: the timer stops it; 0 = it does not (yet) */
    uint64_t switch_ns;  /* CLOCK_MONOTONIC: the last one */
    bool is_timed;       /* the duration has begun */
    int timer_id;        /* kernel's, -1 = none */
} control = {.timer_id = -1};

/* any context */
bool control_is_on(void)
{
    return __atomic_load_n(&session.is_off, __ATOMIC_SEQ_CST) == 0;
}

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

/* A switch goes over the threads several times: where hundreds of them want the processor it takes
 * seconds until all have followed. */
enum step {
    STEP_STOP_MARK, /* the moment of the switch */
    STEP_STOP,      /* no sample from here on */
    STEP_SETTLE,
    STEP_DISARM,
    STEP_RESUME_MARK, /* the moment of the switch */
    STEP_WATCH,
    STEP_ARM,
};

/* any context */
SIGNAL_SAFE static uint64_t cpu_ns_of(const struct thread *thread)
{
    return os_clock_ns(os_thread_clock(thread->tid));
}

/* any context */
SIGNAL_SAFE static void thread_mark(struct thread *thread, enum thread_behind behind)
{
    uint64_t cpu_ns = cpu_ns_of(thread);
    if (thread->behind != behind)
        thread_catch_up(thread, cpu_ns);
    thread->switch_cpu_ns = cpu_ns;
    thread->behind = behind;
}

/* Its weights reach up to now; unless its handler is at work, and does not come to an end. any
 * context */
SIGNAL_SAFE static void thread_follow_stop(struct thread *thread, uint64_t give_up_ns)
{
    if (thread->behind != THREAD_BEHIND_STOP || !thread_handler_is_done(thread, give_up_ns))
        return;
    thread_settle_other(thread, control.switch_ns);
    thread_catch_up(thread, cpu_ns_of(thread));
}

/* Its handler takes no more samples. One that has begun since the moment of the switch is sampled
 * from its beginning up to here. any context */
SIGNAL_SAFE static void thread_stop(struct thread *thread)
{
    if (thread->is_paused)
        return;
    if (thread->behind != THREAD_BEHIND_STOP) {
        thread_mark(thread, THREAD_BEHIND_STOP);
        thread->switch_cpu_ns = thread->start_cpu_ns;
    }
    thread->is_paused = true;
    if (thread->wall == NULL)
        thread_follow_stop(thread, 0);
}

/* any context */
SIGNAL_SAFE static void thread_mark_resume(struct thread *thread)
{
    if (thread->is_paused)
        thread_mark(thread, THREAD_BEHIND_RESUME);
}

/* Its elapsed time counts from the moment of the switch: the watcher sees what passes before its
 * clock is armed. any context */
SIGNAL_SAFE static void thread_watch(struct thread *thread)
{
    if (thread->behind != THREAD_BEHIND_RESUME) /* it has begun since that moment */
        thread_mark_resume(thread);
    if (thread->behind != THREAD_BEHIND_RESUME || thread->wall == NULL)
        return;
    grid_init(&thread->grid, session.settings.step, thread->switch_cpu_ns, os_random());
    wall_reset(thread->wall, thread->switch_cpu_ns, control.switch_ns);
    thread->is_paused = false;
}

/* any context */
SIGNAL_SAFE static void thread_arm_resumed(struct thread *thread)
{
    if (thread->behind != THREAD_BEHIND_RESUME)
        return;
    thread_catch_up(thread, cpu_ns_of(thread));
    if (thread->is_paused) {
        uint64_t now = clock_read(&thread->clock, thread->tid);
        thread->n_events_told = now;
        grid_init(&thread->grid, session.settings.step, now, os_random());
    }
    clock_disarm(&thread->clock); /* if its handler came to no end when it was stopped */
    thread_arm(thread, false);
    thread->is_paused = false;
}

/* Lock held, `thread` too. any context */
SIGNAL_SAFE static void thread_step(struct thread *thread, enum step step)
{
    switch (step) {
    case STEP_STOP_MARK:
        if (!thread->is_paused)
            thread_mark(thread, THREAD_BEHIND_STOP);
        break;
    case STEP_STOP:
        thread_stop(thread);
        break;
    case STEP_SETTLE:
        thread_follow_stop(thread, os_clock_ns(CLOCK_MONOTONIC) + HANDLER_WAIT_NS);
        break;
    case STEP_DISARM:
        if (thread->behind != THREAD_BEHIND_STOP)
            clock_disarm(&thread->clock);
        break;
    case STEP_RESUME_MARK:
        thread_mark_resume(thread);
        break;
    case STEP_WATCH:
        thread_watch(thread);
        break;
    case STEP_ARM:
        thread_arm_resumed(thread);
        break;
    }
}

/* Lock held. any context */
SIGNAL_SAFE static void step_all(enum step step)
{
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (t != thread_self && thread_hold(t)) {
            thread_step(t, step);
            thread_release(t);
        }
    /* The calling thread does the work: what that takes is not to be in its samples. */
    if (thread_self != NULL && thread_hold(thread_self)) {
        thread_step(thread_self, step);
        thread_release(thread_self);
    }
}

/* Lock held. Returns the CPU time of the process at that moment. A pass during which the calling
 * thread lost its processor is no moment, and is made again. any context */
SIGNAL_SAFE static uint64_t mark_all(enum step step)
{
    for (unsigned n_left = MARK_ATTEMPTS;; n_left--) {
        uint64_t from_ns = os_clock_ns(CLOCK_MONOTONIC);
        step_all(step);
        control.switch_ns = os_clock_ns(CLOCK_MONOTONIC);
        if (n_left == 1 || control.switch_ns - from_ns < MOMENT_NS)
            return os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    }
}

/* Lock held. In whichever stream. any context */
SIGNAL_SAFE static void note(bool stops)
{
    bool is_noted = false;
    for (struct thread *t = thread_slots(); t != NULL && !is_noted; t = t->next_slot)
        if (thread_hold(t)) {
            is_noted = stream_put_pause(&t->stream, control.switch_ns, stops);
            thread_release(t);
        }
}

/* CPU time used in stops, of `cpu_ns` in all. any context */
SIGNAL_SAFE static uint64_t paused_ns_at(uint64_t cpu_ns, bool is_off)
{
    bool is_more = is_off && cpu_ns > control.off_cpu_ns;
    return control.paused_ns + (is_more ? cpu_ns - control.off_cpu_ns : 0);
}

/* By the moments of the switches; threads follow later. any context */
SIGNAL_SAFE static void put_paused(uint64_t paused_ns)
{
    uint64_t all_ns = paused_ns - __atomic_load_n(&session.behind_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&session.recording.header->paused_cpu_ns, (int64_t)all_ns > 0 ? all_ns : 0,
                     __ATOMIC_RELAXED);
}

/* Lock held. any context */
SIGNAL_SAFE static void go_on(void)
{
    control.paused_ns = paused_ns_at(mark_all(STEP_RESUME_MARK), true);
    __atomic_store_n(&session.is_off, 0, __ATOMIC_SEQ_CST);
    note(false);
    step_all(STEP_WATCH);
    duration_begin(control.switch_ns);
    control.start_ns = 0;
    scan_go_on();
    step_all(STEP_ARM);
    put_paused(control.paused_ns);
}

/* Lock held. CPU time stops at one moment, and what a thread uses until it follows is known.
 * Elapsed time has no such account: it stops when all threads have, and is settled up to then. any
 * context */
SIGNAL_SAFE static void stop(void)
{
    bool is_elapsed = session.settings.measure == SETTINGS_WALL;
    control.stop_ns = 0;
    if (!is_elapsed) {
        control.off_cpu_ns = mark_all(STEP_STOP_MARK);
        note(true);
    }
    __atomic_store_n(&session.is_off, 1, __ATOMIC_SEQ_CST);
    step_all(STEP_STOP);
    if (is_elapsed) {
        control.switch_ns = os_clock_ns(CLOCK_MONOTONIC);
        control.off_cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        note(true);
    }
    step_all(STEP_SETTLE);
    step_all(STEP_DISARM);
    scan_wait_no_more();
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
    session.behind_ns = 0;
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
    put_paused(paused_ns_at(cpu_ns, !control_is_on()));
    return cpu_ns;
}
