/* build.c - see build.h. Steers; the stacks are made in node_stacks.c, those with labels in
 * label_stacks.c. The order matters: names first, so that all ids of frames exist before the
 * first sample. */
#include "build/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/print.h"
#include "build/label_stacks.h"
#include "build/node_stacks.h"
#include "number.h"
#include "recording/process_name.h"
#include "recording/start_up.h"
#include "saturated.h"
#include "text.h"

/* Of events there is one kind, the event: samples of them say nothing more. */
enum { KIND_SAMPLES, KIND_WEIGHT, N_KINDS };

struct build {
    const struct recording *const *recordings;
    size_t n;
    struct profile_builder *builder;
    struct node_stacks *stacks;
    bool own_cost;
    enum measure measure;   /* of all */
    uint64_t *start_ups_ns; /* by recording; see start_up.h */
    uint64_t
        start_ns; /* of the earliest recording and its start-up: where the profile's time begins */
};

/* Nanoseconds from the profile's start to the recording's. */
static uint64_t recording_start(const struct build *build, const struct recording *recording)
{
    return recording->header.start_time_ns - build->start_ns;
}

/* Of the process, with what the kernel still did for it. */
static uint64_t process_end(const struct build *build, const struct recording *recording)
{
    uint64_t end = add_saturated(recording_start(build, recording), recording->facts.length_ns);
    return add_saturated(end, recording->facts.process_exit_ns);
}

/* What is measured is the same in all recordings of one profile (profile_build sees to it). */
static void kinds_set(struct build *build, struct profile_scalars *scalars)
{
    if (build->measure == MEASURE_EVENTS) {
        struct text event = recording_info_get(build->recordings[0], "event");
        scalars->n_kinds = 1;
        scalars->kinds[0] = (struct profile_kind){
            profile_add_text(build->builder, event.bytes, event.length), PROFILE_UNIT_EVENTS};
        return;
    }
    const char *time = build->measure == MEASURE_WALL ? "wall" : "cpu";
    scalars->n_kinds = N_KINDS;
    scalars->kinds[KIND_SAMPLES] =
        (struct profile_kind){profile_add_cstring(build->builder, "samples"), PROFILE_UNIT_COUNT};
    scalars->kinds[KIND_WEIGHT] =
        (struct profile_kind){profile_add_cstring(build->builder, time), PROFILE_UNIT_NS};
}

static void scalars_set(struct build *build)
{
    struct profile_scalars *scalars = profile_builder_scalars(build->builder);
    const struct capture_header *first = &build->recordings[0]->header;
    build->start_ns = UINT64_MAX;
    for (size_t i = 0; i < build->n; i++) {
        const struct capture_header *header = &build->recordings[i]->header;
        uint64_t up_ns = build->start_ups_ns[i];
        uint64_t start_ns = header->start_time_ns > up_ns ? header->start_time_ns - up_ns : 0;
        if (start_ns < build->start_ns) {
            first = header;
            build->start_ns = start_ns;
        }
    }
    kinds_set(build, scalars);
    scalars->has_times = true;
    scalars->start_time_ns = build->start_ns;
    scalars->start_realtime_ns =
        first->start_realtime_ns - (first->start_time_ns - build->start_ns);
    scalars->period = build->measure == MEASURE_EVENTS ? 0 : first->period;
    for (size_t i = 0; i < build->n; i++) {
        uint64_t end = process_end(build, build->recordings[i]);
        scalars->duration_ns = max_u64(scalars->duration_ns, end);
    }
}

static void metadata_add(struct build *build)
{
    static const char *const keys[] = {"exe", "cwd", "host", "unwinder", "event"};
    const struct recording *recording = build->recordings[0];
    size_t length = strlen(recording->facts.command);
    if (length != 0)
        profile_add_metadata(build->builder, "command", recording->facts.command, length);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct text value = recording_info_get(recording, keys[i]);
        if (value.length != 0)
            profile_add_metadata(build->builder, keys[i], value.bytes, value.length);
    }
}

static void metadata_add_u64(struct build *build, const char *key, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    profile_add_metadata(build->builder, key, digits, (size_t)n);
}

/* All of the account, as `sampler report --account --json` prints it. */
static bool metadata_add_whole_account(struct build *build, const struct account *account)
{
    struct err err = ERR_INIT;
    struct sink *json = NULL;
    size_t n = 0;
    if (!sink_create_buffer(&json, &err))
        return false;
    account_print_json(account, json);
    const char *bytes = sink_buffer(json, &n);
    profile_add_metadata(build->builder, "account", bytes, n);
    sink_abandon(json);
    return true;
}

