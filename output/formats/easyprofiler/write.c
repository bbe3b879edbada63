/* write.c - a profile as a .prof file of version 2.1.0.
 *
 *   spans (or samples joined to spans) -> span_closed, innermost first -> blocks
 *   instants, merged in by time                                        -> events and values
 *
 * Twice: once counting (totals, descriptors), once writing. Blocks are stored when they end, so a
 * closing span can be written at once, and the number of levels below it is known by then.
 *
 * EasyProfiler rebuilds the tree from the order alone and refuses more than 255 levels. A deep
 * chain keeps its OUTER_LEVELS outermost and INNER_LEVELS innermost spans, with one block
 * between that stands for the rest. Spans that cross each other come out as chains there too, so
 * the levels its reader will find are counted along (formats/easyprofiler/levels.h), whatever
 * the profile says. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/easyprofiler/descriptors.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "formats/easyprofiler/levels.h"
#include "model/convert.h"
#include "number.h"
#include "sink.h"

enum {
    OUTER_LEVELS = 127,
    INNER_LEVELS = 127, /* and one for the block between */
    MAX_BOOKMARKS = 65535,
    MAX_SHOWN_THREADS = 255,
};

struct counts {
    uint64_t n_switches;
    uint64_t n_blocks;
};

struct writer {
    const struct profile *profile;
    struct easyprofiler_records records;
    bool from_samples;
    bool has_several_processes;
    bool failed; /* out of memory, in one of the visitor's calls */

    struct easyprofiler_descriptors descriptors;
    struct counts *counts; /* by thread                                       */
    uint64_t *tids;        /* by thread                                       */
    size_t *instants;      /* indexes, by (thread, time)                      */
    size_t *off_cpus;      /* indexes, by (thread, begin)                     */
    uint64_t last_ns;      /* the end of all                                  */
    uint64_t n_changed_tids;

    /* Of the pass. */
    uint32_t thread;
    size_t next_instant;
    size_t next_off_cpu;
    struct easyprofiler_levels levels;
    uint64_t n_omitted;
    uint64_t n_bad_switches;
};

/* ---- texts, times, ids ---------------------------------------------------------------------- */

static uint64_t file_time(const struct writer *w, uint64_t time_ns)
{
    uint64_t sum;
    return __builtin_add_overflow(w->profile->start_time_ns, time_ns, &sum) ? UINT64_MAX : sum;
}

static uint64_t file_end(struct writer *w, uint64_t time_ns)
{
    uint64_t end_ns = file_time(w, time_ns);
    if (end_ns > w->last_ns)
        w->last_ns = end_ns;
    return end_ns;
}

