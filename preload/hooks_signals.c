/* hooks_signals.c - the program sets handlers: for our signal it only believes so
 * (program_signal.h), for others our signal stays out of the mask their handler runs with. */
#include <errno.h>
#include <string.h>

#include "hooks.h"
#include "program_signal.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* Handlers of other signals whose sa_mask the program asked to hold our signal: to answer with. One
 * bit for each signal; atomic. */
static uint64_t masks_with_ours;

/* HOOK */
static bool is_ours(int signo)
{
    return hooks_active() && signo == session.options.signo;
}

/* HOOK */
static int answer_ours(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before;
    program_signal_get(&before);
    if (action != NULL) {
        struct sigaction wanted = *action;
        program_signal_set(&wanted);
    }
    if (old != NULL)
        *old = before;
    return 0;
}

/* HOOK */
HOOK_EXPORT int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction without;
    const struct sigaction *given = action;
    if (!hooks_active() || signo < 1 || signo > 64)
        return libc_real()->sigaction(signo, action, old);
    if (is_ours(signo))
        return answer_ours(action, old);
    uint64_t bit = UINT64_C(1) << (signo - 1);
    bool names_ours = action != NULL && sigismember(&action->sa_mask, session.options.signo) == 1;
    bool named_before = (__atomic_load_n(&masks_with_ours, __ATOMIC_RELAXED) & bit) != 0;
    if (names_ours) {
        without = *action;
        sigdelset(&without.sa_mask, session.options.signo);
        given = &without;
    }
    int result = libc_real()->sigaction(signo, given, old);
    if (result != 0)
        return result;
    if (old != NULL && named_before)
        sigaddset(&old->sa_mask, session.options.signo);
    if (names_ours)
        __atomic_or_fetch(&masks_with_ours, bit, __ATOMIC_RELAXED);
    else if (action != NULL)
        __atomic_and_fetch(&masks_with_ours, ~bit, __ATOMIC_RELAXED);
    return result;
}

/* HOOK */
HOOK_EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
    if (!is_ours(signo))
        return libc_real()->signal(signo, handler);
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    answer_ours(&action, &old);
    return old.sa_handler;
}

/* HOOK */
HOOK_EXPORT int siginterrupt(int signo, int interrupt)
{
    return is_ours(signo) ? 0 : libc_real()->siginterrupt(signo, interrupt);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
