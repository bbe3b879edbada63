/* test_unwind_step.c - unwind/step.h, unwind/expr.h, unwind/arch.h: rules run on arrays as stacks,
 * expressions byte by byte, instruction bytes. */
#include <string.h>

#include "unit.h"
#include "unwind/expr.h"
#include "unwind/step.h"

static struct unwind_memory memory;

/* An array of words as the stack. */
#define STACK(...)                                                                                 \
    uint64_t stack[] = {__VA_ARGS__};                                                              \
    memory_set_plain(&memory, (uint64_t)stack, (uint64_t)stack + sizeof stack)
#define AT(index) ((uint64_t)&stack[index])

static struct unwind_state run(struct unwind_rule rule, struct unwind_state from,
                               enum unwind_step_result expected)
{
    struct unwind_state to = from;
    assert_int_equal(unwind_rule_run(rule, &memory, &to), expected);
    if (expected != UNWIND_STEP_OK)
        assert_memory_equal(&to, &from, sizeof to);
    return to;
}

static void rules_of_each_kind(void **state)
{
    (void)state;
    STACK(0, 0xf0, 0xaa, 0xbb, 0xcc, 0xdd);
    struct unwind_state from = {.pc = 1, .sp = AT(0), .fp = AT(1)};
    struct unwind_state to;
    to = run((struct unwind_rule){24, 0, UNWIND_RULE_SP}, from, UNWIND_STEP_OK);
    assert_int_equal(to.pc, 0xaa);
    assert_int_equal(to.sp, AT(3));
    assert_int_equal(to.fp, AT(1));
    to = run((struct unwind_rule){24, -16, UNWIND_RULE_SP_FP}, from, UNWIND_STEP_OK);
    assert_int_equal(to.fp, 0xf0);
    to = run((struct unwind_rule){16, -16, UNWIND_RULE_FP_FP}, from, UNWIND_STEP_OK);
    assert_int_equal(to.pc, 0xaa);
    assert_int_equal(to.fp, 0xf0);
    to = run((struct unwind_rule){24, 0, UNWIND_RULE_FP}, from, UNWIND_STEP_OK);
    assert_int_equal(to.pc, 0xbb);
    assert_int_equal(to.fp, AT(1));
}

static void rule_of_realigned_frame(void **state)
{
    (void)state;
    STACK(0, 0, 0xf0, 0xaa, 0, 0);
    stack[1] = AT(5); /* the caller's sp, kept below the frame pointer */
    stack[4] = 0xbb;
    struct unwind_state from = {.sp = AT(0), .fp = AT(2)};
    struct unwind_state to =
        run((struct unwind_rule){-8, 0, UNWIND_RULE_DEREF}, from, UNWIND_STEP_OK);
    assert_int_equal(to.sp, AT(5));
    assert_int_equal(to.pc, 0xbb);
    assert_int_equal(to.fp, 0xf0);
}

static void rules_that_do_not_lead_outward(void **state)
{
    (void)state;
    STACK(0, 0, 0, 0);
    struct unwind_state from = {.sp = AT(2), .fp = AT(0)};
    (void)run((struct unwind_rule){0, 0, UNWIND_RULE_SP}, from, UNWIND_STEP_NO_PROGRESS);
    (void)run((struct unwind_rule){-8, 0, UNWIND_RULE_SP}, from, UNWIND_STEP_NO_PROGRESS);
    (void)run((struct unwind_rule){16, 0, UNWIND_RULE_FP}, from, UNWIND_STEP_NO_PROGRESS);
    from.fp = 16; /* a small number is no frame */
    (void)run((struct unwind_rule){16, -16, UNWIND_RULE_FP_FP}, from, UNWIND_STEP_NO_PROGRESS);
    from.sp = 8;
    (void)run((struct unwind_rule){16, 0, UNWIND_RULE_SP}, from, UNWIND_STEP_BAD_MEMORY);
    from = (struct unwind_state){.sp = AT(0), .fp = UINT64_MAX - 64};
    (void)run((struct unwind_rule){16, 0, UNWIND_RULE_FP}, from, UNWIND_STEP_BAD_MEMORY);
}

