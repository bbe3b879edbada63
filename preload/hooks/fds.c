/* fds.c - the program closes numbers it never opened (all from 3 up, before a daemon starts or out
 * of habit): ours are spared, and the answer is that of a number not in use. */
#include "sys/fds.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <unistd.h>

#include "hooks/hooks.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* HOOK */
HOOK_EXPORT int close(int fd)
{
    if (unlikely(fds_is_ours(fd))) {
        errno = EBADF;
        return -1;
    }
    return LIBC_REAL(close)(fd);
}

/* The ranges between ours, one after another. HOOK */
static int close_around(unsigned first, unsigned last, int flags)
{
    int result = 0;
    while (first <= last && result == 0) {
        int next = first > INT_MAX ? -1 : fds_next((int)first);
        unsigned end = next < 0 || (unsigned)next > last ? last : (unsigned)next - 1;
        if (next < 0 || (unsigned)next > first)
            result = LIBC_REAL(close_range)(first, end, flags);
        if (end == last)
            break;
        first = (unsigned)next + 1;
    }
    return result;
}

/* HOOK */
HOOK_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (LIBC_REAL(close_range) == NULL) {
        errno = ENOSYS;
        return -1;
    }
    /* Ours are close-on-exec already, and an invalid range is the kernel's to refuse. */
    if (((unsigned)flags & CLOSE_RANGE_CLOEXEC) != 0 || first > last)
        return LIBC_REAL(close_range)(first, last, flags);
    return close_around(first, last, flags);
}

/* HOOK */
HOOK_EXPORT void closefrom(int first)
{
    int saved_errno = errno;
    if (LIBC_REAL(close_range) != NULL &&
        close_around(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0) == 0) {
        errno = saved_errno;
        return;
    }
    for (int fd = first < 0 ? 0 : first; fd < sysconf(_SC_OPEN_MAX); fd++)
        close(fd);
    errno = saved_errno;
}

/* The program wants this very number: it gets it. What we had there is closed by the call; its
 * owner finds out by the identity check. A vfork child has numbers to itself. HOOK */
HOOK_EXPORT int dup2(int fd, int wanted)
{
    int result = LIBC_REAL(dup2)(fd, wanted);
    if (result >= 0 && fd != wanted && fds_is_ours(wanted) && session_is_ours())
        fds_forget(wanted);
    return result;
}

/* HOOK */
HOOK_EXPORT int dup3(int fd, int wanted, int flags)
{
    int result = LIBC_REAL(dup3)(fd, wanted, flags);
    if (result >= 0 && fds_is_ours(wanted) && session_is_ours())
        fds_forget(wanted);
    return result;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
