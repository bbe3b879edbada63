/* handler.c - see handler.h. */
#include "handler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "fds.h"
#include "libc_real.h"
#include "os.h"
#include "program_signal.h"
#include "restart.h"
#include "sample.h"
#include "session.h"
#include "thread.h"

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
               __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == THREAD_LIVE))
        take_tick(thread, context);
    __atomic_store_n(&thread->in_handler, 0, __ATOMIC_RELEASE);
}

/* A perf event tells the number its descriptor had, a timer the place of its clock: slots of
 * threads are never given back, so what was a clock's place still is one. SIGNAL, HOOK */
bool handler_is_late_tick(const siginfo_t *info)
{
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
SIGNAL_SAFE static void on_signal(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct thread *thread = thread_self;
    if (unlikely(thread == NULL) && session_phase() == SESSION_RUNNING)
        thread = thread_adopt();
    if (likely(thread != NULL && clock_tick_of(&thread->clock, info) != CLOCK_TICK_FOREIGN)) {
        on_tick(thread, context);
        program_signal_ticked(signo, context, thread->mask_blocked);
    } else if (!handler_is_late_tick(info)) {
        program_signal_arrived(signo, info, context, thread != NULL && thread->mask_blocked);
    }
    restart_interrupted_call(context);
    errno = saved_errno;
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
    return libc_real()->sigaction(session.options.signo, &ours, before) == 0;
}

/* SETUP */
bool handler_install(void)
{
    struct sigaction before;
    if (!install(&before))
        return false;
    program_signal_set(&before);
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
    if (__atomic_exchange_n(&is_on_altstack, false, __ATOMIC_RELAXED))
        install(NULL);
}
