/* transfers.c - a transfer that a tick cut short is continued.
 *
 * Some blocking calls that have moved a part of what was requested return the number so far when a
 * signal comes, whatever SA_RESTART says; a program without handlers need not expect that, and
 * loses data. Where only a signal can have cut a call short, and the only signals since it began
 * were ticks of ours, it continues with the rest. When a handler of the program ran as well, the
 * part stands, as it would without us. The result of the second call is what the kernel says: at
 * the end of the data, when it would block (O_NONBLOCK) or fails, the number so far is the result.
 *
 *   write, writev, send*          to a pipe, a socket or a terminal
 *   recv* with MSG_WAITALL        from a socket
 *   read, readv, getrandom        of /dev/zero, /dev/urandom and the like
 *   sendfile
 *
 * Left alone: files, which no signal cuts short, and where one byte beyond a size limit is SIGXFSZ;
 * sockets with a timeout of the same direction, which may be what cut it; sendmmsg, recvmmsg,
 * splice, vmsplice, which promise no number. libc's own streams read and write until everything is
 * done, and need none of this. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <termios.h>

#include "hooks/hooks.h"
#include "signals/restart.h"
#include "sys/os.h"
#include "threads/slots.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp):
 * libc's names are reserved */

extern ssize_t __read_chk(int fd, void *bytes, size_t n_bytes, size_t size_bytes);
extern ssize_t __recv_chk(int fd, void *bytes, size_t n_bytes, size_t size_bytes, int flags);
extern ssize_t __recvfrom_chk(int fd, void *bytes, size_t n_bytes, size_t size_bytes, int flags,
                              struct sockaddr *from, socklen_t *from_bytes);

#define MEMORY_DEVICES 1u /* major number of /dev/zero, /dev/random, /dev/full ... */

/* The signals a thread had taken when a call began. */
struct signals {
    uint32_t n_ticks, n_handlers;
};

/* HOOK */
static inline struct signals signals_so_far(const struct thread *thread)
{
    return (struct signals){
        .n_ticks = __atomic_load_n(&thread->n_ticks, __ATOMIC_RELAXED),
        .n_handlers = __atomic_load_n(&thread->n_handlers, __ATOMIC_RELAXED),
    };
}

/* The rest of a transfer begins (`frame`, in the hook's own) or is over (NULL). If a handler of the
 * program comes while nothing of the rest has been moved, the kernel would make the call again
 * (SA_RESTART), since it does not know of the part before: restart.c prevents that. HOOK */
static inline void rest_begin(struct thread *thread, const void *frame)
{
    __atomic_store_n(&thread->rest_frame, (uint64_t)(uintptr_t)frame, __ATOMIC_RELAXED);
}

/* Whether ticks came since, and no handler of the program ran. HOOK */
static bool only_ticks_since(const struct thread *thread, struct signals then)
{
    struct signals now = signals_so_far(thread);
    return now.n_ticks != then.n_ticks && now.n_handlers == then.n_handlers;
}

/* HOOK */
static bool has_timeout(int fd, int option)
{
    struct timeval timeout = {0};
    socklen_t n_bytes = sizeof timeout;
    return getsockopt(fd, SOL_SOCKET, option, &timeout, &n_bytes) != 0 || timeout.tv_sec != 0 ||
           timeout.tv_usec != 0;
}

/* HOOK */
static bool is_terminal(int fd)
{
    struct termios settings;
    return os_ioctl(fd, TCGETS, &settings) == 0;
}

/* HOOK */
static bool is_memory_device(const struct stat *file)
{
    return S_ISCHR(file->st_mode) && major(file->st_rdev) == MEMORY_DEVICES;
}

/* Whether only a signal cuts a write to it short. HOOK */
static bool write_is_whole(int fd)
{
    struct stat file;
    if (os_fstat(fd, &file) != 0)
        return false;
    if (S_ISSOCK(file.st_mode))
        return !has_timeout(fd, SO_SNDTIMEO);
    return S_ISFIFO(file.st_mode) || (S_ISCHR(file.st_mode) && is_terminal(fd));
}

