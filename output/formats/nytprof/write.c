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

#include "formats/nytprof/collect.h"
#include "formats/nytprof/encode.h"
#include "formats/nytprof/labels.h"
#include "formats/nytprof/name.h"
#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/ticks.h"
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

VECTOR_DEFINE(line_sums, struct line_sum)
VECTOR_DEFINE(ranked_nodes, uint64_t)

struct writer {
    const struct profile *profile;
    struct nytprof_encoder *encoder;
    struct nytprof_graph graph;
    struct nytprof_labels labels;
    struct nytprof_ticks ticks;
    struct map line_rows; /* (fid, line)                                           */
    struct line_sums lines;
    uint32_t *line_of_frame;     /* row of lines + 1; behind the last frame no stack's    */
    uint64_t *function_sums;     /* by function: the same of calls                        */
    uint64_t *self;              /* by node, of the thread at hand                        */
    uint64_t *inclusive_ticks;   /* by node, the same                                     */
    uint64_t *n_hidden_ticks;    /* by node: own ticks of nodes below MAX_DEPTH under it  */
    bool *is_touched;            /* by node                                               */
    struct ranked_nodes touched; /* rank << 32 | node                                     */
    bool has_calls;
    bool has_deep_calls;      /* some are below MAX_DEPTH                              */
    uint64_t n_without_stack; /* samples                                               */
};

/* ---- header ---- */

static struct text metadata_text(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->n_metadata; i++) {
        if (text_is(profile_text(profile, profile->metadata[i].key), key))
            return profile_text(profile, profile->metadata[i].value);
    }
    return text_make("");
}

static struct text application(const struct profile *profile)
{
    struct text command = metadata_text(profile, "command");
    for (uint32_t i = 1; i < profile->n_processes && command.length == 0; i++)
        command = profile_text(profile, profile->processes[i].name);
    return command.length != 0 ? command : text_make(NYTPROF_NO_COMMAND);
}

static void write_comment(struct writer *w, const char *text)
{
    nytprof_encode(w->encoder,
                   &(struct nytprof_record){.tag = NYTPROF_COMMENT, .text = text_make(text)});
}

static bool write_header(struct writer *w, bool is_plain, struct err *err)
{
    struct nytprof_encoder *encoder = w->encoder;
    const struct nytprof_record program = {.tag = NYTPROF_ATTRIBUTE,
                                           .text = text_make("application"),
                                           .other = application(w->profile)};
    const struct {
        enum nytprof_tag tag;
        const char *key;
        uint64_t value;
    } settings[] = {
        {NYTPROF_ATTRIBUTE, "nv_size", sizeof(double)},
        {NYTPROF_ATTRIBUTE, "clock_id", 1}, /* CLOCK_MONOTONIC */
        {NYTPROF_ATTRIBUTE, "ticks_per_sec", w->ticks.per_second},
        {NYTPROF_ATTRIBUTE, "cumulative_overhead_ticks", 0},
        {NYTPROF_OPTION, "calls", w->has_calls},
    };
    write_comment(w, " Native profile written by Sampler");
    write_comment(w, NYTPROF_MARK_NAMES);
    nytprof_encode_setting(encoder, NYTPROF_ATTRIBUTE, "basetime",
                           w->profile->start_realtime_ns / 1000000000U);
    nytprof_encode(encoder, &program);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        nytprof_encode_setting(encoder, settings[i].tag, settings[i].key, settings[i].value);
    return is_plain || nytprof_encode_compressed(encoder, err);
}

/* ---- files, subs, edges ---- */

static void write_files(struct writer *w)
{
    struct nytprof_record record = {.tag = NYTPROF_FILE,
                                    .fid = 1,
                                    .flags = FLAGS_OF_OBJECT,
                                    .text = text_make(NYTPROF_NO_FILE)};
    if (w->graph.files.n == 0)
        nytprof_encode(w->encoder, &record);
    for (uint32_t fid = 1; fid <= w->graph.files.n; fid++) {
        record.fid = fid;
        record.flags = w->graph.files.items[fid - 1].file != 0 ? FLAGS_OF_SOURCE : FLAGS_OF_OBJECT;
        record.text = nytprof_file_label(&w->labels, fid);
        nytprof_encode(w->encoder, &record);
    }
}

/* A file without any source line would be opened by the tools, whatever lies there by then. */
static void write_source(struct writer *w)
{
    struct nytprof_record record = {.tag = NYTPROF_SOURCE,
                                    .line = 1,
                                    .text = text_make("(the source text is not in this file)\n")};
    uint32_t n_files = w->graph.files.n == 0 ? 1 : (uint32_t)w->graph.files.n;
    for (record.fid = 1; record.fid <= n_files; record.fid++)
        nytprof_encode(w->encoder, &record);
}

/* Whether a label is the function's own name, which reading it as one of name.h would spoil: `main::work` of a Perl
 * program is not the function `work`. */
