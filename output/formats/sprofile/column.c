/* column.c - see column.h. */
#include "formats/sprofile/column.h"

/* ---- packing ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What divides `number` and the unit so far (0: nothing so far). Most numbers are multiples of it. */
static uint64_t unit_of(uint64_t unit, uint64_t number)
{
    if (unit == 1 || number == 0 || number == unit)
        return unit;
    return gcd(number, unit);
}

static size_t varint_bytes(uint64_t number)
{
    return (size_t)(70 - __builtin_clzll(number | 1)) / 7;
}

static uint8_t *varint_put(uint8_t *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *out++ = (uint8_t)(number | 0x80);
    *out++ = (uint8_t)number;
    return out;
}

static uint64_t zigzag(uint64_t step)
{
    return (step << 1) ^ (0 - (step >> 63));
}

/* |step|, taken as signed. */
static uint64_t magnitude(uint64_t step)
{
    return step >> 63 != 0 ? 0 - step : step;
}

/* `step` is a multiple of `unit`. */
static uint64_t step_in_units(uint64_t step, uint64_t unit)
{
    uint64_t n = magnitude(step) / unit;
    return step >> 63 != 0 ? 0 - n : n;
}

struct shape {
    bool same;
    uint64_t unit;      /* of the numbers; at least 1 */
    uint64_t step_unit; /* of the differences         */
};

static struct shape shape_of(const uint64_t *numbers, size_t n)
{
    struct shape shape = {.same = true, .unit = numbers[0]};
    for (size_t i = 1; i < n; i++) {
        shape.same = shape.same && numbers[i] == numbers[0];
        shape.unit = unit_of(shape.unit, numbers[i]);
        shape.step_unit = unit_of(shape.step_unit, magnitude(numbers[i] - numbers[i - 1]));
    }
    shape.unit += shape.unit == 0;
    shape.step_unit += shape.step_unit == 0;
    return shape;
}

/* Whether the differences take fewer bytes than the numbers. */
static bool steps_are_shorter(const uint64_t *numbers, size_t n, const struct shape *shape)
{
    size_t plain = varint_bytes(numbers[0] / shape->unit), steps = varint_bytes(numbers[0]);
    for (size_t i = 1; i < n; i++) {
        uint64_t step = step_in_units(numbers[i] - numbers[i - 1], shape->step_unit);
        plain += varint_bytes(numbers[i] / shape->unit);
        steps += varint_bytes(zigzag(step));
    }
    return steps < plain;
}

uint8_t *column_put(const uint64_t *numbers, size_t n, uint8_t *out)
{
    struct shape shape = shape_of(numbers, n);
    if (shape.same) {
        *out++ = COLUMN_SAME;
        return varint_put(out, numbers[0]);
    }
    if (steps_are_shorter(numbers, n, &shape)) {
        *out++ = COLUMN_STEPS;
        out = varint_put(varint_put(out, shape.step_unit), numbers[0]);
        for (size_t i = 1; i < n; i++) {
            uint64_t step = step_in_units(numbers[i] - numbers[i - 1], shape.step_unit);
            out = varint_put(out, zigzag(step));
        }
        return out;
    }
    *out++ = COLUMN_PLAIN;
    out = varint_put(out, shape.unit);
    for (size_t i = 0; i < n; i++)
        out = varint_put(out, numbers[i] / shape.unit);
    return out;
}

/* ---- unpacking ---- */

/* Columns are most of a file and most varints a byte: that case stands first, in line. */
static inline uint64_t varint_get(struct cursor *in)
{
    if (in->pos < in->end && *in->pos < 0x80)
        return *in->pos++;
    return cursor_uleb128(in);
}

static void plain_get(struct cursor *in, size_t n, uint64_t *numbers)
{
    uint64_t unit = varint_get(in);
    for (size_t i = 0; i < n; i++)
        numbers[i] = unit * varint_get(in);
}

static void steps_get(struct cursor *in, size_t n, uint64_t *numbers)
{
    uint64_t unit = varint_get(in);
    uint64_t number = numbers[0] = varint_get(in);
    for (size_t i = 1; i < n; i++) {
        uint64_t step = varint_get(in);
        number += unit * ((step >> 1) ^ (0 - (step & 1)));
        numbers[i] = number;
    }
}

void column_get(struct cursor *in, size_t n, uint64_t *numbers)
{
    switch (cursor_u8(in)) {
    case COLUMN_SAME:
        numbers[0] = varint_get(in);
        for (size_t i = 1; i < n; i++)
            numbers[i] = numbers[0];
        break;
    case COLUMN_PLAIN:
        plain_get(in, n, numbers);
        break;
    case COLUMN_STEPS:
        steps_get(in, n, numbers);
        break;
    default:
        cursor_fail(in);
    }
}
