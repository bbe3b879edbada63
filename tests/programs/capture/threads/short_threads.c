/* short_threads N - one after the other, eight at a time, N threads that live for about half a
 * millisecond of CPU; prints what all of them computed. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE 8

static void *work(void *argument)
{
    uintptr_t seed = (uintptr_t)argument;
    for (unsigned i = 0; i < 400000; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (void *)(seed >> 33);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
    uintptr_t sum = 0;
    for (unsigned first = 0; first < n; first += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        unsigned count = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (unsigned i = 0; i < count; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(first + i)) != 0)
                return 2;
        for (unsigned i = 0; i < count; i++) {
            void *result = NULL;
            pthread_join(threads[i], &result);
            sum += (uintptr_t)result;
        }
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
