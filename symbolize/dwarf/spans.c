/* spans.c - see spans.h. A sweep from left to right; a heap holds what covers the place where it
 * is, the highest rank on top. What has ended is taken out when it comes to the top. */
#include "dwarf/spans.h"

#include <stdlib.h>

#include "number.h"

/* Of a piece looked at: fewer than one in two is kept. */
#define PIECE_WORK (sizeof(struct span) / 2)

static int compare_start(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    int order = compare_u64(a->start, b->start);
    return order != 0 ? order : compare_u64(a->rank, b->rank);
}

static void swap(struct span *a, struct span *b)
{
    struct span kept = *a;
    *a = *b;
    *b = kept;
}

static bool heap_push(struct spans *heap, struct span span)
{
    if (!spans_push(heap, span))
        return false;
    struct span *items = heap->items;
    for (size_t i = heap->n - 1; i > 0 && items[i].rank > items[(i - 1) / 2].rank; i = (i - 1) / 2)
        swap(&items[i], &items[(i - 1) / 2]);
    return true;
}

static void heap_pop(struct spans *heap)
{
    struct span *items = heap->items;
    items[0] = items[--heap->n];
    for (size_t i = 0;;) {
        size_t largest = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap->n; child++) {
            if (items[child].rank > items[largest].rank)
                largest = child;
        }
        if (largest == i)
            return;
        swap(&items[i], &items[largest]);
        i = largest;
    }
}

static bool piece_add(struct spans *out, struct span span)
{
    if (out->n == 0)
        return spans_push(out, span);
    struct span *last = &out->items[out->n - 1];
    if (last->end != span.start || last->unit != span.unit || last->payload != span.payload)
        return spans_push(out, span);
    last->end = span.end;
    return true;
}

/* Advances from `at` to where something changes next. */
static bool sweep(const struct spans *in, struct spans *heap, struct spans *out)
{
    uint64_t at = 0;
    for (size_t next = 0;;) {
        while (heap->n > 0 && heap->items[0].end <= at)
            heap_pop(heap);
        if (heap->n == 0) {
            if (next == in->n)
                return true;
            at = in->items[next].start;
        }
        for (; next < in->n && in->items[next].start <= at; next++) {
            if (!heap_push(heap, in->items[next]))
                return false;
        }
        struct span top = heap->items[0];
        if (top.end <= at)
            continue;
        top.start = at;
        if (next < in->n)
            top.end = min_u64(top.end, in->items[next].start);
        if (!piece_add(out, top))
            return false;
        at = top.end;
    }
}

bool spans_flatten(struct spans *in, struct spans *out)
{
    struct spans heap = {.items = NULL};
    if (in->n > 1)
        qsort(in->items, in->n, sizeof *in->items, compare_start);
    bool done = !in->no_memory && sweep(in, &heap, out);
    out->no_memory |= in->no_memory || heap.no_memory;
    spans_deinit(&heap);
    return done;
}

/* Index of the first piece that ends behind `vaddr`. */
static size_t first_behind(const struct spans *flat, uint64_t vaddr)
{
    size_t low = 0;
    size_t high = flat->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (flat->items[middle].end <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool spans_clip(const struct spans *in, const struct spans *units, struct spans *out,
                struct work_account *work)
{
    for (size_t i = 0; i < in->n; i++) {
        struct span span = in->items[i];
        for (size_t u = first_behind(units, span.start);
             u < units->n && units->items[u].start < span.end; u++) {
            if (!work_spend(work, PIECE_WORK))
                return false;
            if (units->items[u].unit != span.unit)
                continue;
            struct span piece = span;
            piece.start = max_u64(span.start, units->items[u].start);
            piece.end = min_u64(span.end, units->items[u].end);
            if (!spans_push(out, piece))
                return false;
        }
    }
    return true;
}
