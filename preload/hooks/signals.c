/* signals.c - the program sets handlers: for our signal it only believes so (program_signal.h); for
 * others our signal stays out of the mask their handler runs with, and the handler is called from
 * one of ours (relay.h). */
#include <errno.h>
#include <string.h>

#include "hooks/hooks.h"
#include "signals/program_signal.h"
#include "signals/relay.h"
#include "signals/toggle.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* Signals whose handler the program set with our signal in sa_mask: to answer with. One bit for
 * each signal; atomic. */
static uint64_t masks_with_ours;

/* HOOK */
static bool is_ours(int signo)
{
    return hooks_active() && signo == session.settings.signo;
}

/* As the kernel does when a signal is ignored from now on. What is held for other threads stays.
 * HOOK */
static void forget_held(void)
{
    siginfo_t held;
    while (program_signal_take(&held))
        continue;
}

/* HOOK */
static int answer_ours(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before;
    program_signal_get(&before);
    if (action != NULL) {
        struct sigaction wanted = *action;
        program_signal_set(&wanted);
        if (wanted.sa_handler == SIG_IGN && session_is_ours())
            forget_held();
    }
    if (old != NULL)
        *old = before;
    return 0;
}

/* What is passed to the kernel instead of `action`: our signal stays out of the mask, and relay_run
 * is the handler. HOOK */
static struct sigaction action_for_kernel(int signo, const struct sigaction *action)
{
    struct sigaction changed = *action;
    if (altstack_is_crowded() && ((unsigned)action->sa_flags & SA_ONSTACK) != 0)
        sigaddset(&changed.sa_mask, session.settings.signo);
    else
        sigdelset(&changed.sa_mask, session.settings.signo);
    if (relay_wants(signo, action)) {
        relay_set(signo, action);
        changed.sa_sigaction = relay_run;
        changed.sa_flags |= SA_SIGINFO;
    }
    return changed;
}

/* HOOK */
HOOK_EXPORT int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (!hooks_active() || signo < 1 || signo > 64)
        return LIBC_REAL(sigaction)(signo, action, old);
    if (is_ours(signo))
        return answer_ours(action, old);
    uint64_t bit = UINT64_C(1) << (signo - 1);
    bool names_ours = action != NULL && sigismember(&action->sa_mask, session.settings.signo) == 1;
    bool named_before = (__atomic_load_n(&masks_with_ours, __ATOMIC_RELAXED) & bit) != 0;
    struct relay_before before = relay_get(signo);
    struct sigaction changed;
    /* A vfork child shares our memory but not its signal actions: nothing is noted there. */
    bool is_changed = action != NULL && session_is_ours();
    if (is_changed)
        changed = action_for_kernel(signo, action);
    int result = LIBC_REAL(sigaction)(signo, is_changed ? &changed : action, old);
    if (result != 0)
        return result;
    if (old != NULL)
        relay_answer(old, &before);
    if (old != NULL && toggle_is_ours(old))
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    if (old != NULL && named_before)
        sigaddset(&old->sa_mask, session.settings.signo);
    else if (old != NULL)
        sigdelset(&old->sa_mask, session.settings.signo);
    if (is_changed && names_ours)
        __atomic_or_fetch(&masks_with_ours, bit, __ATOMIC_RELAXED);
    else if (is_changed)
        __atomic_and_fetch(&masks_with_ours, ~bit, __ATOMIC_RELAXED);
    return result;
}

/* HOOK */
HOOK_EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler}, old;
    if (is_ours(signo)) {
        action.sa_flags = SA_RESTART;
        answer_ours(&action, &old);
        return old.sa_handler;
    }
    if (!hooks_active() || signo < 1 || signo > 64)
        return LIBC_REAL(signal)(signo, handler);
    struct relay_before before = relay_get(signo);
    bool relayed = session_is_ours() && relay_wants(signo, &action);
    if (relayed)
        relay_set(signo, &action);
    sighandler_t result = LIBC_REAL(signal)(signo, relayed ? relay_run_short() : handler);
    if (toggle_is_ours(&(struct sigaction){.sa_handler = result}))
        return SIG_DFL;
    return result == relay_run_short() && before.handler != NULL ? before.handler : result;
}

/* HOOK */
HOOK_EXPORT int siginterrupt(int signo, int interrupt)
{
    return is_ours(signo) ? 0 : LIBC_REAL(siginterrupt)(signo, interrupt);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
