/* tree.c - a profile as V8 tells it: a tree of calls, and samples that last until the next
 * (cpuprofile.h).
 *
 *   stacks  -> nodes, merged where viewers see no difference
 *   samples -> entries on the time axis, each as long as its weight, idle entries between
 *
 * Stacks come parents first, so one pass over them makes all nodes. The children of a node are a
 * list; a hash of (parent, name, file, line) finds one among many. Two things viewers cannot
 * take are cut here: too deep stacks (an outer part goes, under a node [truncated]) and too many
 * children of a node (the last of them, [others], stands for the rest). */
#include <stdlib.h>
#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"
#include "saturated.h"
#include "text/json_write.h"

/* What makes two frames different for a viewer. */
static bool functions_look_equal(const struct profile *profile, uint32_t a, uint32_t b)
{
    if (a == b || a == CPUPROFILE_OTHERS || b == CPUPROFILE_OTHERS)
        return a == b;
    const struct profile_function *x = &profile->functions[a], *y = &profile->functions[b];
    return (x->name == y->name && x->file == y->file && x->line == y->line &&
            x->column == y->column);
}

static struct cpuprofile_out_node *node_at(const struct cpuprofile_tree *tree, uint32_t index)
{
    return &tree->nodes.items[index];
}

/* Children are in lists; wide ones are searched by hash. */
struct child_table {
    uint32_t *slots; /* index of the node, 0 = free */
    size_t n_slots;
};

static size_t child_hash(const struct profile *profile, uint32_t parent, uint32_t function)
{
    const struct profile_function *f =
        &profile->functions[function == CPUPROFILE_OTHERS ? 0 : function];
    uint64_t hash = parent * 0x9e3779b97f4a7c15U;
    hash = (hash ^ f->name) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 31) ^ f->file) * 0x94d049bb133111ebU;
    hash = (hash ^ (hash >> 29) ^ f->line) * 0x9e3779b97f4a7c15U;
    return (size_t)(hash ^ (hash >> 32));
}

static uint32_t node_push(struct cpuprofile_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->nodes.n >= UINT32_MAX)
        return 0;
    uint32_t index = (uint32_t)tree->nodes.n;
    if (!cpuprofile_out_nodes_push(
            &tree->nodes, (struct cpuprofile_out_node){.function = function, .parent = parent}))
        return 0;
    struct cpuprofile_out_node *above = node_at(tree, parent);
    if (index != parent) {
        node_at(tree, index)->next_sibling = above->first_child;
        above->first_child = index;
        above->n_children++;
    }
    return index;
}

static bool child_table_grow(struct child_table *table, const struct cpuprofile_tree *tree)
{
    size_t n_slots = table->n_slots * 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = CPUPROFILE_FIRST_REAL; i < tree->nodes.n; i++) {
        const struct cpuprofile_out_node *node = node_at(tree, i);
        size_t slot = child_hash(tree->profile, node->parent, node->function) & (n_slots - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = i;
    }
    free(table->slots);
    *table = (struct child_table){.slots = slots, .n_slots = n_slots};
    return true;
}

/* Where the child of `parent` for a function stands, or is to stand. */
static uint32_t *child_slot(const struct cpuprofile_tree *tree, const struct child_table *table,
                            uint32_t parent, uint32_t function)
{
    size_t slot = child_hash(tree->profile, parent, function) & (table->n_slots - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->n_slots - 1)) {
        const struct cpuprofile_out_node *node = node_at(tree, table->slots[slot]);
        if (node->parent == parent && functions_look_equal(tree->profile, node->function, function))
            break;
    }
    return &table->slots[slot];
}

/* The child of `parent` for a function, added if new; where there is no room for another, the one
 * for all others. 0 when out of memory. */
static uint32_t child_of(struct cpuprofile_tree *tree, struct child_table *table, uint32_t parent,
                         uint32_t function)
{
    if (tree->nodes.n * 2 >= table->n_slots && !child_table_grow(table, tree))
        return 0;
    uint32_t *slot = child_slot(tree, table, parent, function);
    if (*slot == 0 && node_at(tree, parent)->n_children + 1 >= CPUPROFILE_MAX_CHILDREN) {
        tree->has_others = true;
        function = CPUPROFILE_OTHERS;
        slot = child_slot(tree, table, parent, function);
    }
    if (*slot == 0)
        *slot = node_push(tree, parent, function);
    return *slot;
}

