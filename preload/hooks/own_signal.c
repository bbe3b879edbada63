/* own_signal.c - the program waits for the signal we use: with sigwait and the like, or in calls
 * that take a mask for as long as they wait.
 *
 * Our signal is never blocked, so that a thread is sampled; what the program believes is kept by
 * hooks/masks.c, and signals that come against that belief are held by program_signal.c. While the
 * program waits, it uses no CPU time and need not be sampled: our signal is really blocked then, so
 * that none is lost between a look at those held and the wait.
 *
 * Not covered: a signalfd never reports our signal. Programs that read SIGPROF from one need
 * another signal for us (SAMPLER_SIGNAL). */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include "hooks/hooks.h"
#include "signals/handler.h"
#include "signals/program_mask.h"
#include "signals/program_signal.h"
#include "sys/os.h"
#include "threads/slots.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
 * libc's names are reserved */

extern int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                       const sigset_t *mask, size_t fds_bytes);

/* HOOK */
static bool names_ours(const sigset_t *set)
{
    return hooks_active() && session_is_ours() && set != NULL &&
           sigismember(set, session.settings.signo) == 1;
}

/* HOOK */
static void block_ours(int how)
{
    uint64_t ours = os_signal_bit(session.settings.signo);
    os_sigmask(how, &ours, NULL);
}

/* How many handlers of the program have run in the calling thread. HOOK */
static uint32_t n_handlers(void)
{
    const struct thread *thread = thread_self;
    return thread != NULL ? __atomic_load_n(&thread->n_handlers, __ATOMIC_RELAXED) : 0;
}

/* Whether a wait that returned `result` was woken for a signal of our number which another thread
 * took meanwhile, as it is never really blocked there. It ends with EINTR then (where the kernel
 * does not make it again itself), and no handler of the program has run. If the signal is the
 * program's, the other thread holds it and pokes this one. HOOK */
static bool was_woken_in_vain(int result, uint32_t n_handlers_before)
{
    return result < 0 && errno == EINTR && thread_self != NULL && n_handlers() == n_handlers_before;
}

/* ---- sigwait -------------------------------------------------------------------------------- */

/* What is left until `end_ns`. HOOK */
static struct timespec time_until(uint64_t end_ns)
{
    uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
    uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
    return (struct timespec){.tv_sec = (time_t)(left_ns / OS_NS_PER_S),
                             .tv_nsec = (long)(left_ns % OS_NS_PER_S)};
}

/* Whether a wait continues after `result`, for which *got came if that is a signal. HOOK */
static bool came_to_nothing(int result, const siginfo_t *got, uint32_t n_handlers_before)
{
    return was_woken_in_vain(result, n_handlers_before) ||
           (result == session.settings.signo && handler_take(got));
}

/* sigtimedwait for a set with our signal in it. HOOK */
static int wait_for_own(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    siginfo_t got;
    int result;
    uint64_t end_ns = os_clock_ns(CLOCK_MONOTONIC);
    if (timeout != NULL)
        end_ns += (uint64_t)timeout->tv_sec * OS_NS_PER_S + (uint64_t)timeout->tv_nsec;
    block_ours(SIG_BLOCK);
    program_signal_wait(true);
    if (program_signal_take(&got)) {
        result = session.settings.signo;
    } else {
        uint32_t before = n_handlers();
        /* A tick that is due swallows a poke, as both have one number. */
        for (;;) {
            struct timespec left = time_until(end_ns);
            result = LIBC_REAL(sigtimedwait)(set, &got, timeout != NULL ? &left : NULL);
            bool is_poke = result == session.settings.signo && program_signal_is_poke(&got);
            if (!is_poke && !came_to_nothing(result, &got, before))
                break;
            if (program_signal_take(&got)) {
                result = session.settings.signo;
                break;
            }
        }
    }
    int saved_errno = errno;
    program_signal_wait(false);
    block_ours(SIG_UNBLOCK);
    errno = saved_errno;
    if (result >= 0 && info != NULL)
        *info = got;
    return result;
}

/* HOOK */
HOOK_EXPORT int sigwait(const sigset_t *set, int *signo)
{
    int result;
    if (!names_ours(set))
        return LIBC_REAL(sigwait)(set, signo);
    do
        result = wait_for_own(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno;
    *signo = result;
    return 0;
}

/* HOOK */
HOOK_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return names_ours(set) ? wait_for_own(set, info, NULL) : LIBC_REAL(sigwaitinfo)(set, info);
}

/* HOOK */
HOOK_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return names_ours(set) ? wait_for_own(set, info, timeout)
                           : LIBC_REAL(sigtimedwait)(set, info, timeout);
}

/* HOOK */
HOOK_EXPORT int sigpending(sigset_t *set)
{
    int result = LIBC_REAL(sigpending)(set);
    if (result == 0 && hooks_active()) {
        sigdelset(set, session.settings.signo); /* a tick */
        if (mask_believed() && program_signal_is_held())
            sigaddset(set, session.settings.signo);
    }
    return result;
}

/* HOOK */
HOOK_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    if (!names_ours(set))
        return LIBC_REAL(signalfd)(fd, set, flags);
    sigset_t without = *set;
    sigdelset(&without, session.settings.signo);
    return LIBC_REAL(signalfd)(fd, &without, flags);
}

