/* spawn.c - see spawn.h.
 *
 * A clone with CLONE_VM and CLONE_VFORK, and with no signal at its end. The child borrows the
 * program's memory until it executes the tool, so nothing is copied, however large the program is,
 * and no handler of pthread_atfork runs. wait returns a child without an exit signal only with
 * __WALL, so the program's own waits never see it, as they would see a child of posix_spawn. */
#include "process/spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "sys/libc_real.h"
#include "sys/line.h"
#include "sys/os.h"

#define CHILD_STACK_BYTES 65536u

struct job {
    const char *path;
    const char *const *argv;
    const char *const *environment;
    bool silent; /* fd 2 is no longer the stderr we were started with */
};

/* What the program handles and ignores does not apply to the tool. EXIT, in the child */
static void reset_signals(void)
{
    const struct {
        uint64_t handler, flags, restorer, mask;
    } by_default = {0, 0, 0, 0}; /* the kernel's struct sigaction, SIG_DFL */
    const uint64_t none = 0;
    for (int signo = 1; signo <= 64; signo++)
        os_call(SYS_rt_sigaction, signo, &by_default, NULL, OS_SIGSET_BYTES);
    os_sigmask(SIG_SETMASK, &none, NULL);
}

/* Lifts limits that the program has set for itself, as far as it may. EXIT, in the child */
static void lift_limits(void)
{
    static const int resources[] = {RLIMIT_AS,    RLIMIT_DATA,   RLIMIT_CPU,
                                    RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_STACK};
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        struct rlimit limit;
        if (os_limit_get(resources[i], &limit) == 0) {
            limit.rlim_cur = limit.rlim_max;
            os_limit_set(resources[i], &limit);
        }
    }
}

/* Runs in the program's memory, on a stack of its own, while the program stands still: system calls
 * only. EXIT, in the child */
static int run_child(void *argument)
{
    const struct job *job = argument;
    int null = os_open("/dev/null", O_RDWR, 0);
    os_call(SYS_dup3, null, STDIN_FILENO, 0);
    if (job->silent)
        os_call(SYS_dup3, null, STDERR_FILENO, 0);
    os_call(SYS_dup3, STDERR_FILENO, STDOUT_FILENO, 0);
    os_call(SYS_close_range, 3u, ~0u, 4 /* CLOSE_RANGE_CLOEXEC: nothing of the program's leaks */);
    lift_limits();
    reset_signals();
    os_prctl(PR_SET_TSC, PR_TSC_ENABLE); /* what the program fenced for itself */
    os_call(SYS_execve, job->path, job->argv, job->environment);
    os_exit(127);
}

/* The environment without LD_PRELOAD; NULL without memory. EXIT */
static const char **environment_make(size_t *n_bytes)
{
    size_t n = 0, kept = 0;
    while (environ != NULL && environ[n] != NULL)
        n++;
    *n_bytes = (n + 1) * sizeof(char *);
    const char **environment = os_map(*n_bytes);
    for (size_t i = 0; environment != NULL && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            environment[kept++] = environ[i];
    return environment;
}

/* EXIT */
static int wait_for(pid_t pid)
{
    int status = 0;
    /* __WALL: a child that sends no SIGCHLD is not waited for otherwise. */
    while (os_call(SYS_wait4, pid, &status, __WALL, NULL) == -1)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* EXIT */
int spawn_and_wait(const char *path, const char *const *argv)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    size_t environment_bytes;
    const char **environment = environment_make(&environment_bytes);
    char *stack = os_map(CHILD_STACK_BYTES);
    if (environment == NULL || stack == NULL)
        return -1;
    struct job job = {
        .path = path, .argv = argv, .environment = environment, .silent = !line_stderr_is_same()};
    os_sigmask(SIG_SETMASK, &all, &saved); /* none of the program's handlers runs in the child */
    pid_t pid =
        LIBC_REAL(clone)(run_child, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK, &job);
    os_sigmask(SIG_SETMASK, &saved, NULL);
    int status = pid > 0 ? wait_for(pid) : -1;
    os_unmap(stack, CHILD_STACK_BYTES);
    os_unmap(environment, environment_bytes);
    return status;
}
