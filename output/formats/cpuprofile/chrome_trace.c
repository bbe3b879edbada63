/* chrome_trace.c - the format `chrome-trace`: one .trace.json with all threads by name, for
 * DevTools, speedscope and Perfetto.
 *
 * Per thread a Profile event, one ProfileChunk with its tree and samples, one with the end, and
 * a complete event ("X") over the whole time, without which DevTools shows nothing. Tree and
 * time line are those of .cpuprofile (tree.c). docs/formats/chrome-trace.md has the layout.
 * Written, not read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"
#include "model/convert.h"
#include "text/first_bracket.h"
#include "text/json_write.h"

#define PROFILER_CATEGORY "disabled-by-default-v8.cpu_profiler"

/* What all events of a thread begin with. */
struct thread_ids {
    uint64_t pid;
    uint64_t tid;
};

static void begin_event(struct json *json, const char *name, const char *category,
                        const char *phase, struct thread_ids ids, uint64_t time_us)
{
    json_object_begin(json);
    json_key(json, "name");
    json_cstring(json, name);
    json_key(json, "cat");
    json_cstring(json, category);
    json_key(json, "ph");
    json_cstring(json, phase);
    json_key(json, "pid");
    json_u64(json, ids.pid);
    json_key(json, "tid");
    json_u64(json, ids.tid);
    json_key(json, "ts");
    json_u64(json, time_us);
}

static void begin_data(struct json *json, uint32_t thread)
{
    char id[16];
    snprintf(id, sizeof id, "0x%" PRIx32, thread + 1);
    json_key(json, "id");
    json_cstring(json, id);
    json_key(json, "args");
    json_object_begin(json);
    json_key(json, "data");
    json_object_begin(json);
}

static void end_data(struct json *json)
{
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
}

static void name_event(struct json *json, const char *what, struct thread_ids ids, struct text name)
{
    begin_event(json, what, "__metadata", "M", ids, 1);
    json_key(json, "args");
    json_object_begin(json);
    json_key(json, "name");
    json_text(json, name);
    json_object_end(json);
    json_object_end(json);
}

