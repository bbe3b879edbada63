/* own_signal.c - the program waits for the signal we use: with sigwait and its like, or in
 * calls that take a mask for as long as they wait.
 *
 * Our signal is never blocked, so that a thread is sampled; what the program believes is kept in
 * masks.c, and signals that come against that belief in program_signal.c. While the program
 * waits, it uses no CPU time and need not be sampled: our signal is blocked in earnest then, so
 * that none is lost between a look at those kept and the wait.
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
#include "signals/program_signal.h"
#include "sys/os.h"
#include "threads/thread.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
 * libc's names are reserved */

extern int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                       const sigset_t *mask, size_t fds_bytes);

/* HOOK */
static bool names_ours(const sigset_t *set)
{
    return hooks_active() && session_is_ours() && set != NULL &&
           sigismember(set, session.options.signo) == 1;
}

/* HOOK */
static void block_ours(int how)
{
    uint64_t ours = os_signal_bit(session.options.signo);
    os_sigmask(how, &ours, NULL);
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

/* How many handlers of the program ran in the calling thread. HOOK */
static uint32_t n_handlers(void)
{
    const struct thread *thread = thread_self;
    return thread != NULL ? __atomic_load_n(&thread->n_handlers, __ATOMIC_RELAXED) : 0;
}

/* Whether a wait goes on after `result`, for which *got came if that is a signal. A wait that
 * was woken for a signal of ours that another thread took meanwhile ends with EINTR, which is
 * nothing to the program: no handler of its own ran. HOOK */
static bool came_to_nothing(int result, const siginfo_t *got, uint32_t n_handlers_before)
{
    if (result < 0)
        return errno == EINTR && thread_self != NULL && n_handlers() == n_handlers_before;
    return result == session.options.signo && handler_take(got);
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
        result = session.options.signo;
    } else {
        uint32_t before = n_handlers();
        /* A tick that is due swallows a poke, as both have one number. */
        for (;;) {
            struct timespec left = time_until(end_ns);
            result = libc_real()->sigtimedwait(set, &got, timeout != NULL ? &left : NULL);
            bool is_poke = result == session.options.signo && program_signal_is_poke(&got);
            if (!is_poke && !came_to_nothing(result, &got, before))
                break;
            if (program_signal_take(&got)) {
                result = session.options.signo;
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
        return libc_real()->sigwait(set, signo);
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
    return names_ours(set) ? wait_for_own(set, info, NULL) : libc_real()->sigwaitinfo(set, info);
}

/* HOOK */
HOOK_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return names_ours(set) ? wait_for_own(set, info, timeout)
                           : libc_real()->sigtimedwait(set, info, timeout);
}

/* HOOK */
HOOK_EXPORT int sigpending(sigset_t *set)
{
    int result = libc_real()->sigpending(set);
    if (result == 0 && hooks_active()) {
        sigdelset(set, session.options.signo); /* a tick */
        if (mask_believed() && program_signal_is_held())
            sigaddset(set, session.options.signo);
    }
    return result;
}

/* HOOK */
HOOK_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    if (!names_ours(set))
        return libc_real()->signalfd(fd, set, flags);
    sigset_t without = *set;
    sigdelset(&without, session.options.signo);
    return libc_real()->signalfd(fd, &without, flags);
}

/* libc's blocks all signals around the call, which is when a tick may come before it. HOOK */
HOOK_EXPORT int raise(int signo)
{
    if (!hooks_active() || !session_is_ours() || signo != session.options.signo)
        return libc_real()->raise(signo);
    program_signal_raise(mask_believed());
    return 0;
}

/* ---- masks for the time of a wait ----------------------------------------------------------- */

/* Whether a wait's mask lets a signal of ours through that the program else has blocked. HOOK */
static bool unblocks_ours(const sigset_t *mask)
{
    return mask != NULL && hooks_active() && session_is_ours() && mask_believed() &&
           sigismember(mask, session.options.signo) == 0;
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

/* One that is kept comes now, and the wait it was kept for is over. HOOK */
static int take_kept(void)
{
    mask_believe(false);
    program_signal_release();
    mask_believe(true);
    errno = EINTR;
    return -1;
}

/* A wait under a mask. `at_once` is the same without waiting: what is ready goes before a signal
 * that is kept. Between a look at those kept and the wait our signal is blocked, and then let
 * through by the mask. HOOK */
#define WAIT_UNBLOCKED(result, at_once, wait)                                                      \
    do {                                                                                           \
        unblocked_begin();                                                                         \
        bool is_kept = program_signal_is_held();                                                   \
        (result) = is_kept ? (at_once) : (wait);                                                   \
        unblocked_end();                                                                           \
        if (is_kept && (result) == 0)                                                              \
            (result) = take_kept();                                                                \
    } while (0)

static const struct timespec no_time = {0};

/* HOOK */
HOOK_EXPORT int sigsuspend(const sigset_t *mask)
{
    int result;
    if (!unblocks_ours(mask))
        return libc_real()->sigsuspend(mask);
    WAIT_UNBLOCKED(result, 0, libc_real()->sigsuspend(mask));
    return result;
}

/* HOOK */
HOOK_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                      const sigset_t *mask)
{
    int result;
    if (!unblocks_ours(mask))
        return libc_real()->ppoll(fds, n, timeout, mask);
    WAIT_UNBLOCKED(result, libc_real()->ppoll(fds, n, &no_time, NULL),
                   libc_real()->ppoll(fds, n, timeout, mask));
    return result;
}

/* What ppoll is in programs built with _FORTIFY_SOURCE. HOOK */
HOOK_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                            const sigset_t *mask, size_t fds_bytes)
{
    if (fds_bytes / sizeof *fds < n)
        return libc_real()->ppoll_chk(fds, n, timeout, mask, fds_bytes);
    return ppoll(fds, n, timeout, mask);
}

/* The sets are what is ready afterwards, and so must not be written to by a look that finds
 * nothing: a signal that is kept comes without one. HOOK */
HOOK_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *timeout,
                        const sigset_t *mask)
{
    int result;
    if (!unblocks_ours(mask))
        return libc_real()->pselect(n, in, out, odd, timeout, mask);
    WAIT_UNBLOCKED(result, 0, libc_real()->pselect(n, in, out, odd, timeout, mask));
    return result;
}

/* With its timeout's beginning noted (waits.c). HOOK */
HOOK_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout_ms,
                            const sigset_t *mask)
{
    int result;
    wait_begin(__builtin_frame_address(0), timeout_ms);
    if (!unblocks_ours(mask))
        result = libc_real()->epoll_pwait(fd, events, n, timeout_ms, mask);
    else
        WAIT_UNBLOCKED(result, libc_real()->epoll_pwait(fd, events, n, 0, NULL),
                       libc_real()->epoll_pwait(fd, events, n, timeout_ms, mask));
    wait_end();
    return result;
}

/* HOOK */
HOOK_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int n,
                             const struct timespec *timeout, const sigset_t *mask)
{
    int result;
    if (libc_real()->epoll_pwait2 == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (!unblocks_ours(mask))
        return libc_real()->epoll_pwait2(fd, events, n, timeout, mask);
    WAIT_UNBLOCKED(result, libc_real()->epoll_pwait2(fd, events, n, &no_time, NULL),
                   libc_real()->epoll_pwait2(fd, events, n, timeout, mask));
    return result;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
 */
