/* write.c - a profile in the chunked NYTProf dialect, in its one plain layout:
 * banner, blank line, chunks P S D C E. What stands in them: docs/formats/nytprof-chunked.md. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/chunked/chunked.h"
#include "formats/nytprof/graph.h"
#include "formats/nytprof/name.h"
#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/ticks.h"
#include "model/convert.h"

#define ROW_BYTES 28U
#define MAX_ROWS (((size_t)1 << 28) / ROW_BYTES) /* in a chunk: its length has 32 bits */

struct writer {
    struct sink *out;
    struct nytprof_graph graph;
    struct nytprof_ticks ticks;
    struct chars buffer;
};

/* ---- banner ---- */

static struct text program_name(const struct profile *profile)
{
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        struct text name = profile_text(profile, profile->processes[i].name);
        if (name.length != 0)
            return name;
    }
    return text_make("unknown");
}

static void write_banner(struct writer *w)
{
    const struct profile *profile = w->graph.profile;
    struct sink *out = w->out;
    w->buffer.n = 0;
    nytprof_append_plain(&w->buffer, program_name(profile));
    sink_text(out, "NYTProf 5 0\n# Native profile written by Sampler\n:basetime=");
    sink_u64(out, profile->start_realtime_ns / 1000000000U);
    sink_text(out, "\n:application=");
    sink_write(out, w->buffer.items, w->buffer.n);
    sink_text(out, "\n:nv_size=8\n:ticks_per_sec=");
    sink_u64(out, w->ticks.per_second);
    sink_text(out, "\n!subs=1\n!stmts=1\n!calls=1\n!compress=0\n\n");
}

/* ---- chunks ---- */

static void begin_chunk(struct writer *w, char tag, size_t n_payload)
{
    sink_u8(w->out, (uint8_t)tag);
    sink_u32le(w->out, (uint32_t)n_payload);
}

static void write_process(struct writer *w)
{
    const struct profile *profile = w->graph.profile;
    uint32_t first = profile->n_processes > 1 ? 1 : 0;
    begin_chunk(w, 'P', 16);
    sink_u64le(w->out, profile->start_realtime_ns / 1000);
    sink_u32le(w->out, (uint32_t)profile->processes[first].pid);
    sink_u32le(w->out, (uint32_t)profile->processes[first].ppid);
}

static uint32_t cut_count(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static size_t rows_in_chunk(size_t n_left)
{
    return n_left < MAX_ROWS ? n_left : MAX_ROWS;
}

/* The file of `main` is number 0 here. */
static void write_lines(struct writer *w)
{
    const struct nytprof_graph_lines *lines = &w->graph.lines;
    size_t in_chunk = 0;
    for (size_t i = 0; i < lines->n; i++, in_chunk--) {
        const struct nytprof_graph_line *line = &lines->items[i];
        if (in_chunk == 0) {
            in_chunk = rows_in_chunk(lines->n - i);
            begin_chunk(w, 'S', in_chunk * ROW_BYTES);
        }
        sink_u32le(w->out, line->fid - 1);
        sink_u32le(w->out, line->line);
        sink_u32le(w->out, cut_count(line->n_samples));
        sink_u64le(w->out, nytprof_to_ticks(&w->ticks, line->inclusive));
        sink_u64le(w->out, nytprof_to_ticks(&w->ticks, line->exclusive));
    }
    if (lines->n == 0)
        begin_chunk(w, 'S', 0);
}

/* Names are cleaned of control characters, by which readers know the layout. */
static void clean_name(struct writer *w, uint32_t function)
{
    const struct profile *profile = w->graph.profile;
    struct text name = profile_text(profile, profile->functions[function].name);
    w->buffer.n = 0;
    nytprof_append_plain(&w->buffer, name.length != 0 ? name : text_make("??"));
}

/* sid 0 is NYTPROF_CHUNKED_ROOT, the others are functions + 1. */
static bool write_subs(struct writer *w, struct err *err)
{
    const struct profile *profile = w->graph.profile;
    size_t n_payload = 2 * sizeof(uint32_t) + sizeof NYTPROF_CHUNKED_ROOT;
    for (uint32_t i = 0; i < profile->n_functions; i++) {
        if (w->graph.fid_of_function[i] == 0)
            continue;
        struct text name = profile_text(profile, profile->functions[i].name);
        n_payload += 2 * sizeof(uint32_t) + (name.length != 0 ? name.length : 2) + 1;
    }
    if (n_payload > UINT32_MAX)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                        "nytprof-chunked cannot hold names of 4 GiB in all");
    begin_chunk(w, 'D', n_payload);
    sink_u32le(w->out, 0);
    sink_u32le(w->out, 0);
    sink_write(w->out, NYTPROF_CHUNKED_ROOT, sizeof NYTPROF_CHUNKED_ROOT);
    for (uint32_t i = 0; i < profile->n_functions; i++) {
        if (w->graph.fid_of_function[i] == 0)
            continue;
        clean_name(w, i);
        sink_u32le(w->out, i + 1);
        sink_u32le(w->out, 0);
        sink_write(w->out, w->buffer.items, w->buffer.n);
        sink_u8(w->out, 0);
    }
    return true;
}

