/* capture_faults.c - capture_faults WORK: programs under limits, on small stacks, in cages, and as
 * they crash. What each prints, and how it ends, is the same with and without a profiler. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned sink;
static int *volatile nowhere; /* volatile: the compiler does not know it is null */

/* Of CPU time. */
static void spin_ms(long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    double end = (double)now.tv_sec + (double)now.tv_nsec / 1e9 + (double)ms / 1e3;
    do {
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < end);
}

static int fail(const char *what)
{
    printf("failed: %s: %s\n", what, strerror(errno));
    return 1;
}

static void *spin_in_thread(void *ms)
{
    spin_ms((long)(intptr_t)ms);
    return ms;
}

/* Threads with the smallest stack there is. */
static int work_tiny_stacks(void)
{
    pthread_attr_t attributes;
    pthread_t threads[8];
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0)
        return fail("pthread_attr_setstacksize");
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], &attributes, spin_in_thread, (void *)(intptr_t)40) != 0)
            return fail("pthread_create");
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Nearly all of a stack of 16 kB: the guard page, libc and a signal frame do not fit as well. */
static __attribute__((noinline)) void fill_stack(void)
{
    volatile char bytes[7500];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    spin_ms(30);
    sink += (unsigned char)bytes[77];
}

static void *fill_in_thread(void *unused)
{
    stack_t stack, before;
    static char alternate[16384];
    for (int i = 0; i < 2; i++) { /* as it began, and as it is when its own one is gone */
        if (sigaltstack(NULL, &stack) != 0 || stack.ss_flags != SS_DISABLE || stack.ss_sp != NULL)
            printf("an alternate stack that nobody set\n");
        fill_stack();
        stack = (stack_t){.ss_sp = alternate, .ss_size = sizeof alternate};
        if (sigaltstack(&stack, &before) != 0 || before.ss_flags != SS_DISABLE)
            printf("not set\n");
        fill_stack();
        stack = (stack_t){.ss_flags = SS_DISABLE};
        if (sigaltstack(&stack, &before) != 0 || before.ss_sp != alternate)
            printf("another one was set\n");
    }
    return unused;
}

/* Threads that use what they have, in memory of libc's and in memory of the program's. */
static int work_full_stacks(void)
{
    enum { BYTES = 16384, GUARD_BYTES = 4096 };
    for (int i = 0; i < 4; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        char *memory = mmap(NULL, GUARD_BYTES + BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) != 0)
            return fail("mmap");
        pthread_attr_init(&attributes);
        if (i % 2 == 0 ? pthread_attr_setstacksize(&attributes, BYTES) != 0
                       : pthread_attr_setstack(&attributes, memory + GUARD_BYTES, BYTES) != 0)
            return fail("the size of a stack");
        if (pthread_create(&thread, &attributes, fill_in_thread, NULL) != 0 ||
            pthread_join(thread, NULL) != 0)
            return fail("pthread_create");
        munmap(memory, GUARD_BYTES + BYTES); /* nothing of ours may be left in it */
    }
    return 0;
}

static int stack_set(size_t n_bytes)
{
    stack_t stack = {.ss_sp = malloc(n_bytes), .ss_size = n_bytes};
    return sigaltstack(&stack, NULL);
}

/* One too small for a signal frame of today's processors, as old programs have. */
static int work_small_altstack(void)
{
    stack_t now;
    if (stack_set(2048) != 0)
        return fail("sigaltstack");
    spin_ms(200);
    return sigaltstack(NULL, &now) == 0 && now.ss_size == 2048 && now.ss_flags == 0
               ? 0
               : fail("what sigaltstack says");
}

static volatile sig_atomic_t n_alarms;

/* Uses a good part of its stack, for a while. */
static void on_alarm(int signo)
{
    volatile char room[1500];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (char)signo;
    spin_ms(2);
    sink += (unsigned char)room[sink % sizeof room];
    n_alarms++;
}

/* One of the size that was always enough, for one signal at a time. */
static int work_full_altstack(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART}, now;
    const struct itimerval often = {.it_value.tv_usec = 5000, .it_interval.tv_usec = 5000};
    sigaddset(&action.sa_mask, SIGALRM); /* one at a time is all there is room for */
    sigaddset(&action.sa_mask, SIGUSR1);
    /* First the handler and then the stack, and the other way around. */
    if (sigaction(SIGALRM, &action, NULL) != 0 || stack_set(8192) != 0 ||
        sigaction(SIGUSR1, &action, NULL) != 0 || sigaction(SIGUSR1, NULL, &now) != 0)
        return fail("set-up");
    if (sigismember(&now.sa_mask, SIGPROF) != 0)
        return fail("a mask does not read back");
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 30; i++) {
        spin_ms(5);
        raise(SIGUSR1);
    }
    return n_alarms >= 30 ? 0 : fail("handlers");
}

