/* fold.c - see fold.h. Building the tree.
 *
 * Sums per stack of the profile first, in an array by stack id: samples cost an addition each. Then
 * each stack that has a sum finds its node, walking up only to the next stack whose node is known.
 * Roots (process, thread) are the same for all samples of a thread, so samples are taken in groups
 * of one thread, and what is known of nodes counts within a group only; `groups` tells without
 * clearing.
 *
 * A name that ends in a blank and a number would be read as two counts at the end of a line.
 * Such a leaf is shown with "_" instead, by a twin of its node; within a path the name stays as
 * it is. */
#include "fold/fold.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "fold/name.h"
#include "fold/tree.h"
#include "model/convert.h"
#include "saturated.h"

_Static_assert(sizeof(struct fold_node) == 8, "no padding");

struct fold_unit fold_unit_choose(const struct profile *profile, bool count_ns)
{
    uint32_t ns = profile_kind_find(profile, PROFILE_UNIT_NS);
    uint32_t count = profile_kind_find(profile, PROFILE_UNIT_COUNT);
    const struct fold_unit as_counts = {
        .kind = count, .multiplier = 1, .divisor = 1, .unit = PROFILE_UNIT_COUNT};
    const struct fold_unit as_ns = {
        .kind = ns, .multiplier = 1, .divisor = 1, .unit = PROFILE_UNIT_NS};
    struct fold_unit unit = as_counts;
    if (profile->n_samples == 0 && profile->n_spans > 1)
        return as_ns; /* self times, see fold_add */
    if (profile->n_kinds == 0)
        return count_ns ? as_ns : as_counts;
    if (ns != 0 && count != 0) {
        unit.kind = 0;
        unit.unit = profile->kinds[0].unit;
    } else if (ns == profile->n_kinds) {
        if (count_ns && profile->period != 0) {
            unit.multiplier = profile->period;
            unit.unit = PROFILE_UNIT_NS;
        }
    } else if (count_ns || (profile->period == 0 && count == profile->n_kinds)) {
        unit = as_ns;
    } else if (profile->period != 0) {
        unit.kind = ns;
        unit.divisor = profile->period;
    }
    return unit;
}

/* Is the thread's process another named one than *first? Sets *first to the first one seen. */
static bool is_other_process(const struct profile *profile, uint32_t thread, uint32_t *first)
{
    uint32_t id = profile->threads[thread].process;
    const struct profile_process *process = &profile->processes[id];
    if (process->name == 0 || id == *first)
        return false;
    const struct profile_process *known = &profile->processes[*first];
    if (*first == 0)
        *first = id;
    return known->name != 0 && (known->name != process->name || known->pid != process->pid);
}

bool fold_needs_process_roots(const struct profile *profile)
{
    uint32_t first = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        if (is_other_process(profile, profile->samples[i].thread, &first))
            return true;
    }
    for (uint32_t id = 1; id < profile->n_spans; id++) {
        if (is_other_process(profile, profile->spans[id].thread, &first))
            return true;
    }
    return false;
}

void fold_destroy(struct fold *fold)
{
    if (fold == NULL)
        return;
    intern_destroy(fold->names);
    arena_destroy(fold->arena);
    row_table_deinit(&fold->nodes);
    fold_cells_deinit(&fold->cells);
    ids_deinit(&fold->end_names);
    chars_deinit(&fold->scratch);
    free(fold);
}

bool fold_create(uint32_t n_columns, enum fold_style style, struct fold **out, struct err *err)
{
    struct fold *fold = calloc(1, sizeof *fold);
    if (fold == NULL)
        return err_fail_memory(err);
    fold->style = style;
    fold->n_columns = n_columns;
    for (uint32_t column = 0; column < FOLD_MAX_COLUMNS; column++)
        fold->divisors[column] = 1;
    fold->arena = arena_create();
    fold->names = fold->arena == NULL ? NULL : intern_create(fold->arena);
    if (fold->names == NULL || !row_table_init(&fold->nodes, sizeof(struct fold_node)) ||
        !fold_cells_extend(&fold->cells, 1) || !ids_push(&fold->end_names, 0)) {
        fold_destroy(fold);
        return err_fail_memory(err);
    }
    *out = fold;
    return true;
}

