/* order.c - see model/order.h. Least-significant-digit radix sorts of (key, index) pairs: stable,
 * linear, and composed key by key from the least important one. qsort is not stable, and would have
 * to look at two rows through pointers for each step.
 *
 * Samples mostly come sorted, or sorted thread by thread: a first look finds out, and then
 * nothing, or a single counting sort by thread, is enough. */
#include "model/order.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 8
#define N_BUCKETS ((size_t)1 << DIGIT_BITS)
#define N_DIGITS (64 / DIGIT_BITS)

struct keyed {
    uint64_t key;
    size_t index;
};

/* A permutation in the making: `items` in order so far, `scratch` as large. */
struct order {
    struct keyed *items;
    struct keyed *scratch;
    size_t n;
};

static void order_deinit(struct order *order)
{
    free(order->items);
    free(order->scratch);
    *order = (struct order){0};
}

static bool order_init(struct order *order, size_t n)
{
    *order = (struct order){.n = n};
    order->items = calloc(n, sizeof *order->items);
    order->scratch = calloc(n, sizeof *order->scratch);
    if (order->items == NULL || order->scratch == NULL) {
        order_deinit(order);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        order->items[i].index = i;
    return true;
}

static void sort_by_digit(struct order *order, const size_t *counts, unsigned shift)
{
    size_t starts[N_BUCKETS];
    size_t start = 0;
    for (size_t bucket = 0; bucket < N_BUCKETS; bucket++) {
        starts[bucket] = start;
        start += counts[bucket];
    }
    for (size_t i = 0; i < order->n; i++) {
        size_t bucket = (order->items[i].key >> shift) & (N_BUCKETS - 1);
        order->scratch[starts[bucket]++] = order->items[i];
    }
    struct keyed *swap = order->items;
    order->items = order->scratch;
    order->scratch = swap;
}

/* Sorts by the keys now in `items`. Digits that are the same everywhere cost nothing. */
static void sort_by_key(struct order *order)
{
    size_t counts[N_DIGITS][N_BUCKETS];
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < order->n; i++) {
        for (unsigned digit = 0; digit < N_DIGITS; digit++)
            counts[digit][(order->items[i].key >> (digit * DIGIT_BITS)) & (N_BUCKETS - 1)]++;
    }
    for (unsigned digit = 0; digit < N_DIGITS; digit++) {
        unsigned shift = digit * DIGIT_BITS;
        size_t first_bucket = (order->items[0].key >> shift) & (N_BUCKETS - 1);
        if (counts[digit][first_bucket] != order->n)
            sort_by_digit(order, counts[digit], shift);
    }
}

/* Rearranges `rows` (from row `first` on) by the finished order. */
static bool apply(const struct order *order, struct array *rows, size_t first)
{
    size_t row_bytes = rows->item_bytes;
    unsigned char *old = (unsigned char *)rows->items + first * row_bytes;
    unsigned char *moved = malloc((first + order->n) * row_bytes);
    if (moved == NULL)
        return false;
    memcpy(moved, rows->items, first * row_bytes);
    for (size_t i = 0; i < order->n; i++)
        memcpy(moved + (first + i) * row_bytes, old + order->items[i].index * row_bytes, row_bytes);
    free(rows->items);
    rows->items = moved;
    rows->n_reserved = rows->n;
    return true;
}

enum sample_order { SAMPLES_SORTED, SAMPLES_MIXED_THREADS, SAMPLES_MIXED };

/* What it takes: nothing, gathering the threads, or sorting by time as well. `last_ns` has one
 * zeroed entry per thread. */
static enum sample_order sample_order_find(const struct profile_sample *samples, size_t n,
                                           uint64_t *last_ns)
{
    enum sample_order found = SAMPLES_SORTED;
    uint32_t thread = 0;
    for (size_t i = 0; i < n; i++) {
        if (samples[i].time_ns < last_ns[samples[i].thread])
            return SAMPLES_MIXED;
        last_ns[samples[i].thread] = samples[i].time_ns;
        if (samples[i].thread < thread)
            found = SAMPLES_MIXED_THREADS;
        thread = samples[i].thread;
    }
    return found;
}

/* Brings the samples of each thread together, in the order they are in: a counting sort that moves
 * each row once. `rows` go with the samples; `counts` says how many each thread has. */
static bool gather_rows(const struct profile_sample *samples, size_t n, const size_t *counts,
                        uint32_t n_threads, struct array *rows)
{
    size_t row_bytes = rows->item_bytes;
    size_t *starts = calloc(n_threads, sizeof *starts);
    unsigned char *moved = malloc(n * row_bytes + 1); /* never 0, whatever rows there are */
    if (starts == NULL || moved == NULL) {
        free(starts);
        free(moved);
        return false;
    }
    for (uint32_t thread = 1; thread < n_threads; thread++)
        starts[thread] = starts[thread - 1] + counts[thread - 1];
    const unsigned char *from = rows->items;
    for (size_t i = 0; i < n; i++, from += row_bytes)
        memcpy(moved + starts[samples[i].thread]++ * row_bytes, from, row_bytes);
    free(starts);
    free(rows->items);
    rows->items = moved;
    rows->n_reserved = rows->n;
    return true;
}

/* A column of equal numbers has nothing to move. */
static bool has_numbers(const struct value_column *column)
{
    return column->numbers.item_bytes != 0;
}

