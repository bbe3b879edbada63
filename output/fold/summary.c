/* summary.c - see summary.h.
 *
 * Weights per stack (or thread) first; then each stack that has any is walked once from its leaf to
 * its root. An entry seen a second time on the way up (recursion) must not count twice in `total`: it
 * is known by the stamp of the stack, which it got the first time. */
#include "fold/summary.h"

#include <stdlib.h>
#include <string.h>

#include "model/convert.h"
#include "model/row_table.h"
#include "number.h"
#include "saturated.h"
#include "vector.h"

_Static_assert(sizeof(struct summary_key) == 16, "rows of a table are words, without padding");

struct sums {
    uint64_t self, total;
    uint64_t stamp; /* of the stack that counted in `total` last */
};

VECTOR_DEFINE(sums_by_key, struct sums)

struct summing {
    const struct profile *profile;
    enum summary_by by;
    struct row_table keys;    /* of struct summary_key */
    struct sums_by_key sums;  /* of struct sums, by key */
    uint32_t *keys_of_frame;  /* 0 = not asked yet */
    struct weighing weighing; /* by thread, or by stack */
    bool by_thread;
};

static uint32_t key_add(struct summing *summing, struct summary_key key)
{
    uint32_t added = row_table_add(&summing->keys, &key, sizeof key);
    return sums_by_key_extend(&summing->sums, (size_t)added + 1) ? added : 0;
}

/* What the row of a thread's samples is about. */
static uint32_t thread_id(const struct summing *summing, uint32_t thread)
{
    uint32_t process = summing->profile->threads[thread].process;
    if (summing->by == SUMMARY_BY_THREAD)
        return thread;
    return summing->by == SUMMARY_BY_PROCESS ? process : summing->profile->processes[process].name;
}

/* 0 when out of memory. */
static uint32_t key_of_frame(struct summing *summing, uint32_t frame_id)
{
    uint32_t *known = &summing->keys_of_frame[frame_id];
    if (*known == 0) {
        *known = key_add(summing, summary_frame_key(summing->profile, summing->by, frame_id));
    }
    return *known;
}

static struct sums *sums_at(struct summing *summing, uint32_t key)
{
    return &summing->sums.items[key];
}

static bool stack_sum(struct summing *summing, uint32_t leaf, uint64_t stamp)
{
    const struct profile *profile = summing->profile;
    uint64_t weight = summing->weighing.weights[leaf];
    uint32_t stack = leaf;
    do { /* the empty stack, too, has one entry: unknown */
        uint32_t key = key_of_frame(summing, profile->stacks[stack].frame);
        if (key == 0)
            return false;
        struct sums *sums = sums_at(summing, key);
        if (stack == leaf)
            add_to(&sums->self, weight);
        if (sums->stamp != stamp)
            add_to(&sums->total, weight);
        sums->stamp = stamp;
        stack = profile->stacks[stack].parent;
    } while (stack != 0);
    return true;
}

/* Samples that have one row together. */
static bool whole_sum(struct summing *summing, uint32_t id, uint64_t weight)
{
    uint32_t key = key_add(summing, (struct summary_key){.id = id});
    if (key == 0)
        return false;
    add_to(&sums_at(summing, key)->self, weight);
    add_to(&sums_at(summing, key)->total, weight);
    return true;
}

static bool weights_sum(struct summing *summing)
{
    const struct profile *profile = summing->profile;
    uint32_t n = summing->by_thread ? profile->n_threads : profile->n_stacks;
    for (uint32_t id = 0; id < n; id++) {
        uint64_t weight = summing->weighing.weights[id];
        bool ok = true;
        if (weight == 0)
            continue;
        if (summing->by_thread)
            ok = whole_sum(summing, thread_id(summing, id), weight);
        else if (summing->by == SUMMARY_BY_LABEL)
            ok = whole_sum(summing, profile_stack_label(profile, id), weight);
        else
            ok = stack_sum(summing, id, (uint64_t)id + 1);
        if (!ok)
            return false;
    }
    return true;
}

static int rows_compare(const struct summary_row *a, const struct summary_row *b, bool by_total)
{
    int by_self = compare_u64(b->self, a->self), total = compare_u64(b->total, a->total);
    int order = by_total ? total : by_self;
    if (order == 0)
        order = by_total ? by_self : total;
    if (order == 0)
        order = compare_u64(a->key.id, b->key.id);
    if (order == 0)
        order = compare_u64(a->key.line, b->key.line);
    return order != 0 ? order : compare_u64(a->key.file, b->key.file);
}

static int self_compare(const void *a, const void *b)
{
    return rows_compare(a, b, false);
}

static int total_compare(const void *a, const void *b)
{
    return rows_compare(a, b, true);
}

void summary_sort_by_total(struct summary *summary)
{
    if (summary->n > 0)
        qsort(summary->rows, summary->n, sizeof *summary->rows, total_compare);
}

static bool rows_make(struct summing *summing, struct summary *summary)
{
    summary->n = summing->keys.rows.n - 1;
    summary->rows = calloc(summary->n + 1, sizeof *summary->rows);
    if (summary->rows == NULL)
        return false;
    for (uint32_t key = 1; key < summing->keys.rows.n; key++) {
        const struct summary_key *about = array_at(&summing->keys.rows, key);
        const struct sums *sums = sums_at(summing, key);
        summary->rows[key - 1] =
            (struct summary_row){.self = sums->self, .total = sums->total, .key = *about};
    }
    qsort(summary->rows, summary->n, sizeof *summary->rows, self_compare);
    return true;
}

