/* array.c - see array.h. */
#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void array_init(struct array *array, size_t item_bytes)
{
    *array = (struct array){.item_bytes = item_bytes};
}

void array_deinit(struct array *array)
{
    free(array->items);
    *array = (struct array){.item_bytes = array->item_bytes};
}

bool array_reserve(struct array *array, size_t n)
{
    size_t n_least, size_bytes;
    if (array->n_reserved - array->n >= n)
        return true;
    if (__builtin_add_overflow(array->n, n, &n_least))
        return false;
    size_t n_reserved = array->n_reserved < 8 ? 16 : array->n_reserved * 2;
    if (n_reserved < n_least)
        n_reserved = n_least;
    if (__builtin_mul_overflow(n_reserved, array->item_bytes, &size_bytes))
        return false;
    void *items = realloc(array->items, size_bytes);
    if (items == NULL)
        return false;
    array->items = items;
    array->n_reserved = n_reserved;
    return true;
}

void *array_push(struct array *array)
{
    if (!array_reserve(array, 1))
        return NULL;
    void *item = array_at(array, array->n++);
    memset(item, 0, array->item_bytes);
    return item;
}
