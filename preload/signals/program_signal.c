/* program_signal.c - see program_signal.h.
 *
 * Our signal is never blocked, so a signal that the program believes blocked cannot be pending in
 * the kernel. It is held here instead, and a thread that would take it gets a further signal, which
 * carries the address of held_by_process as its value (a poke). Ticks, pokes and the program's
 * signals all have one number, of which the kernel keeps one pending: a tick may swallow a poke. So
 * each tick also looks whether one is held (program_signal_is_kept). */
#include "signals/program_signal.h"

#include <string.h>
#include <ucontext.h>

#include "signals/restart.h"
#include "state/run.h"
#include "sys/os.h"
#include "threads/find.h"
#include "threads/slots.h"

/* Two copies: the current one is never written to. A writer fills the other and then switches, by a
 * release store; a signal in the middle of that sees the old one. Writers come one at a time: two
 * threads that set one signal's handler at the same time race without us as well. */
static struct sigaction actions[2];
static unsigned current;

/* SETUP, HOOK */
void program_signal_set(const struct sigaction *action)
{
    /* What a vfork child sets is its own, but its memory is its parent's: nothing may be kept of
     * it. */
    if (session_phase() != SESSION_OFF && !session_is_ours())
        return;
    unsigned other = 1 - __atomic_load_n(&current, __ATOMIC_RELAXED);
    actions[other] = *action;
    __atomic_store_n(&current, other, __ATOMIC_RELEASE);
}

/* any context */
void program_signal_get(struct sigaction *action)
{
    *action = actions[__atomic_load_n(&current, __ATOMIC_ACQUIRE)];
}

/* A signal that is held. EMPTY -> WRITING -> FULL -> EMPTY by compare-and-swap: a further one that
 * comes meanwhile is the same one, as with the kernel. */
enum { HELD_EMPTY, HELD_WRITING, HELD_FULL };

struct held {
    uint32_t state;
    siginfo_t info;
};

static struct held held_by_process;
static __thread struct held held_by_thread;

/* The thread that waits for it by sigwait and the like, 0 = none; atomic. */
static pid_t waiter;

