/* column.h - the numbers of one column of a block, packed.
 *
 *   column = u8 how | ...
 *     SAME   varint number                                      all of them are this one
 *     PLAIN  varint unit | n varints                            number = unit * varint
 *     STEPS  varint unit | varint first | n - 1 zigzag varints  number = one before + unit * step
 *
 * varint is unsigned LEB128 of up to 64 bits, zigzag 0, -1, 1, -2 ... as 0, 1, 2, 3 ... Arithmetic is
 * modulo 2^64, so every number has a form. The writer takes the shortest of the three; the unit is
 * the largest that divides all (weights are multiples of a period, times of microseconds).
 *
 * No numbers, no bytes: n is the block's, and never 0. */
#ifndef SAMPLER_SPROFILE_COLUMN_H
#define SAMPLER_SPROFILE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"

enum column_how { COLUMN_SAME = 0, COLUMN_PLAIN = 1, COLUMN_STEPS = 2 };

/* The most bytes a column of `n` numbers takes. */
#define COLUMN_BYTES_MOST(n) (21 + 10 * (size_t)(n))

/* Packs `n` > 0 numbers into `out` (room for COLUMN_BYTES_MOST(n)) and returns the end. */
uint8_t *column_put(const uint64_t *numbers, size_t n, uint8_t *out);

/* Unpacks `n` > 0 numbers. A column that is none leaves the cursor failed, as a read does. */
void column_get(struct cursor *in, size_t n, uint64_t *numbers);

#endif
