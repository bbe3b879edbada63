/* test_unwind_generated.c - stacks through code made at run time, where process_vm_readv is refused
 * and where it is not. Built with frame pointers. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture.h"
#include "unit.h"
#include "unwind/thread.h"
#include "unwind/unwind.h"

#define NOINLINE __attribute__((noinline))
#define OTHER_BYTES (64u << 10)
#define GENERATED_BYTES (32u << 10)
#define FAR_AWAY (24u << 10)

static struct unwind_thread *thread;
static struct unwind_result result;
static struct unwind_frame found[UNWIND_MAX_FRAMES];
static uint8_t *generated;
static uint8_t *other; /* memory for another stack */

static void on_signal(int number, siginfo_t *info, void *context)
{
    const struct unwind_frame *frames = NULL;
    (void)number;
    (void)info;
    unwind_thread_forget(thread);
    struct unwind_result first = unwind_stack(thread, context, &frames);
    memcpy(found, frames, first.n_frames * sizeof *frames);
    /* With reuse, the same. */
    result = unwind_stack(thread, context, &frames);
    assert_int_equal(result.n_frames, first.n_frames);
    assert_int_equal(result.cut, first.cut);
    assert_memory_equal(frames, found, first.n_frames * sizeof *frames);
}

NOINLINE static void raise_here(void)
{
    (void)raise(SIGUSR1);
}

typedef void generated_function(void (*called)(void), void *stack);

static generated_function *code_write(const uint8_t *bytes, size_t n_bytes)
{
    generated_function *function;
    static const uint8_t far_return[] = {0x58, 0xff, 0xe0}; /* pop rax; jmp rax */
    assert_int_equal(mprotect(generated, GENERATED_BYTES, PROT_READ | PROT_WRITE), 0);
    memset(generated, 0xcc, GENERATED_BYTES);
    memcpy(generated, bytes, n_bytes);
    memcpy(generated + FAR_AWAY, far_return, sizeof far_return);
    assert_int_equal(mprotect(generated, GENERATED_BYTES, PROT_READ | PROT_EXEC), 0);
    /* What is known of code is not looked at again where other code takes its place. */
    memset(thread->exits, 0, sizeof thread->exits);
    memcpy((void *)&function, (void *)&generated, sizeof function);
    return function;
}

/* The first frame in generated code; checks that they are the n at these offsets, and that the
 * stack is complete. */
static uint32_t generated_check(const unsigned *offsets, uint32_t n)
{
    uint32_t at = 0;
    assert_int_equal(result.cut, 0);
    while (at < result.n_frames && found[at].pc - (uint64_t)generated >= GENERATED_BYTES)
        at++;
    assert_true(at + n < result.n_frames);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(found[at + i].pc - (uint64_t)generated, offsets[i]);
    assert_true(found[at + n].pc - (uint64_t)generated >= GENERATED_BYTES);
    return at + n;
}

/* Functions with frame pointers around the generated one, so that its chain can be judged. */
static uint64_t inner_pc[3];

NOINLINE static void call_3(generated_function *function, void *stack)
{
    function(raise_here, stack);
    inner_pc[0] = (uint64_t)call_3;
}

NOINLINE static void call_2(generated_function *function, void *stack)
{
    call_3(function, stack);
    inner_pc[1] = (uint64_t)call_2;
}

NOINLINE static void call_1(generated_function *function, void *stack)
{
    call_2(function, stack);
    inner_pc[2] = (uint64_t)call_1;
}

static void callers_check(uint32_t at)
{
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(found[at + i].pc, inner_pc[i], inner_pc[i] + 200);
}

/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static void calls_by_frame_pointer(void **state)
{
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    const unsigned offsets[] = {6};
    (void)state;
    call_1(code_write(code, sizeof code), NULL);
    callers_check(generated_check(offsets, 1));
}

/* An interpreter's way: A pushes a return address and jumps.
 * A: push rbp; mov rbp, rsp; lea rax, [L]; push rax; jmp B; L: pop rbp; ret
 * B: push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static void return_address_without_call(void **state)
{
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0x03,
                                   0x00, 0x00, 0x00, 0x50, 0xeb, 0x02, 0x5d, 0xc3,
                                   0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    const unsigned offsets[] = {22, 14};
    (void)state;
    call_1(code_write(code, sizeof code), NULL);
    callers_check(generated_check(offsets, 2));
}

/* The frame pointer stays on the stack that is left, as Go does for calls of C.
 * push rbp; mov rbp, rsp; mov rsp, rsi; call rdi; mov rsp, rbp; pop rbp; ret */
