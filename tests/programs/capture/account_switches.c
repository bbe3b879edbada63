/* account_switches ROUNDS MILLISECONDS - two threads on one processor pass a byte to and fro; then
 * one of them computes for so much CPU time. Prints "FUNCTION NANOSECONDS" of CPU for each, of both
 * threads; then "preempted N", how often the process lost its processor to another. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long rounds;
static int there[2], back[2];
static uint64_t used[2]; /* switching by each thread */
static volatile uint64_t result;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void switching(int in, int out, int begins)
{
    char byte = 1;
    uint64_t before = cpu_ns();
    for (long i = 0; i < rounds; i++)
        if ((begins && write(out, &byte, 1) != 1) || read(in, &byte, 1) != 1 ||
            (!begins && write(out, &byte, 1) != 1))
            abort();
    used[begins] = cpu_ns() - before;
}

__attribute__((noinline)) uint64_t computing(uint64_t ns)
{
    uint64_t before = cpu_ns(), seed = before;
    while (cpu_ns() - before < ns)
        for (unsigned i = 0; i < 20000; i++)
            seed = seed * 6364136223846793005u + 1442695040888963407u;
    result = seed;
    return cpu_ns() - before;
}

static void *partner(void *unused)
{
    switching(there[0], back[1], 0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    cpu_set_t one;
    if (argc != 3)
        return 2;
    rounds = strtol(argv[1], NULL, 10);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 || pipe(back) != 0 ||
        pthread_create(&thread, NULL, partner, NULL) != 0)
        return 1;
    switching(back[0], there[1], 1);
    pthread_join(thread, NULL);
    uint64_t computed = computing(strtoull(argv[2], NULL, 10) * 1000000u);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("switching %llu\ncomputing %llu\npreempted %ld\n",
           (unsigned long long)(used[0] + used[1]), (unsigned long long)computed, usage.ru_nivcsw);
    return 0;
}