static bool is_whole(const struct writer *w, uint32_t function, struct chars *buffer)
{
    struct text name = profile_text(w->profile, w->profile->functions[function].name);
    struct text bare = nytprof_name_bare(nytprof_sub_label(&w->labels, function));
    buffer->n = 0;
    nytprof_name_decode(bare, buffer);
    return text_equal(bare, name) &&
           !text_equal(name, (struct text){.bytes = buffer->items, .length = buffer->n});
}

static bool write_subs(struct writer *w)
{
    struct chars buffer = {0};
    struct nytprof_record record = {.tag = NYTPROF_SUB,
                                    .fid = 1,
                                    .text = text_make(NYTPROF_ROOT_SUB),
                                    .line = 1,
                                    .last_line = 1};
    nytprof_encode(w->encoder, &record);
    for (uint32_t i = 0; i < w->profile->n_functions; i++) {
        const struct profile_function *function = &w->profile->functions[i];
        record.fid = w->graph.fid_of_function[i];
        if (record.fid == 0)
            continue;
        if (is_whole(w, i, &buffer))
            write_comment(w, NYTPROF_MARK_WHOLE);
        /* The last line is not known. What samples show of it would differ from process to process,
         * and nytprofmerge would take one function for several. */
        record.line = function->line > MAX_LINE || function->file == 0 ? 0 : function->line;
        record.last_line = record.line;
        record.text = nytprof_sub_label(&w->labels, i);
        nytprof_encode(w->encoder, &record);
    }
    bool ok = !buffer.no_memory;
    chars_deinit(&buffer);
    return ok;
}

static void write_edges(struct writer *w)
{
    for (size_t i = 0; i < w->graph.edges.n; i++) {
        const struct nytprof_graph_edge *edge = &w->graph.edges.items[i];
        struct nytprof_record record = {
            .tag = NYTPROF_EDGE,
            .fid = 1,
            .other = text_make(NYTPROF_ROOT_SUB),
            .text = nytprof_sub_label(&w->labels, edge->called),
            .count = edge->n_samples > UINT32_MAX ? UINT32_MAX : (uint32_t)edge->n_samples,
            .depth = edge->depth,
            .inclusive = nytprof_to_seconds(&w->ticks, edge->inclusive),
            .exclusive = nytprof_to_seconds(&w->ticks, edge->exclusive),
            .recursive = nytprof_to_seconds(&w->ticks, edge->recursive),
        };
        if (!edge->is_outermost) {
            record.fid = w->graph.fid_of_function[edge->caller];
            record.line = edge->line > MAX_LINE ? 0 : edge->line;
            record.other = nytprof_sub_label(&w->labels, edge->caller);
        }
        nytprof_encode(w->encoder, &record);
    }
}

/* ---- a thread ---- */

/* Finds or makes the row of the line of a leaf; the empty stack has none, but a time. */
static bool find_line(struct writer *w, bool has_leaf, uint32_t frame, uint32_t *row_plus_one)
{
    const struct profile_frame *leaf = &w->profile->frames[frame];
    uint32_t fid = has_leaf ? w->graph.fid_of_function[leaf->function] : 1;
    uint32_t line = has_leaf ? profile_frame_line_in_file(leaf) : 0;
    line = line > MAX_LINE ? 0 : line;
    uint32_t row = map_add(&w->line_rows, fid, line, (uint32_t)w->lines.n);
    if (row == w->lines.n)
        line_sums_push(&w->lines, (struct line_sum){.fid = fid, .line = line});
    *row_plus_one = row + 1;
    return row < w->lines.n;
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
        struct line_sum *sum = &w->lines.items[*row_plus_one - 1];
        sum->weight = add_saturated(sum->weight, nytprof_weight(&w->graph, i));
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
        w->n_without_stack += node == 0;
        w->self[node] = add_saturated(w->self[node], nytprof_weight(&w->graph, i));
        for (; !w->is_touched[node]; node = nodes[node].parent) {
            ranked_nodes_push(&w->touched, (uint64_t)nodes[node].rank << 32 | node);
            w->is_touched[node] = true;
        }
    }
    if (w->touched.n > 1)
        qsort(w->touched.items, w->touched.n, sizeof(uint64_t), compare_u64);
    return !w->touched.no_memory;
}

/* Of the empty stack there is none; those below MAX_DEPTH are part of the one there. */
static void write_return(struct writer *w, uint32_t at)
{
    const struct nytprof_node *node = &w->graph.nodes.items[at];
    uint64_t own_ticks =
        nytprof_carry_ticks(&w->ticks, &w->function_sums[node->function], w->self[at]);
    uint64_t total_ticks = w->inclusive_ticks[at] + own_ticks;
    uint64_t shown_ticks = own_ticks + w->n_hidden_ticks[at];
    w->inclusive_ticks[node->parent] += total_ticks;
    if (!w->has_calls || at == 0)
        return;
    if (node->depth > MAX_DEPTH) {
        w->n_hidden_ticks[node->parent] += shown_ticks;
        w->has_deep_calls = true;
        return;
    }
    nytprof_encode(w->encoder,
                   &(struct nytprof_record){.tag = NYTPROF_RETURN,
                                            .depth = node->depth,
                                            .inclusive = (double)total_ticks,
                                            .exclusive = (double)shown_ticks,
                                            .text = nytprof_sub_label(&w->labels, node->function)});
}

