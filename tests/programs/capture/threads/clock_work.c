/* clock_work MODE [N] [SECONDS] - work whose amount the program itself knows, for tests of what -e
 * measures. Prints one line of JSON.
 *
 *   shares _ S    two threads that nap, wait, poll and compute for S seconds: seconds of each
 *   calls N       N calls in four threads that a signal could break off: how many were
 *   blocked N S   N threads that block all the time, for S seconds: CPU seconds of the process
 *   faults N      N pages touched by one function, 3 N by another: faults in all
 *   switches N    N naps in each of two threads: how often the kernel took the processor from them
 *                 meanwhile (a nap that is over before it begins is no switch), naps broken off
 *   hang N        N threads block; says so, then blocks until it is killed
 *   exit_main _ S main() ends by pthread_exit, a thread lives S seconds longer
 *   fork _ S      a child naps S seconds */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define PAGE_BYTES 4096u
#define STATE_S 0.03 /* of one nap, wait, ... */
#define MAX_THREADS 1000

static long number;
static double seconds;
static long n_broken_off;
static long n_switched;
static int never[2]; /* a pipe nobody writes to */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct timespec timespec_of(double s)
{
    time_t whole = (time_t)s;
    return (struct timespec){.tv_sec = whole, .tv_nsec = (long)((s - (double)whole) * 1e9)};
}

static void count_broken_off(int result)
{
    if (result < 0 && errno == EINTR)
        __atomic_add_fetch(&n_broken_off, 1, __ATOMIC_RELAXED);
}

static NOINLINE void work_nap(double s)
{
    struct timespec time = timespec_of(s);
    count_broken_off(nanosleep(&time, NULL));
}

static NOINLINE void work_wait(double s)
{
    static __thread pthread_mutex_t mutex;
    static __thread pthread_cond_t condition;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until = timespec_of((double)until.tv_sec + (double)until.tv_nsec * 1e-9 + s);
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &until) == 0)
        continue;
    pthread_mutex_unlock(&mutex);
}

static NOINLINE void work_poll(double s)
{
    static __thread int fd;
    struct epoll_event event;
    if (fd == 0)
        fd = epoll_create1(EPOLL_CLOEXEC);
    count_broken_off(epoll_wait(fd, &event, 1, (int)(s * 1000)));
}

static NOINLINE void work_compute(double s)
{
    for (double end = now_s() + s; now_s() < end;)
        continue;
}

/* ---- modes ------------------------------------------------------------------------------------
 */

static double shares[2][4], waited[2]; /* waited: of the computing, without a processor */

static void *share_run(void *argument)
{
    static void (*const works[])(double) = {work_nap, work_wait, work_poll, work_compute};
    double *mine = argument, *waits = &waited[mine == shares[1]];
    double end = now_s() + seconds;
    for (unsigned i = 0; now_s() < end; i++) {
        double begin = now_s(), begin_cpu = cpu_s();
        works[i % 4](STATE_S);
        mine[i % 4] += now_s() - begin;
        if (i % 4 == 3)
            *waits += now_s() - begin - (cpu_s() - begin_cpu);
    }
    return NULL;
}

static void *call_run(void *unused)
{
    for (long i = 0; i < number / 4; i++) {
        struct timeval time = {.tv_usec = 20};
        struct timespec nap = {.tv_nsec = 20000};
        struct pollfd file = {.fd = never[0], .events = POLLIN};
        switch (i % 4) {
        case 0:
            work_nap(20e-6);
            break;
        case 1:
            count_broken_off(ppoll(&file, 1, &nap, NULL));
            break;
        case 2:
            count_broken_off(select(0, NULL, NULL, NULL, &time));
            break;
        default:
            count_broken_off(i % 64 == 3 ? poll(&file, 1, 1)
                             : clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL) != 0 ? -1
                                                                                    : 0);
        }
    }
    return unused;
}