static void on_overflow(int signo, siginfo_t *info, void *context)
{
    static const char text[] = "overflow\n";
    (void)info;
    (void)context;
    _exit(write(STDOUT_FILENO, text, sizeof text - 1) > 0 && signo == SIGSEGV ? 42 : 1);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
__attribute__((noinline)) static unsigned descend(unsigned depth)
{
    volatile char room[2000];
    room[depth % sizeof room] = (char)depth;
    if (depth == UINT32_MAX)
        return 0;
    for (unsigned i = 0; i < 200; i++)
        sink += i;
    return descend(depth + 1) + (unsigned)room[depth % sizeof room];
}

static int work_overflow(void)
{
    spin_ms(50);
    return (int)descend(0);
}

static int work_overflow_handled(void)
{
    struct sigaction action = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (stack_set(65536) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
        return fail("set-up");
    spin_ms(50);
    return (int)descend(0);
}

static void on_crash(int signo)
{
    static const char text[] = "crash handler\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
    spin_ms(50);
    signal(signo, SIG_DFL);
    raise(signo);
}

static int work_crash_handler(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    if (stack_set(16384) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
        return fail("set-up");
    spin_ms(100);
    *(volatile int *)(uintptr_t)sink = 1; /* NOLINT(performance-no-int-to-ptr) */
    *nowhere = 1;
    return 0;
}

/* The numbers it gets are the numbers it would get. */
static int work_few_files(void)
{
    int fds[64], n = 0;
    spin_ms(50);
    while (n < 64 && (fds[n] = open("/dev/null", O_RDONLY)) >= 0)
        n++;
    int error = errno;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("%d files, from %d to %d, %s, limit %ld\n", n, fds[0], fds[n - 1], strerror(error),
           (long)limit.rlim_cur);
    spin_ms(50);
    return 0;
}

static int work_memory(void)
{
    size_t n = 0;
    spin_ms(50);
    while (n < 4096 && malloc(1 << 16) != NULL)
        n++;
    printf("memory ends: %d\n", n < 4096);
    spin_ms(50);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, spin_in_thread, NULL);
    printf("no thread: %d\n", error != 0);
    return 0;
}

static int work_chroot(void)
{
    spin_ms(100);
    if (chroot("root") != 0 || chdir("/") != 0)
        return fail("chroot");
    spin_ms(100);
    return 0;
}

static int work_clear_environment(void)
{
    spin_ms(50);
    clearenv();
    spin_ms(50);
    return 0;
}

/* A daemon: two forks, a session of its own, all files closed. */
static int work_daemon(void)
{
    int status = -1, ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        return fail("pipe");
    spin_ms(50);
    pid_t pid = fork();
    if (pid == 0) {
        if (setsid() < 0)
            _exit(1);
        if (fork() != 0)
            _exit(0);
        if (chdir("/") != 0 || dup2(ends[1], 0) < 0)
            _exit(1);
        umask(0);
        for (int fd = 1; fd < 3; fd++)
            close(fd);
        closefrom(3);
        spin_ms(100);
        if (write(0, "d", 1) != 1)
            _exit(1);
        exit(0);
    }
    waitpid(pid, &status, 0);
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1 || byte != 'd')
        return fail("the daemon said nothing");
    while (read(ends[0], &byte, 1) > 0) /* until it is gone */
        continue;
    return status;
}

/* As sandboxes do: what is not listed ends the process. */
static int work_seccomp_kill(void)
{
    static const int allowed[] = {
        SYS_read,          SYS_write,          SYS_exit_group, SYS_exit,   SYS_rt_sigreturn,
        SYS_clock_gettime, SYS_rt_sigprocmask, SYS_futex,      SYS_munmap, SYS_brk};
    enum { N_ALLOWED = sizeof allowed / sizeof allowed[0] };
    struct sock_filter filter[N_ALLOWED + 3];
    size_t n = 0;
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N_ALLOWED; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                                   (unsigned char)(N_ALLOWED - i), 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
    spin_ms(100);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return fail("seccomp");
    spin_ms(200);
    return write(STDOUT_FILENO, "caged\n", 6) == 6 ? 5 : 1;
}

static void *spin(void *argument)
{
    spin_ms(100);
    return argument;
}

/* At once, before the first tick: no event is opened from here on. */
static int work_seccomp_refuse(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    pthread_t thread;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return fail("seccomp");
    spin_ms(100);
    if (pthread_create(&thread, NULL, spin, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return fail("a thread");
    return 5;
}

static int work_seccomp_strict(void)
{
    spin_ms(100);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return fail("seccomp");
    for (unsigned i = 0; i < 200000000u; i++)
        sink += i;
    if (write(STDOUT_FILENO, "caged\n", 6) != 6)
        syscall(SYS_exit, 1);
    syscall(SYS_exit, 5);
    return 1;
}

/* By the kernel's tick, and without a look at the processor's clock. */
static void spin_unseen_ms(long ms)
{
    struct rusage usage;
    long end_us = 0;
    do {
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
        syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
        long now_us = usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
        if (end_us == 0)
            end_us = now_us + ms * 1000;
        else if (now_us >= end_us)
            return;
    } while (1);
}

static void *spin_unseen(void *unused)
{
    spin_unseen_ms(100);
    return unused;
}

/* An instruction that reads the processor's clock is a signal from here on, in threads and children,
 * too. */
static int work_fenced_clock(void)
{
    int status = -1;
    pthread_t thread;
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return fail("PR_SET_TSC");
    pid_t pid = fork();
    if (pthread_create(&thread, NULL, spin_unseen, NULL) != 0)
        return fail("pthread_create");
    spin_unseen_ms(200);
    pthread_join(thread, NULL);
    if (pid == 0)
        exit(7);
    waitpid(pid, &status, 0);
    printf("%d\n", status);
    return 0;
}

/* What the program does about its own system calls while they are signals. */
static volatile char dispatched;
static volatile unsigned n_trapped, n_foreign;

static void on_dispatched(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    ucontext_t *where = context;
    dispatched = 0;
    n_trapped++;
    n_foreign += where->uc_mcontext.gregs[REG_RAX] != 9999;
    where->uc_mcontext.gregs[REG_RAX] = 42;
}

/* As emulators of other systems have it. */
static int work_dispatch(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_dispatched;
    sigaction(SIGSYS, &action, NULL);
    spin_ms(100);
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &dispatched) != 0) {
        printf("not here\n");
        return 0;
    }
    for (int i = 0; i < 20; i++) {
        long result = 9999;
        dispatched = 1;
        for (unsigned j = 0; j < 10000000; j++)
            sink += j;
        __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
        if (result != 42)
            return fail("not dispatched");
    }
    printf("%u %u\n", n_trapped, n_foreign);
    return 0;
}

/* Closed behind all hooks: the clock is noticed to have stopped, and goes on. */
static int work_close_raw(void)
{
    spin_ms(100);
    syscall(SYS_close_range, 3u, ~0u, 0);
    for (int i = 0; i < 40; i++) {
        spin_ms(10);
        usleep(1000);
    }
    return 0;
}

extern char **environ;

static int status_of(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

/* Children by vfork and posix_spawn, one after another. */
static int work_spawn(void)
{
    char *argv[] = {(char *)(uintptr_t) "true", NULL};
    for (int i = 0; i < 20; i++) {
        pid_t pid;
        spin_ms(5);
        if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) != 0 || status_of(pid) != 0)
            return fail("posix_spawnp");
        pid = vfork();
        if (pid == 0) {
            execvp("true", argv);
            _exit(1);
        }
        if (status_of(pid) != 0)
            return fail("vfork");
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*work)(void);
    } table[] = {{"tiny-stacks", work_tiny_stacks},
                 {"full-stacks", work_full_stacks},
                 {"small-altstack", work_small_altstack},
                 {"full-altstack", work_full_altstack},
                 {"overflow", work_overflow},
                 {"overflow-handled", work_overflow_handled},
                 {"crash-handler", work_crash_handler},
                 {"few-files", work_few_files},
                 {"memory", work_memory},
                 {"chroot", work_chroot},
                 {"clear-environment", work_clear_environment},
                 {"daemon", work_daemon},
                 {"seccomp-kill", work_seccomp_kill},
                 {"seccomp-refuse", work_seccomp_refuse},
                 {"seccomp-strict", work_seccomp_strict},
                 {"fenced-clock", work_fenced_clock},
                 {"dispatch", work_dispatch},
                 {"close-raw", work_close_raw},
                 {"spawn", work_spawn}};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            return table[i].work();
    fprintf(stderr, "usage: capture_faults WORK\n");
    return 2;
}
