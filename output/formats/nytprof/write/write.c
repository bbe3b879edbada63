/* write.c - a profile as a real NYTProf stream. The mapping: docs/formats/nytprof.md.
 *
 *   header, attributes | for each thread: P, times of samples, calls, p | source, subs, edges
 *                                                              (in front of the last p)
 *
 * Perl's tools die or complain over much that the format seems to allow; what is written and in
 * which order follows what they were seen to take. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/labels.h"
#include "formats/nytprof/name.h"
#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/write/encode.h"
#include "formats/nytprof/write/ticks.h"
#include "model/convert.h"

/* Perl's tools complain of longer files, and leave their times out. */
#define MAX_LINE 32767U

/* nytprofcalls walks the tree of calls by recursion, of which Perl complains at 100. */
#define MAX_DEPTH 96U

#define FLAGS_OF_SOURCE 0x32U /* seen by statements, source is available and saved */
#define FLAGS_OF_OBJECT 0x80U /* no file */

/* A line samples were in, and what of it is written so far. */
struct line_sum {
    uint32_t fid;
    uint32_t line;
    uint64_t weight;
    uint64_t n_ticks;
};

struct writer {
    const struct profile *profile;
    struct nytprof_encoder *encoder;
    struct nytprof_graph graph;
    struct nytprof_labels labels;
    struct nytprof_ticks ticks;
    struct nytprof_map line_rows; /* (fid, line) -> row of lines                           */
    struct array lines;           /* of struct line_sum                                    */
    uint32_t *line_of_frame;      /* row of lines + 1; behind the last frame no stack's    */
    uint64_t *function_sums;      /* by function: the same of calls                        */
    uint64_t *self;               /* by node, of the thread at hand                        */
    uint64_t *inclusive_ticks;    /* by node, the same                                     */
    uint64_t *n_hidden_ticks;     /* by node: own ticks of nodes below MAX_DEPTH under it  */
    bool *is_touched;             /* by node                                               */
    struct array touched;         /* of uint64_t: rank << 32 | node                        */
    bool has_calls;
};

/* ---- header -----------------------------------------------------------------------------------
 */

static struct text metadata_text(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->n_metadata; i++) {
        struct text name = profile_text(profile, profile->metadata[i].key);
        if (name.length == strlen(key) && memcmp(name.bytes, key, name.length) == 0)
            return profile_text(profile, profile->metadata[i].value);
    }
    return (struct text){.bytes = ""};
}

static struct text application(const struct profile *profile)
{
    struct text command = metadata_text(profile, "command");
    for (uint32_t i = 1; i < profile->n_processes && command.length == 0; i++)
        command = profile_text(profile, profile->processes[i].name);
    return command.length != 0 ? command : (struct text){.bytes = "unknown", .length = 7};
}

/* What Perl's records have no place for, for our own reader. */
static bool write_model(struct writer *w, struct err *err)
{
    const struct profile *profile = w->profile;
    uint64_t scalars[] = {profile->start_time_ns, profile->start_realtime_ns, profile->duration_ns,
                          profile->period};
    struct text kind = {.bytes = ""};
    if (profile->n_kinds != 0)
        kind = profile_text(profile, profile->kinds[w->graph.kind].name);
    uint64_t unit[] = {w->ticks.unit, w->ticks.ns_per_unit};
    bool ok = nytprof_encode_ours(w->encoder, "profile", scalars, 4, NULL, err) &&
              nytprof_encode_ours(w->encoder, "kind", unit, 2, &kind, err);
    for (uint32_t i = 1; ok && i < profile->n_processes; i++) {
        const struct profile_process *process = &profile->processes[i];
        uint64_t numbers[] = {process->pid, process->ppid, process->start_ns, process->end_ns};
        struct text name = profile_text(profile, process->name);
        ok = nytprof_encode_ours(w->encoder, "process", numbers, 4, &name, err);
    }
    for (uint32_t i = 1; ok && i < profile->n_threads; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        uint64_t numbers[] = {thread->process, thread->tid, thread->start_ns, thread->end_ns,
                              thread->cpu_ns};
        struct text name = profile_text(profile, thread->name);
        ok = nytprof_encode_ours(w->encoder, "thread", numbers, 5, &name, err);
    }
    for (size_t i = 0; ok && i < profile->n_metadata; i++) {
        struct text key = profile_text(profile, profile->metadata[i].key);
        struct text value = profile_text(profile, profile->metadata[i].value);
        ok = nytprof_encode_ours(w->encoder, "key", NULL, 0, &key, err) &&
             nytprof_encode_ours(w->encoder, "value", NULL, 0, &value, err);
    }
    return ok;
}

