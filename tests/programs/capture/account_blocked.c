/* account_blocked HOW MILLISECONDS - a thread that blocks SIGPROF by a bare system call, as
 * runtimes without libc do, and works for so much CPU time:
 *
 *   release   lets it through again behind the work, and works a little more
 *   end       ends with it blocked
 *   exit      the process ends while the thread, with it blocked, still works
 *   syscall   does not block it, but has all its time in few long system calls */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *how;
static uint64_t work_ns;
static volatile uint64_t result;
static int is_done; /* atomic */

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void work(uint64_t ns)
{
    uint64_t until = cpu_ns() + ns, seed = 1;
    while (cpu_ns() < until)
        for (unsigned i = 0; i < 10000; i++)
            seed = seed * 6364136223846793005u + 1442695040888963407u;
    result = seed;
}

static void mask_set(int operation)
{
    uint64_t set = UINT64_C(1) << (SIGPROF - 1);
    syscall(SYS_rt_sigprocmask, operation, &set, NULL, 8);
}

/* Memory asked for at once: the kernel clears all of it in one call, which no signal ends. */
static void map_long(uint64_t ns)
{
    const size_t n_bytes = 1024u << 20;
    uint64_t until = cpu_ns() + ns;
    while (cpu_ns() < until) {
        void *bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (bytes == MAP_FAILED)
            exit(77);
        munmap(bytes, n_bytes);
    }
}

static void *run(void *argument)
{
    if (strcmp(how, "syscall") == 0) {
        map_long(work_ns);
        return argument;
    }
    work(20000000);
    mask_set(SIG_BLOCK);
    work(work_ns);
    __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
    if (strcmp(how, "release") == 0) {
        mask_set(SIG_UNBLOCK);
        work(20000000);
    }
    while (strcmp(how, "exit") == 0)
        work(1000000);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 3)
        return 2;
    how = argv[1];
    work_ns = (uint64_t)atoi(argv[2]) * 1000000u;
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        return 1;
    if (strcmp(how, "exit") != 0)
        return pthread_join(thread, NULL);
    while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
        usleep(1000);
    return 0;
}
