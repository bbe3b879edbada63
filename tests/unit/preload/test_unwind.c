/* test_unwind.c - unwind.h and modules.h on this process: live stacks, jumps to nowhere, code
 * without rows, threads, stacks of our own. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "capture.h"
#include "unit.h"
#include "unwind/modules.h"
#include "unwind/thread.h"
#include "unwind/unwind.h"

#define NOINLINE __attribute__((noinline))

static struct unwind_thread *thread;
static struct unwind_result result;
static struct unwind_frame found[UNWIND_MAX_FRAMES];

static void walk_context(struct unwind_thread *own, const void *context)
{
    const struct unwind_frame *frames = NULL;
    result = unwind_stack(own, context, &frames);
    memcpy(found, frames, result.n_frames * sizeof *frames);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    walk_context(thread, context);
}

/* Whether some frame lies in the function at `function`, judged by distance. */
static bool stack_has(uint64_t function)
{
    for (uint32_t i = 0; i < result.n_frames; i++) {
        if (found[i].pc >= function && found[i].pc < function + 3000)
            return true;
    }
    return false;
}

static void handler_install(int number)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

NOINLINE static int recurse(unsigned depth)
{
    volatile int local = (int)depth;
    if (depth == 0)
        return raise(SIGUSR1) + local;
    return recurse(depth - 1) + local;
}

static void whole_stack_is_found(void **state)
{
    (void)state;
    unsigned n_recurse = 0;
    handler_install(SIGUSR1);
    (void)recurse(50);
    assert_int_equal(result.cut, 0);
    assert_int_equal(found[0].exact, 1);
    for (uint32_t i = 0; i < result.n_frames; i++)
        n_recurse += found[i].pc >= (uint64_t)recurse && found[i].pc < (uint64_t)recurse + 400;
    assert_in_range(n_recurse, 51, 53); /* the function behind it is near */
    assert_true(stack_has((uint64_t)whole_stack_is_found));
    const struct module *module = modules_get(found[result.n_frames - 1].module);
    assert_true((module->flags & CAPTURE_MODULE_MAIN) != 0); /* _start */
    /* The same again, and only as far as it is the same. */
    (void)recurse(50);
    assert_int_equal(result.cut, 0);
    assert_true(result.n_same > 0 && result.n_same <= result.n_frames);
}

static void limit_of_frames_cuts(void **state)
{
    (void)state;
    handler_install(SIGUSR1);
    (void)recurse(UNWIND_MAX_FRAMES + 10);
    assert_int_equal(result.n_frames, UNWIND_MAX_FRAMES);
    assert_int_equal(result.cut, CAPTURE_CUT_TOO_DEEP);
    (void)recurse(3);
    assert_int_equal(result.cut, 0);
}

/* A call through a bad pointer: the kernel's signal shows pc = 0. */
static sigjmp_buf behind_fault;
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    walk_context(thread, context);
    siglongjmp(behind_fault, 1);
}

typedef void function_type(void);

NOINLINE static void call_pointer(uint64_t target)
{
    function_type *function;
    memcpy((void *)&function, &target, sizeof function);
    function();
    __asm__ volatile("" ::: "memory"); /* no tail call: this function is to be found on the stack */
}

static void call_to_nowhere(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    const uint64_t targets[] = {0, 0x123, 0x700000001000};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    for (size_t i = 0; i < N_ELEMENTS(targets); i++) {
        if (sigsetjmp(behind_fault, 1) == 0)
            call_pointer(targets[i]);
        assert_int_equal(found[0].pc, targets[i]);
        assert_int_equal(found[0].module, 0);
        assert_int_equal(result.cut, 0);
        assert_true(stack_has((uint64_t)call_pointer));
    }
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

/* Machine code in no module, with a frame pointer: push rbp; mov rsp, rbp; call *rdi; pop; ret. */
NOINLINE static void raise_from_code(void)
{
    (void)raise(SIGUSR1);
}

static void code_without_rows(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*run)(void (*)(void));
    assert_true(code != MAP_FAILED);
    memcpy(code, bytes, sizeof bytes);
    assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
    memcpy((void *)&run, (void *)&code, sizeof run);
    handler_install(SIGUSR1);
    run(raise_from_code);
    assert_int_equal(result.cut, 0);
    assert_true(stack_has((uint64_t)code));
    assert_true(stack_has((uint64_t)code_without_rows));
    munmap(code, 4096);
}

