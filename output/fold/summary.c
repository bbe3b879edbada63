/* summary.c - see summary.h.
 *
 * Weights per stack first; then each stack that has any is walked once from its leaf to its
 * root. An entry seen a second time on the way up (recursion) must not count twice in `total`: it
 * is known by the stamp of the stack, which it got the first time. */
#include "fold/summary.h"

#include <stdlib.h>
#include <string.h>

#include "fold/fold.h"
#include "model/convert.h"
#include "model/row_table.h"
#include "number.h"
#include "saturated.h"
#include "vector.h"

/* What a row is about. */
struct key {
    uint32_t id;
    uint32_t line;
};

struct sums {
    uint64_t self, total;
    uint64_t stamp; /* of the stack that counted in `total` last */
};

VECTOR_DEFINE(sums_by_key, struct sums)

struct summing {
    const struct profile *profile;
    enum summary_by by;
    struct row_table keys;   /* of struct key */
    struct sums_by_key sums; /* of struct sums, by key */
    uint32_t *keys_of_frame; /* 0 = not asked yet */
    uint64_t *weights;       /* by stack */
};

static uint32_t key_add(struct summing *summing, uint32_t id, uint32_t line)
{
    const struct key key = {.id = id, .line = line};
    uint32_t added = row_table_add(&summing->keys, &key, sizeof key);
    return sums_by_key_extend(&summing->sums, (size_t)added + 1) ? added : 0;
}

/* 0 when out of memory. */
static uint32_t key_of_frame(struct summing *summing, uint32_t frame_id)
{
    uint32_t *known = &summing->keys_of_frame[frame_id];
    if (*known == 0) {
        const struct profile_frame *frame = &summing->profile->frames[frame_id];
        uint32_t module = summing->profile->functions[frame->function].module;
        if (summing->by == SUMMARY_BY_MODULE)
            *known = key_add(summing, module, 0);
        else
            *known =
                key_add(summing, frame->function, summing->by == SUMMARY_BY_LINE ? frame->line : 0);
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
    uint64_t weight = summing->weights[leaf];
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

static bool stacks_sum(struct summing *summing)
{
    for (uint32_t stack = 0; stack < summing->profile->n_stacks; stack++) {
        if (summing->weights[stack] != 0 && !stack_sum(summing, stack, (uint64_t)stack + 1))
            return false;
    }
    return true;
}

static bool samples_sum(struct summing *summing, struct summary *summary, struct fold_unit unit)
{
    const struct profile *profile = summing->profile;
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t weight = multiply_saturated(profile_value(profile, i, unit.kind), unit.multiplier);
        bool is_idle = profile_stack_is_idle(profile, sample->stack);
        add_to(is_idle ? &summary->idle : &summary->all, weight);
        if (is_idle || weight == 0)
            continue;
        if (summing->by != SUMMARY_BY_THREAD) {
            add_to(&summing->weights[sample->stack], weight);
            continue;
        }
        uint32_t key = key_add(summing, sample->thread, 0);
        if (key == 0)
            return false;
        add_to(&sums_at(summing, key)->self, weight);
        add_to(&sums_at(summing, key)->total, weight);
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
        order = compare_u64(a->id, b->id);
    return order != 0 ? order : compare_u64(a->line, b->line);
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
        const struct key *about = array_at(&summing->keys.rows, key);
        const struct sums *sums = sums_at(summing, key);
        summary->rows[key - 1] = (struct summary_row){
            .self = sums->self, .total = sums->total, .id = about->id, .line = about->line};
    }
    qsort(summary->rows, summary->n, sizeof *summary->rows, self_compare);
    return true;
}

static bool summing_init(struct summing *summing)
{
    summing->keys_of_frame = calloc(summing->profile->n_frames, sizeof *summing->keys_of_frame);
    summing->weights = calloc(summing->profile->n_stacks, sizeof *summing->weights);
    return row_table_init(&summing->keys, sizeof(struct key)) &&
           sums_by_key_extend(&summing->sums, 1) && summing->keys_of_frame != NULL &&
           summing->weights != NULL;
}

static void summing_deinit(struct summing *summing)
{
    row_table_deinit(&summing->keys);
    sums_by_key_deinit(&summing->sums);
    free(summing->keys_of_frame);
    free(summing->weights);
}

static bool summary_make(struct summary *summary, const struct profile *profile, enum summary_by by,
                         struct err *err)
{
    struct fold_unit unit = fold_unit_choose(profile, true);
    *summary = (struct summary){.unit = unit.unit};
    struct summing summing = {.profile = profile, .by = by};
    bool ok = summing_init(&summing) && samples_sum(&summing, summary, unit) &&
              stacks_sum(&summing) && rows_make(&summing, summary);
    summing_deinit(&summing);
    return ok || err_fail_memory(err);
}

bool summary_init(struct summary *summary, const struct profile *profile, enum summary_by by,
                  struct err *err)
{
    /* What is made of spans has the functions, modules and threads of `profile`, by the same ids
     * (convert.c, builder_like): rows of the summary name those of `profile`. */
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

struct text summary_row_name(const struct profile *profile, enum summary_by by,
                             const struct summary_row *row)
{
    uint32_t name = 0;
    if (by == SUMMARY_BY_MODULE) {
        name = profile->modules[row->id].path;
    } else if (by == SUMMARY_BY_THREAD) {
        name = profile->threads[row->id].name;
        if (name == 0)
            name = profile->processes[profile->threads[row->id].process].name;
    } else {
        name = profile->functions[row->id].name;
        if (name == 0)
            name = profile->functions[row->id].system_name;
    }
    struct text text = profile_text(profile, name);
    return text.length != 0 ? text : text_make("[unknown]");
}
