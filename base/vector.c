/* vector.c - see vector.h: what does not depend on the type of the elements, so that each vector
 * costs a call here and no second copy of the checks for overflow. */
#include "vector.h"

#include <stdlib.h>
#include <string.h>

void *vector_grow(void *items, size_t n_used, size_t n, size_t item_bytes, size_t *n_reserved)
{
    size_t n_least;
    size_t size_bytes;
    if (__builtin_add_overflow(n_used, n, &n_least))
        return NULL;
    size_t n_next = *n_reserved < 8 ? 16 : *n_reserved * 2;
    if (n_next < n_least)
        n_next = n_least;
    if (__builtin_mul_overflow(n_next, item_bytes, &size_bytes))
        return NULL;
    void *moved = realloc(items, size_bytes);
    if (moved != NULL)
        *n_reserved = n_next;
    return moved;
}

void vector_free(void *items)
{
    free(items);
}

bool chars_append(struct chars *out, const char *from, size_t n)
{
    if (!chars_reserve(out, n))
        return false;
    if (n != 0)
        memcpy(out->items + out->n, from, n);
    out->n += n;
    return true;
}
