/* counters.h - the numbers of struct account_sums that are simply added up, one row each.
 *
 * The rows drive the adding up of processes, the keys of JSON and the rows of the text: a new
 * number is a field in account.h, a row here, the line that fills it, and its row in
 * docs/account.md. Not here: what is no sum (measure, cpu_known), and what is shown in a shape
 * of its own (shares, rates, the tables by reason), which text.c and json.c do by hand; such
 * numbers have a row without a key, to be added up. */
#ifndef SAMPLER_ACCOUNT_COUNTERS_H
#define SAMPLER_ACCOUNT_COUNTERS_H

#include "account/account.h"

/* Where a number stands among the others. */
enum counter_group {
    COUNTER_BY_HAND,
    COUNTER_CPU,  /* parts of the CPU time used */
    COUNTER_RUNS, /* of the handler             */
    COUNTER_THREADS,
    COUNTER_PROCESSES
};

struct account_counter {
    size_t offset; /* in struct account_sums, of one uint64_t or of `n` in a row        */
    size_t n;
    enum counter_group group;
    const char *key;   /* in JSON; NULL: by hand                                            */
    const char *label; /* in the text, for parts of the CPU time that are not 0; NULL: none */
    const char *words; /* after it                                                         */
};

extern const struct account_counter account_counters[];
extern const size_t account_n_counters;

/* The number itself; its first where there are several. */
static inline uint64_t counter_value(const struct account_counter *counter,
                                     const struct account_sums *sums)
{
    return *(const uint64_t *)(const void *)((const char *)sums + counter->offset);
}

/* Adds every number of `other`; none wraps round. */
void counters_add(struct account_sums *sums, const struct account_sums *other);

#endif
