/* step.h - from a frame's registers and its row to the caller's registers.
 *
 * Execution only: no lookup, no module, no thread; everything it needs is passed in, so tests run
 * it on arrays. Rows come in two sizes. `unwind_rule` is what nearly all code needs, 12 bytes that
 * fit a cache: the stack and frame pointers are followed, nothing else. What does not fit
 * (UNWIND_RULE_FULL) is run from the whole row with all registers known so far.
 *
 * Context    SIGNAL. */
#ifndef SAMPLER_UNWIND_STEP_H
#define SAMPLER_UNWIND_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/cfi.h"
#include "sys/context.h"
#include "unwind/arch.h"
#include "unwind/memory.h"

/* In SP and FP rules: ra = *(cfa - 8), then sp = cfa. */
enum unwind_rule_kind {
    UNWIND_RULE_SP,     /* cfa = sp + cfa_offset;     fp unchanged                          */
    UNWIND_RULE_SP_FP,  /* cfa = sp + cfa_offset;     fp = *(cfa + fp_offset)               */
    UNWIND_RULE_FP,     /* cfa = fp + cfa_offset;     fp unchanged                          */
    UNWIND_RULE_FP_FP,  /* cfa = fp + cfa_offset;     fp = *(cfa + fp_offset)               */
    UNWIND_RULE_DEREF,  /* cfa = *(fp + cfa_offset);  fp = *(fp + fp_offset): realigned     */
    UNWIND_RULE_END,    /* outermost frame: a complete stack, not an error                  */
    UNWIND_RULE_SIGNAL, /* trampoline: all registers out of the ucontext_t at sp            */
    UNWIND_RULE_FULL,   /* the whole row has to be run                                      */
    UNWIND_RULE_GUESS,  /* no row: what the code and the frame pointer show                 */
};

struct unwind_rule {
    int32_t cfa_offset;
    int32_t fp_offset;
    uint32_t kind; /* enum unwind_rule_kind */
};

enum unwind_step_result {
    UNWIND_STEP_OK,
    UNWIND_STEP_END,         /* outermost frame                                        */
    UNWIND_STEP_NO_RULE,     /* the row makes no sense                                 */
    UNWIND_STEP_BAD_MEMORY,  /* what it reads cannot be read                           */
    UNWIND_STEP_NO_PROGRESS, /* the cfa is not above sp                                */
    UNWIND_STEP_UNKNOWN,     /* needs a register that is not known in this frame       */
};

/* The frame the walk stands at: what most rules need of its registers. */
struct unwind_state {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
};

/* The short form of a row, UNWIND_RULE_FULL if it has none. */
SIGNAL_SAFE struct unwind_rule unwind_rule_make(const struct cfi_row *row, unsigned ra_column);

/* Runs a rule of kind SP .. DEREF. *state is the caller's on OK, untouched otherwise. */
SIGNAL_SAFE static inline enum unwind_step_result
unwind_rule_run(struct unwind_rule rule, struct unwind_memory *memory, struct unwind_state *state)
{
    uint64_t base = rule.kind <= UNWIND_RULE_SP_FP ? state->sp : state->fp;
    uint64_t cfa = base + (uint64_t)(int64_t)rule.cfa_offset;
    uint64_t fp_base = cfa;
    struct unwind_state caller = {.fp = state->fp};
    if (unlikely(rule.kind == UNWIND_RULE_DEREF)) {
        if (!memory_read(memory, cfa, &cfa))
            return UNWIND_STEP_BAD_MEMORY;
        fp_base = state->fp;
    }
    if (unlikely(cfa <= state->sp))
        return UNWIND_STEP_NO_PROGRESS;
    if (unlikely(!memory_read(memory, cfa + (uint64_t)ARCH_RA_OFFSET, &caller.pc)))
        return UNWIND_STEP_BAD_MEMORY;
    if (rule.kind != UNWIND_RULE_SP && rule.kind != UNWIND_RULE_FP &&
        unlikely(!memory_read(memory, fp_base + (uint64_t)(int64_t)rule.fp_offset, &caller.fp)))
        return UNWIND_STEP_BAD_MEMORY;
    caller.sp = cfa;
    *state = caller;
    return UNWIND_STEP_OK;
}

/* Runs a whole row. Registers whose rule cannot be followed become unknown; cfa, return address,
 * frame and stack pointer must come out. *registers is the caller's on OK, untouched otherwise.
 * `leaves_stack`: the caller may be on another stack (signal frame), sp need not grow. */
SIGNAL_SAFE enum unwind_step_result unwind_row_run(const struct cfi_row *row, unsigned ra_column,
                                                   bool leaves_stack, struct unwind_memory *memory,
                                                   struct unwind_registers *registers);

#endif
