/* os.h - system calls, made directly.
 *
 * libc's functions of these names are cancellation points, bound lazily by someone else, or
 * interposed by ourselves (close, sigprocmask ...); these are none of that. Each returns what the
 * call returned, or -1 with errno. Functions whose meaning is the call's own are not described.
 *
 * Signal sets are the kernel's: 64 bits, bit (signal - 1).
 *
 * Context    any, but where stated otherwise; errno is thread-local, so in a thread that may have
 *            no storage of its own use syscall_raw (sys/tls.h). */
#ifndef SAMPLER_OS_H
#define SAMPLER_OS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sys/context.h"
#if defined(__x86_64__)
#include "sys/syscall_x86_64.h"
#else
#error "os.h: this architecture has no syscall_ARCH.h yet"
#endif

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

/* Sets errno for `result`, minus an error number; returns -1. */
SIGNAL_SAFE long os_failed(long result);

SIGNAL_SAFE static inline long os_result(long result)
{
    return unlikely((unsigned long)result > -4096ul) ? os_failed(result) : result;
}

/* errno as it was; written only if it is another now, as its page may be shared with a child of fork
 * and would be copied. */
SIGNAL_SAFE static inline void os_errno_restore(int saved)
{
    if (unlikely(errno != saved))
        errno = saved;
}

/* os_call(NUMBER, ARGUMENT...): any system call, by its number and up to six arguments (integers or
 * pointers), as libc's syscall() has it. -1 with errno on failure. */
#define os_call(...) OS_CALL_PADDED(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define OS_CALL_PADDED(number, a, b, c, d, e, f, ...)                                              \
    os_result(                                                                                     \
        syscall_raw((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))

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
SIGNAL_SAFE pid_t os_getppid(void);
SIGNAL_SAFE pid_t os_gettid(void);

/* The calling thread's name, NUL-terminated. */
SIGNAL_SAFE int os_thread_name(char name[16]);

/* How often the calling thread has given up or lost its processor, and how many page faults it had;
 * 0 when that cannot be read. */
SIGNAL_SAFE uint64_t os_n_switches(void);
SIGNAL_SAFE uint64_t os_n_faults(void);

/* CPU time, user and system, in whole microseconds, of the process (RUSAGE_SELF) or of the children it
 * has waited for, with all they waited for (RUSAGE_CHILDREN); 0 when it cannot be read. The former is as of
 * clock CLOCK_PROCESS_CPUTIME_ID, but right at once after an exec: where the old program had a timer
 * on that clock, Linux 6.18 lets it stand still until its next tick. */
SIGNAL_SAFE uint64_t os_cpu_used_ns(int whose);

/* The most memory the process had resident, ever, in bytes. */
SIGNAL_SAFE uint64_t os_peak_bytes(void);

SIGNAL_SAFE int os_prctl(int option, unsigned long argument);
SIGNAL_SAFE int os_unlink(const char *path);

/* The process ends at once: no handler at exit runs, not even our own. */
SIGNAL_SAFE _Noreturn void os_exit(int status);

/* Copies from memory of this process that may not be readable: up to `n` pieces at `from` to `to`,
 * in order. Returns the bytes copied, which end before the first that cannot be read; -1 when that
 * is the very first (errno EFAULT) or the kernel refuses such copies. */
SIGNAL_SAFE long os_copy(void *to, size_t to_bytes, const struct iovec *from, size_t n);

/* os_map: private memory of zeros. os_map_file: a shared mapping of part of a file. NULL when there
 * is no memory. os_map_move: a mapping to another address, in place of what is there. */
SIGNAL_SAFE void *os_map(size_t n_bytes);
SIGNAL_SAFE void *os_map_file(int fd, uint64_t offset, size_t n_bytes);
SIGNAL_SAFE bool os_map_move(void *from, size_t n_bytes, void *to);
SIGNAL_SAFE void os_unmap(void *bytes, size_t n_bytes);

/* Looks up what os_clock_ns calls; until then it makes a system call each time. SETUP */
void os_setup(void);

/* From now on os_clock_ns makes a system call each time: the program is about to fence the
 * processor's clock, which the vDSO reads. HOOK */
void os_clock_by_call(void);

/* What os_clock_ns calls: clock_gettime of the vDSO (27 ns where a system call takes 1400, measured
 * on a virtual machine; each sample reads the clock several times), or the system call. Written by
 * the two functions above, in one store; either is right for a reader. In a variable with external
 * linkage, so that the call through it bears its name and check_signal_safe.sh can allow that
 * one. */
extern int (*os_clock_pointer)(clockid_t clock, struct timespec *now);

/* Nanoseconds of `clock`; 0 when it cannot be read. */
SIGNAL_SAFE uint64_t os_clock_ns(clockid_t clock);

/* The clock of the CPU time of thread `tid` of this process, as the kernel numbers it. */
SIGNAL_SAFE clockid_t os_thread_clock(pid_t tid);

/* A number no one can predict, good enough for phases; not for secrets. */
SIGNAL_SAFE uint64_t os_random(void);

#endif
