/* program_signal.c - see program_signal.h. */
#include "program_signal.h"

#include <string.h>

#include "os.h"
#include "restart.h"
#include "session.h"

/* Two copies: the current one is never written to. A writer fills the other and then switches, by
 * a release store; a signal that takes the switch half-way sees the old one. Writers come one at a
 * time: two threads that set one signal's handler at once are on their own without us as well. */
static struct sigaction actions[2];
static unsigned current;

/* SETUP, HOOK */
void program_signal_set(const struct sigaction *action)
{
    /* What a vfork child sets is its own, but its memory is its parent's: hold nothing of it. */
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

/* SIGNAL */
bool program_signal_deliver(int signo, siginfo_t *info, void *context)
{
    struct sigaction action;
    program_signal_get(&action);
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
        return false;
    restart_note_handler(context);
    if (((unsigned)action.sa_flags & (unsigned)SA_RESETHAND) != 0) {
        struct sigaction reset = {.sa_handler = SIG_DFL};
        program_signal_set(&reset);
    }
    /* Its handler expects its own mask: that of the interrupted code and sa_mask. Our handler's
     * return puts the former back. */
    const ucontext_t *interrupted = context;
    uint64_t mask = os_sigset_bits(&interrupted->uc_sigmask) | os_sigset_bits(&action.sa_mask) |
                    os_signal_bit(signo);
    os_sigmask(SIG_SETMASK, &mask, NULL);
    if (((unsigned)action.sa_flags & SA_SIGINFO) != 0)
        action.sa_sigaction(signo, info, context);
    else
        action.sa_handler(signo);
    return true;
}