struct fold_losses fold_losses(const struct fold *fold)
{
    return fold->losses;
}

/* The id of a name already clean. Its end name is itself, or its twin with "_" before the number.
 */
static bool name_add(struct fold *fold, const char *bytes, size_t length, uint32_t *id)
{
    if (!intern_add(fold->names, bytes, length, id))
        return false;
    if (*id < fold->end_names.n)
        return true;
    size_t blank = fold->style == FOLD_CLEAN ? fold_name_number(bytes, length) : 0;
    if (!ids_push(&fold->end_names, *id))
        return false;
    if (blank == 0)
        return true;
    uint32_t twin;
    fold->scratch.n = 0;
    if (!chars_append(&fold->scratch, bytes, length))
        return false;
    fold->scratch.items[blank] = '_';
    if (!intern_add(fold->names, fold->scratch.items, length, &twin))
        return false;
    fold->end_names.items[*id] = twin;
    /* The twin ends in no blank and number, so it is its own end name. */
    return twin != fold->end_names.n || ids_push(&fold->end_names, twin);
}

static bool name_add_clean(struct fold *fold, struct text text, uint32_t *id)
{
    struct chars clean = {0};
    bool ok = fold_name_clean(&clean, text.bytes, text.length) &&
              name_add(fold, clean.items, clean.n, id);
    chars_deinit(&clean);
    return ok;
}

static uint32_t node_add(struct fold *fold, uint32_t parent, uint32_t name)
{
    const struct fold_node node = {.parent = parent, .name = name};
    uint32_t id = row_table_add(&fold->nodes, &node, sizeof node);
    return fold_cells_extend(&fold->cells, (size_t)id + 1) ? id : 0;
}

/* Adding one profile: its stacks' sums within one group of samples (those with the same roots). */
struct adding {
    struct fold *fold;
    const struct profile *profile;
    struct fold_unit unit;
    uint32_t column;
    uint32_t *frame_names; /* names by frame, UINT32_MAX = not asked yet            */
    uint32_t *depths;      /* frames by stack                                        */
    uint32_t *nodes;       /* by stack; meaningful where `groups` has the group's id */
    uint32_t *groups;      /* by stack: the last group in which its node was found   */
    uint64_t *sums;        /* by stack, of the group                                 */
    uint32_t *touched;     /* stacks of the group that have samples                  */
    bool *is_touched;
    uint32_t n_touched;
    uint32_t group;
    uint32_t root; /* node and depth the group's stacks begin at */
    uint32_t root_depth;
};

static void adding_deinit(struct adding *adding)
{
    free(adding->frame_names);
    free(adding->depths);
    free(adding->nodes);
    free(adding->groups);
    free(adding->sums);
    free(adding->touched);
    free(adding->is_touched);
}

static bool adding_init(struct adding *adding)
{
    const struct profile *profile = adding->profile;
    adding->frame_names = calloc(profile->n_frames, sizeof *adding->frame_names);
    adding->depths = calloc(profile->n_stacks, sizeof *adding->depths);
    adding->nodes = calloc(profile->n_stacks, sizeof *adding->nodes);
    adding->groups = calloc(profile->n_stacks, sizeof *adding->groups);
    adding->sums = calloc(profile->n_stacks, sizeof *adding->sums);
    adding->touched = calloc(profile->n_stacks, sizeof *adding->touched);
    adding->is_touched = calloc(profile->n_stacks, sizeof *adding->is_touched);
    if (adding->frame_names == NULL || adding->depths == NULL || adding->nodes == NULL ||
        adding->groups == NULL || adding->sums == NULL || adding->touched == NULL ||
        adding->is_touched == NULL)
        return false;
    for (uint32_t frame = 0; frame < profile->n_frames; frame++)
        adding->frame_names[frame] = UINT32_MAX;
    for (uint32_t stack = 1; stack < profile->n_stacks; stack++)
        adding->depths[stack] = adding->depths[profile->stacks[stack].parent] + 1;
    return true;
}

