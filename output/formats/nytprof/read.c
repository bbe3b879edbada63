/* read.c - a real NYTProf stream as a profile.
 *
 * Samples come from the calls (`<`), where there are any: their own times are those of the nodes of
 * the call tree. Otherwise, and of code outside of all subs, from the times of lines
 * (formats/nytprof/read_lines.c); otherwise from the edges, with caller and called only. */
#include "formats/nytprof/read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "formats/nytprof/nytprof.h"

/* ---- calls ---- */

struct step {
    uint32_t depth;
    uint32_t stack;
};

VECTOR_DEFINE(steps, struct step)

/* The calls of one section: [first, end) of the returns. A call comes before its caller, so from
 * the end backwards each is below the last one less deep. */
static void read_section(struct nytprof_reader *r, uint32_t thread, size_t first, size_t end,
                         struct steps *path)
{
    path->n = 0;
    for (size_t i = end; i-- > first;) {
        const struct nytprof_return *call = &r->all.returns.items[i];
        while (path->n > 0 && path->items[path->n - 1].depth >= call->depth)
            path->n--;
        uint32_t parent = path->n == 0 ? 0 : path->items[path->n - 1].stack;
        uint32_t stack = nytprof_reader_stack(r, parent, nytprof_reader_function(r, call->name), 0);
        steps_push(path, (struct step){.depth = call->depth, .stack = stack});
        bool is_leaf = i == first || call[-1].depth <= call->depth;
        if (call->weight != 0 || (is_leaf && r->all.is_ours))
            nytprof_reader_add(r, thread, stack, call->weight);
    }
}

static void read_calls(struct nytprof_reader *r)
{
    struct steps path = {0};
    const struct nytprof_sections *sections = &r->all.sections;
    for (size_t i = 0; i < sections->n; i++) {
        size_t end = i + 1 < sections->n ? sections->items[i + 1].first_return : r->all.returns.n;
        read_section(r, sections->items[i].thread, sections->items[i].first_return, end, &path);
    }
    r->no_memory = r->no_memory || path.no_memory;
    steps_deinit(&path);
}

/* ---- edges ---- */

/* Callers of an edge are in order of meeting them; times are not told apart, so the first has all.
 */
static bool read_edges(struct nytprof_reader *r)
{
    const struct nytprof_content *content = &r->all.content;
    uint32_t *first_caller = calloc(content->edges.n + 1, sizeof *first_caller);
    if (first_caller == NULL)
        return false;
    for (size_t i = content->callers.n; i-- > 0;) {
        const struct nytprof_caller *caller = array_at(&content->callers, i);
        first_caller[caller->edge] = caller->name;
    }
    const struct nytprof_section *section = &r->all.sections.items[r->all.sections.n - 1];
    for (size_t i = 0; i < content->edges.n; i++) {
        const struct nytprof_edge *edge = array_at(&content->edges, i);
        const struct nytprof_sub *sub = array_at(&content->subs, edge->sub);
        uint64_t weight = nytprof_seconds_weight(&r->all, edge->exclusive);
        if (weight == 0)
            continue;
        uint32_t caller =
            nytprof_reader_stack(r, 0, nytprof_reader_function(r, first_caller[i]), edge->line);
        nytprof_reader_add(
            r, section->thread,
            nytprof_reader_stack(r, caller, nytprof_reader_function(r, sub->name), 0), weight);
    }
    free(first_caller);
    return true;
}

/* ---- all ---- */

/* In ns; whole seconds and the rest apart, as a time of today in ns has more bits than a double. */
static uint64_t since(double seconds, double start)
{
    double whole = floor(seconds - start);
    if (!(whole >= 0.0 && whole < 9e9))
        return 0;
    return (uint64_t)whole * 1000000000U + (uint64_t)nearbyint((seconds - start - whole) * 1e9);
}

/* Processes, with a time of start and end, and a thread each. In files of ours they are the threads. */
static void read_processes(struct nytprof_reader *r)
{
    const struct nytprof_content *content = &r->all.content;
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    struct text command = {.bytes = ""};
    struct text attribute = nytprof_content_attribute(content, "application");
    bool is_known = !r->all.is_ours || !text_is(attribute, NYTPROF_NO_COMMAND);
    if (is_known && !nytprof_utf8(attribute, &r->buffer, &command))
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
        r->all.sections.items[i + 1].thread = profile_add_thread(r->builder, &thread);
    }
}

static bool read_samples(struct nytprof_reader *r)
{
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].unit = PROFILE_UNIT_NS;
    scalars->kinds[0].name = profile_add_cstring(r->builder, "time");
    read_processes(r);
    r->functions = calloc((size_t)intern_count(r->all.content.texts) + 1, sizeof *r->functions);
    if (r->functions == NULL)
        return false;
    read_calls(r);
    bool ok =
        nytprof_read_lines(r) && (r->all.returns.n != 0 || r->all.flats.n != 0 || read_edges(r));
    for (size_t i = 0; ok && i < r->sums.n; i++) {
        const struct nytprof_sum *sum = &r->sums.items[i];
        struct profile_sample sample = {.thread = sum->thread, .stack = sum->stack};
        profile_add_sample(r->builder, &sample, &sum->weight);
    }
    return ok && !r->no_memory && !r->sums.no_memory && !r->sum_rows.no_memory &&
           !r->buffer.no_memory;
}

/* *again: this was a file of ours and cut; what is left of it is more than was collected. */
static bool read_once(const uint8_t *data, size_t size_bytes, bool keeps_lines, bool is_strict,
                      const struct format_notes *notes, bool *again, struct profile **out,
                      struct err *err)
{
    struct nytprof_reader r = {.no_memory = false};
    *again = false;
    if (!profile_builder_create(&r.builder, err))
        return false;
    bool ok = nytprof_collect(data, size_bytes, keeps_lines, &r.all, err) &&
              (!is_strict || nytprof_content_is_sound(&r.all.content, err));
    *again = ok && nytprof_collection_needs_lines(&r.all);
    if (ok && !*again) {
        ok = read_samples(&r) || err_fail_memory(err);
        if (ok && is_strict && r.all.n_bad_weights != 0)
            ok = err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                          "%" PRIu64 " times are negative or no numbers", r.all.n_bad_weights);
    }
    if (ok && !*again) {
        nytprof_content_notes(&r.all.content, notes);
        if (r.all.n_bad_weights != 0)
            format_note(notes, "%" PRIu64 " times are negative or no numbers and count as 0",
                        r.all.n_bad_weights);
    }
    nytprof_collection_deinit(&r.all);
    free(r.functions);
    map_deinit(&r.sum_rows);
    nytprof_sums_deinit(&r.sums);
    chars_deinit(&r.buffer);
    if (!ok || *again) {
        profile_builder_destroy(r.builder);
        return ok;
    }
    return profile_builder_finish(r.builder, out, err);
}

bool nytprof_read_real(const uint8_t *data, size_t size_bytes, const struct format_options *options,
                       const struct format_notes *notes, struct profile **out, struct err *err)
{
    bool is_strict = options != NULL && options->strict;
    bool again;
    return read_once(data, size_bytes, false, is_strict, notes, &again, out, err) &&
           (!again || read_once(data, size_bytes, true, is_strict, notes, &again, out, err));
}
