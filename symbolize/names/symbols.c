/* symbols.c - see symbols.h: the table, how it is sorted, and the lookup.
 *
 * A symbol covers [vaddr, end). Of one address the best name stays (rank, then bytes, so that
 * the result does not depend on the order of the file). Symbols may lie in each other: a lookup
 * takes the nearest one before the address that reaches it. */
#include "names/symbols.h"

#include <stdlib.h>
#include <string.h>

/* How far back a lookup goes for a symbol that encloses the nearest one (hand-written assembly has
 * entry points within functions). */
#define MAX_STEPS_BACK 16u

void symbols_init(struct symbols *symbols, struct arena *arena)
{
    *symbols = (struct symbols){.arena = arena};
}

void symbols_deinit(struct symbols *symbols)
{
    symbol_table_deinit(&symbols->table);
}

bool symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
    return symbol_table_push(&symbols->table, *symbol);
}

static int symbol_compare(const void *left, const void *right)
{
    const struct symbol *a = left;
    const struct symbol *b = right;
    if (a->vaddr != b->vaddr)
        return a->vaddr < b->vaddr ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->name, b->name, shorter);
    if (order != 0 && a->length == b->length)
        return order;
    return a->length < b->length ? -1 : a->length > b->length;
}

void symbols_finish(struct symbols *symbols)
{
    struct symbol *table = symbols->table.items;
    size_t n = symbols->table.n;
    if (n == 0)
        return;
    qsort(table, n, sizeof *table, symbol_compare);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (table[i].vaddr != table[kept].vaddr)
            table[++kept] = table[i];
    }
    for (size_t i = 0; i < kept; i++) {
        if (table[i].sizeless && table[i].end > table[i + 1].vaddr)
            table[i].end = table[i + 1].vaddr;
    }
    symbols->table.n = kept + 1;
    symbols->n_sorted = symbols->table.n;
}

const struct symbol *symbols_find(const struct symbols *symbols, uint64_t vaddr)
{
    const struct symbol *table = symbols->table.items;
    size_t low = 0;
    size_t high = symbols->n_sorted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].vaddr <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t step = 0; step < MAX_STEPS_BACK && low > 0; step++, low--) {
        if (vaddr < table[low - 1].end)
            return &table[low - 1];
    }
    return NULL;
}
