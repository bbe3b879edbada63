/* value_column.c - see value_column.h. */
#include "value_column.h"

void value_column_init(struct value_column *column)
{
    *column = (struct value_column){.n = 0};
}

void value_column_deinit(struct value_column *column)
{
    array_deinit(&column->numbers);
}

static bool number_push(struct array *numbers, uint64_t value)
{
    void *number = array_push(numbers);
    if (number == NULL)
        return false;
    if (numbers->item_bytes == sizeof(uint32_t))
        *(uint32_t *)number = (uint32_t)value;
    else
        *(uint64_t *)number = value;
    return true;
}

static uint64_t number_at(const struct value_column *column, size_t index)
{
    return column->numbers.item_bytes == 0 ? column->same
                                           : *(const uint32_t *)array_at(&column->numbers, index);
}

/* The numbers there are, anew with so many bytes each, which are more than before. */
static bool widen(struct value_column *column, size_t item_bytes)
{
    struct array wider;
    array_init(&wider, item_bytes);
    for (size_t i = 0; i < column->n; i++) {
        if (!number_push(&wider, number_at(column, i))) {
            array_deinit(&wider);
            return false;
        }
    }
    array_deinit(&column->numbers);
    column->numbers = wider;
    return true;
}

bool value_column_add_slowly(struct value_column *column, uint64_t value)
{
    if (column->n == 0)
        column->same = value;
    else if (column->numbers.item_bytes == 0 && column->same <= UINT32_MAX && value <= UINT32_MAX) {
        if (!widen(column, sizeof(uint32_t)))
            return false;
    } else if (column->numbers.item_bytes != sizeof(uint64_t) &&
               (column->numbers.item_bytes == 0 || value > UINT32_MAX)) {
        if (!widen(column, sizeof(uint64_t)))
            return false;
    }
    if (column->numbers.item_bytes != 0 && !number_push(&column->numbers, value))
        return false;
    column->n++;
    return true;
}
