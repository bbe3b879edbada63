/* handler.c - see handler.h. */
#include "signals/handler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "process/session.h"
#include "signals/program_signal.h"
#include "signals/restart.h"
#include "sys/fds.h"
#include "sys/libc_real.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/control.h"
#include "threads/find.h"
#include "threads/sample.h"
#include "threads/scan.h"
#include "threads/thread.h"

/* Ticks left out after a sample that took long end here, whatever it took: in periods. */
#define PAUSE_MAX_PERIODS 4u

/* Whether the program got less time since the last sample than that sample took. Then this tick is
 * left out (the next sample weighs it): at a rate beyond what the machine can do, the program gets
 * on at half its speed, instead of standing still between one handler and the next. SIGNAL */
SIGNAL_SAFE static inline bool is_overrun(const struct thread *thread, uint64_t time_ns)
{
    return time_ns - thread->sample_end_ns < thread->sample_ns;
}

/* A tick of our clock in a thread we know. SIGNAL */
SIGNAL_SAFE static void take_tick(struct thread *thread, enum clock_tick tick, const void *context)
{
    struct capture_header *header = session.recording.header;
    recording_count(&header->n_ticks, 1);
    clock_ticked(&thread->clock);
    if (session.options.empty_handler || is_overrun(thread, os_clock_ns(CLOCK_MONOTONIC)))
        return;
    /* The kernel likes to switch to another thread while it brings the CPU clock up to date. That
     * is not our handler's time, so the account begins behind it. */
    uint64_t now = clock_read_tick(&thread->clock);
    uint64_t steps = grid_advance(&thread->grid, now);
    if (thread->wall != NULL)
        steps += wall_wait_steps(thread->wall);
    if (tick == CLOCK_TICK_LOOK)
        steps += wall_steps(thread->wall, now);
    uint64_t time_ns = os_clock_ns(CLOCK_MONOTONIC);
    if (steps > 0)
        sample_take(thread, context, time_ns, steps);
    else if (tick == CLOCK_TICK_LOOK)
        sample_locate(thread, context); /* where it stands from now on, whatever that will weigh */
    uint64_t end_ns = os_clock_ns(CLOCK_MONOTONIC),
             most_ns = PAUSE_MAX_PERIODS * session.options.period_ns;
    recording_count(&header->handler_ns, end_ns - time_ns);
    scan_thread_ticked(end_ns);
    thread->sample_end_ns = end_ns;
    thread->sample_ns = end_ns - time_ns < most_ns ? end_ns - time_ns : most_ns;
}

/* A signal of ours, which may have broken off a call of the program. SIGNAL */
SIGNAL_SAFE static inline void count_tick(struct thread *thread)
{
    __atomic_store_n(&thread->n_ticks, thread->n_ticks + 1, __ATOMIC_RELAXED);
}

/* Our clock's tick, whatever state we are in. SIGNAL */
SIGNAL_SAFE static void on_tick(struct thread *thread, enum clock_tick tick, const void *context)
{
    /* First the mark, then the question whether we still run: session.c stores the phase first and
     * then looks for marks, so one of the two sees the other. */
    uint32_t holder = 0;
    if (unlikely(!__atomic_compare_exchange_n(&thread->in_handler, &holder, 1, false,
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))) {
        /* The watcher writes what it saw, and loses nothing by this tick. */
        if (holder == 1 && session_phase() == SESSION_RUNNING)
            recording_count(&session.recording.header->lost[CAPTURE_LOST_NESTED], 1);
        return;
    }
    if (likely(session_phase() == SESSION_RUNNING &&
               __atomic_load_n(&thread->state, __ATOMIC_SEQ_CST) == THREAD_LIVE &&
               !thread->is_paused))
        take_tick(thread, tick, context);
    __atomic_store_n(&thread->in_handler, 0, __ATOMIC_RELEASE);
}

/* A perf event tells the number its descriptor had, a timer the place of its clock: slots of
 * threads are never given back, so what was a clock's place still is one. SIGNAL, HOOK */
bool handler_is_late_tick(const siginfo_t *info)
{
    if (clock_tick_is_ours(info))
        return true;
    if (info->si_code == POLL_IN || info->si_code == POLL_HUP)
        return fds_was_ours(info->si_fd);
    if (info->si_code != SI_TIMER)
        return false;
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (info->si_value.sival_ptr == &t->clock)
            return true;
    return false;
}