static bool gather_threads(struct array *samples, struct value_column *columns, uint32_t n_kinds,
                           uint32_t n_threads)
{
    const struct profile_sample *rows = samples->items;
    size_t *counts = calloc(n_threads, sizeof *counts);
    if (counts == NULL)
        return false;
    for (size_t i = 0; i < samples->n; i++)
        counts[rows[i].thread]++;
    bool ok = true;
    for (uint32_t kind = 0; ok && kind < n_kinds; kind++)
        ok = !has_numbers(&columns[kind]) ||
             gather_rows(rows, samples->n, counts, n_threads, &columns[kind].numbers);
    ok = ok && gather_rows(rows, samples->n, counts, n_threads, samples);
    free(counts);
    return ok;
}

static bool sort_by_time(struct array *samples, struct value_column *columns, uint32_t n_kinds)
{
    const struct profile_sample *rows = samples->items;
    struct order order;
    if (!order_init(&order, samples->n))
        return false;
    for (size_t i = 0; i < order.n; i++)
        order.items[i].key = rows[i].time_ns;
    sort_by_key(&order);
    free(order.scratch);
    order.scratch = NULL;
    bool ok = apply(&order, samples, 0);
    for (uint32_t kind = 0; ok && kind < n_kinds; kind++)
        ok = !has_numbers(&columns[kind]) || apply(&order, &columns[kind].numbers, 0);
    order_deinit(&order);
    return ok;
}

bool profile_order_samples(struct array *samples, struct value_column *columns, uint32_t n_kinds,
                           uint32_t n_threads)
{
    uint64_t *last_ns = calloc(n_threads, sizeof *last_ns);
    if (last_ns == NULL)
        return false;
    enum sample_order found = sample_order_find(samples->items, samples->n, last_ns);
    free(last_ns);
    return found == SAMPLES_SORTED ||
           ((found == SAMPLES_MIXED_THREADS || sort_by_time(samples, columns, n_kinds)) &&
            gather_threads(samples, columns, n_kinds, n_threads));
}

static bool span_is_before(const struct profile_span *a, const struct profile_span *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns;
    return a->end_ns > b->end_ns;
}

/* The innermost open span is the previous one or one of its parents: `parent` itself is the stack.
 * Dropping a span that the new one outlasts loses nothing: whatever begins later and lies in the
 * dropped one lies in the new one too. */
static void find_parents(struct profile_span *spans, size_t n)
{
    for (uint32_t id = 1; id < n; id++) {
        uint32_t outer = id - 1;
        while (outer != 0 &&
               (spans[outer].thread != spans[id].thread || spans[outer].end_ns < spans[id].end_ns))
            outer = spans[outer].parent;
        spans[id].parent = outer;
    }
}

bool profile_order_spans(struct array *spans)
{
    struct profile_span *rows = spans->items;
    bool sorted = true;
    for (size_t id = 2; id < spans->n && sorted; id++)
        sorted = !span_is_before(&rows[id], &rows[id - 1]);
    if (!sorted) {
        struct order order;
        if (!order_init(&order, spans->n - 1))
            return false;
        const struct profile_span *real = rows + 1;
        for (size_t i = 0; i < order.n; i++)
            order.items[i].key = ~real[i].end_ns;
        sort_by_key(&order);
        for (size_t i = 0; i < order.n; i++)
            order.items[i].key = real[order.items[i].index].begin_ns;
        sort_by_key(&order);
        for (size_t i = 0; i < order.n; i++)
            order.items[i].key = real[order.items[i].index].thread;
        sort_by_key(&order);
        bool ok = apply(&order, spans, 1);
        order_deinit(&order);
        if (!ok)
            return false;
    }
    find_parents(spans->items, spans->n);
    return true;
}

static bool span_has_begun(const struct profile_span *span, const struct profile_instant *instant)
{
    if (span->thread != instant->thread)
        return span->thread < instant->thread;
    return span->begin_ns <= instant->time_ns;
}

static bool instant_is_before(const struct profile_instant *a, const struct profile_instant *b)
{
    return a->thread != b->thread ? a->thread < b->thread : a->time_ns < b->time_ns;
}

/* Sets `order` to the instants by (thread, time), without moving them; without items when they are
 * in that order as they stand. */
static bool instant_order_find(const struct profile_instant *instants, size_t n,
                               struct order *order)
{
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++)
        sorted = !instant_is_before(&instants[i], &instants[i - 1]);
    *order = (struct order){.n = n};
    if (sorted)
        return true;
    if (!order_init(order, n))
        return false;
    for (size_t i = 0; i < n; i++)
        order->items[i].key = instants[i].time_ns;
    sort_by_key(order);
    for (size_t i = 0; i < n; i++)
        order->items[i].key = instants[order->items[i].index].thread;
    sort_by_key(order);
    return true;
}

/* One sweep over spans and instants. `inner` is the innermost span still open; the ones left behind
 * on the way out have ended, so no later instant and no span begun later lies in them, and nothing
 * is looked at twice. */
bool profile_place_instants(struct array *instants, const struct array *spans)
{
    const struct profile_span *rows = spans->items;
    struct profile_instant *all = instants->items;
    struct order order;
    if (!instant_order_find(all, instants->n, &order))
        return false;
    uint32_t begun = 0, inner = 0;
    for (size_t i = 0; i < instants->n; i++) {
        struct profile_instant *instant = &all[order.items == NULL ? i : order.items[i].index];
        while (begun + 1 < spans->n && span_has_begun(&rows[begun + 1], instant))
            inner = ++begun;
        while (inner != 0 &&
               (rows[inner].thread != instant->thread || rows[inner].end_ns < instant->time_ns))
            inner = rows[inner].parent;
        instant->span = inner;
    }
    order_deinit(&order);
    return true;
}
