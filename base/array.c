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

void *array_push(struct array *array)
{
    if (array->n == array->n_reserved) {
        size_t n_reserved = array->n_reserved == 0 ? 16 : array->n_reserved * 2;
        size_t size_bytes;
        if (n_reserved < array->n ||
            __builtin_mul_overflow(n_reserved, array->item_bytes, &size_bytes))
            return NULL;
        void *items = realloc(array->items, size_bytes);
        if (items == NULL)
            return NULL;
        array->items = items;
        array->n_reserved = n_reserved;
    }
    void *item = array_at(array, array->n++);
    memset(item, 0, array->item_bytes);
    return item;
}
