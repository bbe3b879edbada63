/* libc_real.h - the libc functions that our hooks stand in front of.
 *
 *   LIBC_REAL(close)(fd)   calls the function that the hook `close` replaces
 *
 * Each is looked up when it is first asked for (next_symbol.h), as most programs come to few of the
 * hooks; so the next one in line may be another preloaded library's. NULL where this libc has no
 * such function.
 *
 * Context    SETUP, HOOK, EXIT. */
#ifndef SAMPLER_LIBC_REAL_H
#define SAMPLER_LIBC_REAL_H

#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>

#include "sys/context.h"

/* Never made: its members are the types of the functions, and their order. */
struct libc_real {
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*clone)(int (*)(void *), void *, int, void *, ...);
    int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
    int (*sigprocmask)(int, const sigset_t *, sigset_t *);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*(*signal)(int, void (*)(int)))(int);
    int (*siginterrupt)(int, int);
    void (*(*sysv_signal)(int, void (*)(int)))(int);
    void (*(*sigset)(int, void (*)(int)))(int);
    int (*sigignore)(int);
    int (*sighold)(int);
    int (*sigrelse)(int);
    int (*sigwait)(const sigset_t *, int *);
    int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*signalfd)(int, const sigset_t *, int);
    int (*execve)(const char *, char *const *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
    /* _exit, under a name that <unistd.h> does not have. */
    void (*exit_now)(int);
    int (*close)(int);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*readv)(int, const struct iovec *, int);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    ssize_t (*sendfile)(int, int, off_t *, size_t);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    ssize_t (*getrandom)(void *, size_t, unsigned);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*sigpending)(sigset_t *);
    int (*sigsuspend)(const sigset_t *);
    int (*raise)(int);
    /* Without the types of <spawn.h>: actions and attributes are passed through unread. */
    int (*posix_spawn)(pid_t *, const char *, const void *, const void *, char *const *,
                       char *const *);
    int (*posix_spawnp)(pid_t *, const char *, const void *, const void *, char *const *,
                        char *const *);
    int (*sigaltstack)(const stack_t *, stack_t *);
    int (*prctl)(int, ...);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    /* What read, recv ... are in programs built with _FORTIFY_SOURCE. */
    ssize_t (*read_chk)(int, void *, size_t, size_t);
    ssize_t (*recv_chk)(int, void *, size_t, size_t, int);
    ssize_t (*recvfrom_chk)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
    int (*poll_chk)(struct pollfd *, nfds_t, int, size_t);
    int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
    int (*close_range)(unsigned, unsigned, int);
    void (*closefrom)(int);
    int (*dup2)(int, int);
    int (*dup3)(int, int, int);
    int (*dlclose)(void *);
    int (*setuid)(uid_t);
    int (*setgid)(gid_t);
    int (*seteuid)(uid_t);
    int (*setegid)(gid_t);
    int (*setreuid)(uid_t, uid_t);
    int (*setregid)(gid_t, gid_t);
    int (*setresuid)(uid_t, uid_t, uid_t);
    int (*setresgid)(gid_t, gid_t, gid_t);
    int (*setgroups)(size_t, const gid_t *);
    int (*initgroups)(const char *, gid_t);
    int (*chroot)(const char *);
    int (*unshare)(int);
    int (*setns)(int, int);
    int (*setrlimit)(__rlimit_resource_t, const struct rlimit *);
    int (*setrlimit64)(__rlimit_resource_t, const struct rlimit64 *);
    int (*clock_gettime)(clockid_t, struct timespec *);
    clock_t (*clock)(void);
    /* Their events are const here; libc only reads them. */
    int (*timer_create)(clockid_t, const struct sigevent *, timer_t *);
    int (*mq_notify)(mqd_t, const struct sigevent *);
    int (*getaddrinfo_a)(int, struct gaicb *[], int, const struct sigevent *);
};

typedef void libc_function(void);

#define LIBC_REAL_INDEX(member) (offsetof(struct libc_real, member) / sizeof(libc_function *))
#define LIBC_REAL_MAX (sizeof(struct libc_real) / sizeof(libc_function *))

/* In the order of struct libc_real. Whoever finds a NULL looks the function up; all of them write
 * the same address. */
extern libc_function *libc_real_functions[LIBC_REAL_MAX];

libc_function *libc_real_find(size_t index);

static inline libc_function *libc_real_get(size_t index)
{
    libc_function *function = __atomic_load_n(&libc_real_functions[index], __ATOMIC_RELAXED);
    return likely(function != NULL) ? function : libc_real_find(index);
}

#define LIBC_REAL(member)                                                                          \
    ((__typeof__(((struct libc_real *)0)->member))libc_real_get(LIBC_REAL_INDEX(member)))

#endif