static struct profile_timeline line_of(const struct profile *profile,
                                       struct cpuprofile_selection selection)
{
    return selection.is_all ? profile_timeline_make(profile)
                            : profile_timeline_make_thread(profile, selection.thread);
}

/* What the samples say of each stack, by its id. */
struct stack_uses {
    uint32_t *depths; /* of those that samples use, and their parents; 0 = unused */
    uint64_t *n_hits; /* samples with just this stack                             */
};

static void stack_uses_deinit(struct stack_uses *uses)
{
    free(uses->depths);
    free(uses->n_hits);
}

/* A sample was taken as often as its count says, if the profile has one, else once. Parents come
 * before children in the table. */
static bool stack_uses_init(struct stack_uses *uses, const struct profile *profile,
                            struct cpuprofile_selection selection)
{
    uint32_t kind = profile_kind_find(profile, PROFILE_UNIT_COUNT);
    bool has_counts = kind < profile->n_kinds;
    struct profile_timeline samples = line_of(profile, selection);
    uses->depths = calloc(profile->n_stacks, sizeof *uses->depths);
    uses->n_hits = calloc(profile->n_stacks, sizeof *uses->n_hits);
    if (uses->depths == NULL || uses->n_hits == NULL)
        return false;
    uint32_t *depths = uses->depths;
    for (size_t i = samples.next; i < samples.end; i++) {
        uint32_t stack = profile->samples[i].stack;
        depths[stack] = 1;
        uses->n_hits[stack] += has_counts ? profile_value(profile, i, kind) : 1;
    }
    for (uint32_t i = profile->n_stacks; i-- > 1;) {
        if (depths[i] != 0)
            depths[profile->stacks[i].parent] = 1;
    }
    for (uint32_t i = 1; i < profile->n_stacks; i++) {
        if (depths[i] != 0)
            depths[i] = profile->stacks[i].parent == 0 ? 1 : depths[profile->stacks[i].parent] + 1;
    }
    return true;
}

/* How many outermost frames of a stack are left out: none up to the limit, then in steps, so that
 * neighbouring stacks lose the same ones and go on sharing their nodes. */
static uint32_t frames_cut(uint32_t depth)
{
    enum { STEP = 1000 };
    return depth <= CPUPROFILE_MAX_DEPTH ? 0 : (depth - CPUPROFILE_MAX_DEPTH + STEP) / STEP * STEP;
}

/* The node of the first stack that loses more frames than its parent: its path anew, under a node
 * that says so. */
static uint32_t cut_path(struct cpuprofile_tree *tree, struct child_table *table, uint32_t stack,
                         uint32_t n_kept)
{
    const struct profile *profile = tree->profile;
    uint32_t functions[CPUPROFILE_MAX_DEPTH] = {0};
    for (uint32_t n = 0; n < n_kept; n++) {
        functions[n] = profile->frames[profile->stacks[stack].frame].function;
        stack = profile->stacks[stack].parent;
    }
    tree->is_cut = true;
    uint32_t node = child_of(tree, table, CPUPROFILE_TRUNCATED, functions[n_kept - 1]);
    for (uint32_t n = n_kept - 1; n > 0 && node != 0; n--)
        node = child_of(tree, table, node, functions[n - 1]);
    return node;
}

static bool make_nodes(struct cpuprofile_tree *tree, struct child_table *table,
                       const uint32_t *depths)
{
    const struct profile *profile = tree->profile;
    for (uint32_t i = 1; i < profile->n_stacks; i++) {
        if (depths[i] == 0)
            continue;
        const struct profile_frame *frame = &profile->frames[profile->stacks[i].frame];
        uint32_t parent = tree->node_of_stack[profile->stacks[i].parent];
        uint32_t node;
        if (frames_cut(depths[i]) != frames_cut(depths[i] - 1))
            node = cut_path(tree, table, i, depths[i] - frames_cut(depths[i]));
        else if ((frame->flags & PROFILE_FRAME_IDLE) != 0 && depths[i] == 1)
            node = CPUPROFILE_IDLE;
        else
            node = child_of(tree, table, parent, frame->function);
        if (node == 0)
            return false;
        tree->has_idle = tree->has_idle || node == CPUPROFILE_IDLE;
        tree->node_of_stack[i] = node;
    }
    return true;
}