static void plain_range_has_exact_bounds(void **state)
{
    (void)state;
    uint64_t stack[4] = {1, 2, 3, 4};
    memory_set_plain(&memory, AT(1), AT(3));
    assert_false(memory_is_plain(&memory, AT(0)));
    assert_false(memory_is_plain(&memory, AT(1) - 1));
    assert_true(memory_is_plain(&memory, AT(1)));
    assert_true(memory_is_plain(&memory, AT(2)));
    assert_false(memory_is_plain(&memory, AT(2) + 1));
    assert_false(memory_is_plain(&memory, AT(3)));
    memory_set_plain(&memory, AT(1), AT(1) + 7);
    assert_false(memory_is_plain(&memory, AT(1)));
}

static void other_memory_is_read_without_faulting(void **state)
{
    (void)state;
    uint64_t value = 7;
    uint64_t elsewhere[2] = {0x1122334455667788, 9};
    memory_set_plain(&memory, 0, 0);
    memory.window_bytes = 0;
    assert_true(memory_read(&memory, (uint64_t)&elsewhere[0], &value));
    assert_int_equal(value, 0x1122334455667788);
    assert_true(memory_read_outside(&memory, (uint64_t)elsewhere + 1, 2, &value));
    assert_int_equal(value, 0x6677);
    value = 7;
    volatile uint64_t nowhere = 0; /* or gcc warns of what is meant here */
    assert_false(memory_read(&memory, nowhere, &value));
    assert_false(memory_read(&memory, 0xffffffffff600000, &value));
    assert_false(memory_read(&memory, UINT64_MAX - 3, &value));
    assert_false(memory_read(&memory, 0x800000000000, &value));
    assert_int_equal(value, 7);
}

static struct cfi_row row_plain(void)
{
    struct cfi_row row;
    memset(&row, 0, sizeof row);
    row.cfa = (struct cfi_rule){.kind = CFI_VAL_OFFSET, .reg = ARCH_SP, .offset = 16};
    row.rules[ARCH_PC] = (struct cfi_rule){.kind = CFI_OFFSET, .offset = -8};
    return row;
}

static void short_rules_are_made_only_of_what_fits(void **state)
{
    (void)state;
    struct cfi_row row = row_plain();
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_SP);
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).cfa_offset, 16);
    row.rules[ARCH_FP] = (struct cfi_rule){.kind = CFI_OFFSET, .offset = -16};
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_SP_FP);
    row.cfa.reg = ARCH_FP;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_FP_FP);
    row.cfa.reg = 3;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_FULL);
    row = row_plain();
    row.cfa.offset = 1ll << 40;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_FULL);
    row = row_plain();
    row.rules[ARCH_PC].offset = -16;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_FULL);
    row = row_plain();
    row.rules[ARCH_SP].kind = CFI_REGISTER;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_FULL);
    row = row_plain();
    row.rules[ARCH_PC].kind = CFI_UNDEFINED;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_END);
    const uint8_t cfa[] = {0x76, 0x70, 0x06};
    const uint8_t fp[] = {0x76, 0};
    row = row_plain();
    row.cfa = (struct cfi_rule){
        .kind = CFI_VAL_EXPRESSION, .expression_bytes = sizeof cfa, .expression = cfa};
    row.rules[ARCH_FP] =
        (struct cfi_rule){.kind = CFI_EXPRESSION, .expression_bytes = sizeof fp, .expression = fp};
    struct unwind_rule rule = unwind_rule_make(&row, ARCH_PC);
    assert_int_equal(rule.kind, UNWIND_RULE_DEREF);
    assert_int_equal(rule.cfa_offset, -16);
    row.cfa.expression_bytes = 2;
    assert_int_equal(unwind_rule_make(&row, ARCH_PC).kind, UNWIND_RULE_FULL);
}

