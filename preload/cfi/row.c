/* row.c - runs the program of a cie and an fde up to a pc (DWARF 5, 6.4.2).
 *
 * A program is a list of opcodes that either change the current row or advance the address from
 * which it is valid. The cie's program makes the initial row, the fde's continues from there and
 * stops at the first row that begins after the pc. Addresses only grow, so each byte is read once:
 * the cost is the length of the two programs.
 *
 * An opcode that is unknown, out of place or truncated makes the whole row unusable: a row that is
 * half right leads the walk to a wrong caller. */
#include <string.h>

#include "cfi/cfi.h"

/* Opcodes; the first three hold their operand in the low six bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* A run in progress. */
struct cfi_run {
    const struct cfi_fde *fde;
    struct cfi_bytes in;
    struct cfi_workspace *workspace;
    struct cfi_row *row;
    const struct cfi_row *initial; /* what `restore` goes back to; NULL within the cie's program */
    uint64_t pc;                   /* the row is valid from here on                             */
    unsigned n_remembered;
    bool bad;
};

/* Rules of registers beyond those we keep (vector registers) are read and forgotten. */
SIGNAL_SAFE static void rule_set(struct cfi_run *run, uint64_t reg, struct cfi_rule rule)
{
    if (reg < ARCH_N_REGISTERS)
        run->row->rules[reg] = rule;
}

SIGNAL_SAFE static void rule_restore(struct cfi_run *run, uint64_t reg)
{
    if (run->initial == NULL)
        run->bad = true;
    else if (reg < ARCH_N_REGISTERS)
        run->row->rules[reg] = run->initial->rules[reg];
}

/* Sets the rule of register `reg` to an offset from the cfa, in units of the data alignment. */
SIGNAL_SAFE static void rule_set_offset(struct cfi_run *run, enum cfi_rule_kind kind, uint64_t reg,
                                        uint64_t factored)
{
    uint64_t offset = factored * (uint64_t)run->fde->data_align;
    rule_set(run, reg, (struct cfi_rule){.kind = (uint8_t)kind, .offset = (int64_t)offset});
}

SIGNAL_SAFE static struct cfi_rule expression_read(struct cfi_run *run, enum cfi_rule_kind kind)
{
    struct cfi_bytes piece = cfi_piece(&run->in, cfi_uleb128(&run->in));
    size_t n_bytes = cfi_left(&piece);
    if (n_bytes > UINT16_MAX)
        run->bad = true;
    return (struct cfi_rule){
        .kind = (uint8_t)kind, .expression_bytes = (uint32_t)n_bytes, .expression = piece.pos};
}

SIGNAL_SAFE static void cfa_set_register(struct cfi_run *run, uint64_t reg)
{
    struct cfi_rule *cfa = &run->row->cfa;
    if (reg >= ARCH_N_REGISTERS)
        run->bad = true;
    if (cfa->kind == CFI_VAL_EXPRESSION)
        cfa->offset = 0;
    cfa->kind = CFI_VAL_OFFSET;
    cfa->reg = (uint8_t)reg;
}

SIGNAL_SAFE static void cfa_set_offset(struct cfi_run *run, int64_t offset)
{
    /* Only a cfa given by register has an offset to change. */
    if (run->row->cfa.kind != CFI_VAL_OFFSET)
        run->bad = true;
    else
        run->row->cfa.offset = offset;
}

SIGNAL_SAFE static void state_remember(struct cfi_run *run)
{
    if (run->n_remembered == CFI_STATES_MAX)
        run->bad = true;
    else
        run->workspace->remembered[run->n_remembered++] = *run->row;
}

SIGNAL_SAFE static void state_restore(struct cfi_run *run)
{
    if (run->n_remembered == 0)
        run->bad = true;
    else
        *run->row = run->workspace->remembered[--run->n_remembered];
}

SIGNAL_SAFE static int64_t factored_sleb128(struct cfi_run *run)
{
    return (int64_t)((uint64_t)cfi_sleb128(&run->in) * (uint64_t)run->fde->data_align);
}

/* Opcodes that define the cfa. False: none of them. */
SIGNAL_SAFE static bool opcode_run_cfa(struct cfi_run *run, uint8_t opcode)
{
    if (opcode == CFA_DEF_CFA_OFFSET) {
        cfa_set_offset(run, (int64_t)cfi_uleb128(&run->in));
    } else if (opcode == CFA_DEF_CFA) {
        cfa_set_register(run, cfi_uleb128(&run->in));
        cfa_set_offset(run, (int64_t)cfi_uleb128(&run->in));
    } else if (opcode == CFA_DEF_CFA_REGISTER) {
        cfa_set_register(run, cfi_uleb128(&run->in));
    } else if (opcode == CFA_DEF_CFA_EXPRESSION) {
        run->row->cfa = expression_read(run, CFI_VAL_EXPRESSION);
    } else if (opcode == CFA_DEF_CFA_SF) {
        cfa_set_register(run, cfi_uleb128(&run->in));
        cfa_set_offset(run, factored_sleb128(run));
    } else if (opcode == CFA_DEF_CFA_OFFSET_SF) {
        cfa_set_offset(run, factored_sleb128(run));
    } else {
        return false;
    }
    return true;
}