static bool summing_init(struct summing *summing)
{
    summing->by_thread = summary_is_of_samples(summing->by) && summing->by != SUMMARY_BY_LABEL;
    summing->keys_of_frame = calloc(summing->profile->n_frames, sizeof *summing->keys_of_frame);
    return summing->keys_of_frame != NULL &&
           row_table_init(&summing->keys, sizeof(struct summary_key)) &&
           sums_by_key_extend(&summing->sums, 1) &&
           weighing_init(&summing->weighing, summing->profile, summing->by_thread);
}

static void summing_deinit(struct summing *summing)
{
    row_table_deinit(&summing->keys);
    sums_by_key_deinit(&summing->sums);
    free(summing->keys_of_frame);
    weighing_deinit(&summing->weighing);
}

static bool summary_make(struct summary *summary, const struct profile *profile, enum summary_by by,
                         struct err *err)
{
    struct summing summing = {.profile = profile, .by = by};
    *summary = (struct summary){.rows = NULL};
    bool ok = summing_init(&summing) && weights_sum(&summing) && rows_make(&summing, summary);
    summary->weighed = summing.weighing.weighed;
    summing_deinit(&summing);
    return ok || err_fail_memory(err);
}

bool summary_init(struct summary *summary, const struct profile *profile, enum summary_by by,
                  struct err *err)
{
    /* What is made of spans has the functions, modules and threads of `profile`, by the same ids
     * (profile_builder_like): rows of the summary name those of `profile`. */
    const struct profile *samples;
    struct profile *made;
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              summary_make(summary, samples, by, err);
    profile_destroy(made);
    return ok;
}

void summary_deinit(struct summary *summary)
{
    free(summary->rows);
    *summary = (struct summary){0};
}

struct summary_key summary_frame_key(const struct profile *profile, enum summary_by by,
                                     uint32_t frame)
{
    const struct profile_frame *row = &profile->frames[frame];
    const struct profile_function *function = &profile->functions[row->function];
    if (by == SUMMARY_BY_MODULE)
        return (struct summary_key){.id = function->module};
    if (by == SUMMARY_BY_FILE)
        return (struct summary_key){.id = function->file};
    if (by != SUMMARY_BY_LINE)
        return (struct summary_key){.id = row->function};
    return (struct summary_key){.id = row->function, .line = row->line, .file = row->file};
}

/* Formats without modules leave those that a name tells of (NYTProf's packages): a table of hardly
 * more than [unknown]. */
static bool modules_are_known(const struct profile *profile)
{
    size_t n_known = 0;
    for (size_t i = 0; i < profile->n_samples && profile->n_modules > 1; i++) {
        uint32_t frame = profile->stacks[profile->samples[i].stack].frame;
        n_known += profile->functions[profile->frames[frame].function].module != 0;
    }
    return n_known > profile->n_samples / 10;
}

bool summary_is_known(const struct profile *profile, enum summary_by by)
{
    uint32_t id = 1;
    switch (by) {
    case SUMMARY_BY_LINE:
        while (id < profile->n_frames && profile->frames[id].line == 0)
            id++;
        return id < profile->n_frames;
    case SUMMARY_BY_FILE:
        while (id < profile->n_functions && profile->functions[id].file == 0)
            id++;
        return id < profile->n_functions;
    case SUMMARY_BY_MODULE:
        return modules_are_known(profile);
    case SUMMARY_BY_THREAD:
        return profile->n_threads > 1;
    case SUMMARY_BY_PROCESS:
    case SUMMARY_BY_COMMAND:
        return profile->n_processes > 1;
    case SUMMARY_BY_LABEL:
        while (id < profile->n_frames && (profile->frames[id].flags & PROFILE_FRAME_LABEL) == 0)
            id++;
        return id < profile->n_frames;
    case SUMMARY_BY_FUNCTION:
        break;
    }
    return true;
}

static uint32_t row_text(const struct profile *profile, enum summary_by by, uint32_t id)
{
    switch (by) {
    case SUMMARY_BY_FILE:
    case SUMMARY_BY_COMMAND:
        return id;
    case SUMMARY_BY_MODULE:
        return profile->modules[id].path;
    case SUMMARY_BY_THREAD:
        if (profile->threads[id].name != 0)
            return profile->threads[id].name;
        return profile->processes[profile->threads[id].process].name;
    case SUMMARY_BY_PROCESS:
        return profile->processes[id].name;
    case SUMMARY_BY_FUNCTION:
    case SUMMARY_BY_LINE:
    case SUMMARY_BY_LABEL:
        break;
    }
    const struct profile_function *function = &profile->functions[id];
    return function->name != 0 ? function->name : function->system_name;
}

struct text summary_row_name(const struct profile *profile, enum summary_by by,
                             struct summary_key key)
{
    if (by == SUMMARY_BY_LABEL && key.id == 0)
        return text_make("[no label]");
    if (by == SUMMARY_BY_FILE && key.id == 0)
        return text_make("[no source file]");
    struct text text = profile_text(profile, row_text(profile, by, key.id));
    return text.length != 0 ? text : text_make("[unknown]");
}

uint64_t summary_row_number(const struct profile *profile, enum summary_by by,
                            struct summary_key key)
{
    if (by == SUMMARY_BY_THREAD)
        return profile->threads[key.id].tid;
    return by == SUMMARY_BY_PROCESS ? profile->processes[key.id].pid : 0;
}
