/* waits.c - waits whose timeout is a number of milliseconds: when they began is noted, so that one
 * that a tick interrupts continues for the time that is left (restart.h). */
#include <poll.h>
#include <sys/epoll.h>

#include "hooks/hooks.h"
#include "signals/restart.h"
#include "sys/os.h"
#include "threads/slots.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
 * libc's names are reserved */

extern int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t fds_bytes);

/* HOOK */
void wait_begin(const void *frame, int timeout_ms)
{
    if (timeout_ms <= 0 || thread_self == NULL)
        return;
    restart_thread.wait_frame = (uint64_t)(uintptr_t)frame;
    restart_thread.wait_ms = timeout_ms;
    restart_thread.wait_start_ns = os_clock_ns(CLOCK_MONOTONIC);
}

/* HOOK */
void wait_end(void)
{
    restart_thread.wait_start_ns = 0;
}

/* HOOK */
HOOK_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    wait_begin(__builtin_frame_address(0), timeout_ms);
    int result = LIBC_REAL(poll)(fds, n, timeout_ms);
    wait_end();
    return result;
}

/* What poll is in programs built with _FORTIFY_SOURCE. HOOK */
HOOK_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t fds_bytes)
{
    if (fds_bytes / sizeof *fds < n)
        return LIBC_REAL(poll_chk)(fds, n, timeout_ms, fds_bytes);
    return poll(fds, n, timeout_ms);
}

/* HOOK */
HOOK_EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int timeout_ms)
{
    wait_begin(__builtin_frame_address(0), timeout_ms);
    int result = LIBC_REAL(epoll_wait)(fd, events, n, timeout_ms);
    wait_end();
    return result;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
 */
