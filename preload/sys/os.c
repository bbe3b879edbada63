/* os.c - see os.h. */
#include "sys/os.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "sys/vdso.h"

long os_failed(long result)
{
    errno = (int)-result;
    return -1;
}

int os_sigmask(int how, const uint64_t *set, uint64_t *old)
{
    return (int)os_call(SYS_rt_sigprocmask, how, set, old, OS_SIGSET_BYTES);
}

int os_sigpending(uint64_t *set)
{
    return (int)os_call(SYS_rt_sigpending, set, OS_SIGSET_BYTES);
}

int os_open(const char *path, int flags, unsigned mode)
{
    return (int)os_call(SYS_openat, AT_FDCWD, path, flags, mode);
}

int os_close(int fd)
{
    return (int)os_call(SYS_close, fd);
}

int os_fstat(int fd, struct stat *out)
{
    return (int)os_call(SYS_fstat, fd, out);
}

int os_stat(const char *path, struct stat *out)
{
    return (int)os_call(SYS_newfstatat, AT_FDCWD, path, out, 0);
}

int os_fcntl(int fd, int command, long argument)
{
    return (int)os_call(SYS_fcntl, fd, command, argument);
}

int os_ioctl(int fd, unsigned long request, void *argument)
{
    return (int)os_call(SYS_ioctl, fd, request, argument);
}

int os_fallocate(int fd, uint64_t offset, uint64_t n_bytes)
{
    return (int)os_call(SYS_fallocate, fd, 0, offset, n_bytes);
}

long os_pwrite(int fd, const void *bytes, size_t n_bytes, uint64_t offset)
{
    return os_call(SYS_pwrite64, fd, bytes, n_bytes, offset);
}

int os_limit_get(int resource, struct rlimit *out)
{
    return (int)os_call(SYS_prlimit64, 0, resource, NULL, out);
}

int os_limit_set(int resource, const struct rlimit *limit)
{
    return (int)os_call(SYS_prlimit64, 0, resource, limit, NULL);
}

pid_t os_getpid(void)
{
    return (pid_t)os_call(SYS_getpid);
}

pid_t os_getppid(void)
{
    return (pid_t)os_call(SYS_getppid);
}

pid_t os_gettid(void)
{
    return (pid_t)os_call(SYS_gettid);
}

int os_thread_name(char name[16])
{
    return (int)os_call(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
}

uint64_t os_n_switches(void)
{
    struct rusage used = {0};
    os_call(SYS_getrusage, RUSAGE_THREAD, &used);
    return (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw;
}

uint64_t os_n_faults(void)
{
    struct rusage used = {0};
    os_call(SYS_getrusage, RUSAGE_THREAD, &used);
    return (uint64_t)used.ru_minflt + (uint64_t)used.ru_majflt;
}

/* any context */
SIGNAL_SAFE uint64_t os_cpu_used_ns(int whose)
{
    struct rusage used = {0};
    if (os_call(SYS_getrusage, whose, &used) != 0)
        return 0;
    uint64_t seconds = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    uint64_t micros = (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return seconds * OS_NS_PER_S + micros * 1000;
}

/* any context */
SIGNAL_SAFE uint64_t os_peak_bytes(void)
{
    struct rusage used = {0};
    os_call(SYS_getrusage, RUSAGE_SELF, &used);
    return (uint64_t)used.ru_maxrss * 1024;
}

int os_prctl(int option, unsigned long argument)
{
    return (int)os_call(SYS_prctl, option, argument);
}

int os_unlink(const char *path)
{
    return (int)os_call(SYS_unlinkat, AT_FDCWD, path);
}

void os_exit(int status)
{
    for (;;)
        os_call(SYS_exit_group, status);
}

long os_copy(void *to, size_t to_bytes, const struct iovec *from, size_t n)
{
    const struct iovec local = {.iov_base = to, .iov_len = to_bytes};
    return os_call(SYS_process_vm_readv, os_getpid(), &local, 1, from, n);
}

void *os_map(size_t n_bytes)
{
    long at = os_call(SYS_mmap, NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0L);
    return at == -1 ? NULL : (void *)at; /* NOLINT(performance-no-int-to-ptr): what mmap returns */
}

void *os_map_file(int fd, uint64_t offset, size_t n_bytes)
{
    /* Populated at once: one call instead of a page fault for every page of it. */
    long at = os_call(SYS_mmap, NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      fd, offset);
    return at == -1 ? NULL : (void *)at; /* NOLINT(performance-no-int-to-ptr): what mmap returns */
}

bool os_map_move(void *from, size_t n_bytes, void *to)
{
    return os_call(SYS_mremap, from, n_bytes, n_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}

void os_unmap(void *bytes, size_t n_bytes)
{
    os_call(SYS_munmap, bytes, n_bytes);
}

/* any context */
SIGNAL_SAFE static int clock_call(clockid_t clock, struct timespec *now)
{
    return (int)os_call(SYS_clock_gettime, clock, now);
}

int (*os_clock_pointer)(clockid_t, struct timespec *) = clock_call;

void os_clock_by_call(void)
{
    __atomic_store_n(&os_clock_pointer, clock_call, __ATOMIC_RELAXED);
}

void os_setup(void)
{
    void *function = vdso_symbol(SYSCALL_VDSO_CLOCK);
    if (function != NULL)
        memcpy(&os_clock_pointer, &function, sizeof function);
}

uint64_t os_clock_ns(clockid_t clock)
{
    struct timespec now;
    if (os_clock_pointer(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * OS_NS_PER_S + (uint64_t)now.tv_nsec;
}

clockid_t os_thread_clock(pid_t tid)
{
    /* include/linux/posix-timers.h: ~tid in the high bits, 4 = one thread, 2 = scheduler's time. */
    return (clockid_t)(~(unsigned)tid << 3 | 6u);
}

uint64_t os_random(void)
{
    static uint64_t counter; /* shared by all threads, atomic: two callers never get one number */
    uint64_t x = __atomic_add_fetch(&counter, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);
    x ^= os_clock_ns(CLOCK_MONOTONIC) * UINT64_C(0xd1342543de82ef95);
    x ^= (uint64_t)(uintptr_t)&x; /* the stack's place: address space randomisation */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
