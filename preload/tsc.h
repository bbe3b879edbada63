/* tsc.h - the cycle counter, to time the handler without a system call. Context: any. */
#ifndef SAMPLER_TSC_H
#define SAMPLER_TSC_H

#include <stdint.h>

#include "context.h"

/* 0 where there is none that user code can read. Unordered: a few instructions this way or that
 * do not matter. */
SIGNAL_SAFE static inline uint64_t tsc_read(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

#endif
