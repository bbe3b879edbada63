/* gone_library.c - the library of gone_work.c: half the time in an exported function, half in one that only it knows. */
#include <time.h>

#define EXPORTED __attribute__((visibility("default"), noinline))

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static __attribute__((noinline)) unsigned hidden_part(unsigned n)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 31 + i;
    return sum;
}

EXPORTED unsigned exported_part(unsigned n)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 33 + i;
    return sum;
}

volatile unsigned gone_sum;

EXPORTED void exported_work(unsigned ms)
{
    double end = now_ms() + ms;
    while (now_ms() < end)
        gone_sum = gone_sum + hidden_part(20000) + exported_part(20000);
}
