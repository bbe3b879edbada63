/* array.h - growing arrays of rows whose size is known at run time only.
 *
 * Who       The tables of the profile (output/model), whose rows are copied, sorted and hashed by
 *           their size, whatever they are. New code takes a vector of its own type (vector.h).
 * Contract  array_init (or zero bytes and item_bytes set) before use, array_deinit after.
 *           Elements move when it grows: keep indexes, not pointers.
 * Growth    Doubles from 16 elements.
 * Context   One thread at a time. Not signal safe. */
#ifndef SAMPLER_BASE_ARRAY_H
#define SAMPLER_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

struct array {
    void *items;
    size_t n;          /* elements in use                         */
    size_t n_reserved; /* elements there is room for, n <= this   */
    size_t item_bytes;
};

void array_init(struct array *array, size_t item_bytes);
void array_deinit(struct array *array);

/* A zeroed new element at the end, or NULL when out of memory (the array is unchanged). Valid until
 * the next push. */
void *array_push(struct array *array);

/* Room for `n` more elements, so that their pushes cannot fail. False when out of memory (the array
 * is unchanged). */
bool array_reserve(struct array *array, size_t n);

/* `index` < n, which is not checked. */
static inline void *array_at(const struct array *array, size_t index)
{
    return (char *)array->items + index * array->item_bytes;
}

#endif
