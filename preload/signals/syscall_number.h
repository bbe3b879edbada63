/* syscall_number.h - which system call an interrupted thread has just come back from.
 *
 * The kernel overwrites rax, which held the number, with the result; what is left is the code
 * before the `syscall` instruction, and the registers it took the number from.
 *
 * Context    SIGNAL. */
#ifndef SAMPLER_SYSCALL_NUMBER_H
#define SAMPLER_SYSCALL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sys/context.h"

/* The instruction after `syscall` in the library's own syscall() (hooks/syscall.c), which keeps the
 * number in the word below its stack pointer. NULL until that is set up, constant afterwards. */
extern const uint8_t *syscall_stub_return;

/* `registers` of a thread right after a `syscall` instruction (rcx == rip). False when the number
 * is not known for certain; *number may have changed. */
SIGNAL_SAFE bool syscall_number(const greg_t *registers, uint32_t *number);

#endif
