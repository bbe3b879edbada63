/* capture_program.c - capture_program WORK [ARGUMENT...]: one of capture_work.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture_work.h"

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t work_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t work_process_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t work_spin(uint64_t ns)
{
    uint64_t end = work_thread_cpu_ns() + ns, x = 1;
    do {
        for (int i = 0; i < 2000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
    } while (work_thread_cpu_ns() < end);
    return x;
}

int work_fail(const char *what)
{
    printf("failed: %s\n", what);
    return 1;
}

/* MS: works and returns. */
static int spin(int argc, char **argv)
{
    if (argc < 1)
        return 2;
    printf("%d\n", (int)(work_spin((uint64_t)atoi(argv[0]) * 1000000u) & 1u) >= 0);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*work)(int, char **);
    } table[] = {
        {"spin", spin},
        {"threads", work_threads},
        {"blocked", work_blocked},
        {"fork", work_fork},
        {"fork-big", work_fork_big},
        {"late-threads", work_late_threads},
        {"eintr", work_eintr},
        {"own-eintr", work_own_eintr},
        {"own-signal", work_own_signal},
        {"masks", work_masks},
        {"sigwait", work_sigwait},
        {"close-all", work_close_all},
        {"file-limit", work_file_limit},
        {"end", work_end},
        {"exec", work_exec},
        {"exec-fails", work_exec_fails},
        {"stderr", work_stderr},
        {"children", work_children},
    };
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            return table[i].work(argc - 2, argv + 2);
    fprintf(stderr, "usage: capture_program WORK [ARGUMENT...]\n");
    return 2;
}
