/* step.c - see unwind/step.h.
 *
 * unwind_rule_make recognises the few shapes of rows that compilers emit for nearly all code.
 * Anything else is FULL: a row that could have been short but is not recognised costs time, and
 * nothing else. */
#include "unwind/step.h"

#include "unwind/expr.h"

/* Operations the expressions of realigned frames are made of. */
#define OP_BREG_FP (0x70u + ARCH_FP)
#define OP_DEREF 0x06u

static const struct unwind_rule rule_full = {.kind = UNWIND_RULE_FULL};

SIGNAL_SAFE static bool fits_int32(int64_t value)
{
    return value == (int32_t)value;
}

/* Whether `rule` holds `breg FP n` alone, or followed by `deref` if that is asked; *offset = n. */
SIGNAL_SAFE static bool expression_is_fp_offset(const struct cfi_rule *rule, bool deref,
                                                int64_t *offset)
{
    struct cfi_bytes in = {.pos = rule->expression, .end = rule->expression};
    in.end += rule->expression_bytes;
    if (cfi_u8(&in) != OP_BREG_FP)
        return false;
    *offset = cfi_sleb128(&in);
    if (deref && cfi_u8(&in) != OP_DEREF)
        return false;
    return !in.failed && cfi_left(&in) == 0 && fits_int32(*offset);
}

/* Realigned frames keep the caller's sp in a slot below the frame pointer:
 * cfa = *(fp - 8), and the caller's fp at *(fp + 0). */
SIGNAL_SAFE static struct unwind_rule rule_make_deref(const struct cfi_row *row)
{
    const struct cfi_rule *fp = &row->rules[ARCH_FP];
    int64_t cfa_offset = 0;
    int64_t fp_offset = 0;
    if (!expression_is_fp_offset(&row->cfa, true, &cfa_offset) || fp->kind != CFI_EXPRESSION ||
        !expression_is_fp_offset(fp, false, &fp_offset))
        return rule_full;
    return (struct unwind_rule){.cfa_offset = (int32_t)cfa_offset,
                                .fp_offset = (int32_t)fp_offset,
                                .kind = UNWIND_RULE_DEREF};
}

struct unwind_rule unwind_rule_make(const struct cfi_row *row, unsigned ra_column)
{
    const struct cfi_rule *cfa = &row->cfa;
    const struct cfi_rule *ra = &row->rules[ra_column];
    const struct cfi_rule *fp = &row->rules[ARCH_FP];
    if (ra->kind == CFI_UNDEFINED)
        return (struct unwind_rule){.kind = UNWIND_RULE_END};
    if (ra->kind != CFI_OFFSET || ra->offset != ARCH_RA_OFFSET ||
        row->rules[ARCH_SP].kind != CFI_SAME)
        return rule_full;
    if (cfa->kind == CFI_VAL_EXPRESSION)
        return rule_make_deref(row);
    bool by_fp = cfa->reg == ARCH_FP;
    if (cfa->kind != CFI_VAL_OFFSET || (cfa->reg != ARCH_SP && !by_fp) || !fits_int32(cfa->offset))
        return rule_full;
    struct unwind_rule rule = {.cfa_offset = (int32_t)cfa->offset};
    if (fp->kind == CFI_OFFSET && fits_int32(fp->offset)) {
        rule.fp_offset = (int32_t)fp->offset;
        rule.kind = by_fp ? UNWIND_RULE_FP_FP : UNWIND_RULE_SP_FP;
    } else if (fp->kind == CFI_SAME || fp->kind == CFI_UNDEFINED) {
        rule.kind = by_fp ? UNWIND_RULE_FP : UNWIND_RULE_SP;
    } else {
        return rule_full;
    }
    return rule;
}

SIGNAL_SAFE static enum unwind_step_result expression_run(const struct cfi_rule *rule,
                                                          const struct unwind_registers *registers,
                                                          struct unwind_memory *memory,
                                                          const uint64_t *cfa, uint64_t *value)
{
    struct cfi_bytes code = {.pos = rule->expression, .end = rule->expression};
    code.end += rule->expression_bytes;
    enum unwind_expr_result result =
        unwind_expr_evaluate(code, registers, memory, cfa != NULL, cfa == NULL ? 0 : *cfa, value);
    if (result == UNWIND_EXPR_BAD)
        return UNWIND_STEP_NO_RULE;
    if (result == UNWIND_EXPR_MEMORY)
        return UNWIND_STEP_BAD_MEMORY;
    return result == UNWIND_EXPR_UNKNOWN ? UNWIND_STEP_UNKNOWN : UNWIND_STEP_OK;
}

