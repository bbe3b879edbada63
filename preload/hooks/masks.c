/* masks.c - keeps our signal out of the masks of the program, which does not see that: what it
 * reads back is what it would read without us.
 *
 * The masks of sigsuspend, ppoll, pselect and epoll_pwait may hold our signal: they apply only
 * while the thread waits, which costs no CPU time; a tick that is due is taken when they return. */
#include <errno.h>

#include "hooks/hooks.h"
#include "signals/program_mask.h"
#include "signals/program_signal.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

typedef int mask_function(int, const sigset_t *, sigset_t *);

/* HOOK */
static int change_mask(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    if (!hooks_active())
        return real(how, set, old);
    int signo = session.settings.signo;
    bool before = mask_believed();
    sigset_t without;
    const sigset_t *given = set;
    bool names_ours = set != NULL && sigismember(set, signo) == 1;
    if (names_ours) {
        without = *set;
        sigdelset(&without, signo);
        given = &without;
    }
    int result = real(how, given, old);
    if (result != 0)
        return result;
    if (old != NULL && before)
        sigaddset(old, signo);
    if (set != NULL && how == SIG_SETMASK)
        mask_believe(names_ours);
    else if (names_ours)
        mask_believe(how == SIG_BLOCK);
    if (before && !mask_believed() && session_is_ours())
        program_signal_release();
    return result;
}

/* HOOK */
HOOK_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(LIBC_REAL(pthread_sigmask), how, set, old);
}

/* HOOK */
HOOK_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(LIBC_REAL(sigprocmask), how, set, old);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
