/* syscall_number.h - which system call an interrupted thread has just come back from.
 *
 * The kernel overwrites rax, which held the number, with the result; what is left is the code in
 * front of the `syscall` instruction, and the registers it took the number from. */
#ifndef SAMPLER_PRELOAD_SIGNALS_SYSCALL_NUMBER_H
#define SAMPLER_PRELOAD_SIGNALS_SYSCALL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sys/context.h"

/* The instruction behind `syscall` in the library's own syscall() (hooks/syscall.c), which keeps
 * the number in the word below its stack pointer. NULL when that is not there. */
extern const uint8_t *syscall_stub_return;

/* `registers` of a thread right behind a `syscall` instruction (rcx == rip). False when the number
 * cannot be told for certain. SIGNAL */
SIGNAL_SAFE bool syscall_number(const greg_t *registers, uint32_t *number);

#endif
