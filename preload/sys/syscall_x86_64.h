/* syscall_x86_64.h - the system call instruction itself.
 *
 * Every other way to call the kernel is a name that can be taken over: libc's syscall() is a slot
 * in the GOT, and the first definition in the global scope fills it - the program's, another
 * preloaded library's, or our own hook. This is one instruction in place.
 *
 * Result     what the kernel returns: minus the error number (-4095 .. -1) on failure. No errno.
 * Context    any, also without thread-local storage; reads and writes no memory of its own.
 * Use        os_call in os.h where errno is wanted; this where there may be none (tls.h).
 *
 * Another architecture needs a file of this shape, and the vDSO's name for its clock. */
#ifndef SAMPLER_SYSCALL_X86_64_H
#define SAMPLER_SYSCALL_X86_64_H

#include "sys/context.h"

/* Always six arguments: one that the call does not take costs setting a register to 0. */
SIGNAL_SAFE static inline long syscall_raw(long number, long a, long b, long c, long d, long e,
                                           long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* What the vDSO calls its clock_gettime. */
#define SYSCALL_VDSO_CLOCK "__vdso_clock_gettime"

#endif