static void *thread_main(void *argument)
{
    struct unwind_thread *own = unwind_thread_create();
    ucontext_t context;
    (void)argument;
    unwind_thread_bind(own);
    /* The bounds are the thread's: they hold this frame and not the main thread's. */
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    assert_true(here >= own->memory.stack_low && here < own->memory.stack_end);
    assert_true(own->memory.stack_end - here < (1u << 20));
    assert_int_equal(own->memory.stack_origin, 0);
    (void)getcontext(&context);
    walk_context(own, &context);
    return NULL;
}

static void stack_of_a_thread(void **state)
{
    (void)state;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, thread_main, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(result.cut, 0);
    assert_true(result.n_frames >= 2);
    assert_true(stack_has((uint64_t)thread_main));
}

/* A guard page between the stack pointer and the stack's known part: no plain loads. */
static void guard_page_ends_the_stack(void **state)
{
    (void)state;
    static struct unwind_memory memory;
    uint8_t *pages =
        mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    memory.stack_end = (uint64_t)pages + 5 * 4096;
    memory.stack_low = (uint64_t)pages + 4 * 4096;
    memory_enter(&memory, (uint64_t)pages + 2 * 4096 + 200);
    assert_int_equal(memory.stack_low, (uint64_t)pages + 2 * 4096);
    assert_true(memory_is_plain(&memory, (uint64_t)pages + 2 * 4096 + 200 - ARCH_RED_ZONE_BYTES));
    assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
    memory_enter(&memory, (uint64_t)pages + 300);
    assert_false(memory_is_plain(&memory, (uint64_t)pages + 3 * 4096));
    assert_int_equal(memory.stack_low, (uint64_t)pages + 2 * 4096);
    munmap(pages, 5 * 4096);
}

static void modules_of_this_process(void **state)
{
    (void)state;
    const struct module *self = modules_find((uint64_t)modules_of_this_process);
    const struct module *vdso = modules_find(getauxval(AT_SYSINFO_EHDR) + 0x100);
    const struct module *libc = modules_find((uint64_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    assert_non_null(self);
    assert_non_null(vdso);
    assert_non_null(libc);
    assert_int_equal(self->flags, CAPTURE_MODULE_MAIN);
    assert_int_equal(vdso->flags, CAPTURE_MODULE_VDSO);
    assert_true(vdso->eh_frame_hdr != 0);
    assert_non_null(strstr(self->path, "test_unwind"));
    assert_non_null(strstr(libc->path, "libc.so.6"));
    assert_true(libc->build_id_bytes >= 16);
    assert_true(libc->segments.n >= 3);
    assert_ptr_equal(modules_get(libc->id), libc);
    assert_null(modules_find(0));
    /* Another generation, the same library: the same entry. */
    uint64_t generation = modules_generation();
    modules_unloaded();
    assert_int_equal(modules_generation(), generation + 1);
    assert_ptr_equal(modules_find(libc->start), libc);
    assert_ptr_equal(modules_find((uint64_t)modules_of_this_process), self);
}

int main(void)
{
    const char *why = NULL;
    if (!unwind_init(UNWIND_TABLE, &why))
        return 1;
    thread = unwind_thread_create();
    unwind_thread_bind(thread);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_stack_is_found),    cmocka_unit_test(limit_of_frames_cuts),
        cmocka_unit_test(call_to_nowhere),         cmocka_unit_test(code_without_rows),
        cmocka_unit_test(stack_of_a_thread),       cmocka_unit_test(guard_page_ends_the_stack),
        cmocka_unit_test(modules_of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
