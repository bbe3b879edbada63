/* read_lines.c - times of lines as samples, each in the sub whose lines are around it.
 *
 * A process with calls has the time of its subs from those, and from here only that of code outside
 * of subs: there the time of a line is without that of the subs it called, but with that of the
 * operators and foreign functions, which are calls too and must not count twice. */
#include <stdlib.h>

#include "formats/nytprof/read.h"

static int compare_flats(const void *a, const void *b)
{
    const struct nytprof_flat *left = a;
    const struct nytprof_flat *right = b;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return (left->section > right->section) - (left->section < right->section);
}

/* By file and first line; of those that begin together the longest first. */
static int compare_ranges(const void *a, const void *b)
{
    const struct nytprof_sub *left = a;
    const struct nytprof_sub *right = b;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    if (left->first_line != right->first_line)
        return left->first_line < right->first_line ? -1 : 1;
    if (left->last_line != right->last_line)
        return left->last_line > right->last_line ? -1 : 1;
    return (left->name > right->name) - (left->name < right->name);
}

VECTOR_DEFINE(ranges, struct nytprof_sub)
VECTOR_DEFINE(open_ranges, const struct nytprof_sub *)
VECTOR_DEFINE(sums, double)

/* Copies of the subs whose lines are known, sorted. */
static void collect_ranges(const struct nytprof_reader *r, struct ranges *ranges)
{
    for (size_t i = 0; i < r->all.content.subs.n; i++) {
        const struct nytprof_sub *sub = array_at(&r->all.content.subs, i);
        if (sub->has_fid && sub->has_lines && sub->first_line != 0)
            ranges_push(ranges, *sub);
    }
    if (ranges->n > 1)
        qsort(ranges->items, ranges->n, sizeof *ranges->items, compare_ranges);
}

/* Ranges and lines side by side, both sorted. `open` is the stack of the ranges begun and not ended
 * in the file at hand, the innermost on top. */
struct sweep {
    struct ranges ranges;
    size_t next; /* in ranges */
    struct open_ranges open;
};

/* Moves on to a line; returns what lies around it, NULL if nothing does. */
static const struct nytprof_sub *sweep_to(struct sweep *sweep, uint32_t fid, uint32_t line)
{
    for (; sweep->next < sweep->ranges.n; sweep->next++) {
        const struct nytprof_sub *range = &sweep->ranges.items[sweep->next];
        if (range->fid > fid || (range->fid == fid && range->first_line > line))
            break;
        if (range->fid == fid)
            open_ranges_push(&sweep->open, range);
    }
    for (; sweep->open.n > 0; sweep->open.n--) {
        const struct nytprof_sub *top = sweep->open.items[sweep->open.n - 1];
        if (top->last_line >= line)
            return top;
    }
    return NULL;
}

/* By (fid, line) seconds that calls have counted already. */
static bool sum_foreign_calls(const struct nytprof_reader *r, struct map *rows, struct sums *sums)
{
    for (size_t i = 0; i < r->all.content.edges.n; i++) {
        const struct nytprof_edge *edge = array_at(&r->all.content.edges, i);
        const struct nytprof_sub *sub = array_at(&r->all.content.subs, edge->sub);
        if (!sub->has_lines || sub->first_line != 0 || sub->last_line != 0)
            continue;
        uint32_t row = map_add(rows, edge->fid, edge->line, (uint32_t)sums->n);
        if (row == sums->n)
            sums_push(sums, 0.0);
        if (row >= sums->n)
            return false;
        sums->items[row] += edge->exclusive;
    }
    return true;
}

/* Takes off what the calls have of the time of a line. */
static void take_off(const struct map *rows, const struct sums *sums, uint32_t fid, uint32_t line,
                     double *seconds)
{
    uint32_t row = map_find(rows, fid, line);
    double *sum = row == MAP_NONE ? NULL : &sums->items[row];
    if (sum == NULL || !(*sum > 0.0) || !(*seconds > 0.0))
        return;
    double taken = *sum < *seconds ? *sum : *seconds;
    *sum -= taken;
    *seconds -= taken;
}

static bool has_calls(const struct nytprof_reader *r, uint32_t at)
{
    const struct nytprof_section *section = &r->all.sections.items[at];
    size_t end = at + 1 < r->all.sections.n ? section[1].first_return : r->all.returns.n;
    return section->first_return < end;
}

static void read_sorted_lines(struct nytprof_reader *r, struct sweep *sweep,
                              const struct map *called_rows, const struct sums *called)
{
    for (size_t i = 0; i < r->all.flats.n; i++) {
        const struct nytprof_flat *flat = &r->all.flats.items[i];
        if (i == 0 || flat[-1].fid != flat->fid)
            sweep->open.n = 0;
        const struct nytprof_sub *sub = sweep_to(sweep, flat->fid, flat->line);
        double seconds = flat->seconds;
        if (has_calls(r, flat->section)) {
            if (r->all.is_ours || sub != NULL || flat->line == 0)
                continue;
            take_off(called_rows, called, flat->fid, flat->line, &seconds);
        }
        uint64_t weight = nytprof_seconds_weight(&r->all, seconds);
        if (weight == 0)
            continue;
        uint32_t function = sub != NULL ? nytprof_reader_function(r, sub->name)
                                        : nytprof_reader_file_function(r, flat->fid);
        nytprof_reader_add(r, r->all.sections.items[flat->section].thread,
                           nytprof_reader_stack(r, 0, function, flat->line), weight);
    }
}

bool nytprof_read_lines(struct nytprof_reader *r)
{
    if (r->all.flats.n == 0)
        return true;
    struct sweep sweep = {.next = 0};
    struct map called_rows = {0};
    struct sums called = {0};
    qsort(r->all.flats.items, r->all.flats.n, sizeof *r->all.flats.items, compare_flats);
    collect_ranges(r, &sweep.ranges);
    bool ok = sum_foreign_calls(r, &called_rows, &called);
    if (ok)
        read_sorted_lines(r, &sweep, &called_rows, &called);
    ok = ok && !sweep.ranges.no_memory && !sweep.open.no_memory;
    ranges_deinit(&sweep.ranges);
    open_ranges_deinit(&sweep.open);
    sums_deinit(&called);
    map_deinit(&called_rows);
    return ok;
}