/* HOOK */
static bool read_is_whole(int fd)
{
    struct stat file;
    return os_fstat(fd, &file) == 0 && is_memory_device(&file);
}

/* The result of a transfer that continues while only ticks cut it short: `call` is the call for
 * what is left after `done` bytes, `is_whole` whether only a signal makes it short. */
#define TRANSFER(result, thread, n_bytes, is_whole, call)                                          \
    do {                                                                                           \
        size_t done = 0;                                                                           \
        struct signals then = signals_so_far(thread);                                              \
        (result) = (call);                                                                         \
        if (likely((result) <= 0 || (size_t)(result) == (n_bytes)) ||                              \
            likely(!only_ticks_since(thread, then)))                                               \
            break;                                                                                 \
        int saved_errno = errno;                                                                   \
        done = (size_t)(result);                                                                   \
        while (done < (n_bytes) && (is_whole) && only_ticks_since(thread, then)) {                 \
            then.n_ticks = signals_so_far(thread).n_ticks;                                         \
            rest_begin(thread, __builtin_frame_address(0));                                        \
            (result) = (call);                                                                     \
            rest_begin(thread, NULL);                                                              \
            if ((result) <= 0)                                                                     \
                break;                                                                             \
            done += (size_t)(result);                                                              \
        }                                                                                          \
        errno = saved_errno;                                                                       \
        (result) = (ssize_t)done;                                                                  \
    } while (0)

/* What is left of an array of buffers when `done` bytes of it have been moved. */
struct rest {
    struct iovec first; /* a part of the buffer at `index` */
    size_t index;       /* == n: nothing is left */
};

/* HOOK */
static struct rest rest_of(const struct iovec *buffers, size_t n, size_t done)
{
    struct rest rest = {.index = 0};
    while (rest.index < n && done >= buffers[rest.index].iov_len)
        done -= buffers[rest.index++].iov_len;
    if (rest.index < n)
        rest.first = (struct iovec){.iov_base = (char *)buffers[rest.index].iov_base + done,
                                    .iov_len = buffers[rest.index].iov_len - done};
    return rest;
}

/* HOOK */
static size_t bytes_of(const struct iovec *buffers, size_t n)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += buffers[i].iov_len;
    return n_bytes;
}

/* HOOK */
HOOK_EXPORT ssize_t write(int fd, const void *bytes, size_t n_bytes)
{
    struct thread *thread = thread_self;
    ssize_t result;
    if (thread == NULL)
        return LIBC_REAL(write)(fd, bytes, n_bytes);
    TRANSFER(result, thread, n_bytes, write_is_whole(fd),
             LIBC_REAL(write)(fd, (const char *)bytes + done, n_bytes - done));
    return result;
}

/* HOOK */
HOOK_EXPORT ssize_t send(int fd, const void *bytes, size_t n_bytes, int flags)
{
    return sendto(fd, bytes, n_bytes, flags, NULL, 0);
}

/* HOOK */
HOOK_EXPORT ssize_t sendto(int fd, const void *bytes, size_t n_bytes, int flags,
                           __CONST_SOCKADDR_ARG to, socklen_t to_bytes)
{
    struct thread *thread = thread_self;
    ssize_t result;
    if (thread == NULL)
        return LIBC_REAL(sendto)(fd, bytes, n_bytes, flags, to.__sockaddr__, to_bytes);
    TRANSFER(result, thread, n_bytes, write_is_whole(fd),
             LIBC_REAL(sendto)(fd, (const char *)bytes + done, n_bytes - done, flags,
                               to.__sockaddr__, to_bytes));
    return result;
}

/* The rest of a call with many buffers, one after another; returns the bytes of all of it. Each
 * goes through our own hook, which continues it to its end. HOOK */
static ssize_t for_each_buffer(int fd, const struct iovec *buffers, size_t n_buffers, size_t done,
                               int flags, ssize_t (*move)(int, const struct iovec *, int))
{
    int saved_errno = errno;
    for (struct rest rest = rest_of(buffers, n_buffers, done); rest.index < n_buffers;
         rest = rest_of(buffers, n_buffers, done)) {
        rest_begin(thread_self, __builtin_frame_address(0));
        ssize_t n = move(fd, &rest.first, flags);
        rest_begin(thread_self, NULL);
        if (n > 0)
            done += (size_t)n;
        if (n < (ssize_t)rest.first.iov_len)
            break;
    }
    errno = saved_errno;
    return (ssize_t)done;
}

