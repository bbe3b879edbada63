/* unwind_stepped.c - the table engine at every instruction, against what the processor really did.
 *
 *   unwind_stepped [-v] [CASE]
 *   unwind_stepped_rowless [-v] [CASE]     no code has rows: all that is known of it is its bytes
 *
 * Each case runs with the trap flag set. After every instruction the handler looks whether a call
 * was made or return addresses were left, and so knows the true stack; our walk must find exactly
 * that. A stack may be cut where the case allows it: `cut per mille` is its limit; a wrong frame
 * never. Without rows every stack is cut, at the latest where the test begins; what counts there is
 * a cut further in. Prints a line per case; exit status 1 when one failed, 77 when single steps cannot be had.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "unwind/modules.h"
#include "unwind/thread.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#define KEEPS_FP
#else
#define NOINLINE __attribute__((noinline, noclone))
#define KEEPS_FP __attribute__((optimize("no-omit-frame-pointer")))
#endif
#define TRUE_MAX 2048u
#define TRAP_FLAG 0x100
#define OTHER_STACK_BYTES (64u << 10)

uint64_t asm_pushes(uint64_t n);
uint64_t asm_leaf(uint64_t n);
uint64_t asm_asm(uint64_t n);
uint64_t asm_large(uint64_t n);
uint64_t asm_realigned(uint64_t n);
uint64_t asm_calls(uint64_t n, uint64_t (*f)(uint64_t));
uint64_t asm_jump(void **save_sp, void *to_sp, uint64_t value);
void asm_begin(void);

/* The variant without rows is linked so that the unwinder's calls lead here. */
#ifdef STEPPED_ROWLESS
static const bool is_rowless = true;
bool __wrap_cfi_fde_find(const struct segments *segments, uint64_t eh_frame_hdr, uint64_t pc,
                         struct cfi_fde *fde);
bool __wrap_cfi_fde_find(const struct segments *segments, uint64_t eh_frame_hdr, uint64_t pc,
                         struct cfi_fde *fde)
{
    (void)segments;
    (void)eh_frame_hdr;
    (void)pc;
    (void)fde;
    return false;
}
#else
static const bool is_rowless = false;
#endif

/* ---- the true stack ---- */

struct true_frame {
    uint64_t slot; /* where the return address lies */
    uint64_t ra;
};

/* One per stack: the program's, and that of coroutines. */
struct true_stack {
    struct true_frame frames[TRUE_MAX];
    unsigned n;
};

static struct true_stack true_stacks[2];
static uint64_t other_stack; /* [.., + OTHER_STACK_BYTES) */
static struct unwind_thread *thread;
static struct unwind_thread *fresh;
static uint64_t before_pc, before_sp; /* of the instruction before; 0: none */

struct outcome {
    uint64_t n_steps, n_cut, n_wrong, n_reuse_wrong;
    uint64_t n_by_cut[8];
    uint64_t n_cut_inside; /* cut, and frames of the case are missing */
    uint64_t n_unrooted;   /* not cut, but frames outside the case are missing */
};
static struct outcome outcome;
static bool verbose;

static bool instruction_is_call(uint64_t pc)
{
    const uint8_t *code = address_pointer(pc);
    while (*code == 0xf2 || *code == 0x3e || *code == 0x66 || (*code & 0xf0) == 0x40)
        code++;
    return *code == 0xe8 || (*code == 0xff && (code[1] & 0x38) == 0x10);
}

static struct true_stack *stack_of(uint64_t sp)
{
    return &true_stacks[sp - other_stack < OTHER_STACK_BYTES];
}

static void true_stack_follow(uint64_t sp)
{
    struct true_stack *stack = stack_of(sp);
    while (stack->n > 0 && stack->frames[stack->n - 1].slot < sp)
        stack->n--;
    if (before_pc != 0 && sp == before_sp - 8 && instruction_is_call(before_pc) &&
        stack->n < TRUE_MAX)
        stack->frames[stack->n++] = (struct true_frame){.slot = sp, .ra = memory_load(sp)};
}

static const char *name_of(uint64_t pc, char *text, size_t n_bytes)
{
    Dl_info info;
    if (dladdr(address_pointer(pc), &info) != 0)
        snprintf(text, n_bytes, "%s+%#lx (%s)", info.dli_sname ? info.dli_sname : "?",
                 pc - (uint64_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase), info.dli_fname);
    else
        snprintf(text, n_bytes, "%#lx", pc);
    return text;
}

