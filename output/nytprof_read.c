/* nytprof_read.c - a real NYTProf stream as a profile.
 *
 * Samples come from the calls (`<`), where there are any: their own times are those of the nodes of
 * the call tree. Otherwise from the times of lines, each in the sub whose lines are around it;
 * otherwise from the edges, with caller and called only. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nytprof.h"
#include "nytprof_collect.h"
#include "nytprof_labels.h"
#include "nytprof_name.h"

struct reader {
    struct nytprof_collection all;
    struct profile_builder *builder;
    struct nytprof_map functions; /* (name of a sub, 0) -> function                      */
    struct nytprof_map sums;      /* (thread, stack) -> row of samples                   */
    struct array samples;         /* of struct sum                                       */
    struct array buffer;          /* of char                                             */
    bool no_memory;
};

struct sum {
    uint32_t thread;
    uint32_t stack;
    uint64_t weight;
};

/* ---- functions --------------------------------------------------------------------------------
 */

static uint32_t text_of(struct reader *r, uint32_t id)
{
    struct text utf8 = {.bytes = ""};
    struct text text = intern_text(r->all.content.texts, id);
    if (r->all.is_ours)
        return profile_add_text(r->builder, text.bytes, text.length);
    if (!nytprof_utf8(text, &r->buffer, &utf8))
        r->no_memory = true;
    return profile_add_text(r->builder, utf8.bytes, utf8.length);
}

static uint32_t sub_name(struct reader *r, uint32_t name)
{
    uint32_t exact = nytprof_map_find(&r->all.names, name, 0);
    if (!r->all.is_ours)
        return text_of(r, name);
    if (exact != UINT32_MAX)
        return exact;
    r->buffer.n = 0;
    if (!nytprof_name_decode(intern_text(r->all.content.texts, name), &r->buffer))
        r->no_memory = true;
    return profile_add_text(r->builder, r->buffer.n == 0 ? "" : r->buffer.items, r->buffer.n);
}

/* A name in square brackets is an object's; both are 0 for NYTPROF_NO_FILE. */
static void place_of(struct reader *r, uint32_t fid, struct profile_function *function)
{
    const struct nytprof_file *file = nytprof_content_file(&r->all.content, fid);
    if (file == NULL)
        return;
    struct text name = intern_text(r->all.content.texts, file->name);
    uint32_t exact = nytprof_map_find(&r->all.files, fid, 0);
    bool is_object = (file->flags & NYTPROF_FILE_IS_FAKE) != 0 && name.length > 2 &&
                     name.bytes[0] == '[' && name.bytes[name.length - 1] == ']';
    if (!is_object) {
        function->file = exact != UINT32_MAX ? exact : text_of(r, file->name);
        return;
    }
    struct profile_module module = {.path = exact};
    if (exact == UINT32_MAX && name.length == strlen(NYTPROF_NO_FILE) &&
        memcmp(name.bytes, NYTPROF_NO_FILE, name.length) == 0)
        return;
    if (exact == UINT32_MAX)
        module.path = profile_add_text(r->builder, name.bytes + 1, name.length - 2);
    function->module = profile_add_module(r->builder, &module);
}

static uint32_t function_of(struct reader *r, uint32_t name)
{
    uint32_t known = nytprof_map_find(&r->functions, name, 0);
    if (known != UINT32_MAX)
        return known;
    const struct nytprof_sub *sub = nytprof_content_sub(&r->all.content, name);
    struct profile_function function = {.name = sub_name(r, name)};
    if (sub != NULL && sub->has_fid) {
        uint32_t exact_line = nytprof_map_find(&r->all.lines, name, 0);
        place_of(r, sub->fid, &function);
        function.line = exact_line != UINT32_MAX ? exact_line : sub->first_line;
    }
    uint32_t id = profile_add_function(r->builder, &function);
    if (id == UINT32_MAX || !nytprof_map_set(&r->functions, name, 0, id))
        r->no_memory = true;
    return id;
}

/* Code of a file outside of all subs. */
static uint32_t file_function(struct reader *r, uint32_t fid)
{
    const struct nytprof_file *file = nytprof_content_file(&r->all.content, fid);
    struct profile_function function = {.name = 0};
    if (file != NULL) {
        function.name = text_of(r, file->name);
        place_of(r, fid, &function);
    } else {
        char name[32];
        snprintf(name, sizeof name, "file %" PRIu32, fid);
        function.name = profile_add_cstring(r->builder, name);
    }
    return profile_add_function(r->builder, &function);
}

