/* code_weights.c - see code_weights.h. Each stack with a weight is walked once from its leaf to its
 * root; an address seen a second time on the way up is known by the stamp of the stack, as in
 * summary.c. */
#include "fold/code_weights.h"

#include <stdlib.h>

#include "model/convert.h"
#include "model/row_table.h"
#include "number.h"
#include "saturated.h"
#include "vector.h"

_Static_assert(sizeof(struct code_key) == 24, "rows of a table are words, without padding");

struct sums {
    uint64_t self, total;
    uint64_t stamp; /* of the stack that counted last */
};

VECTOR_DEFINE(sums_by_key, struct sums)

struct weighing_code {
    const struct profile *profile;
    const uint8_t *functions;
    struct row_table keys; /* of struct code_key */
    struct sums_by_key sums;
    struct weighing weighing;
};

/* Frames of one address: from a stack on, up to that of the function that was not inlined. */
struct group {
    uint32_t first;
    uint32_t last; /* stacks */
};

static const struct profile_frame *frame_of(const struct profile *profile, uint32_t stack)
{
    return &profile->frames[profile->stacks[stack].frame];
}

static struct group group_at(const struct profile *profile, uint32_t stack)
{
    struct group group = {stack, stack};
    uint64_t address = frame_of(profile, stack)->address;
    while ((frame_of(profile, group.last)->flags & PROFILE_FRAME_INLINED) != 0) {
        uint32_t parent = profile->stacks[group.last].parent;
        if (parent == 0 || frame_of(profile, parent)->address != address)
            break;
        group.last = parent;
    }
    return group;
}

static bool key_count(struct weighing_code *code, const struct code_key *key, uint32_t leaf)
{
    uint32_t id = row_table_add(&code->keys, key, sizeof *key);
    if (id == 0 || !sums_by_key_extend(&code->sums, (size_t)id + 1))
        return false;
    struct sums *sums = &code->sums.items[id];
    uint64_t stamp = (uint64_t)leaf + 1, weight = code->weighing.weights[leaf];
    if (sums->stamp == stamp)
        return true;
    sums->stamp = stamp;
    add_to(&sums->total, weight);
    if (key->is_return == 0)
        add_to(&sums->self, weight);
    return true;
}

static bool group_count(struct weighing_code *code, struct group group, uint32_t leaf)
{
    const struct profile *profile = code->profile;
    uint32_t outermost = frame_of(profile, group.last)->function;
    for (uint32_t stack = group.first;; stack = profile->stacks[stack].parent) {
        const struct profile_frame *frame = frame_of(profile, stack);
        uint32_t function = frame->function;
        const struct code_key key = {
            .function = function,
            .module = profile->functions[function].module,
            .vaddr = frame->address,
            .is_return = group.first != leaf,
            .inlined_into = function == outermost ? 0 : outermost,
        };
        if (frame->address != 0 && code->functions[function] != 0 && !key_count(code, &key, leaf))
            return false;
        if (stack == group.last)
            return true;
    }
}

static bool stacks_count(struct weighing_code *code)
{
    const struct profile *profile = code->profile;
    for (uint32_t leaf = 1; leaf < profile->n_stacks; leaf++) {
        if (code->weighing.weights[leaf] == 0)
            continue;
        uint32_t stack = leaf;
        while (stack != 0) {
            struct group group = group_at(profile, stack);
            if (!group_count(code, group, leaf))
                return false;
            stack = profile->stacks[group.last].parent;
        }
    }
    return true;
}

static int row_compare(const void *a, const void *b)
{
    const struct code_key *x = &((const struct code_weight *)a)->key;
    const struct code_key *y = &((const struct code_weight *)b)->key;
    int order = compare_u64(x->function, y->function);
    if (order == 0)
        order = compare_u64(x->module, y->module);
    if (order == 0)
        order = compare_u64(x->vaddr, y->vaddr);
    if (order == 0)
        order = compare_u64(x->is_return, y->is_return);
    return order != 0 ? order : compare_u64(x->inlined_into, y->inlined_into);
}

static bool rows_make(const struct weighing_code *code, struct code_weights *weights)
{
    weights->n = code->keys.rows.n - 1;
    weights->rows = calloc(weights->n + 1, sizeof *weights->rows);
    if (weights->rows == NULL)
        return false;
    for (size_t i = 0; i < weights->n; i++) {
        const struct code_key *key = array_at(&code->keys.rows, i + 1);
        const struct sums *sums = &code->sums.items[i + 1];
        weights->rows[i] =
            (struct code_weight){.key = *key, .self = sums->self, .total = sums->total};
    }
    qsort(weights->rows, weights->n, sizeof *weights->rows, row_compare);
    return true;
}

static bool weights_make(struct code_weights *weights, const struct profile *profile,
                         const uint8_t *functions, struct err *err)
{
    struct weighing_code code = {.profile = profile, .functions = functions};
    bool ok = row_table_init(&code.keys, sizeof(struct code_key)) &&
              weighing_init(&code.weighing, profile, false) && stacks_count(&code) &&
              rows_make(&code, weights);
    row_table_deinit(&code.keys);
    sums_by_key_deinit(&code.sums);
    weighing_deinit(&code.weighing);
    return ok || err_fail_memory(err);
}

bool code_weights_init(struct code_weights *weights, const struct profile *profile,
                       const uint8_t *functions, struct err *err)
{
    const struct profile *samples;
    struct profile *made;
    *weights = (struct code_weights){.rows = NULL};
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              weights_make(weights, samples, functions, err);
    profile_destroy(made);
    return ok;
}

void code_weights_deinit(struct code_weights *weights)
{
    free(weights->rows);
    *weights = (struct code_weights){.rows = NULL};
}

void code_weights_mark_known(const struct profile *profile, uint8_t *marks)
{
    for (uint32_t i = 1; i < profile->n_frames; i++)
        if (profile->frames[i].address != 0 &&
            profile->functions[profile->frames[i].function].module != 0)
            marks[profile->frames[i].function] = 1;
}
