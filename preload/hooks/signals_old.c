/* signals_old.c - the older ways to set a handler. signal() is __sysv_signal in programs compiled
 * for plain C or POSIX; if any of them reached libc it would remove our handler, and the next tick
 * would end the program.
 *
 * sighold and sigrelse are here for the same reason as hooks/masks.c: a tick must not stay pending
 * until an exec. */
#include <errno.h>
#include <string.h>

#include "hooks/hooks.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
 * libc's names are reserved */

extern sighandler_t __sysv_signal(int signo, sighandler_t handler);
extern sighandler_t bsd_signal(int signo, sighandler_t handler);

/* HOOK */
static bool is_ours(int signo)
{
    return hooks_active() && signo == session.settings.signo;
}

/* Through our own sigaction. HOOK */
static sighandler_t set_handler(int signo, sighandler_t handler, int flags)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    return sigaction(signo, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* Blocks our signal or not, as far as the program sees it; returns whether it was blocked. HOOK */
static bool set_blocked(int signo, int how)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, signo);
    return sigprocmask(how, &set, &before) == 0 && sigismember(&before, signo) == 1;
}

/* HOOK */
HOOK_EXPORT sighandler_t __sysv_signal(int signo, sighandler_t handler)
{
    /* For any signal: relay.h has to come between. */
    if (!hooks_active() || handler == SIG_ERR)
        return LIBC_REAL(sysv_signal)(signo, handler);
    return set_handler(signo, handler, (int)((unsigned)SA_RESETHAND | (unsigned)SA_NODEFER));
}

/* HOOK */
HOOK_EXPORT sighandler_t sysv_signal(int signo, sighandler_t handler)
{
    return __sysv_signal(signo, handler);
}

/* HOOK */
HOOK_EXPORT sighandler_t bsd_signal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

/* HOOK */
HOOK_EXPORT sighandler_t ssignal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

/* HOOK */
HOOK_EXPORT int sigignore(int signo)
{
    if (!is_ours(signo))
        return LIBC_REAL(sigignore)(signo);
    return set_handler(signo, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

/* HOOK */
HOOK_EXPORT int sighold(int signo)
{
    if (!is_ours(signo))
        return LIBC_REAL(sighold)(signo);
    set_blocked(signo, SIG_BLOCK);
    return 0;
}

/* HOOK */
HOOK_EXPORT int sigrelse(int signo)
{
    if (!is_ours(signo))
        return LIBC_REAL(sigrelse)(signo);
    set_blocked(signo, SIG_UNBLOCK);
    return 0;
}

/* HOOK */
HOOK_EXPORT sighandler_t sigset(int signo, sighandler_t handler)
{
    struct sigaction now;
    if (!is_ours(signo))
        return LIBC_REAL(sigset)(signo, handler);
    if (handler == SIG_HOLD) {
        if (set_blocked(signo, SIG_BLOCK))
            return SIG_HOLD;
        return sigaction(signo, NULL, &now) == 0 ? now.sa_handler : SIG_ERR;
    }
    sighandler_t before = set_handler(signo, handler, 0);
    return set_blocked(signo, SIG_UNBLOCK) ? SIG_HOLD : before;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
 */