/* An edge of any line of the caller. */
struct call {
    uint32_t caller; /* sid */
    uint32_t called; /* sid */
    uint64_t n_samples;
    uint64_t inclusive;
    uint64_t exclusive;
};

VECTOR_DEFINE(calls, struct call)

static bool merge_edges(const struct nytprof_graph *graph, struct map *rows, struct calls *calls)
{
    for (size_t i = 0; i < graph->edges.n; i++) {
        const struct nytprof_graph_edge *edge = &graph->edges.items[i];
        uint32_t caller = edge->is_outermost ? 0 : edge->caller + 1;
        uint32_t row = map_add(rows, caller, edge->called, (uint32_t)calls->n);
        if (row == calls->n)
            calls_push(calls, (struct call){.caller = caller, .called = edge->called + 1});
        if (row >= calls->n)
            return false;
        struct call *call = &calls->items[row];
        call->n_samples = add_saturated(call->n_samples, edge->n_samples);
        call->inclusive = add_saturated(call->inclusive, edge->inclusive);
        call->exclusive = add_saturated(call->exclusive, edge->exclusive);
    }
    return true;
}

/* What is less than a tick is carried along from edge to edge of a sub: its self time is cut off
 * once. */
static bool write_calls(struct writer *w)
{
    struct map rows = {0};
    struct calls calls = {0};
    uint64_t *sums = calloc((size_t)w->graph.profile->n_functions + 1, sizeof *sums);
    bool ok = sums != NULL && merge_edges(&w->graph, &rows, &calls);
    size_t in_chunk = 0;
    for (size_t i = 0; ok && i < calls.n; i++, in_chunk--) {
        const struct call *call = &calls.items[i];
        if (in_chunk == 0) {
            in_chunk = rows_in_chunk(calls.n - i);
            begin_chunk(w, 'C', in_chunk * ROW_BYTES);
        }
        sink_u32le(w->out, call->caller);
        sink_u32le(w->out, call->called);
        sink_u32le(w->out, cut_count(call->n_samples));
        sink_u64le(w->out, nytprof_to_ticks(&w->ticks, call->inclusive));
        sink_u64le(w->out, nytprof_carry_ticks(&w->ticks, &sums[call->called], call->exclusive));
    }
    if (calls.n == 0)
        begin_chunk(w, 'C', 0);
    free(sums);
    map_deinit(&rows);
    calls_deinit(&calls);
    return ok;
}

static bool write_samples(const struct profile *profile, const struct format_notes *notes,
                          struct sink *out, struct err *err)
{
    struct writer w = {.out = out};
    bool ok = nytprof_graph_init(&w.graph, profile, err);
    if (ok) {
        w.ticks = nytprof_ticks_make(&w.graph);
        write_banner(&w);
        write_process(&w);
        write_lines(&w);
        ok = write_subs(&w, err) &&
             ((write_calls(&w) && !w.buffer.no_memory) || err_fail_memory(err));
        begin_chunk(&w, 'E', 0);
    }
    if (ok && w.graph.n_idle != 0)
        format_note(notes, "nytprof-chunked: %" PRIu64 " idle samples are left out",
                    w.graph.n_idle);
    if (ok && profile->n_samples != 0)
        format_note(notes, "nytprof-chunked: stacks are kept as pairs of caller and called, of all "
                           "threads together");
    nytprof_graph_deinit(&w.graph);
    chars_deinit(&w.buffer);
    return ok;
}

bool nytprof_write_chunked(const struct profile *profile, const struct format_notes *notes,
                           struct sink *out, struct err *err)
{
    struct profile *made;
    const struct profile *samples;
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              write_samples(samples, notes, out, err);
    profile_destroy(made);
    return ok;
}
