/* notify_work HOW MICROSECONDS N - functions that libc calls in threads it makes for that:
 *
 *   timer   a timer's, N times; each works for so much CPU time
 *   queue   a message queue's, likewise
 *   many    of N timers, once each, one function for each of the first 24, each with its own value
 *   aio     none: libc's own threads read N times 4 MiB, and block all signals
 *
 * Prints the nanoseconds that the functions measured themselves, and in how many of their calls SIGPROF
 * was blocked. Exit status 0 = each was called as often as it should be, with its value. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define N_FUNCTIONS 24
#define N_BLOCKS 4
#define BLOCK_BYTES ((size_t)1 << 20)

static uint64_t each_ns;
static uint64_t work_ns; /* atomic, as are the next three */
static int n_calls;
static int n_wrong;
static int n_blocked; /* calls in which SIGPROF seemed to be blocked */
static int calls_of[N_FUNCTIONS];
static volatile uint64_t result;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void work_notified(uint64_t ns)
{
    uint64_t begin = cpu_ns(), now, seed = 1;
    while ((now = cpu_ns()) < begin + ns)
        for (unsigned i = 0; i < 1000; i++)
            seed = seed * 6364136223846793005u + 1442695040888963407u;
    result = seed;
    __atomic_fetch_add(&work_ns, now - begin, __ATOMIC_RELAXED);
}

static void check_mask(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (sigismember(&mask, SIGPROF) == 1)
        __atomic_fetch_add(&n_blocked, 1, __ATOMIC_RELAXED);
}

static void on_event(union sigval value)
{
    if (value.sival_ptr != &each_ns)
        __atomic_fetch_add(&n_wrong, 1, __ATOMIC_RELAXED);
    check_mask();
    work_notified(each_ns);
    __atomic_fetch_add(&n_calls, 1, __ATOMIC_RELEASE);
}

static void called(int function, union sigval value)
{
    if (value.sival_int != 7 * function)
        __atomic_fetch_add(&n_wrong, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&calls_of[function], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&n_calls, 1, __ATOMIC_RELEASE);
}

#define FUNCTION(n)                                                                                \
    static void on_##n(union sigval value)                                                         \
    {                                                                                              \
        called(n, value);                                                                          \
    }
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define ALL(X) EIGHT(X, 0) EIGHT(X, 01) EIGHT(X, 02) /* octal: 0 to 23 */
ALL(FUNCTION)

static void wait_for_calls(int n)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    while (__atomic_load_n(&n_calls, __ATOMIC_ACQUIRE) < n)
        nanosleep(&moment, NULL);
}

static timer_t timer_of(struct sigevent *event, const struct itimerspec *when)
{
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, event, &timer) != 0 ||
        timer_settime(timer, 0, when, NULL) != 0) {
        perror("timer");
        exit(2);
    }
    return timer;
}

static void by_timer(int n)
{
    const struct itimerspec often = {.it_interval = {.tv_nsec = 5000000},
                                     .it_value = {.tv_nsec = 5000000}},
                            never = {.it_value = {0}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_event};
    event.sigev_value.sival_ptr = &each_ns;
    timer_t timer = timer_of(&event, &often);
    if (event.sigev_notify_function != on_event)
        n_wrong++;
    wait_for_calls(n);
    timer_settime(timer, 0, &never, NULL);
    timer_delete(timer);
}

static void by_many_timers(int n)
{
#define NAME(n) on_##n,
    static void (*const functions[N_FUNCTIONS])(union sigval) = {ALL(NAME)};
    const struct itimerspec once = {.it_value = {.tv_nsec = 1000000}};
    for (int i = 0; i < n; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                                 .sigev_notify_function = functions[i % N_FUNCTIONS]};
        event.sigev_value.sival_int = 7 * (i % N_FUNCTIONS);
        timer_of(&event, &once);
    }
    wait_for_calls(n);
    for (int i = 0; i < n; i++)
        if (calls_of[i % N_FUNCTIONS] != n / N_FUNCTIONS + (i % N_FUNCTIONS < n % N_FUNCTIONS))
            n_wrong++;
}

static void by_queue(int n)
{
    char name[64], byte = 0;
    const struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 1};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_event};
    event.sigev_value.sival_ptr = &each_ns;
    snprintf(name, sizeof name, "/notify_work.%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (queue == (mqd_t)-1) {
        printf("no queue: %s\n", strerror(errno));
        exit(77);
    }
    mq_unlink(name);
    for (int i = 0; i < n; i++) {
        if (mq_notify(queue, &event) != 0 || mq_send(queue, &byte, 1, 0) != 0 ||
            mq_receive(queue, &byte, 1, NULL) != 1)
            n_wrong++;
        wait_for_calls(i + 1);
    }
}

static void by_aio(int n)
{
    static char blocks[N_BLOCKS][BLOCK_BYTES];
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < n; i++) {
        struct aiocb requests[N_BLOCKS];
        memset(requests, 0, sizeof requests);
        for (int k = 0; k < N_BLOCKS; k++) {
            requests[k].aio_fildes = fd;
            requests[k].aio_buf = blocks[k];
            requests[k].aio_nbytes = BLOCK_BYTES;
            aio_read(&requests[k]);
        }
        for (int k = 0; k < N_BLOCKS; k++) {
            const struct aiocb *list[] = {&requests[k]};
            while (aio_error(&requests[k]) == EINPROGRESS)
                aio_suspend(list, 1, NULL);
            if (aio_return(&requests[k]) != (ssize_t)BLOCK_BYTES)
                n_wrong++;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int n = atoi(argv[3]);
    each_ns = strtoull(argv[2], NULL, 10) * 1000;
    if (strcmp(argv[1], "timer") == 0)
        by_timer(n);
    else if (strcmp(argv[1], "queue") == 0)
        by_queue(n);
    else if (strcmp(argv[1], "many") == 0)
        by_many_timers(n);
    else if (strcmp(argv[1], "aio") == 0)
        by_aio(n);
    else
        return 2;
    printf("%llu %d\n", (unsigned long long)work_ns, n_blocked);
    return n_wrong != 0;
}
