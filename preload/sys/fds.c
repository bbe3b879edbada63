/* fds.c - see fds.h.
 *
 * A number above the soft limit is out of the program's reach, but the kernel hands out none there
 * either. So the limit is raised for the moment of one F_DUPFD, and then restored. */
#include "sys/fds.h"

#include <errno.h>

#include "sys/layout.h"
#include "sys/lock.h"
#include "sys/os.h"

#define FDS_MAX 65536    /* higher numbers work, but are not protected from close */
#define USUAL_LIMIT 1024 /* the soft limit most systems start with */
#define WORD_BITS 64
#define N_WORDS (FDS_MAX / WORD_BITS)

/* One bit for each number; set and cleared atomically by whoever opens or closes, read by the close
 * hooks. Relaxed: a thread that closes numbers it was never given has no order to rely on. Side by
 * side, as most processes touch one word of each. */
static LAYOUT_LARGE struct word {
    uint64_t ours;
    uint64_t once_ours; /* never cleared */
} words[N_WORDS];

/* A number above all words with a bit set; only grows. Spares the hooks a look at the table. */
static int above_all;

/* any context */
bool fds_is_ours(int fd)
{
    if (fd < 0 || fd >= __atomic_load_n(&above_all, __ATOMIC_RELAXED))
        return false;
    uint64_t word = __atomic_load_n(&words[fd / WORD_BITS].ours, __ATOMIC_RELAXED);
    return (word >> (fd % WORD_BITS) & 1) != 0;
}

/* any context */
bool fds_was_ours(int fd)
{
    return fd >= FDS_MAX ||
           (fd >= 0 && (__atomic_load_n(&words[fd / WORD_BITS].once_ours, __ATOMIC_RELAXED) >>
                            (fd % WORD_BITS) &
                        1) != 0);
}

/* any context */
int fds_next(int fd)
{
    int end = __atomic_load_n(&above_all, __ATOMIC_RELAXED);
    for (fd = fd < 0 ? 0 : fd; fd < end; fd++) {
        if (fd % WORD_BITS == 0 &&
            __atomic_load_n(&words[fd / WORD_BITS].ours, __ATOMIC_RELAXED) == 0)
            fd += WORD_BITS - 1;
        else if (fds_is_ours(fd))
            return fd;
    }
    return -1;
}

/* any context */
void fds_forget(int fd)
{
    if (fd >= 0 && fd < FDS_MAX)
        __atomic_and_fetch(&words[fd / WORD_BITS].ours, ~(UINT64_C(1) << (fd % WORD_BITS)),
                           __ATOMIC_RELAXED);
}

/* any context */
SIGNAL_SAFE static void fds_remember(int fd)
{
    if (fd >= FDS_MAX)
        return;
    __atomic_or_fetch(&words[fd / WORD_BITS].ours, UINT64_C(1) << (fd % WORD_BITS),
                      __ATOMIC_RELAXED);
    __atomic_or_fetch(&words[fd / WORD_BITS].once_ours, UINT64_C(1) << (fd % WORD_BITS),
                      __ATOMIC_RELAXED);
    int end = (fd / WORD_BITS + 1) * WORD_BITS,
        seen = __atomic_load_n(&above_all, __ATOMIC_RELAXED);
    while (seen < end && !__atomic_compare_exchange_n(&above_all, &seen, end, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* With fewer than this a program may count on every one. */
#define FDS_SCARCE 64

/* any context */
SIGNAL_SAFE static bool is_scarce(const struct rlimit *limit)
{
    return limit->rlim_max < FDS_SCARCE;
}

/* any context */
bool fds_are_scarce(void)
{
    struct rlimit limit;
    return os_limit_get(RLIMIT_NOFILE, &limit) == 0 && is_scarce(&limit);
}

/* Held while the limit is raised: of two threads at once, one would take the limit raised by the
 * other for the program's own, and leave it so. */
static struct lock limit_lock;

/* A number above the soft limit, which is raised for the moment of one call. A limit that the
 * program sets in between stays. any context */
SIGNAL_SAFE static int number_above(int fd, rlim_t ceiling)
{
    struct rlimit limit, now;
    int high = -1;
    uint64_t mask = lock_take_masked(&limit_lock);
    if (os_limit_get(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= ceiling &&
        limit.rlim_max > limit.rlim_cur) {
        const struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        /* Where the limit was lowered, files opened before may lie above it. */
        rlim_t from = limit.rlim_cur < USUAL_LIMIT && USUAL_LIMIT < limit.rlim_max ? USUAL_LIMIT
                                                                                   : limit.rlim_cur;
        if (os_limit_set(RLIMIT_NOFILE, &raised) == 0) {
            high = os_fcntl(fd, F_DUPFD_CLOEXEC, (long)from);
            if (os_limit_get(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur == raised.rlim_cur)
                os_limit_set(RLIMIT_NOFILE, &limit);
        }
    }
    lock_give_masked(&limit_lock, mask);
    return high;
}

/* HOOK */
rlim_t fds_soft_limit(void)
{
    struct rlimit limit;
    uint64_t mask = lock_take_masked(&limit_lock);
    bool is_known = os_limit_get(RLIMIT_NOFILE, &limit) == 0;
    lock_give_masked(&limit_lock, mask);
    return is_known ? limit.rlim_cur : RLIM_INFINITY;
}

/* The kernel copies limits before memory: what this process has in memory does not tell whether the
 * limit was copied while raised. HOOK: a forked child, alone */
void fds_forked(rlim_t soft_limit)
{
    struct rlimit limit;
    if (os_limit_get(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == limit.rlim_max &&
        soft_limit < limit.rlim_cur) {
        limit.rlim_cur = soft_limit;
        os_limit_set(RLIMIT_NOFILE, &limit);
    }
    lock_reset(&limit_lock);
}

/* The kernel's table of a process grows with its highest number and is copied by fork, so "high"
 * has a ceiling. any context */
SIGNAL_SAFE static int high_number(int fd)
{
    struct rlimit limit;
    const rlim_t ceiling = 4096;
    if (os_limit_get(RLIMIT_NOFILE, &limit) != 0)
        return -1;
    if (is_scarce(&limit)) {
        errno = EMFILE;
        return -1;
    }
    if (limit.rlim_cur <= ceiling && limit.rlim_max > limit.rlim_cur) {
        int above = number_above(fd, ceiling);
        if (above >= 0)
            return above;
    }
    rlim_t from = limit.rlim_cur / 4 * 3;
    int high = os_fcntl(fd, F_DUPFD_CLOEXEC, (long)(from < ceiling ? from : ceiling));
    return high >= 0 ? high : os_fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* any context */
int fds_adopt(int fd)
{
    int high = high_number(fd);
    int saved_errno = errno;
    os_close(fd);
    errno = saved_errno;
    if (high >= 0)
        fds_remember(high);
    return high;
}

/* any context */
void fds_close(int fd)
{
    if (fd < 0)
        return;
    fds_forget(fd);
    os_close(fd);
}