static void whole_row_follows_all_registers(void **state)
{
    (void)state;
    STACK(0, 0xb0, 0xf0, 0xaa, 5);
    struct cfi_row row = row_plain();
    struct unwind_registers registers = {.known = ARCH_ALL_KNOWN};
    row.cfa = (struct cfi_rule){.kind = CFI_VAL_OFFSET, .reg = 3, .offset = 8};
    row.rules[3] = (struct cfi_rule){.kind = CFI_OFFSET, .offset = -24};
    row.rules[ARCH_FP] = (struct cfi_rule){.kind = CFI_OFFSET, .offset = -16};
    row.rules[12] = (struct cfi_rule){.kind = CFI_REGISTER, .reg = 13};
    row.rules[14] = (struct cfi_rule){.kind = CFI_VAL_OFFSET, .offset = 8};
    row.rules[15].kind = CFI_UNDEFINED;
    registers.value[3] = AT(3);
    registers.value[ARCH_SP] = AT(0);
    registers.value[13] = 0x13;
    struct unwind_registers before = registers;
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers), UNWIND_STEP_OK);
    assert_int_equal(registers.value[ARCH_SP], AT(4));
    assert_int_equal(registers.value[ARCH_PC], 0xaa);
    assert_int_equal(registers.value[ARCH_FP], 0xf0);
    assert_int_equal(registers.value[3], 0xb0);
    assert_int_equal(registers.value[12], 0x13);
    assert_int_equal(registers.value[14], AT(5));
    assert_int_equal(registers.known, ARCH_ALL_KNOWN & ~(1u << 15));
    /* The cfa's register is not known: the walk has to come again. */
    registers = before;
    registers.known &= ~(1u << 3);
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers),
                     UNWIND_STEP_UNKNOWN);
    /* Not outward, unless the caller is on another stack. */
    registers = before;
    registers.value[ARCH_SP] = AT(4);
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers),
                     UNWIND_STEP_NO_PROGRESS);
    assert_int_equal(unwind_row_run(&row, ARCH_PC, true, &memory, &registers), UNWIND_STEP_OK);
    row.rules[ARCH_PC].kind = CFI_SAME;
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers),
                     UNWIND_STEP_NO_RULE);
    row.rules[ARCH_PC].kind = CFI_UNDEFINED;
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers), UNWIND_STEP_END);
}

/* gcc's rows behind `pop %rbp` of a realigned function: fp = *(fp), although fp is the caller's. */
static void frame_pointer_restored_before_its_row_says_so(void **state)
{
    (void)state;
    STACK(0xaa, 0x77, 0x66, 0x55);
    const uint8_t fp[] = {0x76, 0};
    struct cfi_row row = row_plain();
    struct unwind_registers registers = {.known = ARCH_ALL_KNOWN};
    row.cfa.offset = 8;
    row.rules[ARCH_FP] =
        (struct cfi_rule){.kind = CFI_EXPRESSION, .expression_bytes = sizeof fp, .expression = fp};
    registers.value[ARCH_SP] = AT(0);
    registers.value[ARCH_FP] = AT(2);
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers), UNWIND_STEP_OK);
    assert_int_equal(registers.value[ARCH_FP], AT(2));
    /* Within the frame the rule holds. */
    row.cfa.offset = 24;
    registers.value[ARCH_SP] = AT(0);
    registers.value[ARCH_FP] = AT(2) - 8;
    assert_int_equal(unwind_row_run(&row, ARCH_PC, false, &memory, &registers), UNWIND_STEP_OK);
    assert_int_equal(registers.value[ARCH_FP], 0x77);
}

static enum unwind_expr_result evaluate(const uint8_t *code, size_t n, uint64_t *value)
{
    struct unwind_registers registers = {.known = ARCH_ALL_KNOWN & ~(1u << 5)};
    registers.value[ARCH_SP] = 1000;
    registers.value[ARCH_PC] = 0x101b;
    struct cfi_bytes bytes = {.pos = code, .end = code + n};
    return unwind_expr_evaluate(bytes, &registers, &memory, true, 50, value);
}

#define EVALUATE(value, ...)                                                                       \
    evaluate((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), value)
#define EXPECT(expected, ...)                                                                      \
    do {                                                                                           \
        uint64_t got = 0;                                                                          \
        assert_int_equal(EVALUATE(&got, __VA_ARGS__), UNWIND_EXPR_OK);                             \
        assert_int_equal(got, (uint64_t)(expected));                                               \
    } while (0)
#define REFUSE(result, ...)                                                                        \
    do {                                                                                           \
        uint64_t got = 77;                                                                         \
        assert_int_equal(EVALUATE(&got, __VA_ARGS__), result);                                     \
        assert_int_equal(got, 77);                                                                 \
    } while (0)