static void frame_pointer_on_the_stack_left(void **state)
{
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf4,
                                   0xff, 0xd7, 0x48, 0x89, 0xec, 0x5d, 0xc3};
    const unsigned offsets[] = {9};
    (void)state;
    call_1(code_write(code, sizeof code), other + OTHER_BYTES - 64);
    callers_check(generated_check(offsets, 1));
}

/* Frame pointer 0 is the end: a stack of its own without anything around.
 * mov rax, rsp; mov rsp, rsi; push rax; push rbx; mov rbx, rbp; xor ebp, ebp; call rdi; mov rbp,
 * rbx; pop rbx; pop rsp; ret */
static void frame_pointer_0_is_the_end(void **state)
{
    static const uint8_t code[] = {0x48, 0x89, 0xe0, 0x48, 0x89, 0xf4, 0x50, 0x53, 0x48, 0x89, 0xeb,
                                   0x31, 0xed, 0xff, 0xd7, 0x48, 0x89, 0xdd, 0x5b, 0x5c, 0xc3};
    (void)state;
    call_1(code_write(code, sizeof code), other + OTHER_BYTES - 64);
    assert_int_equal(result.cut, 0);
    assert_int_equal(found[result.n_frames - 1].pc - (uint64_t)generated, 15);
}

/* The same as a mere value: the code puts the frame pointer back.
 * push rbp; xor ebp, ebp; sub rsp, 16; call rdi; add rsp, 16; pop rbp; ret */
static void frame_pointer_0_is_a_value(void **state)
{
    static const uint8_t code[] = {0x55, 0x31, 0xed, 0x48, 0x83, 0xec, 0x10, 0xff,
                                   0xd7, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
    const unsigned offsets[] = {9};
    (void)state;
    call_1(code_write(code, sizeof code), NULL);
    callers_check(generated_check(offsets, 1));
    /* And as it is remembered. */
    call_1(code_write(code, sizeof code), NULL);
    callers_check(generated_check(offsets, 1));
}

/* The only way out is a jump to another function, which returns in a way that is not understood.
 * push rbp; sub rsp, 16; mov ebp, 1; call rdi; add rsp, 16; pop rbp; jmp FAR_AWAY */
static void return_by_another_function(void **state)
{
    static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0xbd, 0x01, 0x00,
                                   0x00, 0x00, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x10,
                                   0x5d, 0xe9, 0xea, 0x5f, 0x00, 0x00};
    const unsigned offsets[] = {12};
    (void)state;
    call_1(code_write(code, sizeof code), NULL);
    callers_check(generated_check(offsets, 1));
}

/* The way of Java: A, compiled, has no frame pointer; B, interpreted, moves A's sp down for its
 * arguments, and keeps in the word below its frame pointer what it was.
 * A: push rbp; push rbx; sub rsp, 24; mov ebp, 1; call B; add rsp, 24; pop rbx; pop rbp; ret
 * B: pop rax; mov r11, rsp; sub rsp, 32; push rax; push rbp; mov rbp, rsp; push r11; sub rsp, 8;
 *    call rdi; mov rcx, [rbp - 8]; mov rdx, [rbp + 8]; mov rbp, [rbp]; mov rsp, rcx; jmp rdx */
static void caller_made_longer(void **state)
{
    static const uint8_t code[] = {0x55, 0x53, 0x48, 0x83, 0xec, 0x18, 0xbd, 0x01, 0x00, 0x00, 0x00,
                                   0xe8, 0x07, 0x00, 0x00, 0x00, 0x48, 0x83, 0xc4, 0x18, 0x5b, 0x5d,
                                   0xc3, 0x58, 0x49, 0x89, 0xe3, 0x48, 0x83, 0xec, 0x20, 0x50, 0x55,
                                   0x48, 0x89, 0xe5, 0x41, 0x53, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                                   0x48, 0x8b, 0x4d, 0xf8, 0x48, 0x8b, 0x55, 0x08, 0x48, 0x8b, 0x6d,
                                   0x00, 0x48, 0x89, 0xcc, 0xff, 0xe2};
    const unsigned offsets[] = {44, 16};
    (void)state;
    call_1(code_write(code, sizeof code), NULL);
    callers_check(generated_check(offsets, 2));
}

/* The engine of frame pointers, interrupted where the frame pointer is 0: nothing is known of the
 * caller, and the stack is not whole. Nor is it where the frame pointer leads into data.
 * push rbp; xor ebp, ebp; int3; pop rbp; ret
 * push rbp; push 0; push 0; mov rbp, rsp; int3; add rsp, 16; pop rbp; ret */
static void on_trap(int number, siginfo_t *info, void *context)
{
    const struct unwind_frame *frames = NULL;
    (void)number;
    (void)info;
    result = unwind_fp_walk(thread, context, &frames);
    found[0] = frames[0];
}