static bool frame_name(struct adding *adding, uint32_t frame, uint32_t *name)
{
    uint32_t *known = &adding->frame_names[frame];
    if (*known == UINT32_MAX) {
        const struct profile *profile = adding->profile;
        const struct profile_function *function =
            &profile->functions[profile->frames[frame].function];
        struct text text = profile_text(profile, function->name);
        if (text.length == 0 && adding->fold->style == FOLD_CLEAN)
            text = profile_text(profile, function->system_name);
        bool ok = adding->fold->style == FOLD_CLEAN
                      ? name_add_clean(adding->fold, text, known)
                      : name_add(adding->fold, text.bytes, text.length, known);
        if (!ok) {
            *known = UINT32_MAX;
            return false;
        }
    }
    *name = *known;
    return true;
}

/* Node of the frames `chain` (leaf first, n of them) on top of `node`; 0 when out of memory. */
static uint32_t chain_add(struct adding *adding, uint32_t node, const uint32_t *chain, uint32_t n,
                          bool remember)
{
    while (n > 0) {
        uint32_t stack = chain[--n], name;
        if (!frame_name(adding, adding->profile->stacks[stack].frame, &name))
            return 0;
        node = node_add(adding->fold, node, name);
        if (node == 0)
            return 0;
        if (remember) {
            adding->nodes[stack] = node;
            adding->groups[stack] = adding->group;
        }
    }
    return node;
}

/* `chain` is scratch for as many stack ids as the deepest stack has frames. */
static uint32_t node_of_stack(struct adding *adding, uint32_t stack, uint32_t *chain)
{
    uint32_t n_most = FOLD_MAX_DEPTH - adding->root_depth;
    bool is_cut = adding->fold->style == FOLD_CLEAN && adding->depths[stack] > n_most;
    uint32_t n = 0, node = adding->root;
    if (is_cut) {
        /* The frames next to the leaf say most. */
        uint32_t name;
        if (!name_add(adding->fold, "[truncated]", strlen("[truncated]"), &name))
            return 0;
        node = node_add(adding->fold, node, name);
        for (; n < n_most - 1; stack = adding->profile->stacks[stack].parent)
            chain[n++] = stack;
        adding->fold->losses.n_cut++;
        return node == 0 ? 0 : chain_add(adding, node, chain, n, false);
    }
    while (stack != 0 && adding->groups[stack] != adding->group) {
        chain[n++] = stack;
        stack = adding->profile->stacks[stack].parent;
    }
    if (stack != 0)
        node = adding->nodes[stack];
    return chain_add(adding, node, chain, n, true);
}

static void sum_add(struct adding *adding, uint64_t *sum, uint64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum)) {
        *sum = UINT64_MAX;
        adding->fold->losses.n_saturated++;
    }
}

/* Where the weight of a node goes: to its twin if its name must not end a line. 0: out of memory.
 */
static uint32_t line_node(struct fold *fold, uint32_t node)
{
    uint32_t name;
    if (node == 0) { /* a sample without frames */
        if (!name_add(fold, "[unknown]", strlen("[unknown]"), &name))
            return 0;
        return node_add(fold, 0, name);
    }
    const struct fold_node *at = array_at(&fold->nodes.rows, node);
    name = fold->end_names.items[at->name];
    return name == at->name ? node : node_add(fold, at->parent, name);
}

static bool group_flush(struct adding *adding, uint32_t *chain)
{
    struct fold *fold = adding->fold;
    for (uint32_t i = 0; i < adding->n_touched; i++) {
        uint32_t stack = adding->touched[i];
        uint32_t node = node_of_stack(adding, stack, chain);
        if (node == 0 && (stack != 0 || adding->root != 0))
            return false;
        node = line_node(fold, node);
        if (node == 0)
            return false;
        struct fold_cell *cell = &fold->cells.items[node];
        cell->is_line = true;
        sum_add(adding, &cell->sums[adding->column], adding->sums[stack]);
        adding->sums[stack] = 0;
        adding->is_touched[stack] = false;
    }
    adding->n_touched = 0;
    return true;
}

