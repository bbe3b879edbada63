/* list_part.c - lines by the function and the file they are of: see list.h. */
#include <stdlib.h>

#include "list/list.h"
#include "number.h"

static int place_compare(const void *a, const void *b)
{
    const struct summary_key *x = &((const struct summary_row *)a)->key;
    const struct summary_key *y = &((const struct summary_row *)b)->key;
    int order = compare_u64(x->id, y->id);
    if (order == 0)
        order = compare_u64(x->file, y->file);
    return order != 0 ? order : compare_u64(x->line, y->line);
}

void list_lines_sort(struct summary *lines)
{
    if (lines->n > 0)
        qsort(lines->rows, lines->n, sizeof *lines->rows, place_compare);
}

/* The first line of a function. */
static size_t function_find(const struct list *list, uint32_t function)
{
    size_t low = 0, high = list->lines.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->lines.rows[middle].key.id < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool list_part_next(const struct list *list, uint32_t function, struct list_part *part)
{
    const struct profile *profile = list->input->profile;
    const struct summary_row *end = list->lines.rows + list->lines.n;
    const struct summary_row *at = part->rows == NULL
                                       ? list->lines.rows + function_find(list, function)
                                       : part->rows + part->n;
    *part = (struct list_part){.rows = at};
    while (at < end && at->key.id == function && at->key.file == part->rows->key.file)
        at++;
    part->n = (size_t)(at - part->rows);
    if (part->n == 0)
        return false;
    uint32_t file = part->rows->key.file;
    part->file = file != 0 ? file : profile->functions[function].file;
    return true;
}

bool list_has_lines(const struct list *list, uint32_t function)
{
    struct list_part part = {.rows = NULL};
    while (list_part_next(list, function, &part))
        if (part.rows[part.n - 1].key.line != 0)
            return true;
    return false;
}
