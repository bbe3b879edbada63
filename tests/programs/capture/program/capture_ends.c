/* capture_ends.c - files that are closed or full, and the ways a process ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture_work.h"

static uint64_t ms(const char *text)
{
    return (uint64_t)atoi(text) * 1000000u;
}

/* By every way there is, the last of them past libc. Then new files get the low numbers, as they
 * would in an empty table. */
int work_close_all(int argc, char **argv)
{
    if (argc < 1)
        return 2;
    work_spin(ms(argv[0]));
    for (int fd = 3; fd < 20000; fd++)
        close(fd);
    closefrom(3);
    close_range(3, ~0u, 0);
    work_spin(ms(argv[0]));
    syscall(SYS_close_range, 3u, ~0u, 0);
    int fd = open("/dev/null", O_RDONLY);
    work_spin(ms(argv[0]));
    return fd == 3 ? 0 : work_fail("numbers are taken");
}

int work_file_limit(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct rlimit limit = {.rlim_cur = (rlim_t)atoi(argv[1]), .rlim_max = RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return work_fail("setrlimit");
    work_spin(ms(argv[0]));
    return 0;
}

int work_end(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    work_spin(ms(argv[0]));
    if (strcmp(argv[1], "return") == 0)
        return 3;
    if (strcmp(argv[1], "exit") == 0)
        exit(3);
    if (strcmp(argv[1], "_exit") == 0)
        _exit(3);
    if (strcmp(argv[1], "_Exit") == 0)
        _Exit(3);
    if (strcmp(argv[1], "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(argv[1], "abort") == 0)
        abort();
    if (strcmp(argv[1], "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(argv[1], "kill") == 0)
        kill(getpid(), SIGKILL);
    return 2;
}

int work_exec(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    work_spin(ms(argv[0]));
    execvp(argv[1], argv + 1);
    return work_fail("exec");
}

int work_exec_fails(int argc, char **argv)
{
    if (argc < 1)
        return 2;
    execl("/dev/null", "nothing", (char *)NULL); /* before the first sample */
    work_spin(ms(argv[0]));
    execl("/dev/null", "nothing", (char *)NULL);
    execlp("no-such-program-anywhere", "nothing", (char *)NULL);
    work_spin(ms(argv[0]));
    return errno == ENOENT ? 0 : work_fail("errno of a failed exec");
}

/* The file that gets number 2 must not get our words. */
int work_stderr(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    close(STDERR_FILENO);
    if (open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600) != STDERR_FILENO)
        return work_fail("open");
    work_spin(ms(argv[0]));
    return 0;
}

static volatile sig_atomic_t n_sigchld;

static void on_child(int signo)
{
    (void)signo;
    n_sigchld++;
}

static void look_for_children(void)
{
    /* Runs before the library's own end. What it starts then must not be ours to wait for. */
    if (n_sigchld != 0 || waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        _exit(work_fail("a child that is not the program's"));
}

int work_children(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    signal(SIGCHLD, on_child);
    atexit(look_for_children);
    work_spin(50000000u);
    return 0;
}