static void wrong_print(const struct unwind_frame *frames, struct unwind_result result, uint32_t at,
                        const struct true_stack *stack, const char *what)
{
    static unsigned n_printed;
    char leaf[200], ours[200], right[200];
    if (n_printed++ >= 20 && !verbose)
        return;
    uint64_t ra = at >= 1 && at <= stack->n ? stack->frames[stack->n - at].ra : 0;
    printf("    %s: leaf %s, frame %u of %u (cut %u): ours %s, true %s\n", what,
           name_of(frames[0].pc, leaf, sizeof leaf), at, result.n_frames, result.cut,
           at < result.n_frames ? name_of(frames[at].pc, ours, sizeof ours) : "none",
           name_of(ra, right, sizeof right));
}

static void step_check(const void *context)
{
    const struct unwind_frame *frames = NULL, *again = NULL;
    const ucontext_t *user = context;
    const struct true_stack *stack = stack_of((uint64_t)user->uc_mcontext.gregs[REG_RSP]);
    unwind_thread_forget(fresh);
    struct unwind_result result = unwind_table_walk(thread, context, &frames);
    struct unwind_result result_again = unwind_table_walk(fresh, context, &again);
    outcome.n_steps++;
    outcome.n_reuse_wrong += result.n_frames != result_again.n_frames ||
                             result.cut != result_again.cut ||
                             memcmp(frames, again, result.n_frames * sizeof *frames) != 0;
    for (uint32_t i = 1; i < result.n_frames && i <= stack->n; i++) {
        if (frames[i].pc == stack->frames[stack->n - i].ra)
            continue;
        outcome.n_wrong++;
        wrong_print(frames, result, i, stack, "wrong");
        return;
    }
    outcome.n_by_cut[result.cut % 8]++;
    outcome.n_cut += result.cut != 0;
    outcome.n_cut_inside += result.cut != 0 && result.n_frames <= stack->n;
    if (result.cut != 0 && verbose)
        wrong_print(frames, result, result.n_frames, stack, "cut");
    if (result.cut == 0 && result.n_frames <= stack->n) {
        outcome.n_unrooted++;
        wrong_print(frames, result, result.n_frames, stack, "short");
    }
}

static void on_step(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    const ucontext_t *user = context;
    uint64_t sp = (uint64_t)user->uc_mcontext.gregs[REG_RSP];
    (void)number;
    (void)info;
    true_stack_follow(sp);
    if (stack_of(sp)->n > 0 || stack_of(sp) != &true_stacks[0])
        step_check(context);
    before_pc = (uint64_t)user->uc_mcontext.gregs[REG_RIP];
    before_sp = sp;
    errno = saved_errno;
}

