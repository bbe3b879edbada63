/* visit.c - see fold.h. Paths in byte order, without ever sorting paths.
 *
 * Each node gives its parent's list up to two items: the line that ends here (its name, then the
 * end) and the branch below (its name, then ";"). No name holds a ";", so two paths are told apart
 * by the first pair of items that differ, and sorting the items of each list by bytes sorts the
 * paths: that puts "a (x);b" between the line "a" and the branch "a;...". There are few distinct
 * names: their items are sorted once, and taken from last to first each node's items are pushed in
 * front of its parent's list. */
#include <stdlib.h>
#include <string.h>

#include "fold/tree.h"

__extension__ typedef unsigned __int128 wide_u64; /* totals may pass 2^64 */

struct name_item {
    struct text text;
    uint32_t name;
    bool is_branch;
};

/* Items of nodes: 2 * node for its line, 2 * node + 1 for its branch; 0 = none. */
struct visiting {
    uint64_t *first; /* by node: first item of its list */
    uint64_t *next;  /* by item                         */
    uint32_t *first_of_name;
    uint32_t *next_of_name; /* by node                 */
    bool *has_children;     /* by node                 */
    struct name_item *items;
    struct chars path; /* of char */
    wide_u64 running[FOLD_MAX_COLUMNS];
};

static void visiting_deinit(struct visiting *visiting)
{
    free(visiting->first);
    free(visiting->next);
    free(visiting->first_of_name);
    free(visiting->next_of_name);
    free(visiting->has_children);
    free(visiting->items);
    chars_deinit(&visiting->path);
}

static int end_of(const struct name_item *item, size_t at)
{
    if (at < item->text.length)
        return (unsigned char)item->text.bytes[at];
    return item->is_branch ? ';' : -1;
}

static int item_compare(const void *left, const void *right)
{
    const struct name_item *a = left, *b = right;
    size_t n = a->text.length < b->text.length ? a->text.length : b->text.length;
    int order = memcmp(a->text.bytes, b->text.bytes, n);
    return order != 0 ? order : end_of(a, n) - end_of(b, n);
}

static bool visiting_init(struct visiting *visiting, const struct fold *fold)
{
    size_t n_nodes = fold->nodes.rows.n, n_names = intern_count(fold->names);
    *visiting = (struct visiting){0};
    visiting->first = calloc(n_nodes, sizeof *visiting->first);
    visiting->next = calloc(n_nodes * 2, sizeof *visiting->next);
    visiting->first_of_name = calloc(n_names, sizeof *visiting->first_of_name);
    visiting->next_of_name = calloc(n_nodes, sizeof *visiting->next_of_name);
    visiting->has_children = calloc(n_nodes, sizeof *visiting->has_children);
    visiting->items = calloc(n_names * 2, sizeof *visiting->items);
    return visiting->first != NULL && visiting->next != NULL && visiting->first_of_name != NULL &&
           visiting->next_of_name != NULL && visiting->has_children != NULL &&
           visiting->items != NULL;
}

static const struct fold_node *node_at(const struct fold *fold, uint32_t node)
{
    return (const struct fold_node *)fold->nodes.rows.items + node;
}

static void names_sort(struct visiting *visiting, const struct fold *fold)
{
    size_t n_names = intern_count(fold->names);
    for (uint32_t name = 0; name < n_names; name++) {
        struct text text = intern_text(fold->names, name);
        visiting->items[(size_t)name * 2] = (struct name_item){text, name, false};
        visiting->items[(size_t)name * 2 + 1] = (struct name_item){text, name, true};
    }
    qsort(visiting->items, n_names * 2, sizeof *visiting->items, item_compare);
}

static void lists_make(struct visiting *visiting, const struct fold *fold)
{
    for (uint32_t node = 1; node < fold->nodes.rows.n; node++) {
        const struct fold_node *at = node_at(fold, node);
        visiting->has_children[at->parent] = true;
        visiting->next_of_name[node] = visiting->first_of_name[at->name];
        visiting->first_of_name[at->name] = node;
    }
    const struct fold_cell *cells = fold->cells.items;
    for (size_t i = (size_t)intern_count(fold->names) * 2; i-- > 0;) {
        const struct name_item *item = &visiting->items[i];
        for (uint32_t node = visiting->first_of_name[item->name]; node != 0;
             node = visiting->next_of_name[node]) {
            if (item->is_branch ? !visiting->has_children[node] : !cells[node].is_line)
                continue;
            uint64_t own = (uint64_t)node * 2 + item->is_branch;
            uint64_t *list = &visiting->first[node_at(fold, node)->parent];
            visiting->next[own] = *list;
            *list = own;
        }
    }
}

