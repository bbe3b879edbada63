/* symbols.c - see symbols.h: the table, how it is sorted, and the lookup.
 *
 * A symbol covers [vaddr, end). Of one address the best name stays (rank, then bytes, so that
 * the result does not depend on the order of the file). Symbols may lie in each other: a lookup
 * takes the nearest one before the address that reaches it. Labels in a function that has a size, as
 * hand-written assembly has them for its loops, are left out: the function is what people know. */
#include "names/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "number.h"

/* How far back a lookup goes for a symbol that encloses the nearest one (hand-written assembly has
 * entry points within functions). */
#define MAX_STEPS_BACK 16u

/* Names may be ends of others, and a file have them twice. */
#define NAMES_PER_FILE 16u

/* Longer ones do not come from a compiler we know. */
#define NAME_MAX_BYTES ((size_t)1 << 20)

void symbols_init(struct symbols *symbols, struct arena *arena)
{
    *symbols = (struct symbols){.arena = arena};
}

void symbols_deinit(struct symbols *symbols)
{
    symbol_table_deinit(&symbols->table);
}

void symbols_begin_file(struct symbols *symbols, const struct elf_file *file)
{
    size_t size_bytes = 0;
    (void)elf_rawfile(file->elf, &size_bytes);
    symbols->left_bytes = NAMES_PER_FILE * (uint64_t)size_bytes;
}

size_t symbols_name_length(struct symbols *symbols, const char *name, size_t room)
{
    size_t most = room < NAME_MAX_BYTES ? room : NAME_MAX_BYTES;
    if (most > symbols->left_bytes)
        most = (size_t)symbols->left_bytes;
    size_t length = strnlen(name, most);
    symbols->left_bytes -= length;
    return length < most ? length : 0;
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

/* Of a sorted table the best of each address, and no label within a function. Returns how many. */
static size_t best_keep(struct symbol *table, size_t n)
{
    uint64_t functions_end = 0; /* of those so far that have a size */
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct symbol *symbol = &table[i];
        bool is_known = kept > 0 && table[kept - 1].vaddr == symbol->vaddr;
        if (is_known || (symbol->is_label && symbol->sizeless && symbol->vaddr < functions_end))
            continue;
        if (!symbol->is_label && !symbol->sizeless)
            functions_end = max_u64(functions_end, symbol->end);
        table[kept++] = *symbol;
    }
    return kept;
}

void symbols_finish(struct symbols *symbols)
{
    struct symbol *table = symbols->table.items;
    if (symbols->table.n == 0)
        return;
    qsort(table, symbols->table.n, sizeof *table, symbol_compare);
    size_t kept = best_keep(table, symbols->table.n);
    for (size_t i = 0; i + 1 < kept; i++) {
        if (table[i].sizeless && table[i].end > table[i + 1].vaddr)
            table[i].end = table[i + 1].vaddr;
    }
    symbols->table.n = kept;
    symbols->n_sorted = kept;
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