/* Opcodes that define the rule of a register. False: none of them. */
SIGNAL_SAFE static bool opcode_run_rule(struct cfi_run *run, uint8_t opcode)
{
    struct cfi_bytes *in = &run->in;
    bool known = opcode == CFA_OFFSET_EXTENDED || opcode == CFA_OFFSET_EXTENDED_SF ||
                 opcode == CFA_VAL_OFFSET || opcode == CFA_VAL_OFFSET_SF ||
                 opcode == CFA_EXPRESSION || opcode == CFA_VAL_EXPRESSION ||
                 opcode == CFA_REGISTER || opcode == CFA_UNDEFINED || opcode == CFA_SAME_VALUE ||
                 opcode == CFA_RESTORE_EXTENDED || opcode == CFA_GNU_NEGATIVE_OFFSET_EXTENDED;
    if (!known)
        return false;
    uint64_t reg = cfi_uleb128(in);
    if (opcode == CFA_OFFSET_EXTENDED) {
        rule_set_offset(run, CFI_OFFSET, reg, cfi_uleb128(in));
    } else if (opcode == CFA_OFFSET_EXTENDED_SF) {
        rule_set_offset(run, CFI_OFFSET, reg, (uint64_t)cfi_sleb128(in));
    } else if (opcode == CFA_GNU_NEGATIVE_OFFSET_EXTENDED) {
        rule_set_offset(run, CFI_OFFSET, reg, -cfi_uleb128(in));
    } else if (opcode == CFA_VAL_OFFSET) {
        rule_set_offset(run, CFI_VAL_OFFSET, reg, cfi_uleb128(in));
    } else if (opcode == CFA_VAL_OFFSET_SF) {
        rule_set_offset(run, CFI_VAL_OFFSET, reg, (uint64_t)cfi_sleb128(in));
    } else if (opcode == CFA_EXPRESSION) {
        rule_set(run, reg, expression_read(run, CFI_EXPRESSION));
    } else if (opcode == CFA_VAL_EXPRESSION) {
        rule_set(run, reg, expression_read(run, CFI_VAL_EXPRESSION));
    } else if (opcode == CFA_REGISTER) {
        uint64_t from = cfi_uleb128(in);
        /* A register we do not keep cannot be read later: the value counts as lost. */
        bool kept = from < ARCH_N_REGISTERS;
        rule_set(run, reg,
                 (struct cfi_rule){.kind = kept ? CFI_REGISTER : CFI_UNDEFINED,
                                   .reg = kept ? (uint8_t)from : 0});
    } else if (opcode == CFA_RESTORE_EXTENDED) {
        rule_restore(run, reg);
    } else {
        rule_set(run, reg,
                 (struct cfi_rule){.kind = opcode == CFA_UNDEFINED ? CFI_UNDEFINED : CFI_SAME});
    }
    return true;
}

/* Opcodes that begin the next row: the distance to it in *advance. False: none of them. */
SIGNAL_SAFE static bool opcode_run_advance(struct cfi_run *run, uint8_t opcode, uint64_t *advance)
{
    if ((opcode & 0xc0U) == CFA_ADVANCE_LOC)
        *advance = (opcode & 0x3fU) * run->fde->code_align;
    else if (opcode == CFA_ADVANCE_LOC1)
        *advance = cfi_number(&run->in, 1) * run->fde->code_align;
    else if (opcode == CFA_ADVANCE_LOC2)
        *advance = cfi_number(&run->in, 2) * run->fde->code_align;
    else if (opcode == CFA_ADVANCE_LOC4)
        *advance = cfi_number(&run->in, 4) * run->fde->code_align;
    else if (opcode == CFA_MIPS_ADVANCE_LOC8)
        *advance = cfi_number(&run->in, 8) * run->fde->code_align;
    else if (opcode == CFA_SET_LOC)
        *advance = cfi_pointer(&run->in, run->fde->encoding, 0) - run->pc;
    else
        return false;
    return true;
}

/* Runs one program until its end, or until the next row would begin beyond `pc`. */
SIGNAL_SAFE static bool program_run(struct cfi_run *run, uint64_t pc)
{
    while (cfi_left(&run->in) > 0) {
        uint8_t opcode = cfi_u8(&run->in);
        uint64_t advance = 0;
        if (opcode_run_advance(run, opcode, &advance)) {
            if (run->in.failed || run->pc + advance < run->pc)
                return false; /* rows go upward only */
            run->pc += advance;
            if (run->pc > pc)
                return true;
        } else if ((opcode & 0xc0U) == CFA_OFFSET) {
            rule_set_offset(run, CFI_OFFSET, opcode & 0x3fU, cfi_uleb128(&run->in));
        } else if ((opcode & 0xc0U) == CFA_RESTORE) {
            rule_restore(run, opcode & 0x3fU);
        } else if (opcode == CFA_REMEMBER_STATE) {
            state_remember(run);
        } else if (opcode == CFA_RESTORE_STATE) {
            state_restore(run);
        } else if (opcode == CFA_GNU_ARGS_SIZE) {
            (void)cfi_uleb128(&run->in); /* pushed arguments; of interest to landing pads only */
        } else if (opcode != CFA_NOP && !opcode_run_cfa(run, opcode) &&
                   !opcode_run_rule(run, opcode)) {
            return false;
        }
        if (run->in.failed || run->bad)
            return false;
    }
    return true;
}

bool cfi_row_find(const struct cfi_fde *fde, uint64_t pc, struct cfi_workspace *workspace,
                  struct cfi_row *row)
{
    memset(row, 0, sizeof *row);
    struct cfi_run run = {.fde = fde,
                          .in = fde->cie_program,
                          .workspace = workspace,
                          .row = row,
                          .pc = fde->pc_start};
    /* A cie's program describes the first row and must not advance; no row of it lies beyond a
     * pc. */
    if (!program_run(&run, UINT64_MAX) || run.pc != fde->pc_start)
        return false;
    workspace->initial = *row;
    run.initial = &workspace->initial;
    run.in = fde->program;
    return program_run(&run, pc);
}
