/* bench_stack.h - a stack of a given depth made of many different functions.
 *
 * bench_stack.c is built twice: bench_stack_run_sp without frame pointers, bench_stack_run_fp with
 * them. */
#ifndef SAMPLER_TESTS_BENCH_STACK_H
#define SAMPLER_TESTS_BENCH_STACK_H

/* Calls `work(argument)` with at least `depth` frames above it. */
long bench_stack_run_sp(unsigned depth, long (*work)(void *argument), void *argument);
long bench_stack_run_fp(unsigned depth, long (*work)(void *argument), void *argument);

#endif
