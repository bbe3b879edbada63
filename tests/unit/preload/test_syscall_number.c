/* test_syscall_number.c - the number of a system call, told from the code in front of it. */
#include <string.h>
#include <sys/syscall.h>

#include "signals/syscall_number.h"
#include "unit.h"

#if defined(__x86_64__)

#define NONE UINT32_MAX

static _Alignas(4096) uint8_t page[2][4096];

/* The number told of `code` with `syscall` behind it, NONE when it is not. */
static uint32_t told(const uint8_t *code, size_t n_bytes, const greg_t *registers)
{
    greg_t all[NGREG] = {0};
    uint8_t *at = page[0] + 512;
    uint32_t number = NONE;
    memset(page[0], 0x90, sizeof page[0]);
    memcpy(at, code, n_bytes);
    memcpy(at + n_bytes, "\x0f\x05", 2);
    if (registers != NULL)
        memcpy(all, registers, sizeof all);
    all[REG_RIP] = all[REG_RCX] = (greg_t)(uintptr_t)(at + n_bytes + 2);
    return syscall_number(all, &number) ? number : NONE;
}

#define TOLD(bytes, registers) told((const uint8_t *)(bytes), sizeof(bytes) - 1, registers)

static void constants_are_told(void **state)
{
    (void)state;
    assert_int_equal(TOLD("\xb8\x07\x00\x00\x00", NULL), SYS_poll);
    /* xor $0x81, %sil; mov 8(%rsp), %edi; lea 0x630(%rbx), %rdx; xor %edx, %edx; mov $1, %esi */
    assert_int_equal(TOLD("\xb8\xca\x00\x00\x00\x40\x80\xf6\x81", NULL), SYS_futex);
    assert_int_equal(TOLD("\xb8\xf3\x00\x00\x00\x8b\x7c\x24\x08", NULL), SYS_mq_timedreceive);
    assert_int_equal(
        TOLD("\xb8\x0e\x00\x00\x00\x48\x8d\x93\x30\x06\x00\x00\x31\xd2\xbe\x01\x00\x00\x00", NULL),
        SYS_rt_sigprocmask);
}

static void registers_are_told(void **state)
{
    greg_t registers[NGREG] = {0};
    (void)state;
    registers[REG_R9] = SYS_nanosleep;
    registers[REG_RBX] = SYS_ppoll;
    registers[REG_R10] = SYS_futex;
    registers[REG_RDX] = 1 << 20;
    assert_int_equal(TOLD("\x44\x89\xc8", registers), SYS_nanosleep); /* mov %r9d, %eax */
    assert_int_equal(TOLD("\x89\xd8", registers), SYS_ppoll);         /* mov %ebx, %eax */
    assert_int_equal(TOLD("\x44\x89\xd0", registers), SYS_futex);     /* mov %r10d, %eax */
}

static void doubt_is_no_number(void **state)
{
    greg_t registers[NGREG] = {0};
    (void)state;
    registers[REG_R10] = SYS_futex;
    registers[REG_RDX] = 1;
    /* mov %r10d, %eax, or the end of another instruction and mov %edx, %eax */
    assert_int_equal(TOLD("\x44\x89\xd0", registers), NONE);
    assert_int_equal(TOLD("\x48\x89\xf8\x48\x89\xf7", registers),
                     NONE); /* mov %rdi, %rax; mov %rsi, %rdi */
    assert_int_equal(TOLD("\x48\x8b\x44\x24\x08", registers), NONE); /* mov 8(%rsp), %rax */
    /* mov $7, %eax; then eax changes: xor %eax, %eax; mov $1, %eax is another number; call */
    assert_int_equal(TOLD("\xb8\x07\x00\x00\x00\x31\xc0", registers), NONE);
    assert_int_equal(TOLD("\xb8\x07\x00\x00\x00\x83\xc0\x01", registers), NONE);
    assert_int_equal(TOLD("\xb8\x07\x00\x00\x00\xe8\x00\x00\x00\x00", registers), NONE);
    assert_int_equal(TOLD("\xb8\x07\x00\x00\x00\xb8\x23\x00\x00\x00", registers), SYS_nanosleep);
}

static void the_page_before_is_not_read(void **state)
{
    (void)state;
    greg_t all[NGREG] = {0};
    uint32_t number;
    memcpy(page[0] + 4091, "\xb8\x07\x00\x00\x00", 5);
    memcpy(page[1], "\x0f\x05", 2);
    all[REG_RIP] = all[REG_RCX] = (greg_t)(uintptr_t)(page[1] + 2);
    assert_false(syscall_number(all, &number));
}

#endif

int main(void)
{
#if defined(__x86_64__)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_told),
        cmocka_unit_test(registers_are_told),
        cmocka_unit_test(doubt_is_no_number),
        cmocka_unit_test(the_page_before_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0;
#endif
}