static uint32_t stack_of(struct reader *r, uint32_t parent, uint32_t function, uint32_t line)
{
    struct profile_frame frame = {.function = function, .line = line};
    return profile_add_stack(r->builder, parent, profile_add_frame(r->builder, &frame));
}

/* ---- samples ----------------------------------------------------------------------------------
 */

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_sample(struct reader *r, uint32_t thread, uint32_t stack, uint64_t weight)
{
    uint32_t row = nytprof_map_find(&r->sums, thread, stack);
    if (row == UINT32_MAX) {
        struct sum *sum = array_push(&r->samples);
        row = (uint32_t)(r->samples.n - 1);
        if (sum == NULL || !nytprof_map_set(&r->sums, thread, stack, row)) {
            r->no_memory = true;
            return;
        }
        *sum = (struct sum){.thread = thread, .stack = stack};
    }
    struct sum *sum = array_at(&r->samples, row);
    sum->weight = add_up(sum->weight, weight);
}

struct step {
    uint32_t depth;
    uint32_t stack;
};

/* The calls of one section: [first, end) of the returns. A call comes before its caller, so from
 * the end backwards each is below the last one less deep. */
static bool read_section(struct reader *r, uint32_t thread, size_t first, size_t end,
                         struct array *path)
{
    path->n = 0;
    for (size_t i = end; i-- > first;) {
        const struct nytprof_return *call = array_at(&r->all.returns, i);
        while (path->n > 0 &&
               ((const struct step *)array_at(path, path->n - 1))->depth >= call->depth)
            path->n--;
        uint32_t stack = 0;
        if (path->n > 0)
            stack = ((const struct step *)array_at(path, path->n - 1))->stack;
        if (call->depth != 0) {
            stack = stack_of(r, stack, function_of(r, call->name), 0);
            struct step *step = array_push(path);
            if (step == NULL)
                return false;
            *step = (struct step){.depth = call->depth, .stack = stack};
        }
        bool is_leaf = i == first || call[-1].depth <= call->depth;
        if (call->weight != 0 || (is_leaf && r->all.is_ours))
            add_sample(r, thread, stack, call->weight);
    }
    return true;
}

static bool read_calls(struct reader *r)
{
    struct array path;
    array_init(&path, sizeof(struct step));
    bool ok = true;
    for (size_t i = 0; ok && i < r->all.sections.n; i++) {
        const struct nytprof_section *section = array_at(&r->all.sections, i);
        size_t end = i + 1 < r->all.sections.n ? section[1].first_return : r->all.returns.n;
        ok = read_section(r, section->thread, section->first_return, end, &path);
    }
    array_deinit(&path);
    return ok;
}

/* ---- times of lines ---------------------------------------------------------------------------
 */

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
static bool collect_ranges(const struct reader *r, struct array *ranges)
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

static bool read_sorted_lines(struct reader *r, struct sweep *sweep)
{
    for (size_t i = 0; i < r->all.flats.n; i++) {
        const struct nytprof_flat *flat = array_at(&r->all.flats, i);
        const struct nytprof_sub *sub;
        if (i == 0 || flat[-1].fid != flat->fid)
            sweep->open.n = 0;
        if (!sweep_to(sweep, flat->fid, flat->line, &sub))
            return false;
        uint32_t function = sub != NULL ? function_of(r, sub->name) : file_function(r, flat->fid);
        const struct nytprof_section *section = array_at(&r->all.sections, flat->section);
        uint64_t weight = nytprof_seconds_weight(&r->all, flat->seconds);
        if (weight != 0)
            add_sample(r, section->thread, stack_of(r, 0, function, flat->line), weight);
    }
    return true;
}

static bool read_lines(struct reader *r)
{
    struct sweep sweep = {.next = 0};
    array_init(&sweep.ranges, sizeof(struct nytprof_sub));
    array_init(&sweep.open, sizeof(const struct nytprof_sub *));
    if (r->all.flats.n > 1)
        qsort(r->all.flats.items, r->all.flats.n, r->all.flats.item_bytes, compare_flats);
    bool ok = collect_ranges(r, &sweep.ranges) && read_sorted_lines(r, &sweep);
    array_deinit(&sweep.ranges);
    array_deinit(&sweep.open);
    return ok;
}

/* ---- edges ------------------------------------------------------------------------------------
 */

/* Callers of an edge are in order of meeting them; times are not told apart, so the first has all.
 */