static void expressions_compute(void **state)
{
    (void)state;
    EXPECT(50, 0x96);            /* nop: the initial value        */
    EXPECT(1008, 0x77, 8);       /* breg7 8                       */
    EXPECT(992, 0x92, 7, 0x78);  /* bregx 7 -8                    */
    EXPECT(1000, 0x57);          /* reg7                          */
    EXPECT(0xfe, 0x08, 0xfe);    /* const1u                       */
    EXPECT(-2, 0x09, 0xfe);      /* const1s                       */
    EXPECT(0x201, 0x0a, 1, 2);   /* const2u                       */
    EXPECT(-256, 0x0b, 0, 0xff); /* const2s                       */
    EXPECT(-1, 0x0d, 0xff, 0xff, 0xff, 0xff);
    EXPECT(300, 0x10, 0xac, 2); /* constu                        */
    EXPECT(-2, 0x11, 0x7e);     /* consts                        */
    EXPECT(1, 0x03, 1, 0, 0, 0, 0, 0, 0, 0);
    EXPECT(31, 0x4f);                /* lit31                         */
    EXPECT(100, 0x12, 0x22);         /* dup plus                      */
    EXPECT(50, 0x31, 0x13);          /* lit1 drop                     */
    EXPECT(50, 0x31, 0x14);          /* lit1 over                     */
    EXPECT(50, 0x31, 0x32, 0x15, 2); /* lit1 lit2 pick 2              */
    EXPECT(49, 0x31, 0x1c);          /* 50 - 1                        */
    EXPECT(-49, 0x31, 0x16, 0x1c);   /* swap minus                    */
    /* 50 1 2 rot: the top goes below the two others, 2 50 1; 50 - 1 = 49 */
    EXPECT(49, 0x31, 0x32, 0x17, 0x1c);
    EXPECT(30, 0x4f, 0x1f, 0x20);            /* lit31 neg not: 30 */
    EXPECT(18, 0x08, 0x1e, 0x1a);            /* 50 and 30 */
    EXPECT(25, 0x32, 0x1b);                  /* div                           */
    EXPECT(-25, 0x09, 0xfe, 0x1b);           /* 50 / -2, signed               */
    EXPECT(2, 0x33, 0x1d);                   /* 50 mod 3                      */
    EXPECT(150, 0x33, 0x1e);                 /* mul                           */
    EXPECT(51, 0x31, 0x21);                  /* or                            */
    EXPECT(350, 0x23, 0xac, 2);              /* plus_uconst                   */
    EXPECT(200, 0x32, 0x24);                 /* shl                           */
    EXPECT(12, 0x32, 0x25);                  /* shr                           */
    EXPECT(-1, 0x1f, 0x4f, 0x26);            /* neg, shra 31                  */
    EXPECT(0, 0x08, 64, 0x24);               /* shl 64                        */
    EXPECT(-1, 0x1f, 0x08, 70, 0x26);        /* shra 70 of a negative         */
    EXPECT(52, 0x36, 0x27);                  /* 50 xor 6                      */
    EXPECT(50, 0x1f, 0x19);                  /* abs                           */
    EXPECT(1, 0x08, 50, 0x29);               /* eq                            */
    EXPECT(1, 0x31, 0x2a);                   /* ge                            */
    EXPECT(1, 0x31, 0x2b);                   /* gt                            */
    EXPECT(0, 0x31, 0x2c);                   /* le                            */
    EXPECT(0, 0x31, 0x2d);                   /* lt                            */
    EXPECT(1, 0x31, 0x2e);                   /* ne                            */
    EXPECT(1, 0x30, 0x2f, 1, 0, 0x20, 0x31); /* skip over `not`          */
    EXPECT(7, 0x31, 0x28, 1, 0, 0x39, 0x37); /* bra over lit9            */
    /* The PLT's: sp + 8 + ((pc & 15) >= 11) * 8 */
    EXPECT(1016, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    STACK(0x1234, 0x55667788);
    uint8_t code[11] = {0x03};
    uint64_t address = AT(0);
    uint64_t value = 0;
    memcpy(code + 1, &address, 8);
    code[9] = 0x06;
    assert_int_equal(evaluate(code, 10, &value), UNWIND_EXPR_OK);
    assert_int_equal(value, 0x1234);
    code[9] = 0x94;
    code[10] = 1;
    assert_int_equal(evaluate(code, 11, &value), UNWIND_EXPR_OK);
    assert_int_equal(value, 0x34);
}

static void expressions_are_refused(void **state)
{
    (void)state;
    REFUSE(UNWIND_EXPR_BAD, 0x30, 0x1b);             /* division by zero          */
    REFUSE(UNWIND_EXPR_BAD, 0x30, 0x1d);             /* remainder by zero         */
    REFUSE(UNWIND_EXPR_BAD, 0x13, 0x13);             /* stack empty               */
    REFUSE(UNWIND_EXPR_BAD, 0x13);                   /* nothing left              */
    REFUSE(UNWIND_EXPR_BAD, 0x15, 9);                /* pick too deep             */
    REFUSE(UNWIND_EXPR_BAD, 0x0e, 1);                /* operand cut               */
    REFUSE(UNWIND_EXPR_BAD, 0x12, 0x2f, 0xfc, 0xff); /* dup for ever: stack full  */
    REFUSE(UNWIND_EXPR_BAD, 0x2f, 0xfd, 0xff);       /* skip to itself: steps     */
    REFUSE(UNWIND_EXPR_BAD, 0x2f, 5, 0);             /* jump beyond the end       */
    REFUSE(UNWIND_EXPR_BAD, 0x2f, 0xf0, 0xff);       /* jump before the start     */
    REFUSE(UNWIND_EXPR_BAD, 0x92, 40, 0);            /* no such register          */
    REFUSE(UNWIND_EXPR_BAD, 0xe0);                   /* unknown operation         */
    REFUSE(UNWIND_EXPR_BAD, 0x94, 9);                /* deref of nine bytes       */
    REFUSE(UNWIND_EXPR_UNKNOWN, 0x75, 0);            /* rdi is not known          */
    REFUSE(UNWIND_EXPR_MEMORY, 0x30, 0x06);          /* *(0)                      */
}

static void calls_and_trampolines_are_recognised(void **state)
{
    (void)state;
    const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    assert_true(arch_is_signal_return(restorer, sizeof restorer));
    assert_false(arch_is_signal_return(restorer, sizeof restorer - 1));
    const struct {
        uint8_t bytes[8];
        bool is_call;
    } cases[] = {
        {{0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4}, true},              /* call rel32               */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true},  /* call *%rax               */
        {{0x90, 0x90, 0xff, 0x15, 1, 2, 3, 4}, true},              /* call *n(%rip)            */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x53, 0x18}, true},  /* call *0x18(%rbx)         */
        {{0x90, 0xff, 0x14, 0xc5, 1, 2, 3, 4}, true},              /* call *n(,%rax,8)         */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc2}, true},  /* call *(%rdx,%rax,8)      */
        {{0x90, 0x90, 0x90, 0x90, 0xff, 0x54, 0xc2, 8}, true},     /* call *8(%rdx,%rax,8)     */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false}, /* jmp *%rax               */
        {{0x90, 0x90, 0x90, 0xe9, 1, 2, 3, 4}, false},             /* jmp rel32                */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}, false},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++)
        assert_int_equal(arch_is_after_call(cases[i].bytes + 8, 8), cases[i].is_call);
    const uint8_t push_mov[] = {0x55, 0x48, 0x89, 0xe5};
    const uint8_t bnd_ret[] = {0xf2, 0xc3};
    assert_int_equal(arch_frame_hint(push_mov, 4), ARCH_FRAME_AT_ENTRY);
    assert_int_equal(arch_frame_hint(push_mov + 1, 3), ARCH_FRAME_PUSHED);
    assert_int_equal(arch_frame_hint(push_mov, 1), ARCH_FRAME_UNKNOWN);
    assert_true(arch_is_return(bnd_ret, 2));
    assert_true(arch_is_return(bnd_ret + 1, 1));
    assert_false(arch_is_return(bnd_ret, 1));
}