static void sample_count(struct adding *adding, size_t index)
{
    const struct profile *profile = adding->profile;
    uint32_t stack = profile->samples[index].stack;
    uint64_t value = profile_value(profile, index, adding->unit.kind);
    if (adding->fold->style == FOLD_CLEAN) {
        if (value == 0)
            return;
        if (profile_stack_is_idle(profile, stack)) {
            adding->fold->losses.n_idle++;
            return;
        }
    }
    if (!adding->is_touched[stack]) {
        adding->is_touched[stack] = true;
        adding->touched[adding->n_touched++] = stack;
    }
    if (adding->unit.multiplier != 1)
        value = multiply_saturated(value, adding->unit.multiplier);
    sum_add(adding, &adding->sums[stack], value);
}

static bool root_push(struct adding *adding, struct text text)
{
    uint32_t name;
    if (!name_add_clean(adding->fold, text, &name))
        return false;
    adding->root = node_add(adding->fold, adding->root, name);
    adding->root_depth++;
    return adding->root != 0;
}

static bool thread_root_push(struct adding *adding, uint32_t thread_id)
{
    const struct profile *profile = adding->profile;
    const struct profile_thread *thread = &profile->threads[thread_id];
    const struct profile_process *process = &profile->processes[thread->process];
    struct text name = profile_text(profile, thread->name);
    if (name.length == 0)
        name = profile_text(profile, process->name);
    if (name.length == 0)
        name = text_make("thread");
    char ids[48];
    int n = snprintf(ids, sizeof ids, "-%" PRIu64 "/%" PRIu64, process->pid, thread->tid);
    struct chars text = {0};
    bool ok = chars_append(&text, name.bytes, name.length) && chars_append(&text, ids, (size_t)n) &&
              root_push(adding, chars_text(&text));
    chars_deinit(&text);
    return ok;
}

static bool group_begin(struct adding *adding, uint32_t thread, struct fold_roots roots)
{
    const struct profile *profile = adding->profile;
    adding->group++;
    adding->root = 0;
    adding->root_depth = 0;
    uint32_t name = profile->processes[profile->threads[thread].process].name;
    if (roots.processes && name != 0 && !root_push(adding, profile_text(profile, name)))
        return false;
    return !roots.threads || thread_root_push(adding, thread);
}

static bool samples_add(struct adding *adding, struct fold_roots roots, uint32_t *chain)
{
    const struct profile *profile = adding->profile;
    for (size_t i = 0; i < profile->n_samples; i++) {
        bool is_group = roots.processes || roots.threads;
        uint32_t thread = profile->samples[i].thread;
        if (i == 0 || (is_group && thread != profile->samples[i - 1].thread)) {
            if (!group_flush(adding, chain) || !group_begin(adding, thread, roots))
                return false;
        }
        sample_count(adding, i);
    }
    return group_flush(adding, chain);
}

static bool profile_add(struct adding *adding, struct fold_roots roots, struct err *err)
{
    uint32_t *chain = NULL;
    bool ok = adding_init(adding);
    if (ok) {
        uint32_t deepest = 1;
        for (uint32_t stack = 1; stack < adding->profile->n_stacks; stack++)
            deepest = adding->depths[stack] > deepest ? adding->depths[stack] : deepest;
        chain = calloc(deepest, sizeof *chain);
        ok = chain != NULL && samples_add(adding, roots, chain);
    }
    free(chain);
    adding_deinit(adding);
    return ok || err_fail_memory(err);
}

bool fold_add(struct fold *fold, uint32_t column, const struct profile *profile,
              struct fold_unit unit, struct fold_roots roots, struct err *err)
{
    fold->divisors[column] = unit.divisor;
    struct adding adding = {.fold = fold, .unit = unit, .column = column};
    struct profile *made;
    if (!profile_with_samples(profile, &adding.profile, &made, err))
        return false;
    if (made != NULL) { /* its one kind is the self time */
        adding.unit = (struct fold_unit){.multiplier = 1, .divisor = 1, .unit = PROFILE_UNIT_NS};
        fold->divisors[column] = 1;
    }
    bool ok = profile_add(&adding, roots, err);
    profile_destroy(made);
    return ok;
}
