/* memory.h - the one way to read words of the program's memory while unwinding.
 *
 *   inside [start, end)   a plain load: part of the thread's own stack, known to be readable
 *   anywhere else         a system call that copies and cannot fault, a page at a time
 *
 * The plain range reaches from the red zone below the interrupted stack pointer to the end of the
 * thread's stack. Coroutines, alternate signal stacks and wild pointers fall outside and are read
 * through process_vm_readv on ourselves; where a seccomp filter refuses it, an address is probed by
 * a system call that does nothing but read it, then loaded (the one case in which another thread's
 * munmap in between could still fault).
 *
 * The lower bound of a stack is not looked up (that would take /proc or malloc): it is the
 * deepest page seen readable so far, and moves downward when a sample finds the stack pointer below
 * it and every page in between readable; so a guard page ends it.
 *
 * Context    memory_bind: HOOK or SETUP, by the thread itself.
 *            memory_bind_other: any. The rest: SIGNAL, by the thread that owns it; memory_copy
 *            needs no owner. */
#ifndef SAMPLER_UNWIND_MEMORY_H
#define SAMPLER_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/context.h"
#include "sys/segment.h"

#define MEMORY_PAGE_BYTES 4096u
#define MEMORY_BEHIND_CALL 256u

struct unwind_memory {
    uint64_t start;   /* plain loads: address - start < n_plain                                   */
    uint64_t n_plain; /* addresses from `start` on at which a whole word lies within bounds       */
    uint64_t stack_low; /* the thread's stack: readable from here ...                            */
    uint64_t stack_end; /* ... to here; both 0 when not known                                    */
    uint64_t stack_origin; /* where the first frame of the main thread stands; 0 on other threads */
    uint64_t window_start; /* copy of [window_start, + window_bytes) of other memory              */
    uint64_t window_bytes; /* 0 = none                                                            */
    uint8_t window[MEMORY_PAGE_BYTES];
    /* Return addresses into generated code once looked at, by their low bits: saves two system
     * calls a frame (unwind/credible.c). Once code has been replaced no frame returns to it. */
    uint64_t behind_call[MEMORY_BEHIND_CALL];
};

/* Learns the bounds of the calling thread's stack. */
void memory_bind(struct unwind_memory *memory);

/* Nothing is known of the stack: every word is read by a copy. any context */
SIGNAL_SAFE void memory_bind_other(struct unwind_memory *memory);

/* A walk begins, or continues after a signal frame, at stack pointer `sp`: sets [start, end). What
 * was copied of other memory is forgotten, as it may have changed. */
SIGNAL_SAFE void memory_enter(struct unwind_memory *memory, uint64_t sp);

/* Copies n_bytes from anywhere; false when not all of it can be read. */
SIGNAL_SAFE bool memory_copy(void *to, uint64_t address, size_t n_bytes);

/* The slow half of memory_read; n_bytes <= 8. */
SIGNAL_SAFE bool memory_read_outside(struct unwind_memory *memory, uint64_t address,
                                     unsigned n_bytes, uint64_t *value);

/* One aligned or unaligned word of our own address space. Sanitizers must not look: the words
 * belong to frames of other functions. */
struct memory_word {
    uint64_t value;
} __attribute__((packed, may_alias));

SIGNAL_SAFE __attribute__((no_sanitize("address", "thread"))) static inline uint64_t
memory_load(uint64_t address)
{
    return ((const struct memory_word *)address_pointer(address))->value;
}

/* Plain loads within [start, end) from now on; start = end: none. */
SIGNAL_SAFE static inline void memory_set_plain(struct unwind_memory *memory, uint64_t start,
                                                uint64_t end)
{
    memory->start = start;
    memory->n_plain = end - start < sizeof(uint64_t) ? 0 : end - start - (sizeof(uint64_t) - 1);
}

/* Whether a word at `address` can be loaded plainly. */
SIGNAL_SAFE static inline bool memory_is_plain(const struct unwind_memory *memory, uint64_t address)
{
    return address - memory->start < memory->n_plain;
}

/* Whether a frame at `sp` is the first of the main thread, or made by code that it begins with. */
SIGNAL_SAFE static inline bool memory_is_at_origin(const struct unwind_memory *memory, uint64_t sp)
{
    return memory->stack_origin != 0 && sp + 2 * sizeof(uint64_t) >= memory->stack_origin;
}

/* The word at `address`; false when it cannot be read, *value is then untouched. */
SIGNAL_SAFE static inline bool memory_read(struct unwind_memory *memory, uint64_t address,
                                           uint64_t *value)
{
    if (unlikely(!memory_is_plain(memory, address)))
        return memory_read_outside(memory, address, sizeof *value, value);
    *value = memory_load(address);
    return true;
}

#endif
