/* switch_bench.c - programs that do little but switch, or begin and end: what a profiler costs
 * where it cannot hide.
 *
 *   switch_bench fork|exec|threads ROUNDS   two tasks on one processor pass a byte to and fro
 *   switch_bench spawn|vfork ROUNDS PROGRAM starts a program, one after the other
 *   switch_bench child ROUNDS               forks a child that ends, one after the other
 *   switch_bench short ROUNDS NS            threads of so much CPU time, one after the other
 *
 * Prints nothing: whoever runs it has the kernel's figures (wait4), the children's included. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct ends {
    int in;
    int out;
};

static long rounds;

static void fail(const char *what)
{
    fprintf(stderr, "switch_bench: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static void pass_on(const struct ends *ends, bool begins)
{
    char byte = 1;
    for (long i = 0; i < rounds; i++) {
        if (begins && write(ends->out, &byte, 1) != 1)
            fail("write");
        if (read(ends->in, &byte, 1) != 1)
            fail("read");
        if (!begins && write(ends->out, &byte, 1) != 1)
            fail("write");
    }
}

static void *partner(void *ends)
{
    pass_on(ends, false);
    return NULL;
}

static void wait_for(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("a child did not end well");
}

/* The partner as a program of its own: its ends of the pipes are its arguments. */
static void exec_partner(const char *program, const struct ends *ends)
{
    char in[16], out[16], n[24];
    snprintf(in, sizeof in, "%d", ends->in);
    snprintf(out, sizeof out, "%d", ends->out);
    snprintf(n, sizeof n, "%ld", rounds);
    execl(program, program, "partner", n, in, out, (char *)NULL);
    fail(program);
}

static void ping_pong(const char *program, const char *mode)
{
    int there[2], back[2];
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 || pipe(back) != 0)
        fail("preparing");
    struct ends mine = {back[0], there[1]}, others = {there[0], back[1]};
    if (strcmp(mode, "threads") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, partner, &others) != 0)
            fail("pthread_create");
        pass_on(&mine, true);
        pthread_join(thread, NULL);
        return;
    }
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        if (strcmp(mode, "exec") == 0)
            exec_partner(program, &others);
        partner(&others);
        exit(0);
    }
    pass_on(&mine, true);
    wait_for(child);
}

static pid_t start_by_vfork(char *program, char **argv)
{
    pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): its cost */
    if (child == 0) {
        execve(program, argv, environ);
        _exit(127);
    }
    return child;
}

static void start_many(const char *mode, char *program)
{
    char *argv[] = {program, NULL};
    for (long i = 0; i < rounds; i++) {
        pid_t child;
        if (strcmp(mode, "spawn") != 0)
            child = start_by_vfork(program, argv);
        else if (posix_spawn(&child, program, NULL, NULL, argv, environ) != 0)
            fail(program);
        wait_for(child);
    }
}

static void fork_many(void)
{
    for (long i = 0; i < rounds; i++) {
        pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0)
            exit(0);
        wait_for(child);
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void *work_for(void *ns)
{
    while (cpu_ns() < *(const uint64_t *)ns)
        continue;
    return NULL;
}

static void short_threads(uint64_t ns)
{
    for (long i = 0; i < rounds; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work_for, &ns) != 0)
            fail("pthread_create");
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "usage: see switch_bench.c\n"), 2;
    const char *mode = argv[1];
    rounds = strtol(argv[2], NULL, 10);
    if (strcmp(mode, "partner") == 0 && argc == 5)
        partner(&(struct ends){(int)strtol(argv[3], NULL, 10), (int)strtol(argv[4], NULL, 10)});
    else if (strcmp(mode, "short") == 0 && argc == 4)
        short_threads(strtoull(argv[3], NULL, 10));
    else if (strcmp(mode, "child") == 0)
        fork_many();
    else if (argc == 4)
        start_many(mode, argv[3]);
    else
        ping_pong(argv[0], mode);
    return 0;
}