/* SIGNAL */
SIGNAL_SAFE static inline bool is_tick_of(const struct thread *thread, const siginfo_t *info)
{
    return thread != NULL && clock_tick_of(&thread->clock, info) != CLOCK_TICK_FOREIGN;
}

/* HOOK */
bool handler_take(const siginfo_t *info)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved = 0;
    bool is_ours = is_tick_of(thread_of_tid(tls_gettid()), info) || handler_is_late_tick(info);
    os_sigmask(SIG_BLOCK, &all, &saved);
    if (scan_sent(info)) {
        scan_timer_ticked();
        is_ours = true;
    } else if (control_sent(info)) {
        control_timer_ticked();
        is_ours = true;
    }
    os_sigmask(SIG_SETMASK, &saved, NULL);
    return is_ours;
}

/* A signal kept for the process, taken by the tick of a thread on its own storage. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_kept(int signo, void *context)
{
    siginfo_t kept;
    struct sigaction action;
    if (program_signal_ticked(signo, &kept, &action))
        program_signal_deliver(&action, signo, &kept, context);
}

/* A signal of ours: of the clock of `thread`, of one of the process's timers, or a late tick. On
 * thread-local storage as libc's (`is_own`: on the thread's own): so never part of another
 * function, which might have looked up `errno` in another one. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_ours(struct thread *thread, bool is_own,
                                                          const siginfo_t *info, void *context)
{
    int saved_errno = errno;
    enum clock_tick tick = CLOCK_TICK_FOREIGN;
    if (thread != NULL) {
        count_tick(thread);
        tick = clock_tick_of(&thread->clock, info);
    }
    if (scan_sent(info))
        scan_timer_ticked();
    else if (control_sent(info))
        control_timer_ticked();
    else if (tick != CLOCK_TICK_FOREIGN)
        on_tick(thread, tick, context);
    if (is_own && unlikely(program_signal_is_kept(thread)))
        on_kept(info->si_signo, context);
    /* Without a slot the storage is given back: no call may be left with a time in it. */
    restart_interrupted_call(context, thread != NULL);
    errno = saved_errno;
}

/* A signal of the program's, on the thread's own storage. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_program(struct thread *thread, int signo,
                                                             siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct sigaction action;
    if (program_signal_arrived(signo, info, thread, &action))
        program_signal_deliver(&action, signo, info, context);
    restart_interrupted_call(context, true);
    errno = saved_errno;
}

/* Whether the thread-local storage at `pointer` is libc's for this very thread. SIGNAL */
SIGNAL_SAFE static inline bool is_own_tls(const struct thread *thread, uint64_t pointer)
{
    return thread != NULL && pointer != 0 &&
           __atomic_load_n(&thread->pointer, __ATOMIC_ACQUIRE) == pointer;
}

/* Puts storage of ours in place of the thread's own, if that is not libc's for this very thread.
 * `thread` may be NULL: nobody we know. Returns the storage, 0 = none was needed or to be had, with
 * *ok false in the latter case. SIGNAL */
SIGNAL_SAFE static uint64_t tls_enter(struct thread *thread, uint64_t pointer, bool *ok)
{
    *ok = true;
    if (is_own_tls(thread, pointer))
        return 0;
    uint64_t block = thread != NULL && thread->tls != 0 ? thread->tls : tls_block_make();
    *ok = block != 0;
    if (block != 0)
        tls_pointer_set(block);
    return block;
}

/* SIGNAL */
SIGNAL_SAFE static void tls_leave(struct thread *thread, uint64_t pointer, uint64_t block)
{
    if (block == 0)
        return;
    tls_pointer_set(pointer);
    if (thread != NULL)
        thread->tls = block;
    else
        tls_block_free(block);
}

