/* hooks_writes.c - a large write to a pipe, socket or terminal that a tick cut short goes on.
 *
 * A blocking write that has moved some bytes when a signal comes returns their number, whatever
 * SA_RESTART says, and programs that have no handlers need not look at it: output gets lost. Only
 * what our own tick cut is continued, and what comes of that is what the kernel says: the number so
 * far when it would block (O_NONBLOCK) or fails. Files are left alone: a signal does not cut them,
 * and one byte beyond a size limit is SIGXFSZ.
 *
 * libc's own streams write until all is written, and need none of this. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "hooks.h"
#include "os.h"
#include "thread.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* Whether a signal can cut a write to it. HOOK */
static bool can_be_cut(int fd)
{
    struct stat file;
    return os_fstat(fd, &file) == 0 &&
           (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) || S_ISCHR(file.st_mode));
}

/* HOOK */
static uint32_t ticks_of(const struct thread *thread)
{
    return __atomic_load_n(&thread->n_ticks, __ATOMIC_RELAXED);
}

/* HOOK */
HOOK_EXPORT ssize_t write(int fd, const void *bytes, size_t n_bytes)
{
    const struct thread *thread = thread_self;
    if (thread == NULL || n_bytes <= PIPE_BUF)
        return libc_real()->write(fd, bytes, n_bytes);
    uint32_t ticks = ticks_of(thread);
    ssize_t n = libc_real()->write(fd, bytes, n_bytes);
    if (likely(n <= 0 || (size_t)n == n_bytes || ticks_of(thread) == ticks))
        return n;
    int saved_errno = errno;
    size_t done = (size_t)n;
    while (done < n_bytes && ticks_of(thread) != ticks && can_be_cut(fd)) {
        ticks = ticks_of(thread);
        n = libc_real()->write(fd, (const char *)bytes + done, n_bytes - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    errno = saved_errno;
    return (ssize_t)done;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