static bool write_header(struct writer *w, bool is_plain, struct err *err)
{
    struct nytprof_encoder *encoder = w->encoder;
    nytprof_encode_comment(encoder, " Native profile written by Sampler");
    nytprof_encode_comment(encoder, "sampler names=1");
    nytprof_encode_attribute_u64(encoder, "basetime", w->profile->start_realtime_ns / 1000000000U);
    if (!nytprof_encode_attribute(encoder, "application", application(w->profile), err))
        return false;
    nytprof_encode_attribute_u64(encoder, "nv_size", sizeof(double));
    nytprof_encode_attribute_u64(encoder, "clock_id", 1); /* CLOCK_MONOTONIC */
    nytprof_encode_attribute_u64(encoder, "ticks_per_sec", w->ticks.per_second);
    nytprof_encode_attribute_u64(encoder, "cumulative_overhead_ticks", 0);
    nytprof_encode_option(encoder, "calls", w->has_calls ? 1 : 0);
    return (is_plain || nytprof_encode_compressed(encoder, err)) && write_model(w, err);
}

/* ---- files, subs, edges -----------------------------------------------------------------------
 */

static bool is_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

static bool write_files(struct writer *w, struct err *err)
{
    for (uint32_t fid = 1; fid <= w->graph.files.n; fid++) {
        const struct nytprof_place *place = array_at(&w->graph.files, fid - 1);
        struct text label = nytprof_file_label(&w->labels, fid);
        struct text path = profile_text(w->profile, place->file);
        if (place->file == 0)
            path = profile_text(w->profile, w->profile->modules[place->module].path);
        if (!is_equal(label, path) && (place->file != 0 || place->module != 0) &&
            !nytprof_encode_ours(w->encoder, place->file != 0 ? "file" : "object", NULL, 0, &path,
                                 err))
            return false;
        nytprof_encode_file(w->encoder, fid, place->file != 0 ? FLAGS_OF_SOURCE : FLAGS_OF_OBJECT,
                            label);
    }
    if (w->graph.files.n == 0)
        nytprof_encode_file(
            w->encoder, 1, FLAGS_OF_OBJECT,
            (struct text){.bytes = NYTPROF_NO_FILE, .length = strlen(NYTPROF_NO_FILE)});
    return true;
}

/* A file without any source line would be opened by the tools, whatever lies there by then. */
static void write_source(struct writer *w)
{
    static const char text[] = "(the source text is not in this file)\n";
    uint32_t n_files = w->graph.files.n == 0 ? 1 : (uint32_t)w->graph.files.n;
    for (uint32_t fid = 1; fid <= n_files; fid++)
        nytprof_encode_source(w->encoder, fid, 1,
                              (struct text){.bytes = text, .length = sizeof text - 1});
}

/* Comments for what of a function the record in front of which they stand cannot say. */
static bool write_function_comments(struct writer *w, uint32_t function, struct array *buffer,
                                    struct err *err)
{
    const struct profile_function *f = &w->profile->functions[function];
    struct text name = profile_text(w->profile, f->name);
    uint64_t line = f->line;
    buffer->n = 0;
    if (!nytprof_name_decode(nytprof_sub_label(&w->labels, function), buffer))
        return err_fail_memory(err);
    struct text decoded = {.bytes = buffer->n == 0 ? "" : buffer->items, .length = buffer->n};
    if (!is_equal(decoded, name) && !nytprof_encode_ours(w->encoder, "name", NULL, 0, &name, err))
        return false;
    return f->line <= MAX_LINE || nytprof_encode_ours(w->encoder, "line", &line, 1, NULL, err);
}

static bool write_subs(struct writer *w, struct err *err)
{
    struct array buffer;
    array_init(&buffer, 1);
    bool ok = true;
    nytprof_encode_sub(w->encoder, 1,
                       (struct text){.bytes = NYTPROF_ROOT_SUB, .length = strlen(NYTPROF_ROOT_SUB)},
                       1, 1);
    for (uint32_t i = 0; ok && i < w->profile->n_functions; i++) {
        uint32_t fid = w->graph.fid_of_function[i];
        uint32_t first = w->profile->functions[i].line;
        if (fid == 0)
            continue;
        if (first > MAX_LINE || w->profile->functions[i].file == 0)
            first = 0;
        ok = write_function_comments(w, i, &buffer, err);
        /* The last line is not known. What samples show of it would differ from process to process,
         * and nytprofmerge would take one function for several. */
        nytprof_encode_sub(w->encoder, fid, nytprof_sub_label(&w->labels, i), first, first);
    }
    array_deinit(&buffer);
    return ok;
}

