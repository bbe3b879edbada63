/* array.h - growing arrays on the heap.
 *
 * A `struct array` owns its storage: array_init (or zero bytes) before use, array_deinit after.
 * Elements move when it grows, so keep indexes, not pointers. Context: one thread at a time, not
 * signal safe. */
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

/* `index` < n. */
static inline void *array_at(const struct array *array, size_t index)
{
    return (char *)array->items + index * array->item_bytes;
}

#endif
