/* child.c - see child.h. sigwaitinfo instead of handlers: signals are taken one by one, where we
 * stand, and nothing of ours runs at an odd moment. */
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Held while a child runs. Not here: faults (ours stay ours), SIGTTIN and SIGTTOU (as for any
 * process of the group), SIGKILL and SIGSTOP (nobody can). SIGPIPE is held so that a closed stderr
 * costs us a line and not the exit status. */
static const int held_signals[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,    SIGUSR1, SIGUSR2,
                                   SIGCONT, SIGTSTP, SIGALRM, SIGWINCH, SIGVTALRM, SIGPIPE, SIGIO};

void child_guard_enter(struct child_guard *guard)
{
    sigemptyset(&guard->held);
    for (size_t i = 0; i < sizeof held_signals / sizeof held_signals[0]; i++)
        sigaddset(&guard->held, held_signals[i]);
    for (int real_time = SIGRTMIN; real_time <= SIGRTMAX; real_time++)
        sigaddset(&guard->held, real_time);
    sigprocmask(SIG_BLOCK, &guard->held, &guard->mask);
    /* Whoever started us may ignore SIGCHLD; children would then leave no exit status. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, &guard->child_action);
}

void child_guard_leave(const struct child_guard *guard)
{
    sigaction(SIGCHLD, &guard->child_action, NULL);
    sigprocmask(SIG_SETMASK, &guard->mask, NULL);
}

static _Noreturn void become(const struct child_guard *guard, const char *file, char *const argv[],
                             bool (*prepare)(void *context), void *context, int report_fd)
{
    if (prepare(context)) {
        child_guard_leave(guard);
        execvp(file, argv);
    }
    int sys_errno = errno;
    ssize_t ignored = write(report_fd, &sys_errno, sizeof sys_errno);
    (void)ignored;
    _exit(127);
}

/* A pipe whose ends are not stdin, stdout or stderr, even when we were started without those. */
static bool pipe_open(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0)
        return false;
    ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ends[1] = fcntl(low[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low[0]);
    close(low[1]);
    return ends[0] >= 0 && ends[1] >= 0;
}

bool child_start(const struct child_guard *guard, const char *file, char *const argv[],
                 bool (*prepare)(void *context), void *context, pid_t *out, int *sys_errno)
{
    int ends[2];
    if (!pipe_open(ends)) {
        *sys_errno = errno;
        return false;
    }
    pid_t child = fork();
    if (child == 0)
        become(guard, file, argv, prepare, context, ends[1]);
    int fork_errno = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        *sys_errno = fork_errno;
        return false;
    }
    int exec_errno = 0;
    ssize_t n;
    while ((n = read(ends[0], &exec_errno, sizeof exec_errno)) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    if (n == (ssize_t)sizeof exec_errno) {
        waitpid(child, NULL, 0);
        *sys_errno = exec_errno;
        return false;
    }
    *out = child;
    return true;
}

/* Is our process group the one in front of the terminal? */
static bool in_foreground(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return false;
    bool yes = tcgetpgrp(fd) == getpgrp();
    close(fd);
    return yes;
}

/* The child stopped: the shell must see us stop too, or it would wait for ever. A SIGSTOP sent to
 * the child alone, away from a terminal, is a matter between its sender and the child. */
static void stop_along(pid_t child, int stop_signal)
{
    if (stop_signal == SIGSTOP && !in_foreground())
        return;
    kill(getpid(), SIGSTOP);
    kill(child, SIGCONT); /* when we are continued, so is it */
}

/* The terminal and the shell signal the whole group: the child has it already. */
static bool came_from_terminal(const siginfo_t *info)
{
    bool from_keys = info->si_signo == SIGINT || info->si_signo == SIGQUIT ||
                     info->si_signo == SIGTSTP || info->si_signo == SIGWINCH ||
                     info->si_signo == SIGHUP;
    return from_keys && info->si_code == SI_KERNEL;
}

/* True when it has ended. */
static bool child_poll(pid_t child, int *wait_status, struct rusage *usage)
{
    for (;;) {
        pid_t changed = wait4(child, wait_status, WNOHANG | WUNTRACED, usage);
        if (changed < 0 && errno == EINTR)
            continue;
        if (changed <= 0)
            return changed < 0; /* not our child any more: nothing to wait for */
        if (!WIFSTOPPED(*wait_status))
            return true;
        stop_along(child, WSTOPSIG(*wait_status));
    }
}

void child_wait(const struct child_guard *guard, pid_t child, int *wait_status,
                struct rusage *usage)
{
    while (!child_poll(child, wait_status, usage)) {
        siginfo_t info;
        int signal_number = sigwaitinfo(&guard->held, &info);
        if (signal_number <= 0 || signal_number == SIGCHLD || signal_number == SIGPIPE)
            continue;
        if (!came_from_terminal(&info))
            kill(child, signal_number);
    }
}

int child_exit_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