static void write_edges(struct writer *w)
{
    for (size_t i = 0; i < w->graph.edges.n; i++) {
        const struct nytprof_graph_edge *edge = array_at(&w->graph.edges, i);
        struct nytprof_call call = {
            .fid = 1,
            .caller = {.bytes = NYTPROF_ROOT_SUB, .length = strlen(NYTPROF_ROOT_SUB)},
            .called = nytprof_sub_label(&w->labels, edge->called),
            .count = edge->n_samples > UINT32_MAX ? UINT32_MAX : (uint32_t)edge->n_samples,
            .depth = edge->depth,
            .inclusive = nytprof_to_seconds(&w->ticks, edge->inclusive),
            .exclusive = nytprof_to_seconds(&w->ticks, edge->exclusive),
            .recursive = nytprof_to_seconds(&w->ticks, edge->recursive),
        };
        if (!edge->is_outermost) {
            call.fid = w->graph.fid_of_function[edge->caller];
            call.line = edge->line > MAX_LINE ? 0 : edge->line;
            call.caller = nytprof_sub_label(&w->labels, edge->caller);
        }
        nytprof_encode_call(w->encoder, &call);
    }
}

/* ---- a thread ---------------------------------------------------------------------------------
 */

/* Finds or makes the row of the line of a leaf; the empty stack has none, but a time. */
static bool find_line(struct writer *w, bool has_leaf, uint32_t frame, uint32_t *row_plus_one)
{
    const struct profile_frame *leaf = &w->profile->frames[frame];
    uint32_t fid = has_leaf ? w->graph.fid_of_function[leaf->function] : 1;
    uint32_t line = !has_leaf || leaf->line > MAX_LINE ? 0 : leaf->line;
    uint32_t row = nytprof_map_find(&w->line_rows, fid, line);
    if (row == UINT32_MAX) {
        row = (uint32_t)w->lines.n;
        struct line_sum *sum = array_push(&w->lines);
        if (sum == NULL || !nytprof_map_set(&w->line_rows, fid, line, row))
            return false;
        sum->fid = fid;
        sum->line = line;
    }
    *row_plus_one = row + 1;
    return true;
}