/* libc's raise blocks all signals around the call; a tick that comes meanwhile would swallow the
 * signal, as both have one number. HOOK */
HOOK_EXPORT int raise(int signo)
{
    if (!hooks_active() || !session_is_ours() || signo != session.settings.signo)
        return LIBC_REAL(raise)(signo);
    program_signal_raise(mask_believed());
    return 0;
}

/* ---- masks for the time of a wait ----------------------------------------------------------- */

/* Whether a wait's mask unblocks a signal of our number that the program otherwise has blocked.
 * HOOK */
static bool unblocks_ours(const sigset_t *mask)
{
    return mask != NULL && hooks_active() && session_is_ours() && mask_believed() &&
           sigismember(mask, session.settings.signo) == 0;
}

/* HOOK */
static void unblocked_begin(void)
{
    block_ours(SIG_BLOCK);
    mask_believe(false);
}

/* HOOK */
static void unblocked_end(void)
{
    int saved_errno = errno;
    mask_believe(true);
    block_ours(SIG_UNBLOCK);
    errno = saved_errno;
}

/* One that is held is delivered now, and the wait it was held for is over if a handler has run.
 * HOOK */
static int take_kept(void)
{
    mask_believe(false);
    program_signal_release();
    mask_believe(true);
    errno = EINTR;
    return -1;
}

/* Whether the program has a handler for our number. Without one no wait of its own is woken for it,
 * and an EINTR has another reason: a stop, or a handler set past our hooks. HOOK */
static bool program_handles_ours(void)
{
    struct sigaction action;
    program_signal_get(&action);
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/* A wait under a mask. `at_once` is the same call without waiting: what is ready takes precedence
 * over a signal that is held. Between the look at those held and the wait our signal is blocked,
 * and the wait's mask then lets it through. It waits again, for all of its timeout, where no
 * handler of the program has run: what woke it in vain is on its way, or what was held is ignored
 * or went to another thread. HOOK */
#define WAIT_UNBLOCKED(result, at_once, wait)                                                      \
    do {                                                                                           \
        uint32_t before = n_handlers();                                                            \
        bool is_kept;                                                                              \
        do {                                                                                       \
            unblocked_begin();                                                                     \
            is_kept = program_signal_is_held();                                                    \
            (result) = is_kept ? (at_once) : (wait);                                               \
            unblocked_end();                                                                       \
            if (is_kept && (result) == 0)                                                          \
                (result) = take_kept();                                                            \
        } while (was_woken_in_vain(result, before) && (is_kept || program_handles_ours()));        \
    } while (0)

static const struct timespec no_time = {0};

/* HOOK */
HOOK_EXPORT int sigsuspend(const sigset_t *mask)
{
    int result;
    if (!unblocks_ours(mask))
        return LIBC_REAL(sigsuspend)(mask);
    WAIT_UNBLOCKED(result, 0, LIBC_REAL(sigsuspend)(mask));
    return result;
}

/* HOOK */
HOOK_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                      const sigset_t *mask)
{
    int result;
    if (!unblocks_ours(mask))
        return LIBC_REAL(ppoll)(fds, n, timeout, mask);
    WAIT_UNBLOCKED(result, LIBC_REAL(ppoll)(fds, n, &no_time, NULL),
                   LIBC_REAL(ppoll)(fds, n, timeout, mask));
    return result;
}

/* What ppoll is in programs built with _FORTIFY_SOURCE. HOOK */
HOOK_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                            const sigset_t *mask, size_t fds_bytes)
{
    if (fds_bytes / sizeof *fds < n)
        return LIBC_REAL(ppoll_chk)(fds, n, timeout, mask, fds_bytes);
    return ppoll(fds, n, timeout, mask);
}

/* The sets hold what is ready afterwards, and so must not be written by a call that finds nothing:
 * a signal that is held comes without one. HOOK */
HOOK_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *timeout,
                        const sigset_t *mask)
{
    int result;
    if (!unblocks_ours(mask))
        return LIBC_REAL(pselect)(n, in, out, odd, timeout, mask);
    WAIT_UNBLOCKED(result, 0, LIBC_REAL(pselect)(n, in, out, odd, timeout, mask));
    return result;
}

/* The beginning of the wait is noted (hooks/waits.c). HOOK */
HOOK_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout_ms,
                            const sigset_t *mask)
{
    int result;
    wait_begin(__builtin_frame_address(0), timeout_ms);
    if (!unblocks_ours(mask))
        result = LIBC_REAL(epoll_pwait)(fd, events, n, timeout_ms, mask);
    else
        WAIT_UNBLOCKED(result, LIBC_REAL(epoll_pwait)(fd, events, n, 0, NULL),
                       LIBC_REAL(epoll_pwait)(fd, events, n, timeout_ms, mask));
    wait_end();
    return result;
}

/* HOOK */
HOOK_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int n,
                             const struct timespec *timeout, const sigset_t *mask)
{
    int result;
    if (LIBC_REAL(epoll_pwait2) == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (!unblocks_ours(mask))
        return LIBC_REAL(epoll_pwait2)(fd, events, n, timeout, mask);
    WAIT_UNBLOCKED(result, LIBC_REAL(epoll_pwait2)(fd, events, n, &no_time, NULL),
                   LIBC_REAL(epoll_pwait2)(fd, events, n, timeout, mask));
    return result;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
 */
