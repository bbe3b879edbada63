/* daemon_work WAIT_MS CPU_MS [title | exec PROGRAM] - becomes a daemon as servers do: two forks, a session of its own,
 * every descriptor closed. It waits, uses that much CPU time, and ends. With "title" it works for 50
 * ms first, then overwrites its arguments and its environment, as those do that show a title in ps.
 * With "exec", PROGRAM is what does the work: this one, say, where we are the static build of it.
 * The command itself prints "daemon PID" and ends when the daemon has got that far. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile unsigned result;

static unsigned cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (unsigned)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

__attribute__((noinline)) static void serve(unsigned until_ms)
{
    while (cpu_ms() < until_ms)
        for (unsigned i = 0; i < 100000; i++)
            result = result * 1664525u + 1013904223u;
}

static void overwrite(char **strings)
{
    for (; *strings != NULL; strings++)
        memset(*strings, '-', strlen(*strings));
}

static void be_a_daemon(char **argv, int report_fd)
{
    unsigned wait_ms = (unsigned)atoi(argv[1]), work_ms = (unsigned)atoi(argv[2]);
    struct timespec time = {.tv_sec = wait_ms / 1000, .tv_nsec = (long)(wait_ms % 1000) * 1000000};
    pid_t own_pid = getpid();
    if (argv[3] != NULL && strcmp(argv[3], "title") == 0) {
        serve(50);
        overwrite(environ);
        overwrite(argv);
    }
    if (write(report_fd, &own_pid, sizeof own_pid) != (ssize_t)sizeof own_pid)
        _exit(1);
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    nanosleep(&time, NULL);
    if (argv[3] != NULL && strcmp(argv[3], "exec") == 0)
        execl(argv[4], argv[4], "0", argv[2], "serve", NULL);
    serve(work_ms);
    _exit(0);
}

int main(int argc, char **argv)
{
    int ends[2];
    pid_t pid = 0;
    if (argc == 4 && strcmp(argv[3], "serve") == 0) {
        serve((unsigned)atoi(argv[2]));
        return 0;
    }
    if (argc < 3 || pipe(ends) != 0 || chdir("/") != 0)
        return 1;
    signal(SIGCHLD, SIG_IGN);
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            be_a_daemon(argv, ends[1]);
        _exit(0);
    }
    if (read(ends[0], &pid, sizeof pid) != (ssize_t)sizeof pid)
        return 1;
    printf("daemon %d\n", (int)pid);
    return 0;
}