/* One record of time for each sample, at the line of its leaf. */
static bool write_times(struct writer *w, size_t first, size_t end)
{
    const struct profile *profile = w->profile;
    for (size_t i = first; i < end; i++) {
        if (nytprof_is_idle(&w->graph, i))
            continue;
        uint32_t stack = profile->samples[i].stack;
        uint32_t frame = profile->stacks[stack].frame;
        uint32_t *row_plus_one = &w->line_of_frame[stack == 0 ? profile->n_frames : frame];
        if (*row_plus_one == 0 && !find_line(w, stack != 0, frame, row_plus_one))
            return false;
        struct line_sum *sum = (struct line_sum *)w->lines.items + (*row_plus_one - 1);
        sum->weight = nytprof_add(sum->weight, nytprof_weight(&w->graph, i));
        uint64_t n_ticks = nytprof_to_ticks(&w->ticks, sum->weight);
        nytprof_encode_time(w->encoder, n_ticks - sum->n_ticks, sum->fid, sum->line);
        sum->n_ticks = n_ticks;
    }
    return true;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The nodes of the thread's stacks, children before parents, and what they weigh themselves. */
static bool collect_nodes(struct writer *w, size_t first, size_t end)
{
    const struct nytprof_node *nodes = w->graph.nodes.items;
    w->touched.n = 0;
    for (size_t i = first; i < end; i++) {
        if (nytprof_is_idle(&w->graph, i))
            continue;
        uint32_t node = w->graph.node_of_stack[w->profile->samples[i].stack];
        w->self[node] = nytprof_add(w->self[node], nytprof_weight(&w->graph, i));
        while (!w->is_touched[node]) {
            uint64_t *entry = array_push(&w->touched);
            if (entry == NULL)
                return false;
            *entry = (uint64_t)nodes[node].rank << 32 | node;
            w->is_touched[node] = true;
            node = nodes[node].parent;
        }
    }
    if (w->touched.n > 1)
        qsort(w->touched.items, w->touched.n, sizeof(uint64_t), compare_u64);
    return true;
}

/* A return that only our reader sees: of a node too deep for Perl's tools, of the empty stack. */
static bool write_hidden_return(struct writer *w, uint32_t at, struct err *err)
{
    const struct nytprof_node *node = array_at(&w->graph.nodes, at);
    uint64_t numbers[] = {node->depth, w->self[at]};
    struct text name = {.bytes = ""};
    if (at != 0)
        name = nytprof_sub_label(&w->labels, node->function);
    return nytprof_encode_ours(w->encoder, "return", numbers, 2, &name, err);
}

static bool write_return(struct writer *w, uint32_t at, struct err *err)
{
    const struct nytprof_node *node = array_at(&w->graph.nodes, at);
    uint64_t own_ticks =
        nytprof_carry_ticks(&w->ticks, &w->function_sums[node->function], w->self[at]);
    uint64_t total_ticks = w->inclusive_ticks[at] + own_ticks;
    w->inclusive_ticks[node->parent] += total_ticks;
    if (!w->has_calls || at == 0 || node->depth > MAX_DEPTH) {
        w->n_hidden_ticks[node->parent] += own_ticks + w->n_hidden_ticks[at];
        return (at == 0 && w->self[at] == 0) || write_hidden_return(w, at, err);
    }
    uint64_t shown_ticks = own_ticks + w->n_hidden_ticks[at];
    if (nytprof_from_ticks(&w->ticks, shown_ticks) != w->self[at] &&
        !nytprof_encode_ours(w->encoder, "self", &w->self[at], 1, NULL, err))
        return false;
    nytprof_encode_return(w->encoder, node->depth, total_ticks, shown_ticks,
                          nytprof_sub_label(&w->labels, node->function));
    return true;
}

static bool write_calls(struct writer *w, size_t first, size_t end, struct err *err)
{
    if (!collect_nodes(w, first, end))
        return err_fail_memory(err);
    bool ok = true;
    for (size_t i = 0; ok && i < w->touched.n; i++)
        ok = write_return(w, (uint32_t) * (uint64_t *)array_at(&w->touched, i), err);
    for (size_t i = 0; i < w->touched.n; i++) {
        uint32_t node = (uint32_t) * (uint64_t *)array_at(&w->touched, i);
        w->self[node] = 0;
        w->inclusive_ticks[node] = 0;
        w->n_hidden_ticks[node] = 0;
        w->is_touched[node] = false;
    }
    return ok;
}

/* ---- sections ---------------------------------------------------------------------------------
 */

/* One thread's `P` ... `p`. */
struct section {
    uint32_t thread;
    size_t first; /* sample */
    size_t end;
    uint32_t pid; /* of the thread */
    uint32_t ppid;
    double start; /* seconds since the epoch */
    double stop;
};

static struct section make_section(const struct writer *w, size_t first)
{
    const struct profile *profile = w->profile;
    struct section section = {.first = first, .end = first, .pid = 1};
    uint64_t weight = 0;
    if (first < profile->n_samples)
        section.thread = profile->samples[first].thread;
    while (section.end < profile->n_samples &&
           profile->samples[section.end].thread == section.thread)
        weight = nytprof_add(weight, nytprof_weight(&w->graph, section.end++));
    const struct profile_thread *thread = &profile->threads[section.thread];
    const struct profile_process *process = &profile->processes[thread->process];
    if (thread->tid != 0)
        section.pid = (uint32_t)thread->tid;
    else if (process->pid != 0)
        section.pid = (uint32_t)process->pid;
    section.ppid = (uint32_t)(section.pid == process->pid ? process->ppid : process->pid);
    section.start = (double)profile->start_realtime_ns / 1e9 + (double)thread->start_ns / 1e9;
    /* The tools divide by the duration, and complain when the difference of the two times, which
     * are doubles, comes out less than the time of the samples. */
    double seconds = nytprof_to_seconds(&w->ticks, weight) * (1 + 1e-12) + 1e-6;
    if (thread->end_ns > thread->start_ns)
        seconds = fmax(seconds, (double)(thread->end_ns - thread->start_ns) / 1e9);
    section.stop = section.start + fmax(seconds, 1e-5);
    while (section.stop - section.start < seconds)
        section.stop = nextafter(section.stop, INFINITY);
    return section;
}

static bool write_section(struct writer *w, const struct section *section, struct err *err)
{
    uint64_t thread = section->thread;
    nytprof_encode_process_start(w->encoder, section->pid, section->ppid, section->start);
    if (!nytprof_encode_ours(w->encoder, "section", &thread, 1, NULL, err) ||
        (section->first == 0 && !write_files(w, err)))
        return false;
    if (!write_times(w, section->first, section->end))
        return err_fail_memory(err);
    if (!write_calls(w, section->first, section->end, err))
        return false;
    if (section->end == w->profile->n_samples) {
        write_source(w);
        if (!write_subs(w, err))
            return false;
        write_edges(w);
    }
    nytprof_encode_process_end(w->encoder, section->pid, section->stop);
    return true;
}

static bool write_sections(struct writer *w, struct err *err)
{
    size_t first = 0;
    do {
        struct section section = make_section(w, first);
        if (!write_section(w, &section, err))
            return false;
        first = section.end;
    } while (first < w->profile->n_samples);
    return true;
}

/* ---- all --------------------------------------------------------------------------------------
 */

static void note_losses(const struct writer *w, const struct format_notes *notes)
{
    const struct profile *profile = w->profile;
    if (w->graph.n_idle != 0)
        format_note(notes, "nytprof: %" PRIu64 " idle samples are left out", w->graph.n_idle);
    if (w->ticks.unit != PROFILE_UNIT_NS)
        format_note(notes, "nytprof: its tools show times only: one unit of weight as %g s",
                    nytprof_to_seconds(&w->ticks, 1));
    if (w->ticks.per_second < 10000000 && profile->n_samples != 0)
        format_note(notes, "nytprof: times are too long for ticks of 100 ns; one is %g s",
                    1.0 / (double)w->ticks.per_second);
}

/* Whether there is anything to see in a tree of calls; a flame graph of nothing is an error to the
 * tools. */
static bool has_stacks(const struct writer *w)
{
    for (size_t i = 0; i < w->profile->n_samples; i++) {
        if (w->profile->samples[i].stack != 0 &&
            nytprof_to_ticks(&w->ticks, nytprof_weight(&w->graph, i)) != 0)
            return true;
    }
    return false;
}

static bool writer_init(struct writer *w, struct sink *out, struct err *err)
{
    array_init(&w->lines, sizeof(struct line_sum));
    array_init(&w->touched, sizeof(uint64_t));
    if (!nytprof_graph_init(&w->graph, w->profile, err) ||
        !nytprof_labels_init(&w->labels, &w->graph, err))
        return false;
    struct arena *arena = w->graph.arena;
    size_t n_nodes = w->graph.nodes.n;
    w->line_of_frame = arena_array(arena, (size_t)w->profile->n_frames + 1, sizeof(uint32_t));
    w->function_sums = arena_array(arena, w->profile->n_functions, sizeof(uint64_t));
    w->self = arena_array(arena, n_nodes, sizeof(uint64_t));
    w->inclusive_ticks = arena_array(arena, n_nodes, sizeof(uint64_t));
    w->n_hidden_ticks = arena_array(arena, n_nodes, sizeof(uint64_t));
    w->is_touched = arena_array(arena, n_nodes, sizeof(bool));
    if (w->line_of_frame == NULL || w->function_sums == NULL || w->self == NULL ||
        w->inclusive_ticks == NULL || w->n_hidden_ticks == NULL || w->is_touched == NULL)
        return err_fail_memory(err);
    w->ticks = nytprof_ticks_make(&w->graph);
    w->has_calls = has_stacks(w);
    return nytprof_encoder_create(out, &w->encoder, err);
}

static void writer_deinit(struct writer *w)
{
    nytprof_encoder_destroy(w->encoder);
    nytprof_labels_deinit(&w->labels);
    nytprof_graph_deinit(&w->graph);
    nytprof_map_deinit(&w->line_rows);
    array_deinit(&w->lines);
    array_deinit(&w->touched);
}

static bool write_samples(const struct profile *profile, bool is_plain,
                          const struct format_notes *notes, struct sink *out, struct err *err)
{
    struct writer w = {.profile = profile};
    bool ok =
        writer_init(&w, out, err) && write_header(&w, is_plain, err) && write_sections(&w, err);
    if (ok) {
        nytprof_encode_finish(w.encoder);
        note_losses(&w, notes);
    }
    writer_deinit(&w);
    return ok;
}

bool nytprof_write_real(const struct profile *profile, const struct format_options *options,
                        const struct format_notes *notes, struct sink *out, struct err *err)
{
    bool is_plain = options != NULL && options->no_compression;
    if (profile->n_samples != 0 || profile->n_spans <= 1)
        return write_samples(profile, is_plain, notes, out, err);
    struct profile *samples;
    if (!profile_spans_to_samples(profile, &samples, err))
        return false;
    bool ok = write_samples(samples, is_plain, notes, out, err);
    profile_destroy(samples);
    return ok;
}