static bool read_edges(struct reader *r)
{
    const struct nytprof_content *content = &r->all.content;
    uint32_t *first_caller = calloc(content->edges.n + 1, sizeof *first_caller);
    if (first_caller == NULL)
        return false;
    for (size_t i = content->callers.n; i-- > 0;) {
        const struct nytprof_caller *caller = array_at(&content->callers, i);
        first_caller[caller->edge] = caller->name;
    }
    const struct nytprof_section *section = array_at(&r->all.sections, r->all.sections.n - 1);
    for (size_t i = 0; i < content->edges.n; i++) {
        const struct nytprof_edge *edge = array_at(&content->edges, i);
        const struct nytprof_sub *sub = array_at(&content->subs, edge->sub);
        uint64_t weight = nytprof_seconds_weight(&r->all, edge->exclusive);
        if (weight == 0)
            continue;
        uint32_t caller = stack_of(r, 0, function_of(r, first_caller[i]), edge->line);
        add_sample(r, section->thread, stack_of(r, caller, function_of(r, sub->name), 0), weight);
    }
    free(first_caller);
    return true;
}

/* ---- all --------------------------------------------------------------------------------------
 */

/* In ns; whole seconds and the rest apart, as a time of today in ns has more bits than a double. */
static uint64_t since(double seconds, double start)
{
    double whole = floor(seconds - start);
    if (!(whole >= 0.0 && whole < 9e9))
        return 0;
    return (uint64_t)whole * 1000000000U + (uint64_t)nearbyint((seconds - start - whole) * 1e9);
}

/* Foreign files know processes, with a time of start and end; each gets one thread. */
static void read_processes(struct reader *r)
{
    const struct nytprof_content *content = &r->all.content;
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    struct text command = {.bytes = ""};
    struct text attribute = nytprof_content_attribute(content, "application");
    if (!nytprof_utf8(attribute, &r->buffer, &command))
        r->no_memory = true;
    uint32_t name = profile_add_text(r->builder, command.bytes, command.length);
    if (command.length != 0)
        profile_add_metadata(r->builder, "command", command.bytes, command.length);
    scalars->duration_ns = since(content->duration_seconds, 0.0);
    for (size_t i = 0; i < content->processes.n; i++) {
        const struct nytprof_process *from = array_at(&content->processes, i);
        double start = ((const struct nytprof_process *)array_at(&content->processes, 0))->start;
        if (i == 0)
            scalars->start_realtime_ns = since(start, 0.0);
        struct profile_process process = {.name = name,
                                          .pid = from->pid,
                                          .ppid = from->ppid,
                                          .start_ns = since(from->start, start)};
        if (from->has_end)
            process.end_ns = since(from->end, start);
        struct profile_thread thread = {.process = profile_add_process(r->builder, &process),
                                        .tid = from->pid,
                                        .start_ns = process.start_ns,
                                        .end_ns = process.end_ns};
        struct nytprof_section *section = array_at(&r->all.sections, i + 1);
        section->thread = profile_add_thread(r->builder, &thread);
    }
}

static bool read_samples(struct reader *r)
{
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].unit = r->all.unit;
    if (!r->all.is_ours) {
        scalars->kinds[0].name = profile_add_cstring(r->builder, "time");
        read_processes(r);
    }
    bool ok = r->all.returns.n != 0 ? read_calls(r)
              : r->all.flats.n != 0 ? read_lines(r)
                                    : read_edges(r);
    for (size_t i = 0; ok && i < r->samples.n; i++) {
        const struct sum *sum = array_at(&r->samples, i);
        struct profile_sample sample = {.thread = sum->thread, .stack = sum->stack};
        profile_add_sample(r->builder, &sample, &sum->weight);
    }
    return ok && !r->no_memory;
}

bool nytprof_read_real(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                       struct profile **out, struct err *err)
{
    struct reader r = {.no_memory = false};
    array_init(&r.samples, sizeof(struct sum));
    array_init(&r.buffer, 1);
    if (!profile_builder_create(&r.builder, err))
        return false;
    bool ok = nytprof_collect(data, size_bytes, r.builder, &r.all, err) &&
              (read_samples(&r) || err_fail_memory(err));
    if (ok) {
        nytprof_content_notes(&r.all.content, notes);
        if (r.all.n_bad_weights != 0)
            format_note(notes, "%" PRIu64 " times are negative or no numbers and count as 0",
                        r.all.n_bad_weights);
    }
    nytprof_collection_deinit(&r.all);
    nytprof_map_deinit(&r.functions);
    nytprof_map_deinit(&r.sums);
    array_deinit(&r.samples);
    array_deinit(&r.buffer);
    if (!ok) {
        profile_builder_destroy(r.builder);
        return false;
    }
    return profile_builder_finish(r.builder, out, err);
}
