/* account_kernel calls|small_calls|faults|both MILLISECONDS - spends CPU time in user code, in read()
 * and in page faults, each in a function of its own, and prints "FUNCTION NANOSECONDS" as it measured
 * them itself. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20)
#define FAULT_BYTES (1 << 20)

static char buffer[BUFFER_BYTES];
static int zeros;
static volatile uint64_t result;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Each ends by the reading of the clock that ends its slice. */
__attribute__((noinline)) uint64_t computing(unsigned n)
{
    uint64_t seed = result;
    for (unsigned i = 0; i < n; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    result = seed;
    return cpu_ns();
}

__attribute__((noinline)) uint64_t reading(size_t n_bytes, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (read(zeros, buffer, n_bytes) != (ssize_t)n_bytes)
            abort();
    return cpu_ns();
}

__attribute__((noinline)) uint64_t faulting(void)
{
    char *pages =
        mmap(NULL, FAULT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    for (size_t at = 0; at < FAULT_BYTES; at += 4096)
        pages[at] = 1;
    munmap(pages, FAULT_BYTES);
    return cpu_ns();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int calls = strcmp(argv[1], "faults") != 0, faults = strcmp(argv[1], "calls") != 0;
    size_t n_bytes = BUFFER_BYTES;
    unsigned n_calls = 4;
    if (strcmp(argv[1], "small_calls") == 0) {
        n_bytes = 64;
        n_calls = 500;
        faults = 0;
    }
    uint64_t computed = 0, read_ns = 0, faulted = 0;
    zeros = open("/dev/zero", O_RDONLY);
    memset(buffer, 1, sizeof buffer);
    uint64_t before = cpu_ns(), end = before + strtoull(argv[2], NULL, 10) * 1000000u;
    while (before < end) {
        /* Of uneven length, so that the slices do not run in step with a clock. */
        uint64_t now = computing(200000 + (unsigned)(result >> 46));
        computed += now - before;
        before = now;
        if (calls) {
            now = reading(n_bytes, n_calls + (unsigned)(result >> 62));
            read_ns += now - before;
            before = now;
        }
        if (faults) {
            now = faulting();
            faulted += now - before;
            before = now;
        }
    }
    printf("computing %llu\n", (unsigned long long)computed);
    if (calls)
        printf("reading %llu\n", (unsigned long long)read_ns);
    if (faults)
        printf("faulting %llu\n", (unsigned long long)faulted);
    return 0;
}
