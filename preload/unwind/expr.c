/* expr.c - see unwind/expr.h.
 *
 * The operations that make sense in call frame information: numbers, registers of the frame,
 * memory, arithmetic and jumps. Those that need a compilation unit, an object or thread-local
 * storage (DW_OP_fbreg, call, addrx, piece ...) have no meaning there (DWARF 5, 6.4.2) and end the
 * evaluation as BAD. A jump backward is allowed, so it is the step count that ends a loop. */
#include "unwind/expr.h"

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* 1u 1s 2u 2s 4u 4s 8u 8s */
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_REG0 = 0x50,
    OP_REG31 = 0x6f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_REGX = 0x90,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct expr {
    struct cfi_bytes in;
    const uint8_t *code_start;
    const struct unwind_registers *registers;
    struct unwind_memory *memory;
    uint64_t stack[UNWIND_EXPR_STACK_MAX];
    unsigned depth;
    enum unwind_expr_result result; /* the first thing that went wrong */
};

SIGNAL_SAFE static void expr_fail(struct expr *expr, enum unwind_expr_result result)
{
    if (expr->result == UNWIND_EXPR_OK)
        expr->result = result;
}

SIGNAL_SAFE static void expr_push(struct expr *expr, uint64_t value)
{
    if (expr->depth == UNWIND_EXPR_STACK_MAX)
        expr_fail(expr, UNWIND_EXPR_BAD);
    else
        expr->stack[expr->depth++] = value;
}

SIGNAL_SAFE static uint64_t expr_pop(struct expr *expr)
{
    if (expr->depth == 0) {
        expr_fail(expr, UNWIND_EXPR_BAD);
        return 0;
    }
    return expr->stack[--expr->depth];
}

/* Entry `index` counted from the top. */
SIGNAL_SAFE static uint64_t expr_peek(struct expr *expr, unsigned index)
{
    if (index >= expr->depth) {
        expr_fail(expr, UNWIND_EXPR_BAD);
        return 0;
    }
    return expr->stack[expr->depth - 1 - index];
}

SIGNAL_SAFE static void expr_push_register(struct expr *expr, uint64_t reg, int64_t offset)
{
    if (reg >= ARCH_N_REGISTERS)
        expr_fail(expr, UNWIND_EXPR_BAD);
    else if ((expr->registers->known >> reg & 1) == 0)
        expr_fail(expr, UNWIND_EXPR_UNKNOWN);
    else
        expr_push(expr, expr->registers->value[reg] + (uint64_t)offset);
}

SIGNAL_SAFE static void expr_deref(struct expr *expr, unsigned n_bytes)
{
    uint64_t address = expr_pop(expr);
    uint64_t value = 0;
    if (expr->result != UNWIND_EXPR_OK)
        return;
    if (n_bytes == 0 || n_bytes > sizeof value) {
        expr_fail(expr, UNWIND_EXPR_BAD);
        return;
    }
    bool ok = n_bytes == sizeof value ? memory_read(expr->memory, address, &value)
                                      : memory_read_outside(expr->memory, address, n_bytes, &value);
    if (ok)
        expr_push(expr, value);
    else
        expr_fail(expr, UNWIND_EXPR_MEMORY);
}

SIGNAL_SAFE static void expr_jump(struct expr *expr, int64_t distance)
{
    int64_t target = expr->in.pos - expr->code_start + distance;
    if (target < 0 || target > expr->in.end - expr->code_start)
        expr_fail(expr, UNWIND_EXPR_BAD);
    else
        expr->in.pos = expr->code_start + target;
}

SIGNAL_SAFE static uint64_t shift_left(uint64_t value, uint64_t by)
{
    return by < 64 ? value << by : 0;
}

SIGNAL_SAFE static uint64_t shift_right(uint64_t value, uint64_t by, bool arithmetic)
{
    bool fill = arithmetic && (int64_t)value < 0;
    uint64_t shifted = by < 64 ? value >> by : 0;
    uint64_t ones = by == 0 ? 0 : by < 64 ? UINT64_MAX << (64 - by) : UINT64_MAX;
    return fill ? shifted | ones : shifted;
}

/* Division is signed (DWARF 5, 2.5.1.4); INT64_MIN / -1 wraps. */
SIGNAL_SAFE static uint64_t divide_signed(struct expr *expr, uint64_t left, uint64_t right)
{
    if (right == 0) {
        expr_fail(expr, UNWIND_EXPR_BAD);
        return 0;
    }
    return right == UINT64_MAX ? -left : (uint64_t)((int64_t)left / (int64_t)right);
}

SIGNAL_SAFE static uint64_t remainder_unsigned(struct expr *expr, uint64_t left, uint64_t right)
{
    if (right == 0) {
        expr_fail(expr, UNWIND_EXPR_BAD);
        return 0;
    }
    return left % right;
}

/* Operations of two entries: left is the second, right the top. False: none of them. */
SIGNAL_SAFE static bool expr_run_binary(struct expr *expr, uint8_t op)
{
    bool known = op == OP_AND || (op >= OP_DIV && op <= OP_MUL) || op == OP_OR || op == OP_PLUS ||
                 (op >= OP_SHL && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE);
    if (!known)
        return false;
    uint64_t right = expr_pop(expr);
    uint64_t left = expr_pop(expr);
    int64_t signed_left = (int64_t)left;
    int64_t signed_right = (int64_t)right;
    uint64_t value = 0;
    if (op == OP_PLUS)
        value = left + right;
    else if (op == OP_MINUS)
        value = left - right;
    else if (op == OP_AND)
        value = left & right;
    else if (op == OP_OR)
        value = left | right;
    else if (op == OP_XOR)
        value = left ^ right;
    else if (op == OP_MUL)
        value = left * right;
    else if (op == OP_DIV)
        value = divide_signed(expr, left, right);
    else if (op == OP_MOD)
        value = remainder_unsigned(expr, left, right);
    else if (op == OP_SHL)
        value = shift_left(left, right);
    else if (op == OP_SHR || op == OP_SHRA)
        value = shift_right(left, right, op == OP_SHRA);
    else if (op == OP_EQ)
        value = left == right;
    else if (op == OP_NE)
        value = left != right;
    else if (op == OP_GE)
        value = signed_left >= signed_right;
    else if (op == OP_GT)
        value = signed_left > signed_right;
    else if (op == OP_LE)
        value = signed_left <= signed_right;
    else
        value = signed_left < signed_right;
    expr_push(expr, value);
    return true;
}