static NOINLINE void *block_run(void *unused)
{
    char byte;
    count_broken_off((int)read(never[0], &byte, 1));
    return unused;
}

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void *switch_run(void *unused)
{
    long n = 0;
    for (long i = 0; i < number; i++) {
        long before = switches();
        work_nap(100e-6);
        n += switches() - before;
    }
    __atomic_add_fetch(&n_switched, n, __ATOMIC_RELAXED);
    return unused;
}

static void *nap_run(void *unused)
{
    work_nap(seconds);
    return unused;
}

static NOINLINE void touch(volatile char *bytes, long n_pages)
{
    for (long i = 0; i < n_pages; i++)
        bytes[i * (long)PAGE_BYTES] = 1;
}

static NOINLINE void touch_few(char *bytes)
{
    touch(bytes, number);
    __asm__ volatile("");
}

static NOINLINE void touch_many(char *bytes)
{
    touch(bytes + number * (long)PAGE_BYTES, 3 * number);
    __asm__ volatile("");
}

static void run_threads(void *(*run)(void *), unsigned n)
{
    pthread_t threads[MAX_THREADS];
    for (unsigned i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void start_threads(void *(*run)(void *), long n)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (long i = 0; i < n; i++)
        pthread_create(&thread, &attributes, run, NULL);
}

static void mode_shares(void)
{
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, share_run, shares[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("{\"work_nap\": %.4f, \"work_wait\": %.4f, \"work_poll\": %.4f, \"work_compute\": %.4f, "
           "\"waited\": %.4f}\n",
           shares[0][0] + shares[1][0], shares[0][1] + shares[1][1], shares[0][2] + shares[1][2],
           shares[0][3] + shares[1][3], waited[0] + waited[1]);
}

static void mode_blocked(void)
{
    start_threads(block_run, number);
    work_nap(0.5); /* they are on their way */
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    work_nap(seconds);
    getrusage(RUSAGE_SELF, &after);
    double cpu_s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
                            before.ru_stime.tv_sec) +
                   (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
                            after.ru_stime.tv_usec - before.ru_stime.tv_usec) *
                       1e-6;
    printf("{\"cpu_s\": %.4f, \"broken_off\": %ld}\n", cpu_s, n_broken_off);
}

static void mode_faults(void)
{
    struct rusage usage;
    size_t n_bytes = 4 * (size_t)number * PAGE_BYTES;
    char *bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(bytes, n_bytes, MADV_NOHUGEPAGE);
    touch_few(bytes);
    touch_many(bytes);
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"faults\": %ld}\n", usage.ru_minflt + usage.ru_majflt);
}

static void mode_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        work_nap(seconds);
        exit(0);
    }
    waitpid(child, NULL, 0);
    printf("{}\n");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
    if (pipe(never) != 0)
        return 1;
    if (strcmp(mode, "shares") == 0) {
        mode_shares();
    } else if (strcmp(mode, "calls") == 0) {
        run_threads(call_run, 4);
        printf("{\"broken_off\": %ld}\n", n_broken_off);
    } else if (strcmp(mode, "blocked") == 0) {
        mode_blocked();
    } else if (strcmp(mode, "faults") == 0) {
        mode_faults();
    } else if (strcmp(mode, "switches") == 0) {
        run_threads(switch_run, 2);
        printf("{\"switches\": %ld, \"broken_off\": %ld}\n", n_switched, n_broken_off);
    } else if (strcmp(mode, "hang") == 0) {
        start_threads(block_run, number);
        work_nap(0.2);
        printf("blocked\n");
        fflush(stdout);
        block_run(NULL);
    } else if (strcmp(mode, "exit_main") == 0) {
        start_threads(nap_run, 1);
        pthread_exit(NULL);
    } else if (strcmp(mode, "fork") == 0) {
        mode_fork();
    } else {
        return 2;
    }
    fflush(stdout);
    return 0;
}