static void write_nodes(struct json *json, const struct cpuprofile_tree *tree)
{
    json_key(json, "nodes");
    json_array_begin(json);
    for (uint32_t i = 0; i < tree->nodes.n; i++) {
        const struct cpuprofile_out_node *node = &tree->nodes.items[i];
        if (!cpuprofile_has_node(tree, i))
            continue;
        json_object_begin(json);
        json_key(json, "id");
        json_u64(json, cpuprofile_node_id(tree, i));
        cpuprofile_write_call_frame(json, tree, i);
        if (i != CPUPROFILE_ROOT) {
            json_key(json, "parent");
            json_u64(json, cpuprofile_node_id(tree, node->parent));
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static uint64_t write_samples(struct json *json, const struct cpuprofile_tree *tree,
                              struct cpuprofile_selection selection)
{
    struct cpuprofile_timeline timeline;
    struct cpuprofile_entry entry;
    json_key(json, "cpuProfile");
    json_object_begin(json);
    write_nodes(json, tree);
    json_key(json, "samples");
    json_array_begin(json);
    cpuprofile_timeline_init(&timeline, tree, selection);
    while (cpuprofile_timeline_next(&timeline, &entry))
        json_u64(json, cpuprofile_node_id(tree, entry.node));
    json_array_end(json);
    json_object_end(json);

    uint64_t before_us = cpuprofile_axis_us(tree->profile, 0);
    json_key(json, "timeDeltas");
    json_array_begin(json);
    cpuprofile_timeline_init(&timeline, tree, selection);
    while (cpuprofile_timeline_next(&timeline, &entry)) {
        uint64_t time_us = cpuprofile_axis_us(tree->profile, entry.begin_ns);
        json_u64(json, time_us - before_us);
        before_us = time_us;
    }
    json_array_end(json);
    return before_us;
}

static bool write_thread(struct json *json, const struct profile *profile, uint32_t thread,
                         struct thread_ids ids, const struct format_notes *notes, struct err *err)
{
    struct cpuprofile_selection selection = {.thread = thread};
    struct cpuprofile_tree tree;
    bool ok = cpuprofile_tree_init(&tree, profile, selection, err);
    if (ok) {
        uint64_t start_us = cpuprofile_axis_us(profile, 0);
        begin_event(json, "Profile", PROFILER_CATEGORY, "P", ids, start_us);
        begin_data(json, thread);
        json_key(json, "startTime");
        json_u64(json, start_us);
        end_data(json);
        begin_event(json, "ProfileChunk", PROFILER_CATEGORY, "P", ids,
                    cpuprofile_axis_us(profile, 1000));
        begin_data(json, thread);
        uint64_t last_us = write_samples(json, &tree, selection);
        end_data(json);
        cpuprofile_note_changes(&tree, last_us, notes);
        uint64_t end_us =
            cpuprofile_axis_us(profile, profile_counts_events(profile) ? 0 : profile->duration_ns);
        end_us = end_us > last_us ? end_us : last_us;
        begin_event(json, "ProfileChunk", PROFILER_CATEGORY, "P", ids, end_us);
        begin_data(json, thread);
        json_key(json, "endTime");
        json_u64(json, end_us);
        end_data(json);
        begin_event(json, "thread sampled", "sampler", "X", ids, start_us);
        json_key(json, "dur");
        json_u64(json, end_us - start_us);
        json_key(json, "args");
        json_object_begin(json);
        json_object_end(json);
        json_object_end(json);
    }
    cpuprofile_tree_deinit(&tree);
    return ok;
}

/* A thread to be written. */
struct traced {
    uint32_t thread;
    struct thread_ids ids;
};

/* Threads and processes of formats without ids get their number in the table. */
static struct thread_ids ids_of(const struct profile *profile, uint32_t thread)
{
    const struct profile_thread *row = &profile->threads[thread];
    uint64_t pid = profile->processes[row->process].pid;
    return (struct thread_ids){.pid = pid != 0 ? pid : row->process + 1,
                               .tid = row->tid != 0 ? row->tid : thread + 1};
}

static int traced_compare(const void *left, const void *right)
{
    const struct traced *a = left, *b = right;
    if (a->ids.tid != b->ids.tid)
        return a->ids.tid < b->ids.tid ? -1 : 1;
    if (a->ids.pid != b->ids.pid)
        return a->ids.pid < b->ids.pid ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int thread_compare(const void *left, const void *right)
{
    const struct traced *a = left, *b = right;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Viewers find a thread by both its ids: of equal ones (runs merged, ids used again) the first
 * thread keeps them, the others get thread ids beyond all there are. */
static void ids_make_different(struct traced *all, size_t n)
{
    if (n == 0)
        return;
    qsort(all, n, sizeof *all, traced_compare);
    struct thread_ids before = {0};
    uint64_t free_tid = all[n - 1].ids.tid + 1;
    for (size_t i = 0; i < n; i++) {
        struct thread_ids ids = all[i].ids;
        if (i > 0 && ids.tid == before.tid && ids.pid == before.pid)
            all[i].ids.tid = free_tid++;
        before = ids;
    }
    qsort(all, n, sizeof *all, thread_compare);
}

/* The threads with samples, in order; samples are in order of threads. False when out of memory. */
static bool traced_find(const struct profile *profile, struct traced **out, size_t *n_out)
{
    struct traced *all = calloc((size_t)profile->n_threads + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all != NULL && i < profile->n_samples; i++) {
        uint32_t thread = profile->samples[i].thread;
        if (n == 0 || all[n - 1].thread != thread)
            all[n++] = (struct traced){.thread = thread, .ids = ids_of(profile, thread)};
    }
    *out = all;
    *n_out = n;
    if (all != NULL)
        ids_make_different(all, n);
    return all != NULL;
}

static void write_names(struct json *json, const struct profile *profile,
                        const struct traced *traced)
{
    const struct profile_thread *row = &profile->threads[traced->thread];
    struct text process_name = profile_text(profile, profile->processes[row->process].name);
    struct text name = profile_text(profile, row->name);
    if (process_name.length != 0)
        name_event(json, "process_name", traced->ids, process_name);
    if (name.length != 0 || process_name.length != 0)
        name_event(json, "thread_name", traced->ids, name.length != 0 ? name : process_name);
}

static bool write_profile(const struct profile *profile, const struct format_notes *notes,
                          struct sink *out, struct err *err)
{
    struct traced *all = NULL;
    size_t n = 0;
    if (!traced_find(profile, &all, &n))
        return err_fail_memory(err);
    struct json json = json_make(out, 0);
    bool ok = true;
    json_object_begin(&json);
    json_key(&json, "traceEvents");
    json_array_begin(&json);
    for (size_t i = 0; i < n; i++)
        write_names(&json, profile, &all[i]);
    for (size_t i = 0; ok && i < n; i++)
        ok = write_thread(&json, profile, all[i].thread, all[i].ids, notes, err);
    json_array_end(&json);
    json_object_end(&json);
    sink_text(out, "\n");
    free(all);
    return ok;
}

static bool chrome_trace_write(const struct profile *profile, const struct format_options *options,
                               const struct format_notes *notes, struct sink *out, struct err *err)
{
    (void)options;
    struct profile *made;
    const struct profile *samples;
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              write_profile(samples, notes, out, err);
    profile_destroy(made);
    return ok;
}

/* An object with traceEvents, or a bare list of events: for a clear word, as there is no reader. */
static int chrome_trace_sniff(const uint8_t *head, size_t head_bytes)
{
    static const char events[] = "\"traceEvents\"", phase[] = "\"ph\"";
    char bracket = json_first_bracket(head, head_bytes);
    if (bracket == '{')
        return memmem(head, head_bytes, events, strlen(events)) != NULL ? 90 : 0;
    return bracket == '[' && memmem(head, head_bytes, phase, strlen(phase)) != NULL ? 60 : 0;
}

const struct format format_chrome_trace = {
    .name = "chrome-trace",
    .extensions = (const char *const[]){"trace.json", NULL},
    .about = "Chrome trace with all threads: Chrome DevTools, speedscope, Perfetto",
    .keeps = KEEPS_SAMPLES | KEEPS_TIMES | KEEPS_FILES | KEEPS_THREADS | KEEPS_PROCESSES,
    .sniff = chrome_trace_sniff,
    .write = chrome_trace_write,
};