/* Operations of one entry, and those that move entries about. False: none of them. */
SIGNAL_SAFE static bool expr_run_stack(struct expr *expr, uint8_t op)
{
    if (op == OP_DUP) {
        expr_push(expr, expr_peek(expr, 0));
    } else if (op == OP_DROP) {
        (void)expr_pop(expr);
    } else if (op == OP_OVER) {
        expr_push(expr, expr_peek(expr, 1));
    } else if (op == OP_PICK) {
        expr_push(expr, expr_peek(expr, cfi_u8(&expr->in)));
    } else if (op == OP_SWAP) {
        uint64_t top = expr_pop(expr);
        uint64_t second = expr_pop(expr);
        expr_push(expr, top);
        expr_push(expr, second);
    } else if (op == OP_ROT) {
        uint64_t top = expr_pop(expr);
        uint64_t second = expr_pop(expr);
        uint64_t third = expr_pop(expr);
        expr_push(expr, top);
        expr_push(expr, third);
        expr_push(expr, second);
    } else if (op == OP_ABS) {
        uint64_t value = expr_pop(expr);
        expr_push(expr, (int64_t)value < 0 ? -value : value);
    } else if (op == OP_NEG) {
        expr_push(expr, -expr_pop(expr));
    } else if (op == OP_NOT) {
        expr_push(expr, ~expr_pop(expr));
    } else if (op == OP_PLUS_UCONST) {
        uint64_t value = expr_pop(expr);
        expr_push(expr, value + cfi_uleb128(&expr->in));
    } else if (op == OP_DEREF) {
        expr_deref(expr, sizeof(uint64_t));
    } else if (op == OP_DEREF_SIZE) {
        expr_deref(expr, cfi_u8(&expr->in));
    } else {
        return false;
    }
    return true;
}

/* Operations that push a number out of the code or a register. False: none of them. */
SIGNAL_SAFE static bool expr_run_push(struct expr *expr, uint8_t op)
{
    struct cfi_bytes *in = &expr->in;
    if (op >= OP_BREG0 && op <= OP_BREG31) {
        expr_push_register(expr, op - OP_BREG0, cfi_sleb128(in));
    } else if (op >= OP_LIT0 && op <= OP_LIT31) {
        expr_push(expr, op - OP_LIT0);
    } else if (op >= OP_REG0 && op <= OP_REG31) {
        expr_push_register(expr, op - OP_REG0, 0); /* as libgcc and others take it */
    } else if (op == OP_REGX) {
        expr_push_register(expr, cfi_uleb128(in), 0);
    } else if (op == OP_BREGX) {
        uint64_t reg = cfi_uleb128(in);
        expr_push_register(expr, reg, cfi_sleb128(in));
    } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
        unsigned n_bytes = 1u << ((op - OP_CONST1U) / 2);
        uint64_t value = cfi_number(in, n_bytes);
        expr_push(expr, (op & 1) != 0 ? cfi_sign_extend(value, n_bytes) : value);
    } else if (op == OP_ADDR) {
        expr_push(expr, cfi_number(in, sizeof(uint64_t)));
    } else if (op == OP_CONSTU) {
        expr_push(expr, cfi_uleb128(in));
    } else if (op == OP_CONSTS) {
        expr_push(expr, (uint64_t)cfi_sleb128(in));
    } else {
        return false;
    }
    return true;
}

SIGNAL_SAFE static bool expr_run_jump(struct expr *expr, uint8_t op)
{
    if (op != OP_BRA && op != OP_SKIP)
        return op == OP_NOP;
    int64_t distance = (int64_t)cfi_sign_extend(cfi_number(&expr->in, 2), 2);
    if (op == OP_SKIP || expr_pop(expr) != 0)
        expr_jump(expr, distance);
    return true;
}

enum unwind_expr_result unwind_expr_evaluate(struct cfi_bytes code,
                                             const struct unwind_registers *registers,
                                             struct unwind_memory *memory, bool has_initial,
                                             uint64_t initial, uint64_t *value)
{
    struct expr expr;
    expr.in = code;
    expr.code_start = code.pos;
    expr.registers = registers;
    expr.memory = memory;
    expr.depth = 0;
    expr.result = UNWIND_EXPR_OK;
    if (has_initial)
        expr_push(&expr, initial);
    for (unsigned n_steps = 0; cfi_left(&expr.in) > 0; n_steps++) {
        uint8_t op = cfi_u8(&expr.in);
        bool known = n_steps < UNWIND_EXPR_STEPS_MAX &&
                     (expr_run_push(&expr, op) || expr_run_stack(&expr, op) ||
                      expr_run_binary(&expr, op) || expr_run_jump(&expr, op));
        if (!known || expr.in.failed)
            expr_fail(&expr, UNWIND_EXPR_BAD);
        if (expr.result != UNWIND_EXPR_OK)
            return expr.result;
    }
    uint64_t top = expr_pop(&expr);
    if (expr.result == UNWIND_EXPR_OK)
        *value = top;
    return expr.result;
}
