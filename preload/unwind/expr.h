/* expr.h - DWARF expressions in call frame information (DWARF 5, 2.5 and 6.4.2).
 *
 * A stack machine over the registers and the memory of one frame. Bounded by a step count and a
 * fixed stack; memory is read through unwind/memory.h.
 *
 * Context    SIGNAL. */
#ifndef SAMPLER_UNWIND_EXPR_H
#define SAMPLER_UNWIND_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/bytes.h"
#include "sys/context.h"
#include "unwind/arch.h"
#include "unwind/memory.h"

enum unwind_expr_result {
    UNWIND_EXPR_OK,
    UNWIND_EXPR_BAD,     /* malformed, not allowed here, too long                        */
    UNWIND_EXPR_MEMORY,  /* reads memory that cannot be read                             */
    UNWIND_EXPR_UNKNOWN, /* uses a register that is not known in this frame              */
};

#define UNWIND_EXPR_STACK_MAX 32u
#define UNWIND_EXPR_STEPS_MAX 512u

/* Evaluates `code`. If `has_initial`, `initial` is on the stack at the start (the cfa, for rules of
 * registers). *value is written only on OK. */
SIGNAL_SAFE enum unwind_expr_result unwind_expr_evaluate(struct cfi_bytes code,
                                                         const struct unwind_registers *registers,
                                                         struct unwind_memory *memory,
                                                         bool has_initial, uint64_t initial,
                                                         uint64_t *value);

#endif