/* What the account comes to, for those who have the profile alone. False: out of memory. */
static bool metadata_add_account(struct build *build, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    if (!metadata_add_whole_account(build, account))
        return false;
    const char *clock = account_clock_word(account_main_clock(sums))->words;
    profile_add_metadata(build->builder, "clock", clock, strlen(clock));
    if (sums->measure == MEASURE_EVENTS) {
        metadata_add_u64(build, "event_period", account->event_period);
        if (sums->cpu_known)
            metadata_add_u64(build, "events", sums->cpu_ns);
        metadata_add_u64(build, "explained_events", sums->weight_ns);
        return true;
    }
    metadata_add_u64(build, "frequency_hz", account->frequency_hz);
    if (sums->cpu_known)
        metadata_add_u64(build, sums->measure == MEASURE_WALL ? "elapsed_ns" : "cpu_ns",
                         account_wanted_ns(sums));
    metadata_add_u64(build, "explained_ns", sums->weight_ns);
    metadata_add_u64(build, "lost_ns", account_lost_ns(sums));
    metadata_add_u64(build, "truncated_ns", account_cut_ns(sums));
    return true;
}

static uint32_t process_name_add(struct build *build, const struct recording *recording)
{
    struct text name = process_name_of(recording);
    return profile_add_text(build->builder, name.bytes, name.length);
}

/* Ids of the recording's threads by index in it; heap, NULL when out of memory. */
static uint32_t *threads_add(struct build *build, const struct recording *recording)
{
    uint64_t start = recording_start(build, recording);
    const struct profile_process process = {
        .name = process_name_add(build, recording),
        .pid = recording->header.pid,
        .ppid = recording->header.ppid,
        .start_ns = start,
        .end_ns = process_end(build, recording),
    };
    uint32_t process_id = profile_add_process(build->builder, &process);
    uint32_t *ids = calloc(recording->n_threads + 1, sizeof *ids);
    for (size_t i = 0; i < recording->n_threads && ids != NULL; i++) {
        const struct recording_thread *from = &recording->threads[i];
        uint64_t not_its_ns = add_saturated(from->start_cpu_ns, from->own_cpu_ns);
        bool cpu_known = from->ended && from->end_cpu_ns >= not_its_ns;
        const struct profile_thread thread = {
            .process = process_id,
            .name = profile_add_text(build->builder, from->name.bytes, from->name.length),
            .tid = from->tid,
            .start_ns = add_saturated(start, from->start_ns),
            .end_ns = add_saturated(start, from->end_ns),
            .cpu_ns = cpu_known ? from->end_cpu_ns - not_its_ns : 0,
        };
        ids[i] = profile_add_thread(build->builder, &thread);
    }
    return ids;
}

/* A weight that no sample stands for, as the frames root and leaf (NULL: none). */
static void add_measured(struct build *build, const char *root, const char *leaf,
                         const struct profile_sample *at, uint64_t cpu_ns)
{
    const uint64_t values[N_KINDS] = {[KIND_WEIGHT] = cpu_ns};
    struct profile_sample sample = *at;
    if (cpu_ns == 0)
        return;
    sample.stack = profile_add_stack(build->builder, 0,
                                     profile_add_named_frame(build->builder, root, strlen(root)));
    if (leaf != NULL)
        sample.stack =
            profile_add_stack(build->builder, sample.stack,
                              profile_add_named_frame(build->builder, leaf, strlen(leaf)));
    profile_add_sample(build->builder, &sample, values);
}

/* Of a thread's end only the sum of all threads is known; the first one ends with the process. */
static uint64_t thread_exit_ns(const struct recording *recording, size_t thread)
{
    uint64_t all_ns = recording->facts.thread_exit_ns, n = recording->n_threads - 1;
    if (all_ns == 0 || thread == 0)
        return 0;
    return all_ns / n + (thread <= all_ns % n);
}

/* The beginnings and ends of threads, rooted where threads are, and our own code in them. */
static void threads_measured_add(struct build *build, size_t index, const uint32_t *threads,
                                 struct account *account)
{
    const struct recording *recording = build->recordings[index];
    uint64_t start = recording_start(build, recording);
    for (size_t i = 0; i < recording->n_threads; i++) {
        const struct recording_thread *thread = &recording->threads[i];
        struct profile_sample at = {.thread = threads[i],
                                    .time_ns = add_saturated(start, thread->start_ns)};
        add_measured(build, "clone3", "[thread start]", &at, thread->begin_cpu_ns);
        account_add_thread_begin(account, index, thread->begin_cpu_ns);
        if (build->own_cost)
            add_measured(build, "[sampler]", NULL, &at, thread->own_cpu_ns);
        uint64_t exit_ns = thread_exit_ns(recording, i);
        at.time_ns = add_saturated(start, add_saturated(thread->end_ns, exit_ns));
        add_measured(build, "clone3", "[thread exit]", &at, exit_ns);
    }
    account_add_thread_exit(account, index, recording->facts.thread_exit_ns);
}

