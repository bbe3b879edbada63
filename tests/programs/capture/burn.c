/* burn SECONDS [kill|exit STATUS] - uses that much CPU time, prints it, and ends in that way. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static unsigned work(unsigned seed)
{
    for (unsigned i = 0; i < 100000; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

/* Makes the result needed. */
static volatile unsigned result;

int main(int argc, char **argv)
{
    double until = argc > 1 ? atof(argv[1]) : 1.0;
    unsigned seed = 1;
    while (cpu_seconds() < until)
        seed = work(seed);
    result = seed;
    printf("%.4f\n", cpu_seconds());
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        kill(getpid(), SIGKILL);
    return argc > 3 ? atoi(argv[3]) : 0;
}
