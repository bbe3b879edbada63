/* number_list.h - the numbers of a long list in a file: 4 bytes each while all of them are integers
 * of 32 bits, which they nearly always are, else doubles.
 *
 * A .cpuprofile is mostly two such lists, ids of nodes and time deltas, one of each for a sample.
 *
 * Contract  Zero bytes are an empty list. It owns its numbers until number_list_deinit. The first
 *           number that does not fit widens all of it, once.
 * Context   One thread at a time. */
#ifndef SAMPLER_NUMBER_LIST_H
#define SAMPLER_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct number_list {
    void *items; /* int32_t, or double when is_wide */
    size_t n;
    size_t n_reserved;
    bool is_wide;
};

void number_list_deinit(struct number_list *list);

/* No numbers, narrow again; keeps its memory. */
void number_list_clear(struct number_list *list);

/* Any number. False when out of memory; the list is unchanged. */
MUST_CHECK bool number_list_push(struct number_list *list, double number);

/* As number_list_push, quick in the usual case. */
MUST_CHECK static inline bool number_list_push_i32(struct number_list *list, int32_t number)
{
    if (list->is_wide || list->n == list->n_reserved)
        return number_list_push(list, number);
    ((int32_t *)list->items)[list->n++] = number;
    return true;
}

/* `index` < n. */
static inline double number_list_at(const struct number_list *list, size_t index)
{
    return list->is_wide ? ((const double *)list->items)[index]
                         : ((const int32_t *)list->items)[index];
}

/* `number` is of 32 bits if the list is narrow. */
static inline void number_list_set(struct number_list *list, size_t index, double number)
{
    if (list->is_wide)
        ((double *)list->items)[index] = number;
    else
        ((int32_t *)list->items)[index] = (int32_t)number;
}

#endif