/* The growth of round(total / divisor) when `sum` is added to the total. */
static uint64_t number_of(wide_u64 *running, uint64_t sum, uint64_t divisor)
{
    if (divisor == 1)
        return sum;
    wide_u64 half = divisor / 2;
    wide_u64 before = (*running + half) / divisor;
    *running += sum;
    return (uint64_t)((*running + half) / divisor - before);
}

static void line_show(struct visiting *visiting, const struct fold *fold, uint32_t node,
                      fold_node_visit *visit, void *context)
{
    const struct fold_cell *cell = (const struct fold_cell *)fold->cells.items + node;
    uint64_t numbers[FOLD_MAX_COLUMNS];
    uint64_t any = 0;
    for (uint32_t column = 0; column < fold->n_columns; column++) {
        numbers[column] =
            number_of(&visiting->running[column], cell->sums[column], fold->divisors[column]);
        any |= numbers[column];
    }
    if (any != 0 || fold->style == FOLD_RAW)
        visit(context, node, visiting->path.items, visiting->path.n, numbers);
}

static bool lists_walk(struct visiting *visiting, const struct fold *fold, fold_node_visit *visit,
                       void *context)
{
    struct chars *path = &visiting->path;
    uint32_t inside = 0; /* the node whose list is being walked */
    uint64_t item = visiting->first[0];
    for (;;) {
        while (item == 0) {
            if (inside == 0)
                return true;
            path->n -= intern_text(fold->names, node_at(fold, inside)->name).length + 1;
            item = visiting->next[(uint64_t)inside * 2 + 1];
            inside = node_at(fold, inside)->parent;
        }
        uint32_t node = (uint32_t)(item / 2);
        struct text name = intern_text(fold->names, node_at(fold, node)->name);
        if (!chars_append(path, name.bytes, name.length))
            return false;
        if (item % 2 == 0) {
            line_show(visiting, fold, node, visit, context);
            path->n -= name.length;
            item = visiting->next[item];
        } else {
            if (!chars_append(path, ";", 1))
                return false;
            inside = node;
            item = visiting->first[node];
        }
    }
}

bool fold_visit_nodes(struct fold *fold, fold_node_visit *visit, void *context, struct err *err)
{
    struct visiting visiting;
    bool ok = visiting_init(&visiting, fold);
    if (ok) {
        names_sort(&visiting, fold);
        lists_make(&visiting, fold);
        ok = lists_walk(&visiting, fold, visit, context);
    }
    visiting_deinit(&visiting);
    return ok || err_fail_memory(err);
}

struct line_caller {
    fold_line *line;
    void *context;
};

static void line_call(void *context, uint32_t node, const char *stack, size_t length,
                      const uint64_t *numbers)
{
    (void)node;
    const struct line_caller *caller = context;
    caller->line(caller->context, stack, length, numbers);
}

bool fold_visit(struct fold *fold, fold_line *line, void *context, struct err *err)
{
    struct line_caller caller = {.line = line, .context = context};
    return fold_visit_nodes(fold, line_call, &caller, err);
}

struct exporter {
    struct profile_builder *builder;
    const uint32_t *stacks; /* by node */
};

static void sample_export(void *context, uint32_t node, const char *stack, size_t length,
                          const uint64_t *numbers)
{
    (void)stack;
    (void)length;
    const struct exporter *exporter = context;
    const struct profile_sample sample = {.stack = exporter->stacks[node]};
    profile_add_sample(exporter->builder, &sample, numbers);
}

static bool profile_export(struct fold *fold, struct profile_builder *builder, struct err *err)
{
    uint32_t *stacks = calloc(fold->nodes.rows.n, sizeof *stacks);
    if (stacks == NULL)
        return err_fail_memory(err);
    for (uint32_t node = 1; node < fold->nodes.rows.n; node++) {
        struct text name = intern_text(fold->names, node_at(fold, node)->name);
        uint32_t frame = profile_add_named_frame(builder, name.bytes, name.length);
        stacks[node] = profile_add_stack(builder, stacks[node_at(fold, node)->parent], frame);
    }
    struct exporter exporter = {.builder = builder, .stacks = stacks};
    bool ok = fold_visit_nodes(fold, sample_export, &exporter, err);
    free(stacks);
    return ok;
}

bool fold_to_profile(struct fold *fold, const char *const *kind_names, enum profile_unit unit,
                     struct profile **out, struct err *err)
{
    struct profile_builder *builder = NULL;
    if (!profile_builder_create(&builder, err))
        return false;
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = fold->n_columns;
    for (uint32_t column = 0; column < fold->n_columns; column++) {
        scalars->kinds[column].name = profile_add_cstring(builder, kind_names[column]);
        scalars->kinds[column].unit = unit;
    }
    if (!profile_export(fold, builder, err)) {
        profile_builder_destroy(builder);
        return false;
    }
    return profile_builder_finish(builder, out, err);
}
