/* clone_work - copies of the process made past fork(), each with 50 ms of work in a function of its own,
 * and what came of each: "HOW STATUS". What it prints is the same whoever looks on.
 *
 *   libc        clone() with a stack of 4 kB, most of which the function uses
 *   call        syscall(SYS_clone)
 *   fork        syscall(SYS_fork)
 *   files       clone() with CLONE_FILES: closes a descriptor of its parent's
 *   memory      clone() with CLONE_VM: writes to its parent's memory
 *   namespace   clone() with CLONE_NEWPID, where that is allowed */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 50000000

static _Alignas(16) char stack[65536];
static int shared_fd = -1;
static volatile int shared_word;
static volatile unsigned long sink;

static long thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

#define WORK(name, step)                                                                           \
    __attribute__((noinline)) static int name(void *argument)                                      \
    {                                                                                              \
        for (long end = thread_ns() + WORK_NS; thread_ns() < end;)                                 \
            for (unsigned i = 0; i < 20000; i++)                                                   \
                sink += i * (step);                                                                \
        return (int)(intptr_t)argument;                                                            \
    }
WORK(work_libc, 1)
WORK(work_call, 2)
WORK(work_fork, 3)
WORK(work_files, 4)
WORK(work_memory, 5)
WORK(work_namespace, 6)

/* What lies below the stack must be as it was, but for what the handler needs of it. */
static int in_4_kb(void *argument)
{
    volatile char used[2500];
    memset((char *)used, 7, sizeof used);
    int result = work_libc(argument);
    return used[100] == 7 && stack[0] == 33 ? result : 99;
}

static int with_files(void *argument)
{
    close(shared_fd);
    return work_files(argument);
}

static int with_memory(void *argument)
{
    shared_word = 5;
    return work_memory(argument);
}

static void tell(const char *how, long pid)
{
    int status = 0;
    if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid)
        printf("%s: %s\n", how, strerror(errno));
    else
        printf("%s %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    fflush(stdout);
}

static void *argument_of(intptr_t status)
{
    return (void *)status;
}

int main(void)
{
    char *top = stack + sizeof stack;
    stack[0] = 33;
    tell("libc", clone(in_4_kb, stack + 32768, SIGCHLD, argument_of(41)));
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(work_call(argument_of(42)));
    tell("call", pid);
    pid = syscall(SYS_fork);
    if (pid == 0)
        _exit(work_fork(argument_of(43)));
    tell("fork", pid);
    shared_fd = open("/dev/null", O_RDONLY);
    tell("files", clone(with_files, top, CLONE_FILES | SIGCHLD, argument_of(44)));
    printf("shared descriptor: %s\n", fcntl(shared_fd, F_GETFD) < 0 ? "closed" : "open");
    tell("memory", clone(with_memory, top, CLONE_VM | SIGCHLD, argument_of(45)));
    printf("shared word: %d\n", shared_word);
    tell("namespace", clone(work_namespace, top, CLONE_NEWPID | SIGCHLD, argument_of(46)));
    errno = 0;
    int result = clone(NULL, top, SIGCHLD, NULL);
    printf("nothing to call: %d, %s\n", result, strerror(errno));
    errno = 0;
    result = (int)syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0);
    printf("refused: %d, %s\n", result, strerror(errno));
    return 0;
}
