/* os.h - system calls as they are.
 *
 * libc's own functions of these names are cancellation points, bound lazily by someone else, or
 * interposed by ourselves (close, sigprocmask ...); these are none of that. Each returns what the
 * call returned, -1 with errno set on failure. All of them may be called in any context.
 *
 * Signal sets are the kernel's: 64 bits, bit (signal - 1). */
#ifndef SAMPLER_PRELOAD_SYS_OS_H
#define SAMPLER_PRELOAD_SYS_OS_H

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/context.h"

#define OS_SIGSET_BYTES 8u /* what the kernel calls sizeof(sigset_t) */
#define OS_NS_PER_S UINT64_C(1000000000)

static inline uint64_t os_signal_bit(int signo)
{
    return UINT64_C(1) << (signo - 1);
}

/* The first word of libc's sigset_t is the kernel's set, on every 64-bit Linux. */
static inline uint64_t os_sigset_bits(const sigset_t *set)
{
    return *(const uint64_t *)(const void *)set;
}

SIGNAL_SAFE int os_sigmask(int how, const uint64_t *set, uint64_t *old);
SIGNAL_SAFE int os_sigpending(uint64_t *set);
SIGNAL_SAFE int os_open(const char *path, int flags, unsigned mode);
SIGNAL_SAFE int os_close(int fd);
SIGNAL_SAFE int os_fstat(int fd, struct stat *out);
SIGNAL_SAFE int os_stat(const char *path, struct stat *out);
SIGNAL_SAFE int os_fcntl(int fd, int command, long argument);
SIGNAL_SAFE int os_ioctl(int fd, unsigned long request, void *argument);
SIGNAL_SAFE int os_fallocate(int fd, uint64_t offset, uint64_t n_bytes);
SIGNAL_SAFE long os_pwrite(int fd, const void *bytes, size_t n_bytes, uint64_t offset);
SIGNAL_SAFE int os_limit_get(int resource, struct rlimit *out);
SIGNAL_SAFE int os_limit_set(int resource, const struct rlimit *limit);
SIGNAL_SAFE pid_t os_getpid(void);
SIGNAL_SAFE pid_t os_gettid(void);
SIGNAL_SAFE int os_thread_name(char name[16]);

/* Private zeroed memory, NULL when there is none. */
SIGNAL_SAFE void *os_map(size_t n_bytes);
SIGNAL_SAFE void *os_map_file(int fd, uint64_t offset, size_t n_bytes);
SIGNAL_SAFE void os_unmap(void *bytes, size_t n_bytes);

/* Nanoseconds of `clock`; 0 when it cannot be read. */
SIGNAL_SAFE uint64_t os_clock_ns(clockid_t clock);

/* The clock of the CPU time of thread `tid` of this process, as the kernel numbers it. */
SIGNAL_SAFE clockid_t os_thread_clock(pid_t tid);

/* A number no one can foresee, good enough for phases. */
SIGNAL_SAFE uint64_t os_random(void);

#endif
