/* capture_threads.c - threads and processes that come and go. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture_work.h"

#define MAX_AT_ONCE 1000

static uint64_t thread_ns;

static void *run_short(void *argument)
{
    work_spin(thread_ns > work_thread_cpu_ns() ? thread_ns - work_thread_cpu_ns() : 0);
    return argument;
}

int work_threads(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int count = atoi(argv[0]), at_once = atoi(argv[1]);
    thread_ns = (uint64_t)atoi(argv[2]) * 1000u;
    pthread_t threads[MAX_AT_ONCE];
    if (at_once > MAX_AT_ONCE)
        return 2;
    for (int done = 0; done < count; done += at_once) {
        for (int i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], NULL, run_short, (void *)(intptr_t)i) != 0)
                return work_fail("pthread_create");
        for (int i = 0; i < at_once; i++) {
            void *result = NULL;
            if (pthread_join(threads[i], &result) != 0 || (intptr_t)result != i)
                return work_fail("pthread_join");
        }
    }
    printf("%d threads\n", count);
    return 0;
}

static void *run_named(void *argument)
{
    pthread_setname_np(pthread_self(), "worker");
    return run_short(argument);
}

int work_blocked(int argc, char **argv)
{
    sigset_t all, before;
    pthread_t threads[2];
    if (argc < 1)
        return 2;
    thread_ns = (uint64_t)atoi(argv[0]) * 1000000u;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run_named, NULL) != 0)
            return work_fail("pthread_create");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* A child of fork that works; whether it ended as it should. */
static int run_child(uint64_t ns)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        work_spin(ns);
        exit(7);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return work_fail("fork or waitpid");
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : work_fail("the child's status");
}

int work_fork(int argc, char **argv)
{
    int failed = 0;
    if (argc < 2)
        return 2;
    work_spin((uint64_t)atoi(argv[1]) * 1000000u);
    for (int i = 0; i < atoi(argv[0]); i++)
        failed |= run_child((uint64_t)atoi(argv[1]) * 1000000u);
    return failed;
}

int work_fork_big(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    size_t n_bytes = (size_t)atoi(argv[0]) << 20;
    char *memory = malloc(n_bytes);
    if (memory == NULL)
        return work_fail("malloc");
    memset(memory, 1, n_bytes);
    int failed = run_child((uint64_t)atoi(argv[1]) * 1000000u);
    free(memory);
    return failed;
}

static void *run_for_ever(void *argument)
{
    for (;;)
        work_spin(1000000u);
    return argument;
}

int work_late_threads(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_for_ever, NULL) != 0)
            return work_fail("pthread_create");
    }
    work_spin(50000000u);
    return 0;
}
