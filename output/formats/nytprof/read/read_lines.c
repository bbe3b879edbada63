/* read_lines.c - times of lines as samples, each in the sub whose lines are around it.
 *
 * A process with calls has the time of its subs from those, and from here only that of code outside
 * of subs: there the time of a line is without that of the subs it called, but with that of the
 * operators and foreign functions, which are calls too and must not count twice. */
#include <stdlib.h>

#include "formats/nytprof/read/read.h"

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

/* Copies of the subs whose lines are known, sorted. */
static bool collect_ranges(const struct nytprof_reader *r, struct array *ranges)
{
    for (size_t i = 0; i < r->all.content.subs.n; i++) {
        const struct nytprof_sub *sub = array_at(&r->all.content.subs, i);
        if (!sub->has_fid || !sub->has_lines || sub->first_line == 0)
            continue;
        struct nytprof_sub *range = array_push(ranges);
        if (range == NULL)
            return false;
        *range = *sub;
    }
    if (ranges->n > 1)
        qsort(ranges->items, ranges->n, ranges->item_bytes, compare_ranges);
    return true;
}

/* Ranges and lines side by side, both sorted. `open` is the stack of the ranges begun and not ended
 * in the file at hand, the innermost on top. */
struct sweep {
    struct array ranges; /* of struct nytprof_sub         */
    size_t next;         /* in ranges                     */
    struct array open;   /* of const struct nytprof_sub * */
};

/* Moves on to a line; *sub is what lies around it, NULL if nothing does. */
static bool sweep_to(struct sweep *sweep, uint32_t fid, uint32_t line,
                     const struct nytprof_sub **sub)
{
    for (; sweep->next < sweep->ranges.n; sweep->next++) {
        const struct nytprof_sub *range = array_at(&sweep->ranges, sweep->next);
        if (range->fid > fid || (range->fid == fid && range->first_line > line))
            break;
        if (range->fid < fid)
            continue;
        const struct nytprof_sub **top = array_push(&sweep->open);
        if (top == NULL)
            return false;
        *top = range;
    }
    for (*sub = NULL; sweep->open.n > 0; sweep->open.n--) {
        const struct nytprof_sub *top =
            *(const struct nytprof_sub **)array_at(&sweep->open, sweep->open.n - 1);
        if (top->last_line >= line) {
            *sub = top;
            break;
        }
    }
    return true;
}

/* By (fid, line) seconds that calls have counted already. */
static bool sum_foreign_calls(const struct nytprof_reader *r, struct nytprof_map *rows,
                              struct array *sums)
{
    for (size_t i = 0; i < r->all.content.edges.n; i++) {
        const struct nytprof_edge *edge = array_at(&r->all.content.edges, i);
        const struct nytprof_sub *sub = array_at(&r->all.content.subs, edge->sub);
        if (!sub->has_lines || sub->first_line != 0 || sub->last_line != 0)
            continue;
        uint32_t row = nytprof_map_find(rows, edge->fid, edge->line);
        if (row == UINT32_MAX) {
            row = (uint32_t)sums->n;
            if (array_push(sums) == NULL || !nytprof_map_set(rows, edge->fid, edge->line, row))
                return false;
        }
        *(double *)array_at(sums, row) += edge->exclusive;
    }
    return true;
}

/* Takes off what the calls have of the time of a line. */
static void take_off(const struct nytprof_map *rows, const struct array *sums, uint32_t fid,
                     uint32_t line, double *seconds)
{
    uint32_t row = nytprof_map_find(rows, fid, line);
    double *sum = row == UINT32_MAX ? NULL : array_at(sums, row);
    if (sum == NULL || !(*sum > 0.0) || !(*seconds > 0.0))
        return;
    double taken = *sum < *seconds ? *sum : *seconds;
    *sum -= taken;
    *seconds -= taken;
}

static bool has_calls(const struct nytprof_reader *r, uint32_t at)
{
    const struct nytprof_section *section = array_at(&r->all.sections, at);
    size_t end = at + 1 < r->all.sections.n ? section[1].first_return : r->all.returns.n;
    return section->first_return < end;
}

static bool read_sorted_lines(struct nytprof_reader *r, struct sweep *sweep,
                              const struct nytprof_map *called_rows, const struct array *called)
{
    for (size_t i = 0; i < r->all.flats.n; i++) {
        const struct nytprof_flat *flat = array_at(&r->all.flats, i);
        const struct nytprof_sub *sub;
        if (i == 0 || flat[-1].fid != flat->fid)
            sweep->open.n = 0;
        if (!sweep_to(sweep, flat->fid, flat->line, &sub))
            return false;
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
        const struct nytprof_section *section = array_at(&r->all.sections, flat->section);
        nytprof_reader_add(r, section->thread, nytprof_reader_stack(r, 0, function, flat->line),
                           weight);
    }
    return true;
}

bool nytprof_read_lines(struct nytprof_reader *r)
{
    if (r->all.flats.n == 0)
        return true;
    struct sweep sweep = {.next = 0};
    struct nytprof_map called_rows = {0};
    struct array called;
    array_init(&called, sizeof(double));
    array_init(&sweep.ranges, sizeof(struct nytprof_sub));
    array_init(&sweep.open, sizeof(const struct nytprof_sub *));
    qsort(r->all.flats.items, r->all.flats.n, r->all.flats.item_bytes, compare_flats);
    bool ok = collect_ranges(r, &sweep.ranges) && sum_foreign_calls(r, &called_rows, &called) &&
              read_sorted_lines(r, &sweep, &called_rows, &called);
    array_deinit(&sweep.ranges);
    array_deinit(&sweep.open);
    array_deinit(&called);
    nytprof_map_deinit(&called_rows);
    return ok;
}
