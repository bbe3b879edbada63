/* test_code.c - the promises of symbolize/code: where functions are, their instructions, and which of them
 * a pc of a stack is about. The code is this program's own. */
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "code/code.h"
#include "code/disassembler.h"
#include "unit.h"

/* Of the offsets below those that begin an instruction. */
__asm__(".pushsection .text\n"
        ".globl code_sample, code_sample_inner, code_sample_end\n"
        ".hidden code_sample, code_sample_inner, code_sample_end\n"
        ".type code_sample, @function\n"
        "code_sample:\n"
        "   push %rbp\n"                     /* 0  */
        "   .byte 0xe8; .long 10f - . - 4\n" /* 1: call */
        "   syscall\n"                       /* 6  */
        "   imul %rdx, %rax\n"               /* 8  */
        "code_sample_inner:\n"
        "   jne code_sample\n" /* 12 */
        "   .byte 0x06\n"      /* 14: no instruction of 64-bit code */
        "   ret\n"             /* 15 */
        ".size code_sample, . - code_sample\n"
        ".type code_sample_end, @function\n"
        "code_sample_end:\n"
        "10: ret\n" /* 16 */
        ".size code_sample_end, . - code_sample_end\n"
        ".popsection\n");

extern const char code_sample[], code_sample_inner[], code_sample_end[];

static int bias_find(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the first is the program */
}

static uint64_t vaddr_of(const void *address)
{
    uint64_t bias = 0;
    (void)dl_iterate_phdr(bias_find, &bias);
    return (uint64_t)(uintptr_t)address - bias;
}

static struct recording_module this_program(void)
{
    return (struct recording_module){
        .path = text_make("/proc/self/exe"), .build_id = {"", 0}, .image = {"", 0}};
}

static struct code *code_of(const uint64_t *vaddrs, size_t n, bool is_intel)
{
    struct code *code = NULL;
    struct err err = ERR_INIT;
    const struct recording_module module = this_program();
    assert_true(
        code_read(&module, vaddrs, n, &(struct code_options){.is_intel = is_intel}, &code, &err));
    return code;
}

static void instructions_of_a_function(void **state)
{
    (void)state;
    uint64_t start = vaddr_of(code_sample);
    const uint64_t vaddrs[] = {start + 8, start + 12, start + 16};
    struct code *code = code_of(vaddrs, 3, false);
    assert_int_equal(code->n_functions, 2);
    const struct code_function *function = &code->functions[0];
    assert_int_equal(function->start, start);
    assert_int_equal(function->end, start + 16);
    assert_string_equal(function->name.bytes, "code_sample");
    assert_int_equal(function->n, 7);
    char called[80], jumped[80];
    snprintf(called, sizeof called, "callq  %lx <code_sample_end>", (unsigned long)start + 16);
    snprintf(jumped, sizeof jumped, "jne    %lx <code_sample>", (unsigned long)start);
    const struct {
        unsigned at;
        const char *text;
    } expected[] = {
        {0, "pushq  %rbp"}, {1, called},         {6, "syscall"}, {8, "imulq  %rdx, %rax"},
        {12, jumped},       {14, ".byte  0x06"}, {15, "retq"}};
    for (size_t i = 0; i < function->n; i++) {
        const struct code_instruction *instruction = &code->instructions[function->first + i];
        assert_int_equal(instruction->vaddr, start + expected[i].at);
        assert_string_equal(instruction->text.bytes, expected[i].text);
        assert_int_equal(instruction->calls, i == 1 || i == 2);
        assert_int_equal(instruction->enters_kernel, i == 2);
    }
    assert_ptr_equal(code_find(code, start), function);
    assert_ptr_equal(code_find(code, start + 15), function);
    assert_ptr_equal(code_find(code, start + 16), &code->functions[1]);
    assert_null(code_find(code, start - 1));
    assert_null(code_find(code, start + 17));
    code_destroy(code);
    code = code_of(vaddrs, 1, true);
    assert_string_equal(code->instructions[3].text.bytes, "imul   rax, rdx");
    code_destroy(code);
}

/* Offset of the instruction that a pc is about. */
static uint64_t meant(const struct code *code, uint64_t offset, bool is_return)
{
    const struct code_function *function = &code->functions[0];
    size_t at = code_instruction_at(code, function, function->start + offset, is_return);
    return code->instructions[at].vaddr - function->start;
}

static void what_a_pc_is_about(void **state)
{
    (void)state;
    const uint64_t vaddr = vaddr_of(code_sample);
    struct code *code = code_of(&vaddr, 1, false);
    assert_int_equal(meant(code, 0, false), 0);
    assert_int_equal(meant(code, 0, true), 0);
    assert_int_equal(meant(code, 6, true), 1);  /* the call before it         */
    assert_int_equal(meant(code, 6, false), 6); /* a leaf stands at it        */
    assert_int_equal(meant(code, 8, false), 6); /* it was in the kernel       */
    assert_int_equal(meant(code, 8, true), 6);
    assert_int_equal(meant(code, 12, true), 12); /* a signal: no call before it */
    assert_int_equal(meant(code, 10, false), 8); /* in the midst of one        */
    assert_int_equal(meant(code, 10, true), 8);
    assert_int_equal(meant(code, 15, false), 15);
    code_destroy(code);
}

static void lines_of_instructions(void **state)
{
    (void)state;
    /* NOLINTNEXTLINE(bugprone-casting-through-void): a function's address as a number */
    const uint64_t vaddr = vaddr_of((const void *)(uintptr_t)lines_of_instructions);
    struct code *code = code_of(&vaddr, 1, false);
    assert_int_equal(code->n_functions, 1);
    const struct code_instruction *first = &code->instructions[0];
    assert_true(text_ends(first->file, "test_code.c"));
    assert_in_range(first->line, __LINE__ - 10, __LINE__);
    code_destroy(code);
}

static void no_code(void **state)
{
    (void)state;
    const uint64_t nowhere[] = {0, 1, UINT64_MAX};
    struct code *code = code_of(nowhere, 3, false);
    assert_int_equal(code->n_functions, 0);
    assert_null(code_find(code, 0));
    code_destroy(code);
    struct recording_module module = this_program();
    const struct {
        struct text path, build_id;
        const char *why;
    } wrong[] = {{{"/proc/self/exe", 14}, {"other", 5}, "changed since the program ran"},
                 {{"/nonexistent", 12}, {"", 0}, "cannot open"},
                 {{"/proc/self/cmdline", 18}, {"", 0}, "not a"},
                 {{"\0", 1}, {"", 0}, "in no file"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct err err = ERR_INIT;
        module.path = wrong[i].path;
        module.build_id = wrong[i].build_id;
        assert_false(code_read(&module, nowhere, 1, &(struct code_options){0}, &code, &err));
        if (strstr(err.text, wrong[i].why) == NULL)
            fail_msg("%s: not: %s", err.text, wrong[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_of_a_function),
        cmocka_unit_test(what_a_pc_is_about),
        cmocka_unit_test(lines_of_instructions),
        cmocka_unit_test(no_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
