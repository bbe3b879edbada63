/* number_list.c - see number_list.h. Not a vector (base/vector.h), as the type changes on the
 * way. */
#include "text/number_list.h"

#include <stdlib.h>

void number_list_deinit(struct number_list *list)
{
    free(list->items);
    *list = (struct number_list){0};
}

void number_list_clear(struct number_list *list)
{
    if (list->is_wide)
        number_list_deinit(list);
    list->n = 0;
}

static bool grow(struct number_list *list)
{
    size_t n_reserved = list->n_reserved == 0 ? 16 : list->n_reserved * 2;
    size_t item_bytes = list->is_wide ? sizeof(double) : sizeof(int32_t);
    size_t size_bytes;
    if (n_reserved < list->n || __builtin_mul_overflow(n_reserved, item_bytes, &size_bytes))
        return false;
    void *items = realloc(list->items, size_bytes);
    if (items == NULL)
        return false;
    list->items = items;
    list->n_reserved = n_reserved;
    return true;
}

static bool widen(struct number_list *list)
{
    size_t n_reserved = list->n_reserved == 0 ? 16 : list->n_reserved;
    double *items = calloc(n_reserved, sizeof *items);
    if (items == NULL)
        return false;
    for (size_t i = 0; i < list->n; i++)
        items[i] = number_list_at(list, i);
    free(list->items);
    list->items = items;
    list->n_reserved = n_reserved;
    list->is_wide = true;
    return true;
}

static bool fits(double number)
{
    return number >= INT32_MIN && number <= INT32_MAX && number == (double)(int32_t)number;
}

bool number_list_push(struct number_list *list, double number)
{
    if (!list->is_wide && !fits(number) && !widen(list))
        return false;
    if (list->n == list->n_reserved && !grow(list))
        return false;
    number_list_set(list, list->n++, number);
    return true;
}