static bool write_calls(struct writer *w, size_t first, size_t end)
{
    if (!collect_nodes(w, first, end))
        return false;
    for (size_t i = 0; i < w->touched.n; i++)
        write_return(w, (uint32_t)w->touched.items[i]);
    for (size_t i = 0; i < w->touched.n; i++) {
        uint32_t node = (uint32_t)w->touched.items[i];
        w->self[node] = 0;
        w->inclusive_ticks[node] = 0;
        w->n_hidden_ticks[node] = 0;
        w->is_touched[node] = false;
    }
    return true;
}

/* ---- sections ---- */

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

/* In seconds since the epoch; whole seconds and the rest apart, as a time of today in ns has more bits than a double,
 * and rounding twice would move it each time a file is read and written again. */
static double epoch_seconds(uint64_t ns)
{
    uint64_t whole_s = ns / 1000000000U;
    return (double)whole_s + (double)(ns % 1000000000U) / 1e9;
}

static struct section make_section(const struct writer *w, size_t first)
{
    const struct profile *profile = w->profile;
    struct section section = {.first = first, .end = first, .pid = 1};
    uint64_t weight = 0;
    if (first < profile->n_samples)
        section.thread = profile->samples[first].thread;
    while (section.end < profile->n_samples &&
           profile->samples[section.end].thread == section.thread)
        weight = add_saturated(weight, nytprof_weight(&w->graph, section.end++));
    const struct profile_thread *thread = &profile->threads[section.thread];
    const struct profile_process *process = &profile->processes[thread->process];
    if (thread->tid != 0)
        section.pid = (uint32_t)thread->tid;
    else if (process->pid != 0)
        section.pid = (uint32_t)process->pid;
    section.ppid = (uint32_t)(section.pid == process->pid ? process->ppid : process->pid);
    section.start = epoch_seconds(add_saturated(profile->start_realtime_ns, thread->start_ns));
    /* The tools divide by the duration, and complain when the difference of the two times, which
     * are doubles, comes out less than the time of the samples. */
    double least = nytprof_to_seconds(&w->ticks, weight) * (1 + 1e-12) + 1e-6;
    double seconds = fmax(least, 1e-5);
    if (thread->end_ns > thread->start_ns)
        seconds = fmax(seconds, (double)(thread->end_ns - thread->start_ns) / 1e9);
    section.stop = section.start + seconds;
    while (section.stop - section.start < least)
        section.stop = nextafter(section.stop, INFINITY);
    return section;
}

static bool write_section(struct writer *w, const struct section *section)
{
    nytprof_encode(w->encoder, &(struct nytprof_record){.tag = NYTPROF_PROCESS_START,
                                                        .pid = section->pid,
                                                        .ppid = section->ppid,
                                                        .time = section->start});
    if (section->first == 0)
        write_files(w);
    if (!write_times(w, section->first, section->end) ||
        !write_calls(w, section->first, section->end))
        return false;
    if (section->end == w->profile->n_samples) {
        write_source(w);
        if (!write_subs(w))
            return false;
        write_edges(w);
    }
    nytprof_encode(w->encoder, &(struct nytprof_record){.tag = NYTPROF_PROCESS_END,
                                                        .pid = section->pid,
                                                        .time = section->stop});
    return true;
}

static bool write_sections(struct writer *w, struct err *err)
{
    size_t first = 0;
    do {
        struct section section = make_section(w, first);
        if (!write_section(w, &section))
            return err_fail_memory(err);
        first = section.end;
    } while (first < w->profile->n_samples);
    return true;
}

/* ---- all ---- */

static void note_losses(const struct writer *w, const struct format_notes *notes)
{
    const struct profile *profile = w->profile;
    if (w->graph.n_idle != 0)
        format_note(notes, "nytprof: %" PRIu64 " idle samples are left out", w->graph.n_idle);
    if (w->ticks.unit != PROFILE_UNIT_NS)
        format_note(notes, "nytprof: its tools show times only: one unit of weight as %g s",
                    nytprof_to_seconds(&w->ticks, 1));
    if (w->has_deep_calls)
        format_note(notes, "nytprof: calls deeper than %u are shown as part of that one",
                    MAX_DEPTH);
    if (w->n_without_stack != 0)
        format_note(notes,
                    "nytprof: %" PRIu64 " samples without a stack are in the times of lines only",
                    w->n_without_stack);
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
    map_deinit(&w->line_rows);
    line_sums_deinit(&w->lines);
    ranked_nodes_deinit(&w->touched);
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
    struct profile *made;
    const struct profile *samples;
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              write_samples(samples, is_plain, notes, out, err);
    profile_destroy(made);
    return ok;
}
