/* deep_work DEPTH ROUNDS [THREADS] - the same work whatever is measured beside it: ROUNDS times a
 * small loop at the bottom of a stack of DEPTH frames, in each of THREADS threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned depth, rounds;

__attribute__((noinline)) static uint64_t leaf(uint64_t seed)
{
    for (unsigned i = 0; i < 20000; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

__attribute__((noinline)) static uint64_t descend(unsigned level, uint64_t seed)
{
    if (level == 0) {
        for (unsigned i = 0; i < rounds; i++)
            seed = leaf(seed);
        return seed;
    }
    return descend(level - 1, seed + level) ^ level; /* work behind the call: no tail call */
}

static void *work(void *argument)
{
    return (void *)(uintptr_t)descend(depth, (uintptr_t)argument);
}

int main(int argc, char **argv)
{
    depth = argc > 1 ? (unsigned)atoi(argv[1]) : 36;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 10000;
    unsigned n_threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    uint64_t sum = 0;
    if (n_threads <= 1) {
        sum = (uintptr_t)work((void *)1);
    } else {
        pthread_t *threads = calloc(n_threads, sizeof *threads);
        for (uintptr_t i = 0; threads != NULL && i < n_threads; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
                return 2;
        for (unsigned i = 0; threads != NULL && i < n_threads; i++) {
            void *result = NULL;
            pthread_join(threads[i], &result);
            sum += (uintptr_t)result;
        }
        free(threads);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
