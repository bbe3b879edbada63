/* handler.c - see handler.h.
 *
 *   on_signal            its own storage, its own tick (nearly always)  -> on_ours
 *     on_rare_signal     any other signal of ours                        -> on_ours
 *                        a signal of the program's, own storage          -> on_program
 *                        a signal of the program's, other storage        -> on_program_elsewhere
 *
 * errno is thread-local, and a compiler may keep its address for a whole function. So the functions
 * that run on storage that may have been exchanged are noinline, and save and restore errno
 * themselves. */
#include "signals/handler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "signals/program_signal.h"
#include "signals/restart.h"
#include "signals/storage.h"
#include "signals/toggle.h"
#include "state/run.h"
#include "sys/fds.h"
#include "sys/libc_real.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/control.h"
#include "threads/find.h"
#include "threads/kernel_time.h"
#include "threads/life.h"
#include "threads/sample.h"
#include "threads/scan.h"
#include "threads/slots.h"
#include "threads/wall_state.h"

/* A sample that took long makes the handler leave out ticks, but for no longer than this, in
 * periods. */
#define PAUSE_MAX_PERIODS 4u

/* Whether the program has had less time since the last sample than that sample took. Then this tick
 * is left out (the next sample weighs it): at a rate beyond what the machine can do, the program
 * still runs at half its speed, instead of standing still between one handler and the next.
 * SIGNAL */
SIGNAL_SAFE static inline bool is_overrun(const struct thread *thread, uint64_t time_ns)
{
    return time_ns - thread->sample_end_ns < thread->sample_ns;
}

/* A tick of our clock in a thread we know. SIGNAL */
SIGNAL_SAFE static void take_tick(struct thread *thread, enum clock_tick kind, const void *context)
{
    struct capture_header *header = session.recording.header;
    recording_count(&header->n_ticks, 1);
    clock_ticked(&thread->clock);
    if (session.settings.empty_handler)
        return;
    if (is_overrun(thread, os_clock_ns(CLOCK_MONOTONIC))) {
        if (kind == CLOCK_TICK_MAIN)
            kernel_time_left_out(thread);
        return;
    }
    /* The kernel likes to switch to another thread while it brings the CPU clock up to date. That
     * is not our handler's time, so its account begins after the clock is read. */
    uint64_t now = clock_read_tick(&thread->clock);
    struct tick tick = {.kind = kind};
    tick.steps = kernel_time_steps(thread, kind, context, grid_advance(&thread->grid, now));
    if (thread->wall != NULL)
        tick.wait_steps = wall_wait_steps(thread->wall);
    if (kind == CLOCK_TICK_LOOK)
        tick.steps += wall_steps(thread->wall, now, os_clock_ns(CLOCK_MONOTONIC));
    tick.time_ns = os_clock_ns(CLOCK_MONOTONIC);
    bool is_first = __atomic_load_n(&session.n_samples, __ATOMIC_RELAXED) == 0;
    if (tick.steps + tick.wait_steps > 0)
        sample_take(thread, context, &tick);
    else if (kind == CLOCK_TICK_LOOK)
        sample_locate(thread, context); /* where it stands from now on, whatever that will weigh */
    if (unlikely(is_first && thread->n_samples > 0 && !clock_is_awaited(&thread->clock)))
        thread_count_first(thread, now);
    if (unlikely(clock_pace(&thread->clock, now)))
        stream_put_clock(&thread->stream, clock_kind(&thread->clock), thread->clock.why_errno);
    uint64_t end_ns = os_clock_ns(CLOCK_MONOTONIC),
             most_ns = PAUSE_MAX_PERIODS * session.settings.period_ns;
    recording_count(&header->handler_ns, end_ns - tick.time_ns);
    scan_thread_ticked(end_ns);
    thread->sample_end_ns = end_ns;
    thread->sample_ns = end_ns - tick.time_ns < most_ns ? end_ns - tick.time_ns : most_ns;
}

/* The awaited one: of elapsed time, of which the thread may have had a part only. Then it stays as
 * short as can be: what it takes comes before the thread's first sample. SIGNAL */
SIGNAL_SAFE static void take_first_tick(struct thread *thread, enum clock_tick tick,
                                        const void *context)
{
    uint64_t due_ns = thread->grid.next_ns, now_ns = clock_read_tick(&thread->clock);
    if (now_ns >= due_ns) {
        take_tick(thread, tick, context);
    } else {
        recording_count(&session.recording.header->n_ticks, 1);
        if (clock_await_rest(&thread->clock, due_ns - now_ns))
            return;
        scan_thread_ticked(os_clock_ns(CLOCK_MONOTONIC));
    }
    thread_arm_awaited(thread, now_ns);
}

