/* read.c - a real NYTProf stream as a profile.
 *
 * Samples come from the calls (`<`), where there are any: their own times are those of the nodes of
 * the call tree. Otherwise, and of code outside of all subs, from the times of lines
 * (read_lines.c); otherwise from the edges, with caller and called only. */
#include "formats/nytprof/read/read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/labels.h"
#include "formats/nytprof/name.h"
#include "formats/nytprof/nytprof.h"

struct sum {
    uint32_t thread;
    uint32_t stack;
    uint64_t weight;
};

/* ---- functions --------------------------------------------------------------------------------
 */

static uint32_t text_of(struct nytprof_reader *r, uint32_t id)
{
    struct text utf8 = {.bytes = ""};
    struct text text = intern_text(r->all.content.texts, id);
    if (r->all.is_ours)
        return profile_add_text(r->builder, text.bytes, text.length);
    if (!nytprof_utf8(text, &r->buffer, &utf8))
        r->no_memory = true;
    return profile_add_text(r->builder, utf8.bytes, utf8.length);
}

static uint32_t sub_name(struct nytprof_reader *r, uint32_t name)
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
static void place_of(struct nytprof_reader *r, uint32_t fid, struct profile_function *function)
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

uint32_t nytprof_reader_function(struct nytprof_reader *r, uint32_t name)
{
    if (r->functions[name] != 0)
        return r->functions[name] - 1;
    const struct nytprof_sub *sub = nytprof_content_sub(&r->all.content, name);
    struct profile_function function = {.name = sub_name(r, name)};
    if (sub != NULL && sub->has_fid) {
        uint32_t exact_line = nytprof_map_find(&r->all.lines, name, 0);
        place_of(r, sub->fid, &function);
        function.line = exact_line != UINT32_MAX ? exact_line : sub->first_line;
    }
    uint32_t id = profile_add_function(r->builder, &function);
    r->functions[name] = id + 1;
    return id;
}

/* Code of a file outside of all subs. */
uint32_t nytprof_reader_file_function(struct nytprof_reader *r, uint32_t fid)
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

uint32_t nytprof_reader_stack(struct nytprof_reader *r, uint32_t parent, uint32_t function,
                              uint32_t line)
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

void nytprof_reader_add(struct nytprof_reader *r, uint32_t thread, uint32_t stack, uint64_t weight)
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
static bool read_section(struct nytprof_reader *r, uint32_t thread, size_t first, size_t end,
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
            stack = nytprof_reader_stack(r, stack, nytprof_reader_function(r, call->name), 0);
            struct step *step = array_push(path);
            if (step == NULL)
                return false;
            *step = (struct step){.depth = call->depth, .stack = stack};
        }
        bool is_leaf = i == first || call[-1].depth <= call->depth;
        if (call->weight != 0 || (is_leaf && r->all.is_ours))
            nytprof_reader_add(r, thread, stack, call->weight);
    }
    return true;
}

static bool read_calls(struct nytprof_reader *r)
{
    struct array path;
    array_init(&path, sizeof(struct step));
    bool ok = true;
    for (size_t i = 0; ok && i < r->all.sections.n; i++) {
        const struct nytprof_section *section = array_at(&r->all.sections, i);
        size_t end = i + 1 < r->all.sections.n ? section[1].first_return : r->all.returns.n;
        if (end != section->first_return)
            ok = read_section(r, section->thread, section->first_return, end, &path);
    }
    array_deinit(&path);
    return ok;
}

/* ---- edges ------------------------------------------------------------------------------------
 */

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
    const struct nytprof_section *section = array_at(&r->all.sections, r->all.sections.n - 1);
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
static void read_processes(struct nytprof_reader *r)
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

static bool read_samples(struct nytprof_reader *r)
{
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].unit = r->all.unit;
    if (!r->all.is_ours) {
        scalars->kinds[0].name = profile_add_cstring(r->builder, "time");
        read_processes(r);
    }
    r->functions = calloc((size_t)intern_count(r->all.content.texts) + 1, sizeof *r->functions);
    bool ok = r->functions != NULL && read_calls(r) && nytprof_read_lines(r) &&
              (r->all.returns.n != 0 || r->all.flats.n != 0 || read_edges(r));
    for (size_t i = 0; ok && i < r->samples.n; i++) {
        const struct sum *sum = array_at(&r->samples, i);
        struct profile_sample sample = {.thread = sum->thread, .stack = sum->stack};
        profile_add_sample(r->builder, &sample, &sum->weight);
    }
    return ok && !r->no_memory;
}

/* *again: this was a file of ours and cut; what is left of it is more than was collected. */
static bool read_once(const uint8_t *data, size_t size_bytes, bool keeps_lines, bool is_strict,
                      const struct format_notes *notes, bool *again, struct profile **out,
                      struct err *err)
{
    struct nytprof_reader r = {.no_memory = false};
    *again = false;
    array_init(&r.samples, sizeof(struct sum));
    array_init(&r.buffer, 1);
    if (!profile_builder_create(&r.builder, err))
        return false;
    bool ok = nytprof_collect(data, size_bytes, keeps_lines, r.builder, &r.all, err) &&
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
    nytprof_map_deinit(&r.sums);
    array_deinit(&r.samples);
    array_deinit(&r.buffer);
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
