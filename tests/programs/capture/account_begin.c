/* account_begin COUNT - COUNT threads, one after the other, which do nothing. Prints "before
 * NANOSECONDS": what their CPU clocks showed, all together, when their function began. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t before_ns;

__attribute__((noinline)) static void *nothing(void *argument)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    before_ns += (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return argument;
}

int main(int argc, char **argv)
{
    int count = argc == 2 ? atoi(argv[1]) : 0;
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    printf("before %llu\n", (unsigned long long)before_ns);
    return 0;
}
