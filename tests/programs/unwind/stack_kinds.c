/* stack_kinds.c - stacks whose frames come from unusual places: for tests/e2e/test_stacks.py.
 *
 *   stack_kinds vdso MILLISECONDS             reads the clock
 *   stack_kinds reload A.so B.so N            loads and unloads two plugins in turn, at one address
 *   stack_kinds generated MILLISECONDS        code made at run time, without frame pointer, calls us
 *   stack_kinds generated-odd MILLISECONDS    the same, with a return that is a jump to anywhere
 *   stack_kinds context MILLISECONDS          a context that goes on with another one when it ends
 *
 * Built with holes between its segments as stack_kinds_holes. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

NOINLINE uint64_t burn(uint64_t n)
{
    uint64_t value = n;
    for (unsigned i = 0; i < 400000; i++)
        value = value * 31 + (value >> 3);
    sink = value;
    return value;
}

NOINLINE static void read_the_clock(double ms)
{
    struct timespec now;
    for (double end = cpu_ms() + ms; cpu_ms() < end;) {
        for (unsigned i = 0; i < 20000; i++) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            sink += (uint64_t)now.tv_nsec;
        }
    }
}

/* Says how often the second plugin came to lie where the first one had been. */
static int reload(char **paths, unsigned n)
{
    unsigned n_same = 0;
    uint64_t before = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t (*run)(uint64_t, uint64_t(*)(uint64_t));
        void *plugin = dlopen(paths[i % 2], RTLD_NOW);
        void *symbol =
            plugin == NULL ? NULL : dlsym(plugin, i % 2 == 0 ? "plugin_one" : "plugin_two");
        if (symbol == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        n_same += (uint64_t)symbol == before;
        before = (uint64_t)symbol;
        memcpy((void *)&run, &symbol, sizeof run);
        sink += run(i, burn);
        dlclose(plugin);
    }
    printf("%u of %u at the same address\n", n_same, n);
    return 0;
}

/* push rbx; push rbp; sub rsp, 24; mov rbp, rdi; call rsi; add rax, rbp; add rsp, 24; pop rbp;
 * pop rbx; ret */
static const uint8_t code_bytes[] = {0x53, 0x55, 0x48, 0x83, 0xec, 0x18, 0x48,
                                     0x89, 0xfd, 0xff, 0xd6, 0x48, 0x01, 0xe8,
                                     0x48, 0x83, 0xc4, 0x18, 0x5d, 0x5b, 0xc3};
static const uint8_t pop_and_jump[] = {0x59, 0xff, 0xe1}; /* pop rcx; jmp rcx */

static int run_generated(double ms, bool is_odd)
{
    uint64_t (*function)(uint64_t, uint64_t(*)(uint64_t));
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, code_bytes, sizeof code_bytes);
    if (is_odd)
        memcpy((uint8_t *)code + sizeof code_bytes - 1, pop_and_jump, sizeof pop_and_jump);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    memcpy((void *)&function, &code, sizeof function);
    for (double end = cpu_ms() + ms; cpu_ms() < end;)
        sink += function(9, burn);
    return 0;
}

static double context_ms;

NOINLINE static void in_context(void)
{
    for (double end = cpu_ms() + context_ms; cpu_ms() < end;)
        burn(9);
}

static int run_context(double ms)
{
    static ucontext_t back, made;
    static unsigned char stack[128 << 10];
    context_ms = ms;
    if (getcontext(&made) != 0)
        return 1;
    made.uc_stack.ss_sp = stack;
    made.uc_stack.ss_size = sizeof stack;
    made.uc_link = &back;
    makecontext(&made, in_context, 0);
    return swapcontext(&back, &made) != 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "vdso") == 0)
        read_the_clock(atof(argv[2]));
    else if (argc == 5 && strcmp(argv[1], "reload") == 0)
        return reload(argv + 2, (unsigned)atoi(argv[4]));
    else if (argc == 3 && strncmp(argv[1], "generated", 9) == 0)
        return run_generated(atof(argv[2]), argv[1][9] != '\0');
    else if (argc == 3 && strcmp(argv[1], "context") == 0)
        return run_context(atof(argv[2]));
    else
        return 2;
    return 0;
}
