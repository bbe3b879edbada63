/* unwind_bench.c - what a frame costs: ns per frame of each engine, by depth.
 *
 *   unwind_bench [MILLISECONDS]      time given to each figure, default 100
 *
 *   hot    the same stack again and again, nothing kept of the previous walk but the rule cache
 *   reuse  the same, with the previous stack's outer frames verified instead of unwound
 *   new    the modules are known, but each walk finds every rule missing
 *   cold   before each walk the modules' generation goes up, so every rule is looked up anew
 *
 * Stacks are real ones, of 31 different functions; the fp engine walks a build with frame pointers.
 * Prints a table; each figure is the best of many short measurements, so that a busy machine shows
 * less. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "bench_stack.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define N_MEASUREMENTS 200u

enum mode { MODE_HOT, MODE_REUSE, MODE_NEW, MODE_COLD };

struct bench {
    struct unwind_thread *thread;
    struct unwind_result (*walk)(struct unwind_thread *thread, const void *context,
                                 const struct unwind_frame **frames);
    enum mode mode;
    double time_ns;      /* given to one measurement       */
    double ns_per_frame; /* best of all                    */
    double ns_per_walk;
    uint32_t n_frames;
    uint32_t cut;
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Empties the cache slots of the frames found, which costs little beside looking the rules up. */
static void rules_forget(struct bench *bench, const struct unwind_frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rule_cache_slot(&bench->thread->rules, frames[i].pc)->key = 0;
}

/* One measurement of `context`, which describes a live stack. */
static void bench_measure(struct bench *bench, const ucontext_t *context)
{
    const struct unwind_frame *frames = NULL;
    struct unwind_result result = {.n_frames = 0};
    unsigned n_walks = 0;
    double start = now_ns();
    double end = start;
    while (end - start < bench->time_ns) {
        for (unsigned i = 0; i < 16; i++) {
            if (bench->mode == MODE_COLD)
                modules_unloaded();
            if (bench->mode == MODE_NEW)
                rules_forget(bench, frames, result.n_frames);
            if (bench->mode != MODE_REUSE)
                unwind_thread_forget(bench->thread);
            result = bench->walk(bench->thread, context, &frames);
        }
        n_walks += 16;
        end = now_ns();
    }
    bench->ns_per_walk = (end - start) / n_walks;
    bench->n_frames = result.n_frames;
    bench->cut = result.cut;
    double ns = bench->ns_per_walk / result.n_frames;
    if (bench->ns_per_frame == 0 || ns < bench->ns_per_frame)
        bench->ns_per_frame = ns;
}

static long bench_bottom(void *argument)
{
    struct bench *bench = argument;
    ucontext_t context;
    if (getcontext(&context) != 0)
        return 0;
    for (unsigned i = 0; i < N_MEASUREMENTS; i++)
        bench_measure(bench, &context);
    return (long)bench->n_frames;
}

static void line_print(const char *name, struct bench bench, int with_frame_pointers)
{
    static const unsigned depths[] = {10, 36, 100};
    printf("%-22s", name);
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        /* main, its two callers, work, and the first function come on top. */
        unsigned depth = depths[i] - 6;
        bench.ns_per_frame = 0;
        if (with_frame_pointers)
            (void)bench_stack_run_fp(depth, bench_bottom, &bench);
        else
            (void)bench_stack_run_sp(depth, bench_bottom, &bench);
        printf("  %4u %8.2f%s", bench.n_frames, bench.ns_per_frame, bench.cut == 0 ? " " : "!");
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *why = "";
    struct bench bench = {.time_ns = (argc > 1 ? atof(argv[1]) : 100) * 1e6 / N_MEASUREMENTS};
    int has_libunwind = unwind_init(UNWIND_LIBUNWIND, &why);
    bench.thread = unwind_thread_create();
    if (bench.thread == NULL)
        return 1;
    unwind_thread_bind(bench.thread);
    printf("ns per frame          %s\n", "  frames   ns  (! = stack cut)");
    bench.walk = unwind_table_walk;
    bench.mode = MODE_HOT;
    line_print("table, hot", bench, 0);
    bench.mode = MODE_REUSE;
    line_print("table, reuse", bench, 0);
    bench.mode = MODE_NEW;
    line_print("table, new", bench, 0);
    bench.mode = MODE_COLD;
    line_print("table, cold", bench, 0);
    bench.walk = unwind_fp_walk;
    bench.mode = MODE_HOT;
    line_print("fp, hot", bench, 1);
    if (has_libunwind) {
        bench.walk = unwind_libunwind_walk;
        line_print("libunwind, hot", bench, 0);
    } else {
        printf("libunwind: %s\n", why);
    }
    return 0;
}