/* The start-up, which ends where the recording begins, and the process's end, which begins where the
 * recording ends: both rooted where the loader is, and weights of the first thread. */
static void measured_add(struct build *build, size_t index, const uint32_t *threads,
                         struct account *account)
{
    const struct recording *recording = build->recordings[index];
    if (build->measure != MEASURE_CPU)
        return;
    const struct recording_facts *facts = &recording->facts;
    uint64_t up_ns = build->start_ups_ns[index];
    struct profile_sample at = {.thread = threads[0], .time_ns = recording_start(build, recording)};
    add_measured(build, "_start", "[start-up]", &at, up_ns);
    account_add_start_up(account, index, up_ns);
    threads_measured_add(build, index, threads, account);
    at.time_ns = process_end(build, recording);
    add_measured(build, "_start", "[process exit]", &at, facts->process_exit_ns);
    account_add_process_exit(account, index, facts->process_exit_ns);
    if (build->own_cost)
        account_own_is_weighed(account, index);
}

static bool recording_add(struct build *build, size_t index, struct account *account)
{
    const struct recording *recording = build->recordings[index];
    uint64_t start = recording_start(build, recording);
    uint32_t *threads = threads_add(build, recording);
    uint32_t *stacks = calloc(recording->n_nodes, sizeof *stacks);
    struct label_stacks *labels =
        label_stacks_create(build->stacks, index, recording, build->builder);
    bool done = threads != NULL && stacks != NULL && labels != NULL;
    if (done) {
        node_stacks_map(build->stacks, index, stacks);
        measured_add(build, index, threads, account);
    }
    for (size_t i = 0; i < recording->n_samples && done; i++) {
        const struct recording_sample *from = &recording->samples[i];
        uint64_t values[N_KINDS] = {
            [KIND_SAMPLES] = from->kind == RECORDING_TICK,
            [KIND_WEIGHT] = recording_weight(recording, from),
        };
        bool is_event = build->measure == MEASURE_EVENTS;
        uint32_t stack = stacks[from->node];
        if (from->label != 0)
            done = label_stacks_get(labels, from->label, from->node, &stack);
        const struct profile_sample sample = {
            .thread = threads[from->thread],
            .stack = stack,
            .time_ns = add_saturated(start, from->time_ns),
        };
        profile_add_sample(build->builder, &sample, is_event ? &values[KIND_WEIGHT] : values);
        if (node_stacks_weigh(build->stacks, index, from->node, values[KIND_WEIGHT]))
            account_add_nameless(account, index, values[KIND_WEIGHT]);
    }
    label_stacks_destroy(labels);
    free(threads);
    free(stacks);
    return done;
}

static bool is_same_measure(const struct recording *a, const struct recording *b)
{
    return a->facts.measure == b->facts.measure &&
           (a->facts.measure != MEASURE_EVENTS ||
            text_equal(recording_info_get(a, "event"), recording_info_get(b, "event")));
}

bool profile_build(const struct recording *const *recordings, size_t n,
                   const struct build_options *options, struct profile **out,
                   struct account *account, struct err *err)
{
    struct build build = {.recordings = recordings, .n = n, .own_cost = options->own_cost};
    if (n > 0)
        build.measure = recordings[0]->facts.measure;
    for (size_t i = 1; i < n; i++) {
        if (!is_same_measure(recordings[0], recordings[i]))
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                            "the recordings measure different things: their weights cannot be "
                            "added; report them one by one");
    }
    for (size_t i = 0; i < n; i++) {
        if (!account_add_recording(account, recordings[i]))
            return err_fail_memory(err);
    }
    if (n == 0)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "no recording");
    build.start_ups_ns = calloc(n, sizeof *build.start_ups_ns);
    if (build.start_ups_ns == NULL || !start_ups_find(recordings, n, build.start_ups_ns)) {
        free(build.start_ups_ns);
        return err_fail_memory(err);
    }
    if (!profile_builder_create(&build.builder, err)) {
        free(build.start_ups_ns);
        return false;
    }
    scalars_set(&build);
    metadata_add(&build);
    bool done = node_stacks_create(recordings, n, options, build.builder, &build.stacks, err);
    for (size_t i = 0; i < n && done; i++)
        done = recording_add(&build, i, account) || err_fail_memory(err);
    if (done)
        done = (node_stacks_account(build.stacks, account) &&
                account_advise(account, &options->sources)) ||
               err_fail_memory(err);
    node_stacks_destroy(build.stacks);
    free(build.start_ups_ns);
    if (done)
        done =
            account_set_run(account, options->run_pid, options->run_cpu_ns) || err_fail_memory(err);
    if (done)
        done = metadata_add_account(&build, account) || err_fail_memory(err);
    if (!done) {
        profile_builder_destroy(build.builder);
        return false;
    }
    return profile_builder_finish(build.builder, out, err);
}
