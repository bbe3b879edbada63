/* raw_threads.c - threads that libc knows nothing of: made by clone() or by the bare system call,
 * with thread-local storage of their own, of their maker, or none.
 *
 *   raw_threads HOW STORAGE N MS [WAIT_MS [AT_ONCE]]
 *     HOW      libc: clone() of libc; raw: the system call
 *     STORAGE  shared: the maker's thread pointer; own: one that leads to zeros; none: 0
 *     N MS     how many, and how much CPU time each uses
 *     WAIT_MS  the first thread sleeps in one call meanwhile (0: it waits for them)
 *     AT_ONCE  so many are made, and waited for, before the next (else all)
 *
 * The threads call nothing of libc: they count their CPU time by a bare system call. Each says how
 * much it used; exit status 1 when a thread's own storage, or its maker's errno, was touched. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define STACK_BYTES (64u << 10)
#define STORAGE_BYTES 8192u
#define FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

struct worker {
    uint64_t wanted_ns;
    uint64_t used_ns;
    uint64_t counted;
    int done; /* futex */
    uint8_t *storage;
    int has_no_storage;
};

static struct worker workers[MAX_THREADS];

static long bare(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    bare(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t raw_work(uint64_t n)
{
    for (volatile int i = 0; i < 2000; i++)
        n += (uint64_t)i * n;
    return n + 1;
}

__attribute__((noinline)) static int raw_run(void *argument)
{
    struct worker *worker = argument;
    if (worker->has_no_storage)
        bare(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, 0, 0, 0);
    while (cpu_ns() < worker->wanted_ns)
        worker->counted = raw_work(worker->counted);
    worker->used_ns = cpu_ns();
    __atomic_store_n(&worker->done, 1, __ATOMIC_SEQ_CST);
    bare(SYS_futex, (long)&worker->done, FUTEX_WAKE, 1, 0);
    return 0;
}

/* The system call; the child goes on at raw_run, on its own stack. */
long raw_clone(long flags, void *stack, void *tls, struct worker *worker);
__asm__(".text\n"
        ".globl raw_clone\n"
        ".type raw_clone, @function\n"
        "raw_clone:\n"
        ".cfi_startproc\n"
        "mov %rcx, %r12\n" /* worker; callee-saved, put back below */
        "mov %rdx, %r8\n"
        "xor %edx, %edx\n"
        "xor %r10d, %r10d\n"
        "mov $56, %eax\n"
        "syscall\n"
        "test %rax, %rax\n"
        "jz 1f\n"
        "ret\n"
        ".cfi_undefined rip\n"
        "1: xor %ebp, %ebp\n"
        "mov %r12, %rdi\n"
        "call raw_run\n"
        "xor %edi, %edi\n"
        "mov $60, %eax\n"
        "syscall\n"
        "hlt\n"
        ".cfi_endproc\n"
        ".size raw_clone, .-raw_clone\n");

static int make(struct worker *worker, int is_raw, int has_own)
{
    uint8_t *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    worker->storage =
        mmap(NULL, STORAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || worker->storage == MAP_FAILED)
        return -1;
    void *tls = worker->storage + STORAGE_BYTES / 2;
    int flags = FLAGS | (has_own ? CLONE_SETTLS : 0);
    if (!is_raw)
        return clone(raw_run, stack + STACK_BYTES, flags, worker, NULL, tls, NULL);
    long tid;
    __asm__ volatile("call raw_clone"
                     : "=a"(tid)
                     : "D"((long)flags), "S"(stack + STACK_BYTES), "d"(tls), "c"(worker)
                     : "r8", "r9", "r10", "r11", "r12", "memory", "cc");
    return (int)tid;
}

static void sleep_ms(int ms)
{
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    bare(SYS_nanosleep, (long)&wait, 0, 0, 0);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    int is_raw = strcmp(argv[1], "raw") == 0, has_own = strcmp(argv[2], "own") == 0;
    int n = atoi(argv[3]);
    if (n > MAX_THREADS)
        return 2;
    int at_once = argc > 6 ? atoi(argv[6]) : n;
    errno = 4242; /* a thread that shares our storage has no business here */
    for (int first = 0; first < n; first += at_once) {
        int end = first + at_once < n ? first + at_once : n;
        for (int i = first; i < end; i++) {
            workers[i].wanted_ns = (uint64_t)atoi(argv[4]) * 1000000u;
            workers[i].has_no_storage = strcmp(argv[2], "none") == 0;
            if (make(&workers[i], is_raw, has_own) < 0) {
                perror("clone");
                return 2;
            }
        }
        if (argc > 5)
            sleep_ms(atoi(argv[5]));
        for (int i = first; i < end; i++)
            while (__atomic_load_n(&workers[i].done, __ATOMIC_SEQ_CST) == 0)
                bare(SYS_futex, (long)&workers[i].done, FUTEX_WAIT, 0, 0);
    }
    int failed = errno != 4242;
    uint64_t used_ns = 0;
    for (int i = 0; i < n; i++) {
        used_ns += workers[i].used_ns;
        for (unsigned at = 0; at < STORAGE_BYTES; at++)
            failed |= workers[i].storage[at] != 0;
    }
    printf("%d threads, %.3f s%s\n", n, (double)used_ns / 1e9, failed ? ", STORAGE TOUCHED" : "");
    return failed;
}
