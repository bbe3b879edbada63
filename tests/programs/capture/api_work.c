/* api_work.c - a program that talks to the profiler (sampler.h), and runs as well without one.
 *
 *   api_work labels MS      three labels in turn, then none; another thread has one of its own
 *   api_work window MS      work, start, other work, stop, work again
 *   api_work flush MS FILE  work, a profile so far to FILE, other work
 *   api_work threads MS     threads that are there when sampling stops, goes on, stops again
 *   api_work spin MS        nothing of the kind; prints its process id when it begins
 *   api_work handler MS     as spin, with a handler of its own for SIGUSR2; prints how often it ran
 *   api_work blocked MS     as spin, all signals blocked
 *   api_work killed MS      stops sampling at once, works, and is killed
 *   api_work absent         what the functions say; exit status 0 if that there is no profiler */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sampler.h"

static uint64_t spin_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void spin(uint64_t ns)
{
    uint64_t end_ns = spin_ns() + ns;
    while (spin_ns() < end_ns)
        for (volatile int i = 0; i < 2000; i++)
            continue;
}

#define WORK(name)                                                                                 \
    __attribute__((noinline)) static void name(uint64_t ns)                                        \
    {                                                                                              \
        spin(ns);                                                                                  \
        __asm__ volatile("");                                                                      \
    }

WORK(work_a)
WORK(work_b)
WORK(work_c)

static uint64_t work_ns;
static atomic_int go_ahead;
static atomic_int n_handled;

static int fail(const char *what)
{
    fprintf(stderr, "api_work: %s\n", what);
    return 1;
}

static void *run_labelled(void *argument)
{
    sampler_label("other;thread\n");
    work_b(work_ns);
    return argument;
}

static int labels(void)
{
    pthread_t thread;
    errno = 77;
    if (pthread_create(&thread, NULL, run_labelled, NULL) != 0)
        return fail("pthread_create");
    char name[] = "first";
    sampler_label(name);
    memset(name, 'x', sizeof name - 1); /* it was copied */
    work_a(work_ns);
    sampler_label("second");
    work_a(work_ns);
    sampler_label(NULL);
    work_c(work_ns);
    pthread_join(thread, NULL);
    return errno == 77 ? 0 : fail("errno was changed");
}

static int window(void)
{
    work_a(work_ns);
    if (sampler_start() != 0 || sampler_is_active() != 1)
        return fail("start");
    work_b(work_ns);
    if (sampler_stop() != 0 || sampler_is_active() != 0)
        return fail("stop");
    work_c(work_ns);
    return 0;
}

static int killed(void)
{
    if (sampler_stop() != 0)
        return fail("stop");
    work_a(work_ns);
    return raise(SIGKILL);
}

static void *run_rounds(void *argument)
{
    void (*const work[])(uint64_t) = {work_a, work_b, work_c, work_b};
    for (int round = 0; round < 4; round++) {
        while (atomic_load(&go_ahead) < round)
            usleep(1000);
        work[round](work_ns);
    }
    return argument;
}

/* Rounds 0 and 2 with sampling off, 1 and 3 with sampling on; a second thread begins in round 2. */
static int threads(void)
{
    pthread_t first, second;
    uint64_t wait_us = work_ns / 1000 * 4;
    pthread_create(&first, NULL, run_rounds, NULL);
    usleep((unsigned)wait_us);
    sampler_start();
    atomic_store(&go_ahead, 1);
    usleep((unsigned)wait_us);
    sampler_stop();
    pthread_create(&second, NULL, run_labelled, NULL);
    atomic_store(&go_ahead, 2);
    usleep((unsigned)wait_us);
    sampler_start();
    atomic_store(&go_ahead, 3);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}

static int flush(const char *path)
{
    work_a(work_ns);
    if (sampler_flush("/nowhere/at/all.folded") == 0 || errno != EIO)
        return fail("flush to nowhere");
    if (sampler_flush(path) != 0)
        return fail("flush");
    work_b(work_ns);
    return 0;
}

static int absent(void)
{
    errno = 0;
    bool is_right = sampler_start() == -1 && sampler_stop() == -1 && sampler_is_active() == 0 &&
                    sampler_label("x") == -1 && errno == 0 && sampler_flush("x") == -1 &&
                    errno == ENOTCONN;
    return is_right ? 0 : fail("not as without a profiler");
}

static void on_signal(int signo)
{
    (void)signo;
    atomic_fetch_add(&n_handled, 1);
}

static int spin_only(const char *how)
{
    sigset_t all;
    sigfillset(&all);
    if (strcmp(how, "blocked") == 0)
        sigprocmask(SIG_SETMASK, &all, NULL);
    struct sigaction before;
    if (sigaction(SIGUSR2, NULL, &before) != 0 || before.sa_handler != SIG_DFL ||
        (before.sa_flags & SA_SIGINFO) != 0)
        return fail("a handler that is not ours");
    if (strcmp(how, "handler") == 0 && signal(SIGUSR2, on_signal) != SIG_DFL)
        return fail("a handler that is not ours");
    printf("%d\n", (int)getpid());
    fflush(stdout);
    work_a(work_ns);
    if (strcmp(how, "handler") == 0)
        printf("%d handled\n", atomic_load(&n_handled));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "absent") == 0)
        return absent();
    if (argc < 3)
        return 2;
    work_ns = (uint64_t)atoi(argv[2]) * 1000000u;
    if (strcmp(argv[1], "labels") == 0)
        return labels();
    if (strcmp(argv[1], "window") == 0)
        return window();
    if (strcmp(argv[1], "killed") == 0)
        return killed();
    if (strcmp(argv[1], "threads") == 0)
        return threads();
    if (strcmp(argv[1], "flush") == 0 && argc > 3)
        return flush(argv[3]);
    return spin_only(argv[1]);
}