static void fp_engine_knows_mere_values(void **state)
{
    static const uint8_t code[] = {0x55, 0x31, 0xed, 0xcc, 0x5d, 0xc3};
    static const uint8_t into_data[] = {0x55, 0x6a, 0x00, 0x6a, 0x00, 0x48, 0x89, 0xe5,
                                        0xcc, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    (void)state;
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    call_1(code_write(code, sizeof code), NULL);
    assert_int_equal(result.n_frames, 1);
    assert_int_equal(found[0].pc - (uint64_t)generated, 4);
    assert_int_equal(result.cut, CAPTURE_CUT_NO_RULE);
    call_1(code_write(into_data, sizeof into_data), NULL);
    assert_int_equal(result.n_frames, 1);
    assert_int_equal(result.cut, CAPTURE_CUT_NO_RULE);
}

static void memory_reads(void **state)
{
    static struct unwind_memory memory;
    uint8_t bytes[40];
    uint64_t word = 0;
    (void)state;
    uint8_t *pages =
        mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    for (unsigned i = 0; i < 2 * 4096; i++)
        pages[i] = (uint8_t)(i * 7 + i / 4096);
    assert_int_equal(munmap(pages + 2 * 4096, 4096), 0);
    assert_true(memory_copy(bytes, (uint64_t)pages + 4096 - 13, sizeof bytes));
    assert_memory_equal(bytes, pages + 4096 - 13, sizeof bytes);
    assert_true(memory_copy(bytes, (uint64_t)pages + 2 * 4096 - 3, 3));
    assert_false(memory_copy(bytes, (uint64_t)pages + 2 * 4096 - 3, 4));
    assert_false(memory_copy(bytes, (uint64_t)pages + 2 * 4096, 1));
    assert_false(memory_copy(bytes, 0, 8));
    assert_false(memory_copy(bytes, UINT64_MAX - 3, 8));
    assert_true(memory_read_outside(&memory, (uint64_t)pages + 4096 - 3, 8, &word));
    assert_memory_equal(&word, pages + 4096 - 3, 8);
    assert_false(memory_read_outside(&memory, (uint64_t)pages + 2 * 4096 - 7, 8, &word));
    /* A guard page is found by probing. */
    memory.stack_end = (uint64_t)pages + 2 * 4096;
    memory.stack_low = (uint64_t)pages + 4096;
    memory_enter(&memory, (uint64_t)pages + 2048);
    assert_true(memory_is_plain(&memory, (uint64_t)pages + 2048));
    assert_int_equal(mprotect(pages, 4096, PROT_NONE), 0);
    memory.stack_low = (uint64_t)pages + 4096;
    memory_enter(&memory, (uint64_t)pages + 2048);
    assert_false(memory_is_plain(&memory, (uint64_t)pages + 2048));
    munmap(pages, 2 * 4096);
}

/* From here on the kernel refuses process_vm_readv, as containers' filters do. */
static int refuse_copies(void **state)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = N_ELEMENTS(filter), .filter = filter};
    const char *why = NULL;
    (void)state;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return -1;
    struct iovec piece = {.iov_base = &why, .iov_len = 1};
    assert_int_equal(process_vm_readv(getpid(), &piece, 1, &piece, 1, 0), -1);
    assert_int_equal(errno, EPERM);
    memset(thread->memory.behind_call, 0, sizeof thread->memory.behind_call);
    return 0;
}

int main(void)
{
    const char *why = NULL;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    if (!unwind_init(UNWIND_TABLE, &why) || sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    thread = unwind_thread_create();
    unwind_thread_bind(thread);
    generated =
        mmap(NULL, GENERATED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other = mmap(NULL, OTHER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (generated == MAP_FAILED || other == MAP_FAILED)
        return 1;
    inner_pc[0] = (uint64_t)call_3;
    inner_pc[1] = (uint64_t)call_2;
    inner_pc[2] = (uint64_t)call_1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_by_frame_pointer),
        cmocka_unit_test(return_address_without_call),
        cmocka_unit_test(frame_pointer_on_the_stack_left),
        cmocka_unit_test(frame_pointer_0_is_the_end),
        cmocka_unit_test(frame_pointer_0_is_a_value),
        cmocka_unit_test(return_by_another_function),
        cmocka_unit_test(caller_made_longer),
        cmocka_unit_test(fp_engine_knows_mere_values),
        cmocka_unit_test(memory_reads),
    };
    int n_failed = cmocka_run_group_tests_name("copies allowed", tests, NULL, NULL);
    return n_failed + cmocka_run_group_tests_name("copies refused", tests, refuse_copies, NULL);
}