static int compare_tids(const void *left, const void *right)
{
    return compare_u64(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Each thread needs an id of its own, and 0 means "none" to the viewer. The first with an id keeps
 * it, the others get the smallest free ones. */
static bool choose_tids(struct writer *w)
{
    uint32_t n = w->profile->n_threads;
    uint64_t *used = calloc(n, sizeof *used);
    bool *is_taken = calloc(n, sizeof *is_taken);
    if (used != NULL && is_taken != NULL) {
        for (uint32_t i = 0; i < n; i++)
            used[i] = w->tids[i] = w->profile->threads[i].tid;
        qsort(used, n, sizeof *used, compare_tids);
        uint64_t free_tid = 1;
        uint32_t at = 0;
        for (uint32_t i = 0; i < n; i++) {
            size_t found = lower_bound_u64(used, n, w->tids[i]);
            if (w->tids[i] != 0 && !is_taken[found]) {
                is_taken[found] = true;
                continue;
            }
            for (; at < n && used[at] <= free_tid; at++)
                free_tid += used[at] == free_tid;
            w->tids[i] = free_tid++;
            w->n_changed_tids += i != 0;
        }
    }
    bool ok = used != NULL && is_taken != NULL;
    free(used);
    free(is_taken);
    return ok;
}

/* ---- records of a thread -------------------------------------------------------------------- */

static void put_block(struct writer *w, uint64_t begin_ns, uint64_t end_ns, uint32_t descriptor)
{
    if (!easyprofiler_levels_admit(&w->levels, &begin_ns, end_ns))
        return;
    easyprofiler_put_block(&w->records, begin_ns, end_ns, descriptor);
    if (w->records.out == NULL)
        w->counts[w->thread].n_blocks++;
}

static void put_instant(struct writer *w, const struct profile_instant *instant)
{
    uint64_t time_ns = file_end(w, instant->time_ns);
    uint32_t function = w->profile->frames[instant->frame].function;
    if (instant->type == PROFILE_VALUE_NONE) {
        put_block(w, time_ns, time_ns,
                  easyprofiler_descriptor_of(&w->descriptors, function, EASYPROFILER_EVENT));
        return;
    }
    uint64_t begin_ns = time_ns;
    if (!easyprofiler_levels_admit(&w->levels, &begin_ns, time_ns))
        return;
    uint32_t text_id = instant->type == PROFILE_VALUE_TEXT ? (uint32_t)instant->value.u64 : 0;
    easyprofiler_put_value(
        &w->records, time_ns,
        easyprofiler_descriptor_of(&w->descriptors, function, EASYPROFILER_VALUE), instant,
        profile_text(w->profile, text_id));
    if (w->records.out == NULL)
        w->counts[w->thread].n_blocks++;
}

/* Events of the current thread before `time_ns`. At one instant the blocks that end come first.
 * Whether any of them was at `begin_ns` or later. */
static bool put_instants_before(struct writer *w, uint64_t begin_ns, uint64_t time_ns)
{
    bool is_inside = false;
    for (; w->next_instant < w->profile->n_instants; w->next_instant++) {
        const struct profile_instant *instant = &w->profile->instants[w->instants[w->next_instant]];
        if (instant->thread != w->thread || instant->time_ns >= time_ns)
            break;
        put_instant(w, instant);
        is_inside = instant->time_ns >= begin_ns;
    }
    return is_inside;
}

/* The viewer looks for switches by bisection: in order, apart from each other, none of no length.
 */
static void put_switches(struct writer *w)
{
    uint64_t free_ns = 0;
    for (; w->next_off_cpu < w->profile->n_off_cpus; w->next_off_cpu++) {
        const struct profile_off_cpu *off_cpu = &w->profile->off_cpus[w->off_cpus[w->next_off_cpu]];
        if (off_cpu->thread != w->thread)
            return;
        uint64_t begin_ns = file_time(w, off_cpu->begin_ns);
        uint64_t end_ns = file_end(w, off_cpu->end_ns);
        w->n_bad_switches += begin_ns < free_ns || begin_ns >= end_ns;
        if (begin_ns < free_ns)
            begin_ns = free_ns;
        if (begin_ns >= end_ns)
            continue;
        easyprofiler_put_switch(&w->records, begin_ns, end_ns, off_cpu->to_tid,
                                profile_text(w->profile, off_cpu->to_process));
        free_ns = end_ns;
        if (w->records.out == NULL)
            w->counts[w->thread].n_switches++;
    }
}

/* Rows of one process id and name count as one process. */
static bool has_several_processes(const struct profile *profile)
{
    const struct profile_process *processes = profile->processes;
    for (uint32_t i = 2; i < profile->n_processes; i++) {
        if (processes[i].pid != processes[1].pid || processes[i].name != processes[1].name)
            return true;
    }
    return false;
}

/* The format knows one process: with several, each thread says to which it belongs. */
static void put_thread_head(struct writer *w)
{
    const struct profile_thread *thread = &w->profile->threads[w->thread];
    const struct profile_process *process = &w->profile->processes[thread->process];
    struct text name = profile_text(w->profile, thread->name);
    struct text process_name = profile_text(w->profile, process->name);
    char *long_name = NULL;
    if (w->has_several_processes && thread->process != 0) {
        size_t room = name.length + process_name.length + 32;
        long_name = malloc(room);
        if (long_name == NULL) {
            w->failed = true;
            return;
        }
        int length =
            snprintf(long_name, room, "%s (%s%s%" PRIu64 ")", name.bytes, process_name.bytes,
                     process_name.length != 0 ? " " : "", process->pid);
        name = (struct text){long_name, (size_t)length};
    }
    easyprofiler_put_thread(&w->records, w->tids[w->thread], name);
    free(long_name);
}

static bool thread_is_written(const struct writer *w, uint32_t thread)
{
    const struct counts *counts = &w->counts[thread];
    return thread != 0 || counts->n_blocks != 0 || counts->n_switches != 0;
}

static void thread_begin(struct writer *w, uint32_t thread)
{
    w->thread = thread;
    easyprofiler_levels_begin(&w->levels);
    bool writes = w->records.out != NULL && thread_is_written(w, thread);
    if (writes) {
        put_thread_head(w);
        sink_u32le(w->records.out, (uint32_t)w->counts[thread].n_switches);
    }
    put_switches(w);
    if (writes)
        sink_u32le(w->records.out, (uint32_t)w->counts[thread].n_blocks);
}

static void thread_end(struct writer *w)
{
    for (; w->next_instant < w->profile->n_instants; w->next_instant++) {
        const struct profile_instant *instant = &w->profile->instants[w->instants[w->next_instant]];
        if (instant->thread != w->thread)
            return;
        put_instant(w, instant);
    }
}

static void threads_advance(struct writer *w, uint32_t thread)
{
    while (w->thread < thread) {
        thread_end(w);
        thread_begin(w, w->thread + 1);
    }
}

/* ---- spans ---------------------------------------------------------------------------------- */

static void span_closed(struct writer *w, uint32_t frame, uint32_t depth, uint64_t begin_ns,
                        uint64_t end_ns)
{
    bool has_event = put_instants_before(w, begin_ns, end_ns);
    uint32_t n_levels;
    if (!easyprofiler_levels_close(&w->levels, depth, has_event, &n_levels)) {
        w->failed = true;
        return;
    }
    uint32_t function = w->profile->frames[frame].function;
    /* One span alone stands for itself. */
    if (depth >= OUTER_LEVELS && n_levels > INNER_LEVELS + (depth == OUTER_LEVELS)) {
        w->n_omitted++;
        if (depth > OUTER_LEVELS)
            return;
        function = EASYPROFILER_OMITTED;
    }
    put_block(w, file_time(w, begin_ns), file_end(w, end_ns),
              easyprofiler_descriptor_of(&w->descriptors, function, EASYPROFILER_BLOCK));
}

/* Two samples at one time: the stack of the first lasted no time, and its blocks would end up
 * anywhere in the tree. */
static void visit_closed(void *context, const struct profile_open_span *span)
{
    struct writer *w = context;
    threads_advance(w, span->thread);
    if (span->end_ns > span->begin_ns)
        span_closed(w, w->profile->stacks[span->stack].frame, span->depth, span->begin_ns,
                    span->end_ns);
}

/* The outermost of the spans that have no length and begin when `id` does, or `id` itself. Such
 * spans lie in each other and have numbers in a row. */
static uint32_t outermost_equal(const struct profile_span *spans, uint32_t id)
{
    while (spans[id].begin_ns == spans[id].end_ns && spans[id].parent == id - 1 && id > 1 &&
           spans[id - 1].begin_ns == spans[id].begin_ns && spans[id - 1].end_ns == spans[id].end_ns)
        id--;
    return id;
}

/* Closes open spans until `outer` is the innermost. `innermost` and its parents are open. Blocks
 * without length are siblings to EasyProfiler: outer ones first, so that they keep their order. */
static void close_until(struct writer *w, uint32_t innermost, uint32_t outer, uint32_t *depth)
{
    const struct profile_span *spans = w->profile->spans;
    for (uint32_t id = innermost; id != outer;) {
        uint32_t first = outermost_equal(spans, id);
        *depth -= id - first + 1;
        for (uint32_t i = first; i <= id; i++)
            span_closed(w, spans[i].frame, *depth, spans[i].begin_ns, spans[i].end_ns);
        id = spans[first].parent;
    }
}

/* Spans come in the order of their begins; the open ones are the previous one and its parents. */
static void visit_spans(struct writer *w)
{
    uint32_t depth = 0;
    for (uint32_t id = 1; id < w->profile->n_spans; id++) {
        const struct profile_span *span = &w->profile->spans[id];
        close_until(w, id - 1, span->parent, &depth);
        threads_advance(w, span->thread);
        depth++;
    }
    if (w->profile->n_spans > 1)
        close_until(w, w->profile->n_spans - 1, 0, &depth);
}

/* One pass over everything in thread sections; without a sink it counts. */
static bool pass(struct writer *w, struct sink *out, struct err *err)
{
    const struct profile_span_visitor visitor = {.closed = visit_closed, .context = w};
    w->records = (struct easyprofiler_records){.out = out};
    w->next_instant = w->next_off_cpu = 0;
    w->n_omitted = w->levels.n_crossing = w->n_bad_switches = 0;
    thread_begin(w, 0);
    if (w->from_samples) {
        if (!profile_visit_spans(w->profile, &visitor, err))
            return false;
    } else {
        visit_spans(w);
    }
    threads_advance(w, w->profile->n_threads - 1);
    thread_end(w);
    return (!w->failed && !w->descriptors.rows.no_memory) || err_fail_memory(err);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int compare_instants(const void *left, const void *right, void *context)
{
    const struct profile_instant *rows = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (rows[a].thread != rows[b].thread)
        return rows[a].thread < rows[b].thread ? -1 : 1;
    if (rows[a].time_ns != rows[b].time_ns)
        return rows[a].time_ns < rows[b].time_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_off_cpus(const void *left, const void *right, void *context)
{
    const struct profile_off_cpu *rows = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (rows[a].thread != rows[b].thread)
        return rows[a].thread < rows[b].thread ? -1 : 1;
    if (rows[a].begin_ns != rows[b].begin_ns)
        return rows[a].begin_ns < rows[b].begin_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_bookmarks(const void *left, const void *right, void *context)
{
    const struct profile_bookmark *rows = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    if (rows[a].time_ns != rows[b].time_ns)
        return rows[a].time_ns < rows[b].time_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Indexes of n rows in the order of `compare`; NULL when out of memory. */
static size_t *sorted_indexes(const void *rows, size_t n,
                              int (*compare)(const void *, const void *, void *))
{
    size_t *indexes = calloc(n != 0 ? n : 1, sizeof *indexes);
    if (indexes == NULL)
        return NULL;
    bool sorted = true;
    union {
        const void *in;
        void *out;
    } context = {.in = rows};
    for (size_t i = 0; i < n; i++) {
        indexes[i] = i;
        sorted = sorted && (i == 0 || compare(&indexes[i - 1], &indexes[i], context.out) < 0);
    }
    if (!sorted)
        qsort_r(indexes, n, sizeof *indexes, compare, context.out);
    return indexes;
}

static void put_bookmarks(struct writer *w, const size_t *order, uint16_t n)
{
    for (uint16_t i = 0; i < n; i++) {
        const struct profile_bookmark *bookmark = &w->profile->bookmarks[order[i]];
        easyprofiler_put_bookmark(&w->records, file_time(w, bookmark->time_ns), bookmark->color,
                                  profile_text(w->profile, bookmark->text));
    }
    if (n != 0)
        sink_u32le(w->records.out, EASYPROFILER_SIGNATURE);
}

/* Fills in what the counting pass found. */
static bool make_header(const struct writer *w, struct easyprofiler_header *header, struct err *err)
{
    uint64_t n_blocks = 0, n_switches = 0;
    header->n_threads = 0;
    for (uint32_t i = 0; i < w->profile->n_threads; i++) {
        n_blocks += w->counts[i].n_blocks;
        n_switches += w->counts[i].n_switches;
        header->n_threads += thread_is_written(w, i);
    }
    if (n_blocks == 0)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                        "an EasyProfiler file needs at least one block; the profile has neither "
                        "samples nor spans nor events");
    if (n_blocks + n_switches > UINT32_MAX)
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET,
                        "%" PRIu64 " records, an EasyProfiler file holds at most %u",
                        n_blocks + n_switches, UINT32_MAX);
    struct easyprofiler_records counted = {.out = NULL};
    easyprofiler_put_descriptors(&w->descriptors, &counted);
    header->pid = w->profile->n_processes > 1 ? w->profile->processes[1].pid : 0;
    header->begin_ns = w->profile->start_time_ns;
    header->end_ns = file_time(w, w->profile->duration_ns);
    if (header->end_ns < w->last_ns)
        header->end_ns = w->last_ns;
    header->blocks_bytes = w->records.n_bytes;
    header->descriptors_bytes = counted.n_bytes;
    header->n_records = (uint32_t)(n_blocks + n_switches);
    header->n_descriptors = (uint32_t)w->descriptors.rows.n;
    header->n_bookmarks =
        (uint16_t)(w->profile->n_bookmarks < MAX_BOOKMARKS ? w->profile->n_bookmarks
                                                           : MAX_BOOKMARKS);
    return true;
}

static void note_losses(const struct writer *w, const struct format_notes *notes,
                        const struct easyprofiler_header *header, uint64_t n_cut)
{
    const struct profile *profile = w->profile;
    if (w->from_samples)
        convert_note_events(profile, notes);
    if (w->from_samples)
        format_note(notes,
                    "samples become blocks that last as long as the stack stays the same; "
                    "their number is not kept%s",
                    profile->has_times ? "" : ", and their order in time is invented");
    else if (profile->n_samples != 0)
        format_note(notes, "samples are left out: the profile has spans");
    if (w->has_several_processes)
        format_note(notes, "the file knows one process; threads carry the name of theirs");
    if (w->n_changed_tids != 0)
        format_note(notes, "threads without an id of their own that got one: %" PRIu64,
                    w->n_changed_tids);
    if (header->n_threads > MAX_SHOWN_THREADS)
        format_note(notes, "%u threads; EasyProfiler's viewer shows %d", header->n_threads,
                    MAX_SHOWN_THREADS);
    if (w->n_omitted != 0)
        format_note(notes, "spans left out to stay within %d levels: %" PRIu64,
                    EASYPROFILER_MAX_LEVELS, w->n_omitted);
    if (w->levels.n_crossing != 0)
        format_note(notes, "crossing spans cut to stay within %d levels: %" PRIu64,
                    EASYPROFILER_MAX_LEVELS, w->levels.n_crossing);
    if (w->n_bad_switches != 0)
        format_note(notes,
                    "times off the processor cut, since they overlap or have no length: "
                    "%" PRIu64,
                    w->n_bad_switches);
    if (header->n_bookmarks < profile->n_bookmarks)
        format_note(notes, "bookmarks left out (at most %d): %zu", MAX_BOOKMARKS,
                    profile->n_bookmarks - MAX_BOOKMARKS);
    if (w->last_ns == UINT64_MAX)
        format_note(notes, "times beyond 64 bits of nanoseconds are cut");
    if (n_cut != 0)
        format_note(notes, "texts cut, too long or with a 0 byte inside: %" PRIu64, n_cut);
}

static bool write_all(struct writer *w, const size_t *bookmarks, const struct format_notes *notes,
                      struct sink *out, struct err *err)
{
    struct easyprofiler_header header = {.n_threads = 0};
    if (!pass(w, NULL, err) || !make_header(w, &header, err))
        return false;
    easyprofiler_put_header(out, &header);
    struct easyprofiler_records descriptors = {.out = out};
    easyprofiler_put_descriptors(&w->descriptors, &descriptors);
    if (!pass(w, out, err))
        return false;
    sink_u32le(out, EASYPROFILER_SIGNATURE);
    put_bookmarks(w, bookmarks, header.n_bookmarks);
    note_losses(w, notes, &header, descriptors.n_cut + w->records.n_cut);
    return true;
}

bool easyprofiler_write(const struct profile *profile, const struct format_options *options,
                        const struct format_notes *notes, struct sink *out, struct err *err)
{
    (void)options;
    struct writer w = {.profile = profile,
                       .from_samples = profile->n_spans <= 1,
                       .has_several_processes = has_several_processes(profile)};
    easyprofiler_levels_init(&w.levels);
    bool ok = easyprofiler_descriptors_init(&w.descriptors, profile);
    w.counts = calloc(profile->n_threads, sizeof *w.counts);
    w.tids = calloc(profile->n_threads, sizeof *w.tids);
    w.instants = sorted_indexes(profile->instants, profile->n_instants, compare_instants);
    w.off_cpus = sorted_indexes(profile->off_cpus, profile->n_off_cpus, compare_off_cpus);
    size_t *bookmarks = sorted_indexes(profile->bookmarks, profile->n_bookmarks, compare_bookmarks);
    ok = ok && w.counts != NULL && w.tids != NULL && w.instants != NULL && w.off_cpus != NULL &&
         bookmarks != NULL && choose_tids(&w);
    ok = ok ? write_all(&w, bookmarks, notes, out, err) : err_fail_memory(err);
    free(w.counts);
    free(w.tids);
    free(w.instants);
    free(w.off_cpus);
    free(bookmarks);
    easyprofiler_descriptors_deinit(&w.descriptors);
    easyprofiler_levels_deinit(&w.levels);
    return ok;
}
