/* value_column.c - see value_column.h.
 *
 * The three forms are told apart by numbers.item_bytes: 0 (all equal, nothing stored), 4, 8. A
 * column only widens. Runs that fit the form as it stands are taken by add_plain without a
 * decision for each number; add_one takes the number that does not fit, and widens if it must. */
#include "model/value_column.h"

void value_column_init(struct value_column *column)
{
    *column = (struct value_column){.large.item_bytes = sizeof(uint64_t)};
}

void value_column_deinit(struct value_column *column)
{
    array_deinit(&column->numbers);
    array_deinit(&column->large);
}

static bool push_u32(struct array *numbers, struct array *large, uint64_t value)
{
    if (value >= PROFILE_LARGE_VALUE) {
        uint64_t *slot = large->n < PROFILE_LARGE_VALUE ? array_push(large) : NULL;
        if (slot == NULL)
            return false;
        *slot = value;
        value = PROFILE_LARGE_VALUE + (large->n - 1);
    }
    uint32_t *number = array_push(numbers);
    if (number == NULL)
        return false;
    *number = (uint32_t)value;
    return true;
}

static bool push_u64(struct array *numbers, uint64_t value)
{
    uint64_t *number = array_push(numbers);
    if (number == NULL)
        return false;
    *number = value;
    return true;
}

/* From none stored to 32 bits each. */
static bool store_u32(struct value_column *column)
{
    struct array numbers;
    array_init(&numbers, sizeof(uint32_t));
    bool ok = true;
    if (column->same >= PROFILE_LARGE_VALUE) {
        uint64_t *slot = array_push(&column->large);
        ok = slot != NULL;
        if (ok)
            *slot = column->same;
    }
    uint32_t number =
        column->same < PROFILE_LARGE_VALUE ? (uint32_t)column->same : PROFILE_LARGE_VALUE;
    for (size_t i = 0; ok && i < column->n; i++)
        ok = push_u32(&numbers, &column->large, 0);
    if (!ok) {
        array_deinit(&numbers);
        column->large.n = 0;
        return false;
    }
    for (size_t i = 0; i < numbers.n; i++)
        ((uint32_t *)numbers.items)[i] = number;
    column->numbers = numbers;
    return true;
}

/* From 32 bits to 64. */
static bool store_u64(struct value_column *column)
{
    const uint32_t *old = column->numbers.items;
    const uint64_t *large = column->large.items;
    struct array numbers;
    array_init(&numbers, sizeof(uint64_t));
    for (size_t i = 0; i < column->n; i++) {
        uint64_t value = old[i];
        if (!push_u64(&numbers,
                      value < PROFILE_LARGE_VALUE ? value : large[value - PROFILE_LARGE_VALUE])) {
            array_deinit(&numbers);
            return false;
        }
    }
    value_column_deinit(column);
    column->numbers = numbers;
    return true;
}

/* A place of 8 bytes besides the 4 pays while fewer than about every eighth has one. */
static bool has_many_large(const struct value_column *column)
{
    return column->large.n >= 1024 && column->large.n > column->n / 8;
}

static bool add_one(struct value_column *column, uint64_t value)
{
    struct array *numbers = &column->numbers;
    if (column->n == 0)
        column->same = value;
    bool is_same = numbers->item_bytes == 0 && value == column->same;
    if (!is_same && numbers->item_bytes == 0 && !store_u32(column))
        return false;
    if (numbers->item_bytes == sizeof(uint32_t) && has_many_large(column) && !store_u64(column))
        return false;
    if (!is_same &&
        !(numbers->item_bytes == sizeof(uint32_t) ? push_u32(numbers, &column->large, value)
                                                  : push_u64(numbers, value)))
        return false;
    column->n++;
    return true;
}

/* As many of them as can be added without a further thought. */
static size_t add_plain(struct value_column *column, const uint64_t *values, size_t n)
{
    size_t done = 0;
    if (column->numbers.item_bytes == 0) {
        while (column->n != 0 && done < n && values[done] == column->same)
            done++;
    } else if (column->numbers.item_bytes == sizeof(uint32_t)) {
        size_t room = column->numbers.n_reserved - column->numbers.n;
        uint32_t *numbers = (uint32_t *)column->numbers.items + column->numbers.n;
        for (; done < n && done < room && values[done] < PROFILE_LARGE_VALUE; done++)
            numbers[done] = (uint32_t)values[done];
        column->numbers.n += done;
    }
    column->n += done;
    return done;
}

bool value_column_add(struct value_column *column, const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n;) {
        i += add_plain(column, values + i, n - i);
        if (i < n && !add_one(column, values[i++]))
            return false;
    }
    return true;
}
