/* value_column.h - the numbers of one kind, one for each sample, in the making.
 *
 * Stored as narrow as they come: nothing while all are equal ("1 sample"), 4 bytes each while few
 * are large, else 8 (struct profile_column says how). Only profile.c and profile_order.c include
 * this. Memory is what limits how many samples a profile can have, and most numbers are small. */
#ifndef SAMPLER_VALUE_COLUMN_H
#define SAMPLER_VALUE_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "err.h"
#include "profile.h"

struct value_column {
    struct array numbers; /* of nothing, uint32_t or uint64_t: item_bytes 0, 4 or 8 */
    struct array large;   /* of uint64_t: see PROFILE_LARGE_VALUE                   */
    uint64_t same;        /* all of them, while item_bytes is 0                     */
    size_t n;
};

void value_column_init(struct value_column *column);
void value_column_deinit(struct value_column *column);

/* The part of value_column_add that is seldom needed: other sizes, more room. */
MUST_CHECK bool value_column_add_slowly(struct value_column *column, uint64_t value);

/* False when out of memory; the numbers are unchanged. */
MUST_CHECK static inline bool value_column_add(struct value_column *column, uint64_t value)
{
    struct array *numbers = &column->numbers;
    if (numbers->item_bytes == 0 && value == column->same && column->n != 0) {
        column->n++;
        return true;
    }
    if (numbers->item_bytes != sizeof(uint32_t) || value >= PROFILE_LARGE_VALUE ||
        numbers->n == numbers->n_reserved)
        return value_column_add_slowly(column, value);
    ((uint32_t *)numbers->items)[numbers->n++] = (uint32_t)value;
    column->n++;
    return true;
}

#endif