static bool count_line(struct cpuprofile_tree *tree, struct cpuprofile_out_node *node,
                       uint32_t line, uint64_t n_hits)
{
    for (uint32_t i = node->first_line; i != 0; i = tree->lines.items[i].next) {
        struct cpuprofile_line *known = &tree->lines.items[i];
        if (known->line == line) {
            known->n_hits += n_hits;
            return true;
        }
    }
    const struct cpuprofile_line added = {.line = line, .next = node->first_line, .n_hits = n_hits};
    node->first_line = (uint32_t)tree->lines.n;
    return cpuprofile_lines_push(&tree->lines, added);
}

static bool count_hits(struct cpuprofile_tree *tree, const uint64_t *n_hits)
{
    const struct profile *profile = tree->profile;
    for (uint32_t i = 0; i < profile->n_stacks; i++) {
        struct cpuprofile_out_node *node = node_at(tree, tree->node_of_stack[i]);
        uint32_t line = profile_frame_line_in_file(&profile->frames[profile->stacks[i].frame]);
        node->n_hits += n_hits[i];
        bool has_lines = node->function != CPUPROFILE_OTHERS;
        if (has_lines && line != 0 && n_hits[i] != 0 && !count_line(tree, node, line, n_hits[i]))
            return false;
    }
    return true;
}

/* Whether a thread did not run for a while between two samples. */
static bool has_gap(const struct profile *profile, struct cpuprofile_selection selection)
{
    struct profile_timeline line = line_of(profile, selection);
    struct profile_slice before, slice;
    if (!profile_timeline_next(&line, &before))
        return false;
    for (; profile_timeline_next(&line, &slice); before = slice) {
        if (slice.thread == before.thread && slice.begin_ns > before.end_ns)
            return true;
    }
    return false;
}

/* Lists were built newest first. */
static void order_siblings(struct cpuprofile_tree *tree)
{
    for (uint32_t i = 0; i < tree->nodes.n; i++) {
        uint32_t ordered = 0;
        for (uint32_t child = node_at(tree, i)->first_child; child != 0;) {
            struct cpuprofile_out_node *node = node_at(tree, child);
            uint32_t next = node->next_sibling;
            node->next_sibling = ordered;
            ordered = child;
            child = next;
        }
        node_at(tree, i)->first_child = ordered;
    }
}

static bool tree_build(struct cpuprofile_tree *tree, struct child_table *table,
                       const struct stack_uses *uses, struct cpuprofile_selection selection)
{
    if (table->slots == NULL || tree->node_of_stack == NULL ||
        !cpuprofile_lines_extend(&tree->lines, 1))
        return false;
    for (uint32_t i = CPUPROFILE_ROOT; i < CPUPROFILE_FIRST_REAL; i++) {
        if (node_push(tree, CPUPROFILE_ROOT, 0) != i)
            return false;
    }
    if (!make_nodes(tree, table, uses->depths) || !count_hits(tree, uses->n_hits))
        return false;
    order_siblings(tree);
    tree->has_idle = tree->has_idle || has_gap(tree->profile, selection);
    return true;
}

bool cpuprofile_tree_init(struct cpuprofile_tree *tree, const struct profile *profile,
                          struct cpuprofile_selection selection, struct err *err)
{
    *tree = (struct cpuprofile_tree){.profile = profile};
    struct child_table table = {.slots = calloc(1024, sizeof *table.slots), .n_slots = 1024};
    struct stack_uses uses = {.depths = NULL};
    tree->node_of_stack = calloc(profile->n_stacks, sizeof *tree->node_of_stack);
    bool ok =
        stack_uses_init(&uses, profile, selection) && tree_build(tree, &table, &uses, selection);
    free(table.slots);
    stack_uses_deinit(&uses);
    return ok || err_fail_memory(err);
}

void cpuprofile_tree_deinit(struct cpuprofile_tree *tree)
{
    cpuprofile_out_nodes_deinit(&tree->nodes);
    cpuprofile_lines_deinit(&tree->lines);
    free(tree->node_of_stack);
    tree->node_of_stack = NULL;
}

/* ---- the time axis ----------------------------------------------------------------------------
 */

void cpuprofile_timeline_init(struct cpuprofile_timeline *timeline,
                              const struct cpuprofile_tree *tree,
                              struct cpuprofile_selection selection)
{
    *timeline =
        (struct cpuprofile_timeline){.tree = tree, .line = line_of(tree->profile, selection)};
}

/* Where a moment of the thread is on the line. */
static uint64_t told_ns(const struct cpuprofile_timeline *timeline, uint64_t time_ns)
{
    return add_saturated(timeline->to_ns, time_ns - timeline->from_ns);
}