/* any context */
SIGNAL_SAFE static void hold(struct held *held, const siginfo_t *info)
{
    uint32_t empty = HELD_EMPTY;
    if (!__atomic_compare_exchange_n(&held->state, &empty, HELD_WRITING, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    memcpy(&held->info, info, sizeof held->info);
    __atomic_store_n(&held->state, HELD_FULL, __ATOMIC_RELEASE);
}

/* SIGNAL, HOOK */
SIGNAL_SAFE static bool take(struct held *held, siginfo_t *info)
{
    if (__atomic_load_n(&held->state, __ATOMIC_ACQUIRE) != HELD_FULL)
        return false;
    siginfo_t copy;
    memcpy(&copy, &held->info, sizeof copy);
    uint32_t full = HELD_FULL;
    if (!__atomic_compare_exchange_n(&held->state, &full, HELD_EMPTY, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    memcpy(info, &copy, sizeof copy);
    return true;
}

/* The kernel accepts an si_code of kill, of tgkill or of its own only from the thread that the
 * signal goes to. SIGNAL, HOOK */
SIGNAL_SAFE static bool send_to_caller(const siginfo_t *info)
{
    siginfo_t sent;
    memcpy(&sent, info, sizeof sent);
    return os_call(SYS_rt_tgsigqueueinfo, os_getpid(), os_gettid(), info->si_signo, &sent) == 0;
}

/* Announces to another thread the signal held for the process. SIGNAL */
SIGNAL_SAFE static bool poke(pid_t tid, int signo)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signo;
    info.si_code = SI_QUEUE;
    info.si_pid = os_getpid();
    info.si_value.sival_ptr = &held_by_process;
    return os_call(SYS_rt_tgsigqueueinfo, os_getpid(), tid, signo, &info) == 0;
}

/* SIGNAL, HOOK */
bool program_signal_is_poke(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &held_by_process;
}

/* HOOK */
static uint32_t n_arrived(const struct thread *thread)
{
    return __atomic_load_n(&thread->n_arrived, __ATOMIC_RELAXED);
}

/* To the calling thread, which does not block it. A tick or a poke that is pending at that moment
 * would swallow it, as all have one number: then it is sent again. (So neither counts as arrived.)
 * HOOK */
static void send_to_self(const siginfo_t *info)
{
    const struct thread *thread = thread_of_tid(os_gettid());
    uint32_t before = thread != NULL ? n_arrived(thread) : 0;
    while (send_to_caller(info) && thread != NULL && n_arrived(thread) == before)
        continue;
}

/* SIGNAL */
SIGNAL_SAFE static bool takes_it(const struct thread *thread)
{
    uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
    return (state == THREAD_LIVE || state == THREAD_HELD) && !thread->is_found &&
           !__atomic_load_n(&thread->mask_blocked, __ATOMIC_RELAXED);
}

/* A thread that has it unblocked, other than the caller; 0 = none. (Of threads not made by
 * pthread_create the masks are not known.) SIGNAL */
SIGNAL_SAFE static pid_t thread_that_takes(const struct thread *caller)
{
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (t != caller && takes_it(t))
            return t->tid;
    return 0;
}

/* Holds it; one meant for the process is announced to a thread that waits for it or has it
 * unblocked. SIGNAL */
SIGNAL_SAFE static void arrived_blocked(int signo, const siginfo_t *info,
                                        const struct thread *thread)
{
    if (info->si_code == SI_TKILL) {
        hold(&held_by_thread, info);
        return;
    }
    hold(&held_by_process, info);
    /* Held first, then the look for a thread that takes it; a thread that begins to take it notes
     * that first, and then looks for one that is held (mask_believe). One of the two sees the
     * other. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    pid_t waits = __atomic_load_n(&waiter, __ATOMIC_SEQ_CST);
    if (waits == 0)
        waits = thread_that_takes(thread);
    if (waits != 0 && waits != os_gettid())
        poke(waits, signo);
}

/* What the kernel would do: for most signals, end the process. Returns where the signal is ignored
 * by default, or stops the process. SIGNAL */
SIGNAL_SAFE static void act_by_default(int signo, siginfo_t *info)
{
    struct {
        uint64_t handler, flags, restorer, mask;
    } ours = {0}, by_default = {0};
    uint64_t bit = os_signal_bit(signo);
    os_call(SYS_rt_sigaction, signo, &by_default, &ours, OS_SIGSET_BYTES);
    if (send_to_caller(info))
        os_sigmask(SIG_UNBLOCK, &bit, NULL); /* the process ends here */
    os_sigmask(SIG_BLOCK, &bit, NULL);
    os_call(SYS_rt_sigaction, signo, &ours, NULL, OS_SIGSET_BYTES);
}

/* What the program runs in its handler is its own choice. SIGNAL */
SIGNAL_UNSAFE_BY_CHOICE static void program_handler_call(const struct sigaction *action, int signo,
                                                         siginfo_t *info, void *context)
{
    if (((unsigned)action->sa_flags & SA_SIGINFO) != 0)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
}

/* Runs the program's own handler, as the kernel would. SIGNAL */
void program_signal_deliver(const struct sigaction *action, int signo, siginfo_t *info,
                            void *context)
{
    restart_note_handler(context);
    if (((unsigned)action->sa_flags & (unsigned)SA_RESETHAND) != 0) {
        struct sigaction reset = {.sa_handler = SIG_DFL};
        program_signal_set(&reset);
    }
    /* Its handler expects its own mask: that of the interrupted code and sa_mask. When our handler
     * returns, the kernel restores the former. */
    const ucontext_t *interrupted = context;
    uint64_t mask = os_sigset_bits(&interrupted->uc_sigmask) | os_sigset_bits(&action->sa_mask) |
                    os_signal_bit(signo);
    os_sigmask(SIG_SETMASK, &mask, NULL);
    program_handler_call(action, signo, info, context);
}

/* In a thread that has it unblocked; true: the program's handler must be run. SIGNAL */
SIGNAL_SAFE static bool act(int signo, siginfo_t *info, struct sigaction *action)
{
    program_signal_get(action);
    if (action->sa_handler != SIG_DFL)
        return action->sa_handler != SIG_IGN;
    act_by_default(signo, info);
    return false;
}

/* SIGNAL */
bool program_signal_arrived(int signo, siginfo_t *info, struct thread *thread,
                            struct sigaction *action)
{
    bool blocked = thread != NULL && thread->mask_blocked;
    if (program_signal_is_poke(info)) {
        if (blocked || !take(&held_by_process, info))
            return false;
    } else if (thread != NULL) {
        __atomic_store_n(&thread->n_arrived, thread->n_arrived + 1, __ATOMIC_RELAXED);
    }
    if (!blocked)
        return act(signo, info, action);
    arrived_blocked(signo, info, thread);
    return false;
}

/* SIGNAL */
bool program_signal_is_kept(const struct thread *thread)
{
    return __atomic_load_n(&held_by_process.state, __ATOMIC_ACQUIRE) == HELD_FULL &&
           !thread->mask_blocked;
}

/* SIGNAL */
bool program_signal_ticked(int signo, siginfo_t *kept, struct sigaction *action)
{
    return take(&held_by_process, kept) && act(signo, kept, action);
}

/* HOOK */
bool program_signal_is_held(void)
{
    return __atomic_load_n(&held_by_thread.state, __ATOMIC_ACQUIRE) == HELD_FULL ||
           __atomic_load_n(&held_by_process.state, __ATOMIC_ACQUIRE) == HELD_FULL;
}

/* HOOK */
bool program_signal_take(siginfo_t *info)
{
    return take(&held_by_thread, info) || take(&held_by_process, info);
}

/* HOOK */
void program_signal_release(void)
{
    siginfo_t info;
    while (program_signal_take(&info))
        send_to_self(&info);
}

/* HOOK */
void program_signal_raise(bool blocked)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = session.settings.signo;
    info.si_code = SI_TKILL;
    info.si_pid = os_getpid();
    info.si_uid = getuid();
    if (blocked)
        hold(&held_by_thread, &info);
    else
        send_to_self(&info);
}

/* HOOK */
void program_signal_wait(bool waits)
{
    __atomic_store_n(&waiter, waits ? os_gettid() : 0, __ATOMIC_SEQ_CST);
}
