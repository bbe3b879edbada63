/* arch.h - what unwinding has to know about a processor.
 *
 * Adding an architecture:
 *   1. a column of the numbers below (and of cfi/registers.h);
 *   2. files arch_NAME.c and arch_NAME_instruction.c with the functions below;
 *   3. their names in preload/CMakeLists.txt;
 *   4. the instruction bytes they recognise, in test_unwind_step.c.
 *
 * Context    SIGNAL, all of it; pure functions except arch_registers_init and
 *            arch_signal_frame_read. */
#ifndef SAMPLER_UNWIND_ARCH_H
#define SAMPLER_UNWIND_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi/registers.h"
#include "sys/context.h"

#if defined(__x86_64__)
#define ARCH_RED_ZONE_BYTES 128u
#define ARCH_RA_OFFSET (-8) /* where a call leaves the return address, from the cfa */
#else
#error "unwind/arch.h: this architecture has no description yet"
#endif

/* Registers by DWARF number. A bit of `known` says that the value is that of the frame in question;
 * others must not be used. */
struct unwind_registers {
    uint64_t value[ARCH_N_REGISTERS];
    uint32_t known;
};
#define ARCH_ALL_KNOWN ((1u << ARCH_N_REGISTERS) - 1)

/* Fills all registers from the handler's ucontext_t. */
SIGNAL_SAFE void arch_registers_init(struct unwind_registers *registers, const void *context);

struct unwind_memory;

/* The registers that the kernel saved for the signal whose trampoline is about to run with stack
 * pointer `sp`. False when they cannot be read; *registers is then part written. */
SIGNAL_SAFE bool arch_signal_frame_read(struct unwind_memory *memory, uint64_t sp,
                                        struct unwind_registers *registers);

/* Bytes from the start of a signal trampoline to its system call instruction. */
#define ARCH_SIGNAL_RETURN_SYSCALL 7u

/* The longest byte sequence the functions below look at, before and from the address on. */
#define ARCH_CODE_BEFORE_BYTES 8u
#define ARCH_CODE_FROM_BYTES 16u

/* Whether the instructions at `code` (n_bytes of them readable) return from a signal handler. */
SIGNAL_SAFE bool arch_is_signal_return(const uint8_t *code, size_t n_bytes);

/* Whether a call instruction ends right before `code_end` (n_bytes before it readable). */
SIGNAL_SAFE bool arch_is_after_call(const uint8_t *code_end, size_t n_bytes);

/* Whether a direct call ends right before `code_end`: then it calls code_end + *distance. */
SIGNAL_SAFE bool arch_is_after_direct_call(const uint8_t *code_end, size_t n_bytes,
                                           int64_t *distance);
/* Whether a call through a register or memory does. */
SIGNAL_SAFE bool arch_is_after_indirect_call(const uint8_t *code_end, size_t n_bytes);

/* Whether the code at `code` does nothing but jump elsewhere (an entry of a procedure linkage
 * table, a tail call as a whole function): to code + *distance, or to where the word there
 * points. */
enum arch_jump { ARCH_JUMP_NONE, ARCH_JUMP_DIRECT, ARCH_JUMP_THROUGH_MEMORY };
SIGNAL_SAFE enum arch_jump arch_jump_read(const uint8_t *code, size_t n_bytes, int64_t *distance);

/* Whether the instruction at `code` returns: then the return address is at *sp and all registers
 * are the caller's, whatever the row says. */
SIGNAL_SAFE bool arch_is_return(const uint8_t *code, size_t n_bytes);

/* Whether the function at `code` is the one that makecontext has a context's function return to:
 * nobody called it, and what is above it on the stack is not a frame. */
SIGNAL_SAFE bool arch_is_context_start(const uint8_t *code, size_t n_bytes);

/* What the instruction at an interrupted pc shows about the frame, for code without CFI. */
enum arch_frame_hint {
    ARCH_FRAME_UNKNOWN,
    ARCH_FRAME_AT_ENTRY, /* nothing pushed (or all popped): the return address is at *sp  */
    ARCH_FRAME_PUSHED,   /* the frame pointer was pushed, not yet set: *sp is the saved one */
};
SIGNAL_SAFE enum arch_frame_hint arch_frame_hint(const uint8_t *code, size_t n_bytes);

/* What an instruction does to the stack pointer, and what runs after it. Registers by DWARF
 * number. */
enum arch_effect {
    ARCH_NO_EFFECT, /* none, and the next one; a call too, as it comes back        */
    ARCH_PUSHES,    /* sp -= 8                                                     */
    ARCH_POPS,      /* to = *sp; sp += 8                                           */
    ARCH_ADDS,      /* to = from + offset                                          */
    ARCH_ALIGNS,    /* sp &= offset                                                */
    ARCH_LOADS,     /* to = *(from + offset)                                       */
    ARCH_LEAVES,    /* sp = fp; fp = *sp; sp += 8                                  */
    ARCH_BRANCHES,  /* none, and the next one or the one `offset` after its end    */
    ARCH_JUMPS,     /* none, and the one `offset` after its end                    */
    ARCH_JUMPS_BY,  /* none, and the one that the word `offset` after its end points to */
    ARCH_RETURNS,   /* pc = *sp; sp += 8 + offset                                  */
    ARCH_STOPS,     /* no other instruction runs: what follows a call that never comes back */
    ARCH_UNKNOWN,   /* anything else, or no instruction at all                     */
};
struct arch_instruction {
    enum arch_effect effect;
    uint8_t n_bytes;
    uint8_t to;
    uint8_t from;
    int64_t offset;
};
#define ARCH_INSTRUCTION_BYTES_MAX 15u

/* The instruction at `code`, of which n_bytes can be read. What is not known of is ARCH_UNKNOWN,
 * but that an instruction writes to a register is not seen unless it has one of the effects. */
SIGNAL_SAFE struct arch_instruction arch_instruction_read(const uint8_t *code, size_t n_bytes);

#endif