/* glibc's __start_context as it is, with endbr64, and as it was; a cold part that begins alike. */
static void start_of_a_context_is_known(void **state)
{
    (void)state;
    const uint8_t by_load[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xdc,
                               0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff};
    const uint8_t by_pop[] = {0x48, 0x89, 0xdc, 0x5f, 0x48, 0x85, 0xff};
    const uint8_t other[] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x45, 0xd8, 0x48, 0x85, 0xff};
    assert_true(arch_is_context_start(by_load, sizeof by_load));
    assert_true(arch_is_context_start(by_load + 4, sizeof by_load - 4));
    assert_false(arch_is_context_start(by_load, sizeof by_load - 1));
    assert_true(arch_is_context_start(by_pop, sizeof by_pop));
    assert_false(arch_is_context_start(by_pop, sizeof by_pop - 1));
    assert_false(arch_is_context_start(other, sizeof other));
    assert_false(arch_is_context_start(by_load, 0));
}

/* Lengths and effects of all kinds are compared with objdump's: programs.instructions. */
static void instructions_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    const struct {
        uint8_t bytes[ARCH_INSTRUCTION_BYTES_MAX];
        struct arch_instruction right;
    } cases[] = {
        {{0x41, 0x5c}, {ARCH_POPS, 2, 12, ARCH_SP, 0}},
        {{0x48, 0x83, 0xec, 0x18}, {ARCH_ADDS, 4, ARCH_SP, ARCH_SP, -24}},
        {{0x48, 0x81, 0xc4, 0x00, 0x01, 0x00, 0x00}, {ARCH_ADDS, 7, ARCH_SP, ARCH_SP, 256}},
        {{0x48, 0x8d, 0x65, 0xd8}, {ARCH_ADDS, 4, ARCH_SP, ARCH_FP, -40}},
        {{0x49, 0x8d, 0x62, 0xf8}, {ARCH_ADDS, 4, ARCH_SP, 10, -8}},
        {{0x48, 0x83, 0xe4, 0xc0}, {ARCH_ALIGNS, 4, 0, 0, -64}},
        {{0x48, 0x8b, 0x6c, 0x24, 0x10}, {ARCH_LOADS, 5, ARCH_FP, ARCH_SP, 16}},
        {{0x75, 0xfe}, {ARCH_BRANCHES, 2, 0, 0, -2}},
        {{0x0f, 0x85, 0x00, 0x01, 0x00, 0x00}, {ARCH_BRANCHES, 6, 0, 0, 256}},
        {{0xff, 0x25, 0x08, 0x00, 0x00, 0x00}, {ARCH_JUMPS_BY, 6, 0, 0, 8}},
        {{0xc2, 0x10, 0x00}, {ARCH_RETURNS, 3, 0, 0, 16}},
        {{0xff, 0xe0}, {ARCH_UNKNOWN, 2, 0, 0, 0}},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        const struct arch_instruction *right = &cases[i].right;
        for (size_t n_bytes = 0; n_bytes <= right->n_bytes; n_bytes++) {
            struct arch_instruction read = arch_instruction_read(cases[i].bytes, n_bytes);
            bool is_whole = n_bytes == right->n_bytes;
            assert_int_equal(read.effect, is_whole ? right->effect : ARCH_UNKNOWN);
            assert_int_equal(read.n_bytes, is_whole ? right->n_bytes : 0);
            if (is_whole && read.effect != ARCH_UNKNOWN)
                assert_int_equal(read.offset, right->offset);
            if (read.effect == ARCH_POPS || read.effect == ARCH_ADDS || read.effect == ARCH_LOADS) {
                assert_int_equal(read.to, right->to);
                assert_int_equal(read.from, right->from);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_read_as_far_as_they_go),
        cmocka_unit_test(rules_of_each_kind),
        cmocka_unit_test(rule_of_realigned_frame),
        cmocka_unit_test(rules_that_do_not_lead_outward),
        cmocka_unit_test(plain_range_has_exact_bounds),
        cmocka_unit_test(other_memory_is_read_without_faulting),
        cmocka_unit_test(short_rules_are_made_only_of_what_fits),
        cmocka_unit_test(whole_row_follows_all_registers),
        cmocka_unit_test(frame_pointer_restored_before_its_row_says_so),
        cmocka_unit_test(start_of_a_context_is_known),
        cmocka_unit_test(expressions_compute),
        cmocka_unit_test(expressions_are_refused),
        cmocka_unit_test(calls_and_trampolines_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
