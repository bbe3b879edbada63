/* handler.c - see handler.h. */
#include "handler.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "control.h"
#include "libc_real.h"
#include "os.h"
#include "program_signal.h"
#include "restart.h"
#include "sample.h"
#include "scan.h"
#include "session.h"
#include "thread.h"
#include "thread_find.h"
#include "tls.h"

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
SIGNAL_SAFE static void take_tick(struct thread *thread, const void *context)
{
    struct capture_header *header = session.recording.header;
    recording_count(&header->n_ticks, 1);
    clock_ticked(&thread->clock);
    if (session.options.empty_handler || is_overrun(thread, os_clock_ns(CLOCK_MONOTONIC)))
        return;
    /* The kernel likes to switch to another thread while it brings the CPU clock up to date. That
     * is not our handler's time, so the account begins behind it. */
    uint64_t steps = grid_advance(&thread->grid, os_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    uint64_t time_ns = os_clock_ns(CLOCK_MONOTONIC);
    if (steps > 0)
        sample_take(thread, context, time_ns, steps);
    uint64_t end_ns = os_clock_ns(CLOCK_MONOTONIC), most_ns = PAUSE_MAX_PERIODS * header->period;
    recording_count(&header->handler_ns, end_ns - time_ns);
    scan_thread_ticked(end_ns);
    thread->sample_end_ns = end_ns;
    thread->sample_ns = end_ns - time_ns < most_ns ? end_ns - time_ns : most_ns;
}

/* Our clock's tick, whatever state we are in. SIGNAL */
SIGNAL_SAFE static void on_tick(struct thread *thread, const void *context)
{
    __atomic_store_n(&thread->n_ticks, thread->n_ticks + 1, __ATOMIC_RELAXED);
    if (unlikely(__atomic_load_n(&thread->in_handler, __ATOMIC_RELAXED) != 0)) {
        if (session_phase() == SESSION_RUNNING)
            recording_count(&session.recording.header->lost[CAPTURE_LOST_NESTED], 1);
        return;
    }
    /* First the mark, then the question whether we still run: session.c stores the phase first and
     * then looks for marks, so one of the two sees the other. */
    __atomic_store_n(&thread->in_handler, 1, __ATOMIC_SEQ_CST);
    if (likely(session_phase() == SESSION_RUNNING &&
               __atomic_load_n(&thread->state, __ATOMIC_SEQ_CST) == THREAD_LIVE &&
               !thread->is_paused))
        take_tick(thread, context);
    __atomic_store_n(&thread->in_handler, 0, __ATOMIC_RELEASE);
}

/* A signal of ours: of the clock of `thread`, or of one of the process's timers. On thread-local
 * storage as libc's: so never part of another function, which might have looked up `errno` in
 * another one. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_ours(struct thread *thread,
                                                          const siginfo_t *info, void *context)
{
    int saved_errno = errno;
    if (scan_sent(info))
        scan_timer_ticked();
    else if (control_sent(info))
        control_timer_ticked();
    else
        on_tick(thread, context);
    restart_interrupted_call(context);
    errno = saved_errno;
}

/* A signal of the program's. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_program(int signo, siginfo_t *info,
                                                             void *context)
{
    int saved_errno = errno;
    if (!program_signal_deliver(signo, info, context))
        restart_interrupted_call(context);
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

/* Not a tick that the thread the thread pointer stands for has awaited. SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void on_rare_signal(int signo, uint64_t pointer,
                                                                 siginfo_t *info, void *context)
{
    struct thread *thread = thread_of_tid(tls_gettid());
    bool is_ours = scan_sent(info) || control_sent(info) ||
                   (thread != NULL && clock_tick_of(&thread->clock, info) != CLOCK_TICK_FOREIGN);
    bool ok;
    if (is_ours) {
        uint64_t block = tls_enter(thread, pointer, &ok);
        if (ok)
            on_ours(thread, info, context);
        tls_leave(thread, pointer, block);
    } else if (is_own_tls(thread, pointer)) {
        on_program(signo, info, context);
    } else if (!program_signal_deliver(signo, info, context)) {
        restart_interrupted_call(context); /* neither touches errno */
    }
}

/* Touches no thread-local storage before it is known to be the thread's own: see tls.h. SIGNAL */
SIGNAL_SAFE static void on_signal(int signo, siginfo_t *info, void *context)
{
    uint64_t pointer = tls_pointer();
    struct thread *thread = thread_of_pointer(pointer);
    if (likely(is_own_tls(thread, pointer) &&
               clock_tick_of(&thread->clock, info) != CLOCK_TICK_FOREIGN))
        on_ours(thread, info, context);
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
    handler_toggle(signo);
    restart_interrupted_call(context);
}

/* any context */
bool handler_is_toggle(const struct sigaction *action)
{
    return action->sa_sigaction == on_toggle;
}

/* SETUP */
static void install_toggle(void)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_toggle;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    if (session.options.toggle_signo != 0)
        libc_real()->sigaction(session.options.toggle_signo, &ours, NULL);
}

/* SETUP, HOOK */
static bool install(struct sigaction *before)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
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
