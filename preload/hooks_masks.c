/* hooks_masks.c - our signal stays out of the masks and sets of the program, and the program does
 * not see that: what it reads back is what it would read without us.
 *
 * Not interposed: the masks of sigsuspend, ppoll, pselect and epoll_pwait. They hold only while the
 * thread waits, which costs no CPU time; a tick that is due is taken when they return. */
#include <errno.h>
#include <sys/signalfd.h>

#include "hooks.h"
#include "os.h"
#include "thread.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* For threads without a slot (made behind our back): one belief each, without the rest. */
static __thread bool believed_without_slot;

/* any context */
bool mask_believed(void)
{
    return thread_self != NULL ? thread_self->mask_blocked : believed_without_slot;
}

/* any context */
void mask_believe(bool blocked)
{
    /* A vfork child has the mask for itself, but the memory of its parent. */
    if (blocked == mask_believed() || !session_is_ours())
        return;
    if (thread_self != NULL)
        thread_self->mask_blocked = blocked;
    else
        believed_without_slot = blocked;
}

typedef int mask_function(int, const sigset_t *, sigset_t *);

/* HOOK */
static int change_mask(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    if (!hooks_active())
        return real(how, set, old);
    int signo = session.options.signo;
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
    return result;
}

/* HOOK */
HOOK_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(libc_real()->pthread_sigmask, how, set, old);
}

/* HOOK */
HOOK_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(libc_real()->sigprocmask, how, set, old);
}

/* `set` without our signal, in *without where that makes a difference. HOOK */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *without)
{
    if (!hooks_active() || set == NULL || sigismember(set, session.options.signo) != 1)
        return set;
    *without = *set;
    sigdelset(without, session.options.signo);
    return without;
}

/* HOOK */
HOOK_EXPORT int sigwait(const sigset_t *set, int *signo)
{
    sigset_t without;
    return libc_real()->sigwait(without_ours(set, &without), signo);
}

/* HOOK */
HOOK_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t without;
    return libc_real()->sigwaitinfo(without_ours(set, &without), info);
}

/* HOOK */
HOOK_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t without;
    return libc_real()->sigtimedwait(without_ours(set, &without), info, timeout);
}

/* HOOK */
HOOK_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t without;
    return libc_real()->signalfd(fd, without_ours(set, &without), flags);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
