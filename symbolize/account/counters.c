/* counters.c - see counters.h. Offsets instead of code for each field: the adding, the keys of
 * JSON and the rows of the text cannot disagree about which numbers there are. */
#include "account/counters.h"

#include "saturated.h"

#define ONE(field) .offset = offsetof(struct account_sums, field), .n = 1
#define SEVERAL(field)                                                                             \
    .offset = offsetof(struct account_sums, field),                                                \
    .n = sizeof((struct account_sums *)NULL)->field / sizeof(uint64_t)

/* Those of one group stand in the order they are shown in. */
const struct account_counter account_counters[] = {
    {ONE(weight_ns)},
    {ONE(cpu_ns)},
    {ONE(nameless_ns)},
    {SEVERAL(cut_ns)},
    {SEVERAL(lost)},
    {SEVERAL(lost_ns)},
    {SEVERAL(n_by_clock)},
    {ONE(length_ns)},
    {ONE(stopped_ns)},
    {ONE(handler_ns)},
    {ONE(n_processes)},
    {ONE(n_unended)},
    {ONE(n_event_user)},
    {ONE(start_up_ns), COUNTER_CPU, "start_up_ns", "    of it start-up",
     "before sampling began: exec, dynamic loader"},
    {ONE(thread_begin_ns), COUNTER_CPU, "thread_begin_ns", "    of it starts of threads",
     "in the kernel and libc, before their function"},
    {ONE(thread_exit_ns), COUNTER_CPU, "thread_exit_ns", "    of it ends of threads",
     "in the kernel, after the last sample"},
    {ONE(process_exit_ns), COUNTER_CPU, "process_exit_ns", "    of it ends of processes",
     "in the kernel, after their last word"},
    {ONE(own_ns), COUNTER_CPU, "own_ns", "  sampler's own",
     "where threads begin and end; in no weight"},
    {ONE(paused_ns), COUNTER_CPU, "paused_ns", "  paused", "while sampling was stopped"},
    {ONE(n_ticks), COUNTER_RUNS, "ticks", NULL, NULL},
    {ONE(n_samples), COUNTER_RUNS, "samples", NULL, NULL},
    {ONE(n_threads), COUNTER_THREADS, "sampled", NULL, NULL},
    {ONE(n_threads_missed), COUNTER_THREADS, "without_clock", NULL, NULL},
    {ONE(n_threads_found), COUNTER_THREADS, "found_later", NULL, NULL},
    {ONE(n_forks), COUNTER_PROCESSES, "forks", NULL, NULL},
    {ONE(n_children_missed), COUNTER_PROCESSES, "children_missed", NULL, NULL},
    {ONE(n_warnings), COUNTER_PROCESSES, "damaged_places", NULL, NULL},
};
const size_t account_n_counters = sizeof account_counters / sizeof account_counters[0];

void counters_add(struct account_sums *sums, const struct account_sums *other)
{
    for (size_t i = 0; i < account_n_counters; i++) {
        const struct account_counter *counter = &account_counters[i];
        uint64_t *to = (uint64_t *)(void *)((char *)sums + counter->offset);
        const uint64_t *from =
            (const uint64_t *)(const void *)((const char *)other + counter->offset);
        for (size_t k = 0; k < counter->n; k++)
            to[k] = add_saturated(to[k], from[k]);
    }
}
