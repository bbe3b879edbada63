/* elapsed.h - the clock that counts from when the run began: CLOCK_MONOTONIC, as the library's. Of the
 * kernel itself: what gives programs another time (libfaketime) is loaded into this one too. */
#ifndef SAMPLER_CLI_ELAPSED_H
#define SAMPLER_CLI_ELAPSED_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t elapsed_now_ns(void)
{
    struct timespec now = {0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