/* HOOK */
static ssize_t write_one(int fd, const struct iovec *buffer, int flags)
{
    (void)flags;
    return write(fd, buffer->iov_base, buffer->iov_len);
}

/* HOOK */
static ssize_t send_one(int fd, const struct iovec *buffer, int flags)
{
    return sendto(fd, buffer->iov_base, buffer->iov_len, flags, NULL, 0);
}

/* HOOK */
static ssize_t read_one(int fd, const struct iovec *buffer, int flags)
{
    (void)flags;
    return read(fd, buffer->iov_base, buffer->iov_len);
}

/* HOOK */
static ssize_t receive_one(int fd, const struct iovec *buffer, int flags)
{
    return recvfrom(fd, buffer->iov_base, buffer->iov_len, flags, NULL, NULL);
}

/* HOOK */
HOOK_EXPORT ssize_t writev(int fd, const struct iovec *buffers, int n_buffers)
{
    struct thread *thread = thread_self;
    if (thread == NULL)
        return LIBC_REAL(writev)(fd, buffers, n_buffers);
    struct signals then = signals_so_far(thread);
    ssize_t n = LIBC_REAL(writev)(fd, buffers, n_buffers);
    if (likely(n <= 0) || likely(!only_ticks_since(thread, then)) ||
        (size_t)n == bytes_of(buffers, (size_t)n_buffers) || !write_is_whole(fd))
        return n;
    return for_each_buffer(fd, buffers, (size_t)n_buffers, (size_t)n, 0, write_one);
}

/* What accompanies a message (descriptors, credentials) went with its first byte. HOOK */
HOOK_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct thread *thread = thread_self;
    if (thread == NULL)
        return LIBC_REAL(sendmsg)(fd, message, flags);
    struct signals then = signals_so_far(thread);
    ssize_t n = LIBC_REAL(sendmsg)(fd, message, flags);
    if (likely(n <= 0) || likely(!only_ticks_since(thread, then)) ||
        (size_t)n == bytes_of(message->msg_iov, message->msg_iovlen) || !write_is_whole(fd))
        return n;
    return for_each_buffer(fd, message->msg_iov, message->msg_iovlen, (size_t)n, flags, send_one);
}

/* HOOK */
HOOK_EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t n_bytes)
{
    struct thread *thread = thread_self;
    ssize_t result;
    if (thread == NULL)
        return LIBC_REAL(sendfile)(out, in, offset, n_bytes);
    TRANSFER(result, thread, n_bytes, write_is_whole(out),
             LIBC_REAL(sendfile)(out, in, offset, n_bytes - done));
    return result;
}

