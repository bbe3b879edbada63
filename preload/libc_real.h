/* libc_real.h - the functions we stand in front of.
 *
 * Looked up with dlsym(RTLD_NEXT), so the next one in line may be another preloaded library's. NULL
 * where this libc has no such function.
 * Context    SETUP, HOOK, EXIT: the first call resolves all (constructors of other libraries may
 * call hooks before ours has run). */
#ifndef SAMPLER_LIBC_REAL_H
#define SAMPLER_LIBC_REAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <threads.h>

#include "context.h"

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
    void (*exit_now)(int); /* _exit */
    int (*close)(int);
    ssize_t (*write)(int, const void *, size_t);
    int (*close_range)(unsigned, unsigned, int);
    void (*closefrom)(int);
    int (*dup2)(int, int);
    int (*dup3)(int, int, int);
    int (*dlclose)(void *);
};

const struct libc_real *libc_real(void);

#endif