/* A signal of the program's in a thread whose storage is not libc's: where it goes is decided on
 * ours, the program's handler runs on its own. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_program_elsewhere(struct thread *thread,
                                                                       uint64_t pointer, int signo,
                                                                       siginfo_t *info,
                                                                       void *context)
{
    struct sigaction action;
    bool ok, is_to_run;
    uint64_t block = tls_enter(thread, pointer, &ok);
    if (ok) {
        is_to_run = program_signal_arrived(signo, info, thread, &action);
    } else {
        program_signal_get(&action);
        is_to_run = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    }
    tls_leave(thread, pointer, block);
    if (is_to_run)
        program_signal_deliver(&action, signo, info, context);
    restart_interrupted_call(context, false);
}

/* Not a tick that the thread the thread pointer stands for has awaited. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_rare_signal(int signo, uint64_t pointer,
                                                                 siginfo_t *info, void *context)
{
    struct thread *thread = thread_of_tid(tls_gettid());
    bool is_ours = scan_sent(info) || control_sent(info) || is_tick_of(thread, info) ||
                   handler_is_late_tick(info);
    bool ok;
    if (is_ours) {
        uint64_t block = tls_enter(thread, pointer, &ok);
        if (ok)
            on_ours(thread, false, info, context);
        tls_leave(thread, pointer, block);
    } else if (is_own_tls(thread, pointer)) {
        on_program(thread, signo, info, context);
    } else {
        on_program_elsewhere(thread, pointer, signo, info, context);
    }
}

/* Touches no thread-local storage before it is known to be the thread's own: see tls.h. SIGNAL */
SIGNAL_SAFE static void on_signal(int signo, siginfo_t *info, void *context)
{
    uint64_t pointer = tls_pointer();
    struct thread *thread = thread_of_pointer(pointer);
    if (likely(is_own_tls(thread, pointer) && is_tick_of(thread, info)))
        on_ours(thread, true, info, context);
    else
        on_rare_signal(signo, pointer, info, context);
}

/* SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void toggle(void)
{
    int saved_errno = errno;
    control_toggle();
    errno = saved_errno;
}

/* Whether it runs on alternate stacks; atomic. */
static bool is_on_altstack = true;

/* any context */
void handler_toggle(int signo)
{
    bool ok;
    if (signo != session.options.toggle_signo || session_phase() != SESSION_RUNNING)
        return;
    uint64_t pointer = tls_pointer();
    struct thread *thread = thread_of_tid(tls_gettid());
    uint64_t block = tls_enter(thread, pointer, &ok);
    if (ok)
        toggle();
    tls_leave(thread, pointer, block);
}

/* SIGNAL */
SIGNAL_SAFE static void on_toggle(int signo, siginfo_t *info, void *context)
{
    (void)info;
    struct thread *thread = thread_of_tid(tls_gettid());
    if (thread != NULL)
        count_tick(thread);
    handler_toggle(signo);
    restart_interrupted_call(context, is_own_tls(thread, tls_pointer()));
}

/* any context */
bool handler_is_toggle(const struct sigaction *action)
{
    return action->sa_sigaction == on_toggle;
}

/* SETUP, HOOK */
static void install_toggle(void)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_toggle;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    if (__atomic_load_n(&is_on_altstack, __ATOMIC_RELAXED))
        ours.sa_flags |= SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    if (session.options.toggle_signo != 0)
        libc_real()->sigaction(session.options.toggle_signo, &ours, NULL);
}

/* HOOK */
static bool toggle_is_installed(void)
{
    struct sigaction current;
    return session.options.toggle_signo != 0 &&
           libc_real()->sigaction(session.options.toggle_signo, NULL, &current) == 0 &&
           handler_is_toggle(&current);
}

/* SETUP, HOOK */
static bool install(struct sigaction *before)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    if (__atomic_load_n(&is_on_altstack, __ATOMIC_RELAXED))
        ours.sa_flags |= SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    return libc_real()->sigaction(session.options.signo, &ours, before) == 0;
}

/* SETUP */
bool handler_install(void)
{
    struct sigaction before;
    if (!install(&before))
        return false;
    program_signal_set(&before);
    install_toggle();
    return true;
}

/* SETUP */
void handler_remove(void)
{
    struct sigaction before;
    program_signal_get(&before);
    libc_real()->sigaction(session.options.signo, &before, NULL);
}

/* HOOK */
void handler_install_again(void)
{
    install(NULL);
}

/* HOOK */
void handler_leave_altstack(void)
{
    if (!__atomic_exchange_n(&is_on_altstack, false, __ATOMIC_RELAXED))
        return;
    install(NULL);
    if (toggle_is_installed())
        install_toggle();
}
