/* row_table.h - rows by number: equal rows, equal id.
 *
 * Shape     Rows are plain structs without padding whose size is a multiple of 8 bytes: they are
 *           hashed and compared as words. Ids are dense from 1; row 0 exists, is all zero and is
 *           equal to none.
 * Growth    Open addressing over an array, doubled at two thirds full. A slot holds the upper half
 *           of the row's hash next to the id, so that few rows are looked at in vain.
 * Speed     `row_bytes` is a constant in every call, so that the compiler makes a tight copy for
 *           each kind of row. Readers
 *           come here for each frame they read, hence all of it is in the header.
 * Failure   0 for an id means out of memory, or of ids. row_table_deinit is due in every case.
 * Context   One thread at a time. */
#ifndef SAMPLER_ROW_TABLE_H
#define SAMPLER_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

struct row_table {
    struct array rows;
    uint64_t *slots; /* id, and the upper half of the row's hash; 0 = free */
    size_t n_slots;  /* a power of two */
};

#define ROW_TABLE_SLOTS_AT_FIRST ((size_t)256)

static inline void row_table_deinit(struct row_table *table)
{
    array_deinit(&table->rows);
    free(table->slots);
    table->slots = NULL;
}

/* False when out of memory; row_table_deinit is then still due. */
static inline bool row_table_init(struct row_table *table, size_t row_bytes)
{
    array_init(&table->rows, row_bytes);
    table->n_slots = ROW_TABLE_SLOTS_AT_FIRST;
    table->slots = (uint64_t *)calloc(table->n_slots, sizeof *table->slots);
    return table->slots != NULL && array_push(&table->rows) != NULL;
}

static inline uint64_t row_hash(const void *row, size_t row_bytes)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < row_bytes; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)row + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    return hash;
}

#define ROW_TABLE_TAG UINT64_C(0xffffffff00000000)

static inline bool row_table_grow(struct row_table *table, size_t row_bytes)
{
    size_t n_slots = table->n_slots * 2;
    uint64_t *slots = (uint64_t *)calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t id = 1; id < table->rows.n; id++) {
        uint64_t hash = row_hash((char *)table->rows.items + id * row_bytes, row_bytes);
        size_t slot = hash & (n_slots - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = (hash & ROW_TABLE_TAG) | id;
    }
    free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    return true;
}

/* The id of a row equal to `row`, added if new; 0 when out of memory or of ids. */
__attribute__((always_inline)) static inline uint32_t
row_table_add(struct row_table *table, const void *row, size_t row_bytes)
{
    uint64_t hash = row_hash(row, row_bytes);
    size_t slot = hash & (table->n_slots - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->n_slots - 1)) {
        uint32_t id = (uint32_t)table->slots[slot];
        if (((table->slots[slot] ^ hash) & ROW_TABLE_TAG) == 0 &&
            memcmp((char *)table->rows.items + id * row_bytes, row, row_bytes) == 0)
            return id;
    }
    void *added = table->rows.n < UINT32_MAX ? array_push(&table->rows) : NULL;
    if (added == NULL)
        return 0;
    memcpy(added, row, row_bytes);
    uint32_t id = (uint32_t)(table->rows.n - 1);
    table->slots[slot] = (hash & ROW_TABLE_TAG) | id;
    if (table->rows.n * 3 > table->n_slots * 2 && !row_table_grow(table, row_bytes))
        return 0;
    return id;
}

#endif