SIGNAL_SAFE static enum unwind_step_result cfa_run(const struct cfi_rule *cfa,
                                                   const struct unwind_registers *registers,
                                                   struct unwind_memory *memory, uint64_t *value)
{
    if (cfa->kind == CFI_VAL_EXPRESSION)
        return expression_run(cfa, registers, memory, NULL, value);
    if (cfa->kind != CFI_VAL_OFFSET)
        return UNWIND_STEP_NO_RULE;
    if ((registers->known >> cfa->reg & 1) == 0)
        return UNWIND_STEP_UNKNOWN;
    *value = registers->value[cfa->reg] + (uint64_t)cfa->offset;
    return UNWIND_STEP_OK;
}

/* The caller's value of register `reg` by `rule`. */
SIGNAL_SAFE static enum unwind_step_result rule_run(const struct cfi_rule *rule, unsigned reg,
                                                    const struct unwind_registers *registers,
                                                    struct unwind_memory *memory, uint64_t cfa,
                                                    uint64_t *value)
{
    uint64_t address = 0;
    unsigned from = rule->kind == CFI_REGISTER ? rule->reg : reg;
    enum unwind_step_result result = UNWIND_STEP_OK;
    switch ((enum cfi_rule_kind)rule->kind) {
    case CFI_UNDEFINED:
        return UNWIND_STEP_UNKNOWN;
    case CFI_SAME:
    case CFI_REGISTER:
        if ((registers->known >> from & 1) == 0)
            return UNWIND_STEP_UNKNOWN;
        *value = registers->value[from];
        return UNWIND_STEP_OK;
    case CFI_VAL_OFFSET:
        *value = cfa + (uint64_t)rule->offset;
        return UNWIND_STEP_OK;
    case CFI_VAL_EXPRESSION:
        return expression_run(rule, registers, memory, &cfa, value);
    case CFI_OFFSET:
        address = cfa + (uint64_t)rule->offset;
        break;
    case CFI_EXPRESSION:
        result = expression_run(rule, registers, memory, &cfa, &address);
        break;
    }
    if (result != UNWIND_STEP_OK)
        return result;
    return memory_read(memory, address, value) ? UNWIND_STEP_OK : UNWIND_STEP_BAD_MEMORY;
}

/* Functions that keep their caller's stack pointer in r10 (gcc 12, realigned frames with stack
 * arguments) have rows that miss the `pop %rbp` of the epilogue: they still give fp = *(fp + n),
 * although fp is the caller's again. The slot of a saved register lies within the frame, between
 * the red zone and the cfa; anything else means that it was restored. */
SIGNAL_SAFE static bool fp_is_restored(const struct cfi_row *row,
                                       const struct unwind_registers *registers, uint64_t cfa)
{
    int64_t offset = 0;
    if (row->rules[ARCH_FP].kind != CFI_EXPRESSION ||
        !expression_is_fp_offset(&row->rules[ARCH_FP], false, &offset))
        return false;
    uint64_t slot = registers->value[ARCH_FP] + (uint64_t)offset;
    return slot < registers->value[ARCH_SP] - ARCH_RED_ZONE_BYTES || slot >= cfa;
}

enum unwind_step_result unwind_row_run(const struct cfi_row *row, unsigned ra_column,
                                       bool leaves_stack, struct unwind_memory *memory,
                                       struct unwind_registers *registers)
{
    struct unwind_registers caller = {.known = 0};
    uint64_t cfa = 0;
    if (row->rules[ra_column].kind == CFI_UNDEFINED)
        return UNWIND_STEP_END;
    if (ra_column == ARCH_PC && row->rules[ra_column].kind == CFI_SAME)
        return UNWIND_STEP_NO_RULE; /* it would return to itself: the row has no rule for it */
    enum unwind_step_result result = cfa_run(&row->cfa, registers, memory, &cfa);
    for (unsigned reg = 0; reg < ARCH_N_REGISTERS && result == UNWIND_STEP_OK; reg++) {
        uint64_t value = cfa; /* sp is the cfa unless a rule says otherwise */
        enum unwind_step_result found = UNWIND_STEP_OK;
        if (reg != ARCH_SP || row->rules[reg].kind != CFI_SAME)
            found = rule_run(&row->rules[reg == ARCH_PC ? ra_column : reg], reg, registers, memory,
                             cfa, &value);
        if (reg == ARCH_FP && fp_is_restored(row, registers, cfa)) {
            value = registers->value[reg];
            found = UNWIND_STEP_OK;
        }
        if (found == UNWIND_STEP_OK) {
            caller.value[reg] = value;
            caller.known |= 1u << reg;
        } else if (reg == ARCH_SP || reg == ARCH_PC ||
                   (reg == ARCH_FP && row->rules[reg].kind != CFI_UNDEFINED)) {
            result = found;
        }
    }
    if (result != UNWIND_STEP_OK)
        return result;
    if (!leaves_stack && caller.value[ARCH_SP] <= registers->value[ARCH_SP])
        return UNWIND_STEP_NO_PROGRESS;
    *registers = caller;
    return UNWIND_STEP_OK;
}