bool cpuprofile_timeline_next(struct cpuprofile_timeline *timeline, struct cpuprofile_entry *entry)
{
    const struct cpuprofile_tree *tree = timeline->tree;
    struct profile_slice *slice = &timeline->slice;
    if (timeline->state == CPUPROFILE_LINE_ENDED)
        return false;
    if (timeline->state == CPUPROFILE_LINE_SLICE_WAITS) {
        timeline->state = CPUPROFILE_LINE_RUNS;
    } else if (!profile_timeline_next(&timeline->line, slice)) {
        timeline->state = CPUPROFILE_LINE_ENDED;
        uint64_t end_ns = timeline->has_begun ? timeline->cursor_ns : tree->profile->duration_ns;
        *entry = (struct cpuprofile_entry){.node = CPUPROFILE_ROOT, .begin_ns = end_ns};
        return true;
    } else {
        /* Threads one after another: the next begins where this one ended. */
        if (!timeline->has_begun || slice->thread != timeline->thread) {
            timeline->from_ns = slice->begin_ns;
            timeline->to_ns = timeline->has_begun ? timeline->cursor_ns : slice->begin_ns;
        }
        timeline->thread = slice->thread;
        if (timeline->has_begun && told_ns(timeline, slice->begin_ns) > timeline->cursor_ns) {
            *entry =
                (struct cpuprofile_entry){.node = CPUPROFILE_IDLE, .begin_ns = timeline->cursor_ns};
            timeline->state = CPUPROFILE_LINE_SLICE_WAITS;
            return true;
        }
    }
    *entry = (struct cpuprofile_entry){.node = tree->node_of_stack[slice->stack],
                                       .begin_ns = told_ns(timeline, slice->begin_ns)};
    timeline->cursor_ns = told_ns(timeline, slice->end_ns);
    timeline->has_begun = true;
    return true;
}

void cpuprofile_note_changes(const struct cpuprofile_tree *tree, uint64_t last_us,
                             const struct format_notes *notes)
{
    const struct profile *profile = tree->profile;
    convert_note_events(profile, notes);
    if (profile->n_samples != 0 && !profile->has_times && !profile_counts_events(profile))
        format_note(notes, "the profile has no times: samples are laid end to end, in no order in "
                           "which they happened");
    if (tree->is_cut)
        format_note(notes, "stacks deeper than %u frames keep their innermost ones",
                    CPUPROFILE_MAX_DEPTH);
    if (tree->has_others)
        format_note(notes, "of more than %u functions called from one place the last are [others]",
                    CPUPROFILE_MAX_CHILDREN);
    if (last_us >= (uint64_t)CPUPROFILE_MAX_EXACT)
        format_note(notes, "times beyond 2^53 microseconds are cut: weights are missing");
}

uint64_t cpuprofile_axis_us(const struct profile *profile, uint64_t time_ns)
{
    const uint64_t MAX_US = (uint64_t)CPUPROFILE_MAX_EXACT;
    uint64_t base_us = profile->start_time_ns / 1000;
    uint64_t us = (base_us == 0 ? 1 : base_us) + time_ns / 1000 + (time_ns % 1000 >= 500);
    return us < MAX_US ? us : MAX_US;
}

/* ---- frames -----------------------------------------------------------------------------------
 */

static const char *const made_up_names[] = {"(root)", "(idle)", "[truncated]"};

void cpuprofile_write_call_frame(struct json *json, const struct cpuprofile_tree *tree,
                                 uint32_t index)
{
    const struct cpuprofile_out_node *node = node_at(tree, index);
    bool is_others = node->function == CPUPROFILE_OTHERS;
    bool is_real = index >= CPUPROFILE_FIRST_REAL && !is_others;
    const struct profile_function *function =
        &tree->profile->functions[is_real ? node->function : 0];
    char script_id[16] = "0";
    if (is_real && function->file != 0)
        snprintf(script_id, sizeof script_id, "%u", function->file);
    json_key(json, "callFrame");
    json_object_begin(json);
    json_key(json, "functionName");
    if (is_real)
        json_text(json, profile_text(tree->profile, function->name));
    else
        json_cstring(json, is_others ? "[others]" : made_up_names[index]);
    json_key(json, "scriptId");
    json_cstring(json, script_id);
    json_key(json, "url");
    json_text(json, profile_text(tree->profile, is_real ? function->file : 0));
    json_key(json, "lineNumber");
    json_i64(json, is_real ? (int64_t)function->line - 1 : -1);
    json_key(json, "columnNumber");
    json_i64(json, is_real ? (int64_t)function->column - 1 : -1);
    json_object_end(json);
}
