/* account_shares COUNT AT_ONCE MICROSECONDS - COUNT threads, AT_ONCE of them at a time, each of
 * which does work for so much CPU time in three functions, and measures by its CPU clock how much each
 * took. Prints "FUNCTION NANOSECONDS" for each, of all threads. COUNT 0: the main thread alone
 * works.
 *
 * The work is a number of steps, as in other programs: what a profiler uses of a thread's CPU time comes
 * on top of it. A thread that worked until its clock shows so much would do less where it is sampled.
 *
 * The slices are of uneven length, so that they do not run in step with a clock. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_AT_ONCE 4096
#define N_FUNCTIONS 3

static uint64_t thread_steps;      /* of one thread's work */
static uint64_t sums[N_FUNCTIONS]; /* atomic */
static volatile uint64_t result;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The way back from a reading is in the frames of the function that asked for it and in the
 * measure of the next one, and takes longer after a long body than after a short one. So there are
 * two readings: the first takes that upon itself, and the ways back from the second are all alike. */
static uint64_t end_of_slice(void)
{
    cpu_ns();
    return cpu_ns();
}

/* Three bodies that are not the same code, or a compiler makes one of them. Each reads the clock
 * that ends its slice, so that its frames have the time of that too. */
__attribute__((noinline)) uint64_t work_one(uint64_t *seed, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return end_of_slice();
}

__attribute__((noinline)) uint64_t work_two(uint64_t *seed, unsigned n)
{
    for (unsigned i = 0; i < 2 * n; i++)
        *seed = *seed * 3935559000370003845u + 2691343689449507681u;
    return end_of_slice();
}

__attribute__((noinline)) uint64_t work_five(uint64_t *seed, unsigned n)
{
    for (unsigned i = 0; i < 5 * n; i++)
        *seed = *seed * 2862933555777941757u + 3037000493u;
    return end_of_slice();
}

static void *work(void *argument)
{
    static uint64_t (*const functions[N_FUNCTIONS])(uint64_t *, unsigned) = {work_one, work_two,
                                                                             work_five};
    uint64_t seed = (uint64_t)(uintptr_t)argument + cpu_ns(), used[N_FUNCTIONS] = {0};
    uint64_t before = cpu_ns();
    static const uint64_t steps[N_FUNCTIONS] = {1, 2, 5};
    uint64_t n_steps = 0;
    for (unsigned i = 0; n_steps < thread_steps; i = (i + 1) % N_FUNCTIONS) {
        unsigned n = 4000 + (unsigned)(seed >> 52);
        uint64_t now = functions[i](&seed, n);
        used[i] += now - before;
        before = now;
        n_steps += n * steps[i];
    }
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        __atomic_add_fetch(&sums[i], used[i], __ATOMIC_RELAXED);
    result = seed;
    return NULL;
}

/* The steps that `us` of CPU time are good for: by the shortest of some slices, all of which are work of
 * work_five. */
static uint64_t steps_of(uint64_t us)
{
    enum { N_SLICES = 10, N_STEPS = 100000 };
    uint64_t seed = 1, least_ns = UINT64_MAX, start_ns = cpu_ns(), before_ns = start_ns;
    for (unsigned i = 0; i < N_SLICES; i++) {
        uint64_t now_ns = work_five(&seed, N_STEPS / 5);
        if (now_ns - before_ns < least_ns)
            least_ns = now_ns - before_ns;
        before_ns = now_ns;
    }
    sums[2] += before_ns - start_ns;
    result = seed;
    return us * 1000u * N_STEPS / least_ns;
}

int main(int argc, char **argv)
{
    static pthread_t threads[MAX_AT_ONCE];
    if (argc != 4)
        return 2;
    unsigned count = (unsigned)atoi(argv[1]), at_once = (unsigned)atoi(argv[2]);
    thread_steps = steps_of((uint64_t)atoi(argv[3]));
    if (at_once == 0 || at_once > MAX_AT_ONCE)
        return 2;
    if (count == 0)
        work(NULL);
    for (unsigned done = 0; done < count; done += at_once) {
        unsigned n = count - done < at_once ? count - done : at_once;
        for (unsigned i = 0; i < n; i++)
            if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
                return 1;
        for (unsigned i = 0; i < n; i++)
            pthread_join(threads[i], NULL);
    }
    printf("work_one %llu\nwork_two %llu\nwork_five %llu\n", (unsigned long long)sums[0],
           (unsigned long long)sums[1], (unsigned long long)sums[2]);
    return 0;
}
