/* fuzz_eh_frame.c - hostile call frame information: lookup, programs, expressions, rows.
 *
 *   byte 0   what the rest is: 0 .eh_frame_hdr with what it points at; 1 a cfa program; 2 an
 *            expression
 *   byte 1   which pc, counted from the lowest one the input can name
 *
 * Addresses in the input are relative to where it lies, as in a loaded module. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/cfi.h"
#include "unwind/expr.h"
#include "unwind/step.h"

#define FUZZ_HEADER_BYTES 2u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cfi_workspace workspace;
static struct unwind_memory memory;
static uint64_t stack[64];

static struct unwind_registers registers_make(uint64_t pc)
{
    struct unwind_registers registers = {.known = ARCH_ALL_KNOWN};
    memory_set_plain(&memory, (uint64_t)stack, (uint64_t)stack + sizeof stack);
    memory.window_bytes = 0;
    for (unsigned i = 0; i < ARCH_N_REGISTERS; i++)
        registers.value[i] = (uint64_t)&stack[i];
    registers.value[ARCH_SP] = (uint64_t)stack;
    registers.value[ARCH_PC] = pc;
    return registers;
}

static void row_try(const struct cfi_fde *fde, uint64_t pc)
{
    struct cfi_row row;
    if (!cfi_row_find(fde, pc, &workspace, &row))
        return;
    struct unwind_registers registers = registers_make(pc);
    struct unwind_rule rule = unwind_rule_make(&row, fde->ra_column);
    struct unwind_state state = {.pc = pc, .sp = (uint64_t)stack, .fp = (uint64_t)&stack[6]};
    if (rule.kind <= UNWIND_RULE_DEREF)
        (void)unwind_rule_run(rule, &memory, &state);
    enum unwind_step_result result =
        unwind_row_run(&row, fde->ra_column, false, &memory, &registers);
    /* What a step promises. */
    if (result == UNWIND_STEP_OK && registers.value[ARCH_SP] <= (uint64_t)stack)
        abort();
}

static void hdr_try(const uint8_t *bytes, size_t n, unsigned which)
{
    struct segments segments = {.n = 1};
    struct cfi_fde fde;
    uint64_t hdr = (uint64_t)bytes;
    segments.segment[0] = (struct segment){.start = hdr, .end = hdr + n, .flags = SEGMENT_READ};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t pc = hdr + 16ull * (which + i);
        if (!cfi_fde_find(&segments, hdr, pc, &fde))
            continue;
        if (pc < fde.pc_start || pc >= fde.pc_end)
            abort();
        row_try(&fde, pc);
    }
}

static void program_try(const uint8_t *bytes, size_t n, unsigned which)
{
    const uint8_t cie[] = {0x0c, 7, 8, 0x80 | 16, 1};
    struct cfi_fde fde = {
        .pc_start = 0x10000,
        .pc_end = 0x20000,
        .cie_program = {.pos = cie, .end = cie + sizeof cie},
        .program = {.pos = bytes, .end = bytes + n},
        .code_align = 1,
        .data_align = -8,
        .encoding = CFI_PE_ABSPTR,
        .ra_column = ARCH_PC,
    };
    row_try(&fde, 0x10000 + which);
}

static void expression_try(const uint8_t *bytes, size_t n)
{
    struct unwind_registers registers = registers_make(0x10000);
    struct cfi_bytes code = {.pos = bytes, .end = bytes + n};
    uint64_t value = 0;
    (void)unwind_expr_evaluate(code, &registers, &memory, true, 0x1000, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_HEADER_BYTES)
        return 0;
    const uint8_t *bytes = data + FUZZ_HEADER_BYTES;
    size_t n = size - FUZZ_HEADER_BYTES;
    if (data[0] % 3 == 0)
        hdr_try(bytes, n, data[1]);
    else if (data[0] % 3 == 1)
        program_try(bytes, n, data[1]);
    else
        expression_try(bytes, n);
    return 0;
}
