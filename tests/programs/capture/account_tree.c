/* account_tree SEED TRUTH STATIC - a tree of processes as SEED has it: begun by fork, vfork, exec and
 * clone, some with threads, some stopped, killed, left behind as orphans or daemons, or STATIC, which
 * is this program linked statically. Each appends what it used to the file TRUTH, "PID KIND us".
 *
 *   account_tree leaf TRUTH us
 *
 * Written so that the truth is known whatever the profiler does: who is killed says first what it
 * used and then waits, a daemon sleeps for a while after its last word. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_DEPTH 3
#define DAEMON_S 2

enum kind {
    FORK,
    NOT_WAITED,
    EXEC,
    VFORK,
    STATIC,
    THREADS,
    KILL,
    CLONE,
    ORPHAN,
    DAEMON,
    STOP,
    N_KINDS
};

static const char *const names[N_KINDS] = {"fork",   "not-waited", "exec",   "vfork",
                                           "static", "threads",    "killed", "clone",
                                           "orphan", "daemon",     "stopped"};

static char *self, *truth_path, *static_path;
static uint64_t state;

static unsigned random_below(unsigned n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static long used_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static volatile unsigned long sink;

static void work(long us)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (unsigned i = 0; i < 20000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static void tell(const char *kind)
{
    char line[64];
    int fd = open(truth_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    int n = snprintf(line, sizeof line, "%ld %s %ld\n", (long)getpid(), kind, used_us());
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

static void *thread_main(void *argument)
{
    work(*(const long *)argument);
    return NULL;
}

static void threads(void)
{
    pthread_t ids[4];
    long us[4];
    for (int i = 0; i < 4; i++) {
        us[i] = (long)random_below(15000);
        if (pthread_create(&ids[i], NULL, thread_main, &us[i]) != 0)
            abort();
    }
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
}

static void leaf(const char *program, long us)
{
    char number[24];
    snprintf(number, sizeof number, "%ld", us);
    execl(program, program, "leaf", truth_path, number, (char *)NULL);
    _exit(127);
}

static void node(unsigned depth);

/* Waits until all who have the other end of the pipe have said their last word. */
static void await(const int pipe_ends[2])
{
    char byte;
    close(pipe_ends[1]);
    while (read(pipe_ends[0], &byte, 1) > 0) {
    }
    close(pipe_ends[0]);
}

static void child_killed(int word)
{
    work((long)random_below(40000));
    tell(names[KILL]);
    close(word);
    for (;;)
        pause();
}

/* In the first child of an orphan: the parent of the second, which ends before it does. */
static void child_orphan(unsigned depth, enum kind kind)
{
    int begun[2];
    char byte;
    if (pipe2(begun, O_CLOEXEC) != 0)
        abort();
    pid_t second = fork();
    if (second == 0) {
        close(begun[1]);
        if (read(begun[0], &byte, 1) != 0) /* until its parent has gone */
            abort();
        work((long)random_below(40000));
        if (kind == ORPHAN)
            node(depth + 1);
        tell(names[kind]);
        close_range(3, ~0U, 0); /* `word`, and those of who began our parent */
        if (kind == DAEMON)
            sleep(DAEMON_S);
        exit(0);
    }
    tell("parent-of-orphan");
    exit(0);
}

static void child(unsigned depth, enum kind kind, int word)
{
    switch (kind) {
    case FORK:
    case NOT_WAITED:
    case CLONE:
        node(depth + 1);
        break;
    case EXEC:
        work((long)random_below(20000));
        leaf(self, (long)random_below(20000));
        break;
    case STATIC:
        leaf(static_path, (long)random_below(60000));
        break;
    case THREADS:
        threads();
        break;
    case KILL:
        child_killed(word);
        break;
    case ORPHAN:
    case DAEMON:
        child_orphan(depth, kind);
        break;
    case STOP:
        work((long)random_below(20000));
        raise(SIGSTOP);
        work((long)random_below(20000));
        break;
    case VFORK:
    case N_KINDS:
        break;
    }
    tell(names[kind]);
    close(word);
    kind == CLONE ? _exit(0) : exit(0); /* clone's has no atfork handlers behind it */
}

static pid_t begin(unsigned depth, enum kind kind, int word)
{
    long us = (long)random_below(40000);
    uint64_t seed = state;
    pid_t pid;
    if (kind == VFORK) {
        pid = vfork();
        if (pid == 0)
            leaf(self, us);
        return pid;
    }
    pid = kind == CLONE ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (pid == 0) {
        state = seed * 31 + depth;
        child(depth, kind, word);
    }
    return pid;
}

static void node(unsigned depth)
{
    unsigned n = depth == MOST_DEPTH ? 0 : random_below(4);
    work((long)random_below(40000));
    for (unsigned i = 0; i < n; i++) {
        enum kind kind = (enum kind)random_below(N_KINDS);
        int pipe_ends[2], status;
        if (pipe2(pipe_ends, O_CLOEXEC) != 0)
            abort();
        pid_t pid = begin(depth, kind, pipe_ends[1]);
        if (kind == STOP && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
            kill(pid, SIGCONT);
        await(pipe_ends);
        if (kind == KILL)
            kill(pid, SIGKILL);
        if (kind != NOT_WAITED)
            waitpid(pid, &status, 0);
    }
    work((long)random_below(20000));
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    self = argv[0];
    truth_path = argv[2];
    if (strcmp(argv[1], "leaf") == 0) {
        work(atol(argv[3]));
        tell("leaf");
        return 0;
    }
    state = strtoull(argv[1], NULL, 10) * 2654435761u + 1;
    static_path = argv[3];
    for (int i = 0; i < 3; i++)
        node(0);
    tell("root");
    return 0;
}