/* off_t has 64 bits. HOOK */
HOOK_EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t n_bytes)
{
    return sendfile(out, in, offset, n_bytes);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* HOOK */
HOOK_EXPORT ssize_t read(int fd, void *bytes, size_t n_bytes)
{
    struct thread *thread = thread_self;
    ssize_t result;
    if (thread == NULL)
        return LIBC_REAL(read)(fd, bytes, n_bytes);
    TRANSFER(result, thread, n_bytes, read_is_whole(fd),
             LIBC_REAL(read)(fd, (char *)bytes + done, n_bytes - done));
    return result;
}

/* What read is in programs built with _FORTIFY_SOURCE. HOOK */
HOOK_EXPORT ssize_t __read_chk(int fd, void *bytes, size_t n_bytes, size_t size_bytes)
{
    if (n_bytes > size_bytes)
        return LIBC_REAL(read_chk)(fd, bytes, n_bytes, size_bytes);
    return read(fd, bytes, n_bytes);
}

/* HOOK */
HOOK_EXPORT ssize_t readv(int fd, const struct iovec *buffers, int n_buffers)
{
    struct thread *thread = thread_self;
    if (thread == NULL)
        return LIBC_REAL(readv)(fd, buffers, n_buffers);
    struct signals then = signals_so_far(thread);
    ssize_t n = LIBC_REAL(readv)(fd, buffers, n_buffers);
    if (likely(n <= 0) || likely(!only_ticks_since(thread, then)) || !read_is_whole(fd))
        return n;
    return for_each_buffer(fd, buffers, (size_t)n_buffers, (size_t)n, 0, read_one);
}

/* HOOK */
HOOK_EXPORT ssize_t getrandom(void *bytes, size_t n_bytes, unsigned flags)
{
    struct thread *thread = thread_self;
    ssize_t result;
    if (thread == NULL)
        return LIBC_REAL(getrandom)(bytes, n_bytes, flags);
    TRANSFER(result, thread, n_bytes, true,
             LIBC_REAL(getrandom)((char *)bytes + done, n_bytes - done, flags));
    return result;
}

/* What is only looked at (MSG_PEEK) is still there, and cannot be continued. HOOK */
static bool waits_for_all(int flags)
{
    unsigned others = (unsigned)MSG_PEEK | (unsigned)MSG_OOB | (unsigned)MSG_ERRQUEUE;
    return ((unsigned)flags & (unsigned)MSG_WAITALL) != 0 && ((unsigned)flags & others) == 0;
}

/* Whether only a signal, or the end of the data, makes it short. A datagram is what it is. HOOK */
static bool receive_is_whole(int fd)
{
    int type = 0;
    socklen_t n_bytes = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n_bytes) == 0 && type == SOCK_STREAM &&
           !has_timeout(fd, SO_RCVTIMEO);
}

/* HOOK */
HOOK_EXPORT ssize_t recv(int fd, void *bytes, size_t n_bytes, int flags)
{
    return recvfrom(fd, bytes, n_bytes, flags, NULL, NULL);
}

/* HOOK */
HOOK_EXPORT ssize_t recvfrom(int fd, void *bytes, size_t n_bytes, int flags, __SOCKADDR_ARG from,
                             socklen_t *from_bytes)
{
    struct thread *thread = thread_self;
    ssize_t result;
    if (thread == NULL || !waits_for_all(flags))
        return LIBC_REAL(recvfrom)(fd, bytes, n_bytes, flags, from.__sockaddr__, from_bytes);
    TRANSFER(result, thread, n_bytes, receive_is_whole(fd),
             LIBC_REAL(recvfrom)(fd, (char *)bytes + done, n_bytes - done, flags, from.__sockaddr__,
                                 from_bytes));
    return result;
}

/* HOOK */
HOOK_EXPORT ssize_t __recv_chk(int fd, void *bytes, size_t n_bytes, size_t size_bytes, int flags)
{
    if (n_bytes > size_bytes)
        return LIBC_REAL(recv_chk)(fd, bytes, n_bytes, size_bytes, flags);
    return recvfrom(fd, bytes, n_bytes, flags, NULL, NULL);
}

/* HOOK */
HOOK_EXPORT ssize_t __recvfrom_chk(int fd, void *bytes, size_t n_bytes, size_t size_bytes,
                                   int flags, struct sockaddr *from, socklen_t *from_bytes)
{
    if (n_bytes > size_bytes)
        return LIBC_REAL(recvfrom_chk)(fd, bytes, n_bytes, size_bytes, flags, from, from_bytes);
    return recvfrom(fd, bytes, n_bytes, flags, from, from_bytes);
}

/* HOOK */
HOOK_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    struct thread *thread = thread_self;
    if (thread == NULL || !waits_for_all(flags))
        return LIBC_REAL(recvmsg)(fd, message, flags);
    struct signals then = signals_so_far(thread);
    ssize_t n = LIBC_REAL(recvmsg)(fd, message, flags);
    /* Descriptors end a receive early, whatever MSG_WAITALL says. */
    if (n <= 0 || message->msg_controllen != 0 || !only_ticks_since(thread, then) ||
        !receive_is_whole(fd))
        return n;
    return for_each_buffer(fd, message->msg_iov, message->msg_iovlen, (size_t)n, flags,
                           receive_one);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
 */
