/* value_column.h - the numbers of one kind, one for each sample, in the making.
 *
 * Stored as narrow as they come: nothing while all are equal ("1 sample"), 4 bytes each while few
 * are large, else 8 (struct profile_column says how). Only profile.c and model/order.c include
 * this. Memory is what limits how many samples a profile can have, and most numbers are small. */
#ifndef SAMPLER_VALUE_COLUMN_H
#define SAMPLER_VALUE_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "err.h"
#include "model/profile.h"

struct value_column {
    struct array numbers; /* of nothing, uint32_t or uint64_t: item_bytes 0, 4 or 8 */
    struct array large;   /* of uint64_t: see PROFILE_LARGE_VALUE                   */
    uint64_t same;        /* all of them, while item_bytes is 0                     */
    size_t n;
};

void value_column_init(struct value_column *column);
void value_column_deinit(struct value_column *column);

/* False when out of memory; some may have been added. */
MUST_CHECK bool value_column_add(struct value_column *column, const uint64_t *values, size_t n);

#endif