static inline __attribute__((always_inline)) void steps_begin(void)
{
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

static inline __attribute__((always_inline)) void steps_end(void)
{
    __asm__ volatile("pushfq\n\tandq $-0x101, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

/* ---- the cases ---- */

static volatile uint64_t sink;

NOINLINE static uint64_t burn(uint64_t n)
{
    uint64_t value = n;
    for (uint64_t i = 0; i < n % 4 + 1; i++)
        value = value * 31 + (value >> 3);
    sink = value;
    return value;
}

NOINLINE static uint64_t recurse(unsigned depth, uint64_t a)
{
    volatile uint64_t local[5] = {a, depth};
    uint64_t value = depth == 0 ? burn(a) : recurse(depth - 1, a + local[depth % 5]);
    return value * 3 + local[1] + burn(depth);
}

KEEPS_FP NOINLINE static uint64_t with_fp(unsigned depth)
{
    uint64_t value = depth == 0 ? recurse(2, 1) : with_fp(depth - 1);
    return value + burn(depth);
}

static void case_frames(void)
{
    sink += recurse(12, 3) + with_fp(6);
}

/* Variable frames, realigned ones, and realigned ones with arguments on the stack. */
NOINLINE static uint64_t with_alloca(unsigned depth)
{
    size_t size = 24 + depth * 40;
    volatile uint8_t *bytes = alloca(size);
    bytes[size - 1] = (uint8_t)depth;
    return (depth == 0 ? burn(3) : with_alloca(depth - 1)) + bytes[size - 1] + burn(2);
}

typedef uint64_t wide __attribute__((vector_size(64)));

NOINLINE static uint64_t realigned(unsigned depth, uint64_t a)
{
    volatile wide local = {a, depth, a};
    return (depth == 0 ? burn(3) : realigned(depth - 1, a + local[0])) + local[depth % 8] + burn(1);
}

NOINLINE static uint64_t realigned_alloca(unsigned depth, uint64_t a, uint64_t b, uint64_t c,
                                          uint64_t d, uint64_t e, uint64_t f, uint64_t on_stack)
{
    volatile wide local = {a, b, c, d, e, f, on_stack, depth};
    size_t size = 32 + depth % 7 * 64;
    volatile uint8_t *bytes = alloca(size);
    bytes[size - 1] = (uint8_t)a;
    uint64_t value = depth == 0
                         ? burn(2)
                         : realigned_alloca(depth - 1, b, c, d, e, f, on_stack, bytes[size - 1]);
    return value + local[depth % 8] + burn(1);
}

static void case_realigned(void)
{
    sink += with_alloca(6) + realigned(6, 2) + realigned_alloca(6, 1, 2, 3, 4, 5, 6, 7);
}

static void *behind[5];

__attribute__((noreturn)) NOINLINE static void fail_always(uint64_t n)
{
    sink += burn(n);
    __builtin_longjmp(behind, 1); /* libc's has rows that describe where it goes */
}

NOINLINE static void calls_noreturn(uint64_t n)
{
    sink += n;
    fail_always(n);
}

NOINLINE static uint64_t tail_b(unsigned n, uint64_t a);
NOINLINE static uint64_t tail_a(unsigned n, uint64_t a)
{
    return n == 0 ? burn(a) + a : tail_b(n - 1, a * 5 + sink);
}
NOINLINE static uint64_t tail_b(unsigned n, uint64_t a)
{
    return n == 0 ? burn(a) ^ a : tail_a(n - 1, a + burn(6));
}

static void case_tails(void)
{
    sink += tail_a(9, 2);
    if (__builtin_setjmp(behind) == 0)
        calls_noreturn(5);
}

/* libc: the PLT (bound at the first call in the lazy build), the resolver, vector code, the vdso.
 */
static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void case_library(void)
{
    char text[80];
    uint64_t numbers[12];
    struct timespec now;
    for (unsigned i = 0; i < 12; i++)
        numbers[i] = (i * 7919) % 13;
    qsort(numbers, 12, sizeof numbers[0], compare_numbers);
    snprintf(text, sizeof text, "%d %s %.3f", 3, "text", 1.5);
    sink += strtoul(text, NULL, 10) + strlen(strchr(text, 't'));
    clock_gettime(CLOCK_MONOTONIC, &now);
    free(malloc(100 + (size_t)(now.tv_nsec & 7)));
}

static void case_assembly(void)
{
    uint64_t (*volatile pointer)(uint64_t) = asm_pushes;
    sink += asm_pushes(5);
    sink += pointer(4);
    pointer = asm_leaf;
    sink += asm_leaf(3) + pointer(2);
    sink += asm_calls(3, burn) + asm_asm(4);
}

/* Frames that only the code itself describes: large, realigned, with subroutines that know of them,
 * and a frame pointer of 0 that means nothing. */
static void case_assembly_frames(void)
{
    uint64_t (*volatile pointer)(uint64_t) = asm_large;
    sink += asm_large(3) + pointer(2);
    pointer = asm_realigned;
    sink += asm_realigned(3) + pointer(2);
}

/* Called by functions that keep frame pointers, and change theirs. */
KEEPS_FP NOINLINE static uint64_t fp_calls_asm(unsigned depth)
{
    volatile uint64_t local[3] = {depth};
    return depth == 0 ? asm_pushes(4) + asm_leaf(3) + local[0] : fp_calls_asm(depth - 1) + local[0];
}

static void case_assembly_fp(void)
{
    sink += fp_calls_asm(4);
}

/* ---- code made at run time ---- */

static uint8_t *generated; /* a page, executable */

static void code_write(const uint8_t *bytes, size_t n_bytes)
{
    mprotect(generated, 4096, PROT_READ | PROT_WRITE);
    memset(generated, 0xcc, 4096);
    memcpy(generated + 64, bytes, n_bytes);
    mprotect(generated, 4096, PROT_READ | PROT_EXEC);
    /* What is known of code is not looked at again where other code takes its place. */
    memset(thread->exits, 0, sizeof thread->exits);
    memset(fresh->exits, 0, sizeof fresh->exits);
}

static uint64_t (*code_function(void))(uint64_t, uint64_t (*)(uint64_t))
{
    uint64_t (*function)(uint64_t, uint64_t(*)(uint64_t));
    void *at = generated + 64;
    memcpy((void *)&function, &at, sizeof at);
    return function;
}

/* push rbp; mov rbp, rsp; push rbx; sub rsp, 8; mov rbx, rdi; test rdi, rdi; je 1f; dec rdi;
 * call self; jmp 2f; 1: mov rdi, rbx; call rsi; 2: add rax, rbx; add rsp, 8; pop rbx; pop rbp; ret
 */
static const uint8_t code_with_fp[] = {
    0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xfb, 0x48, 0x85,
    0xff, 0x74, 0x0a, 0x48, 0xff, 0xcf, 0xe8, 0xe7, 0xff, 0xff, 0xff, 0xeb, 0x05, 0x48,
    0x89, 0xdf, 0xff, 0xd6, 0x48, 0x01, 0xd8, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0x5d, 0xc3};

/* push rbx; push rbp; mov rbp, rdi; mov rbx, 5; 1: imul rbp, rbx; dec rbx; jne 1b; mov rax, rbp;
 * pop rbp; pop rbx; ret */
static const uint8_t code_leaf[] = {0x53, 0x55, 0x48, 0x89, 0xfd, 0x48, 0xc7, 0xc3, 0x05,
                                    0x00, 0x00, 0x00, 0x48, 0x0f, 0xaf, 0xeb, 0x48, 0xff,
                                    0xcb, 0x75, 0xf7, 0x48, 0x89, 0xe8, 0x5d, 0x5b, 0xc3};

/* push rbx; push rbp; sub rsp, 24; mov rbp, rdi; call rsi; add rax, rbp; add rsp, 24; pop rbp;
 * pop rbx; ret */
static const uint8_t code_calls[] = {0x53, 0x55, 0x48, 0x83, 0xec, 0x18, 0x48,
                                     0x89, 0xfd, 0xff, 0xd6, 0x48, 0x01, 0xe8,
                                     0x48, 0x83, 0xc4, 0x18, 0x5d, 0x5b, 0xc3};

static void case_generated_fp(void)
{
    sink += code_function()(4, burn);
}

static void case_generated_leaf(void)
{
    sink += code_function()(9, NULL);
}

static void case_generated_calls(void)
{
    sink += code_function()(9, burn);
}

/* ---- other stacks ---- */

static ucontext_t context_main, context_other;

static void context_body(void)
{
    for (unsigned i = 0;; i++) {
        sink += recurse(3, i);
        swapcontext(&context_other, &context_main);
    }
}

static void case_ucontext(void)
{
    for (unsigned i = 0; i < 3; i++)
        swapcontext(&context_main, &context_other);
}

static void *jump_main_sp, *jump_other_sp;

static void jump_body(uint64_t value)
{
    for (;;) {
        sink += recurse(3, value);
        value = asm_jump(&jump_other_sp, jump_main_sp, value + 1);
    }
}

static void case_jump(void)
{
    for (unsigned i = 0; i < 3; i++)
        sink += asm_jump(&jump_main_sp, jump_other_sp, i);
}

static void jump_prepare(void)
{
    uint64_t *top = address_pointer(other_stack + OTHER_STACK_BYTES - 72);
    top[0] = (uint64_t)asm_begin;
    uint64_t *saved = top - 6; /* r15 r14 r13 r12 rbx rbp */
    memset(saved, 0, 6 * sizeof *saved);
    saved[4] = (uint64_t)jump_body;
    jump_other_sp = saved;
}

static void context_prepare(void)
{
    getcontext(&context_other);
    context_other.uc_stack.ss_sp = address_pointer(other_stack);
    context_other.uc_stack.ss_size = OTHER_STACK_BYTES;
    context_other.uc_link = NULL;
    /* The trap flag is not among what swapcontext switches. */
    makecontext(&context_other, context_body, 0);
}

/* ---- libgmp: real hand-written assembly, if it is there ---- */

static void (*gmp_init)(void *), (*gmp_pow)(void *, unsigned long, unsigned long);
static void (*gmp_mul)(void *, const void *, const void *),
    (*gmp_div)(void *, const void *, const void *);
static uint64_t gmp_numbers[4][2];

static bool gmp_prepare(void)
{
    void *library = dlopen("libgmp.so.10", RTLD_NOW);
    const char *names[] = {"__gmpz_init", "__gmpz_ui_pow_ui", "__gmpz_mul", "__gmpz_tdiv_q"};
    void *targets[] = {&gmp_init, &gmp_pow, &gmp_mul, &gmp_div};
    for (unsigned i = 0; i < 4; i++) {
        void *symbol = library == NULL ? NULL : dlsym(library, names[i]);
        if (symbol == NULL)
            return false;
        memcpy(targets[i], &symbol, sizeof symbol);
    }
    for (unsigned i = 0; i < 4; i++)
        gmp_init(gmp_numbers[i]);
    return true;
}

static void case_gmp(void)
{
    gmp_pow(gmp_numbers[0], 7, 900);
    gmp_pow(gmp_numbers[1], 11, 333);
    gmp_mul(gmp_numbers[2], gmp_numbers[0], gmp_numbers[1]);
    gmp_div(gmp_numbers[3], gmp_numbers[2], gmp_numbers[0]);
}

/* ---- running them ---- */

struct stepped_case {
    const char *name;
    void (*run)(void);
    unsigned cut_per_mille;     /* most that may be cut */
    unsigned rowless_per_mille; /* most that may be cut or wrong where code has no rows */
    const uint8_t *code;        /* for generated code */
    size_t n_code_bytes;
};

static const struct stepped_case cases[] = {
    {"frames", case_frames, 0, 0, NULL, 0},
    {"realigned", case_realigned, 0, 50, NULL, 0},
    {"tails", case_tails, 0, 5, NULL, 0},
    {"library", case_library, 0, 40, NULL, 0},
    {"assembly", case_assembly, 0, 0, NULL, 0},
    {"assembly-fp", case_assembly_fp, 0, 0, NULL, 0},
    {"assembly-frames", case_assembly_frames, 0, 0, NULL, 0},
    {"generated-fp", case_generated_fp, 0, 0, code_with_fp, sizeof code_with_fp},
    {"generated-leaf", case_generated_leaf, 0, 0, code_leaf, sizeof code_leaf},
    {"generated-calls", case_generated_calls, 0, 0, code_calls, sizeof code_calls},
    {"ucontext", case_ucontext, 20, 20, NULL, 0},
    {"jump", case_jump, 20, 1000, NULL, 0}, /* what has no end is the outermost, without rows */
    {"gmp", case_gmp, 5, 10, NULL, 0},
};

/* The frame whose callees are checked; what is called in it runs step by step. */
NOINLINE static void run_stepped(void (*run)(void))
{
    before_pc = 0;
    steps_begin();
    run();
    steps_end();
}

static bool case_run(const struct stepped_case *one)
{
    memset(&outcome, 0, sizeof outcome);
    memset(true_stacks, 0, sizeof true_stacks);
    if (one->code != NULL)
        code_write(one->code, one->n_code_bytes);
    if (one->run == case_gmp && !gmp_prepare()) {
        printf("%-16s libgmp.so.10 is not here\n", one->name);
        return true;
    }
    context_prepare();
    if (one->run == case_jump)
        jump_prepare();
    run_stepped(one->run);
    uint64_t n_bad = outcome.n_wrong + outcome.n_unrooted + outcome.n_cut_inside;
    bool is_good = is_rowless ? n_bad * 1000 <= one->rowless_per_mille * outcome.n_steps
                              : outcome.n_wrong == 0 && outcome.n_unrooted == 0 &&
                                    outcome.n_cut * 1000 <= one->cut_per_mille * outcome.n_steps;
    bool ok = outcome.n_steps > 20 && outcome.n_reuse_wrong == 0 && is_good;
    printf("%-16s %8lu steps, wrong %lu, short %lu, cut %lu (inside %lu; no rule %lu, memory %lu, "
           "progress %lu), reuse wrong %lu  %s\n",
           one->name, outcome.n_steps, outcome.n_wrong, outcome.n_unrooted, outcome.n_cut,
           outcome.n_cut_inside, outcome.n_by_cut[1], outcome.n_by_cut[2], outcome.n_by_cut[3],
           outcome.n_reuse_wrong, ok ? "ok" : "FAILED");
    return ok;
}

int main(int argc, char **argv)
{
    const char *why = "";
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    bool ok = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    const char *only = argc > 1 + verbose ? argv[1 + verbose] : NULL;
    sigemptyset(&action.sa_mask);
    if (!unwind_init(UNWIND_TABLE, &why) || sigaction(SIGTRAP, &action, NULL) != 0)
        return 77;
    thread = unwind_thread_create();
    fresh = unwind_thread_create();
    generated = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other_stack = (uint64_t)mmap(NULL, OTHER_STACK_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (thread == NULL || fresh == NULL || generated == MAP_FAILED ||
        address_pointer(other_stack) == MAP_FAILED)
        return 77;
    unwind_thread_bind(thread);
    unwind_thread_bind(fresh);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (only == NULL || strcmp(only, cases[i].name) == 0)
            ok &= case_run(&cases[i]);
    }
    return ok ? 0 : 1;
}