/* Our clock's tick, whatever state we are in. SIGNAL */
SIGNAL_SAFE static void on_tick(struct thread *thread, enum clock_tick tick, const void *context)
{
    /* First the mark, then the question whether we still run: process/session.c stores the phase
     * first and then looks for marks, so one of the two sees the other. */
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
               !thread->is_paused)) {
        if (unlikely(clock_is_awaited(&thread->clock)))
            take_first_tick(thread, tick, context);
        else
            take_tick(thread, tick, context);
    }
    __atomic_store_n(&thread->in_handler, 0, __ATOMIC_RELEASE);
}

/* A perf event's signal has the number of its descriptor, a timer's the address of its clock: slots
 * of threads are never unmapped, so what was a clock's address still is one. SIGNAL, HOOK */
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

/* A signal of ours: of the clock of `thread`, of one of the process's timers, or a late tick.
 * Whichever it is, it may have swallowed a poke, as all have one number, so each looks for a signal
 * that is held. Thread-local storage is usable; `is_own`: it is the thread's own, not a block of
 * ours. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_ours(struct thread *thread, bool is_own,
                                                          const siginfo_t *info, void *context)
{
    int saved_errno = errno;
    enum clock_tick tick = CLOCK_TICK_FOREIGN;
    if (thread != NULL) {
        thread_count_tick(thread);
        __atomic_store_n(&thread->repeat_pc, 0, __ATOMIC_RELAXED); /* what was pending was ours */
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
    restart_interrupted_call(context, true);
    os_errno_restore(saved_errno);
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
    os_errno_restore(saved_errno);
}

/* A signal of the program's in a thread whose storage is not libc's: where it goes is decided on a
 * block of ours, the program's handler runs on the thread's own. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_program_elsewhere(struct thread *thread,
                                                                       uint64_t pointer, int signo,
                                                                       siginfo_t *info,
                                                                       void *context)
{
    struct sigaction action;
    bool ok, is_to_run;
    uint64_t block = storage_enter(thread, pointer, &ok);
    if (ok) {
        is_to_run = program_signal_arrived(signo, info, thread, &action);
    } else {
        program_signal_get(&action);
        is_to_run = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    }
    storage_leave(thread, pointer, block);
    if (is_to_run)
        program_signal_deliver(&action, signo, info, context);
    restart_interrupted_call(context, false);
}

/* Anything but a tick of the thread that the thread pointer belongs to. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_rare_signal(int signo, uint64_t pointer,
                                                                 siginfo_t *info, void *context)
{
    struct thread *thread = thread_of_tid(tls_gettid());
    bool is_ours = scan_sent(info) || control_sent(info) || is_tick_of(thread, info) ||
                   handler_is_late_tick(info);
    bool ok;
    if (is_ours) {
        uint64_t block = storage_enter(thread, pointer, &ok);
        if (ok)
            on_ours(thread, storage_is_own(thread, pointer), info, context);
        storage_leave(thread, pointer, block);
    } else if (storage_is_own(thread, pointer)) {
        on_program(thread, signo, info, context);
    } else {
        on_program_elsewhere(thread, pointer, signo, info, context);
    }
}

/* Touches no thread-local storage before that is known to be the thread's own: see sys/tls.h.
 * SIGNAL */
SIGNAL_SAFE static void on_signal(int signo, siginfo_t *info, void *context)
{
    uint64_t pointer = tls_pointer();
    struct thread *thread = thread_of_pointer(pointer);
    if (likely(storage_is_own(thread, pointer) && is_tick_of(thread, info)))
        on_ours(thread, true, info, context);
    else
        on_rare_signal(signo, pointer, info, context);
}

/* Whether it runs on alternate stacks; atomic. */
static bool is_on_altstack = true;

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
    return LIBC_REAL(sigaction)(session.settings.signo, &ours, before) == 0;
}

/* SETUP */
bool handler_install(void)
{
    struct sigaction before;
    if (!install(&before))
        return false;
    program_signal_set(&before);
    toggle_install();
    return true;
}

/* SETUP */
void handler_remove(void)
{
    struct sigaction before;
    program_signal_get(&before);
    LIBC_REAL(sigaction)(session.settings.signo, &before, NULL);
}

/* EXIT */
bool handler_is_in_place(void)
{
    struct {
        uint64_t handler, flags, restorer, mask;
    } now = {0};
    return os_call(SYS_rt_sigaction, session.settings.signo, NULL, &now, OS_SIGSET_BYTES) != 0 ||
           now.handler == (uint64_t)on_signal;
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
    toggle_leave_altstack();
}
