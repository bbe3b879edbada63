/* call_tree.c - see call_tree.h. Each stack that weighs something is walked once, from its leaf to
 * its root, into a path of rows; the path is then entered from the end where the tree begins. */
#include "fold/call_tree.h"

#include <stdlib.h>

#include "map.h"
#include "model/convert.h"
#include "number.h"
#include "saturated.h"
#include "vector.h"

VECTOR_DEFINE(call_nodes, struct call_node)
VECTOR_DEFINE(summary_keys, struct summary_key)

#define NO_START SIZE_MAX

struct growing {
    const struct profile *profile;
    const struct call_tree_request *request;
    struct call_nodes nodes;
    struct map children;      /* (parent, id, file, line) -> node    */
    struct summary_keys path; /* of the stack in work, leaf first    */
    size_t start;             /* where in it the tree begins         */
};

static bool is_same_row(struct summary_key a, struct summary_key b)
{
    return a.id == b.id && a.line == b.line && a.file == b.file;
}

/* The path of a stack. The outermost frame comes last, so the last start seen is the one. */
static void path_make(struct growing *growing, uint32_t stack)
{
    const struct profile *profile = growing->profile;
    const struct call_tree_request *request = growing->request;
    bool merges = request->by == SUMMARY_BY_FILE || request->by == SUMMARY_BY_MODULE;
    struct summary_keys *path = &growing->path;
    path->n = 0;
    growing->start = NO_START;
    do { /* the empty stack, too, has one row: unknown */
        uint32_t frame = profile->stacks[stack].frame;
        struct summary_key key = summary_frame_key(profile, request->by, frame);
        if (!merges || path->n == 0 || !is_same_row(path->items[path->n - 1], key))
            summary_keys_push(path, key);
        if (request->starts == NULL || request->starts[profile->frames[frame].function] != 0)
            growing->start = path->n - 1;
        stack = profile->stacks[stack].parent;
    } while (stack != 0);
}

static uint32_t child_of(struct growing *growing, uint32_t parent, struct summary_key key)
{
    uint32_t next = (uint32_t)growing->nodes.n;
    uint64_t place = (uint64_t)parent << 32 | key.id;
    uint32_t node = map_add(&growing->children, place, (uint64_t)key.file << 32 | key.line, next);
    if (node == next)
        call_nodes_push(&growing->nodes, (struct call_node){.parent = parent, .key = key});
    return node;
}

/* Enters path[from], path[from + step] ... as long as that is within the path. False when out of
 * memory, or of ids. */
static bool path_enter(struct growing *growing, size_t from, int step, uint64_t weight)
{
    uint32_t node = 0;
    add_to(&growing->nodes.items[0].total, weight);
    for (size_t i = from; i < growing->path.n; i += (size_t)step) { /* down from 0: wraps, ends */
        node = child_of(growing, node, growing->path.items[i]);
        if (node == MAP_NONE || growing->nodes.no_memory)
            return false;
        add_to(&growing->nodes.items[node].total, weight);
    }
    add_to(&growing->nodes.items[node].self, weight);
    return true;
}

static bool stack_enter(struct growing *growing, uint32_t stack, uint64_t weight)
{
    path_make(growing, stack);
    if (growing->path.no_memory)
        return false;
    if (growing->start == NO_START)
        return true;
    if (growing->request->direction == CALL_TREE_DOWN)
        return path_enter(growing, growing->start, -1, weight);
    return path_enter(growing, growing->request->starts == NULL ? 0 : growing->start, 1, weight);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int node_compare(const void *a, const void *b)
{
    const struct call_node *x = *(const struct call_node *const *)a;
    const struct call_node *y = *(const struct call_node *const *)b;
    int order = compare_u64(x->parent, y->parent);
    if (order == 0)
        order = compare_u64(y->total, x->total);
    if (order == 0)
        order = compare_u64(x->key.id, y->key.id);
    return order != 0 ? order : compare_u64(x->key.line, y->key.line);
}

/* Links each node's children. */
static bool nodes_link(struct call_nodes *nodes)
{
    struct call_node **sorted = calloc(nodes->n, sizeof(struct call_node *));
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < nodes->n; i++)
        sorted[i] = &nodes->items[i];
    qsort(sorted + 1, nodes->n - 1, sizeof(struct call_node *), node_compare);
    for (size_t i = nodes->n - 1; i > 0; i--) {
        struct call_node *parent = &nodes->items[sorted[i]->parent];
        sorted[i]->next_sibling = parent->first_child;
        parent->first_child = (uint32_t)(sorted[i] - nodes->items);
    }
    free(sorted);
    return true;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static bool grow(struct growing *growing, const struct weighing *weighing)
{
    if (!call_nodes_push(&growing->nodes, (struct call_node){.total = 0}))
        return false;
    for (uint32_t stack = 0; stack < growing->profile->n_stacks; stack++) {
        uint64_t weight = weighing->weights[stack];
        if (weight != 0 && !stack_enter(growing, stack, weight))
            return false;
    }
    return nodes_link(&growing->nodes);
}

static bool tree_make(struct call_tree *tree, const struct profile *profile,
                      const struct call_tree_request *request, struct err *err)
{
    struct growing growing = {.profile = profile, .request = request};
    struct weighing weighing;
    bool ok = weighing_init(&weighing, profile, false) && grow(&growing, &weighing);
    *tree = (struct call_tree){.weighed = weighing.weighed};
    if (ok) {
        tree->nodes = growing.nodes.items;
        tree->n = (uint32_t)growing.nodes.n;
    } else {
        call_nodes_deinit(&growing.nodes);
    }
    weighing_deinit(&weighing);
    map_deinit(&growing.children);
    summary_keys_deinit(&growing.path);
    if (!ok)
        err_fail_memory(err);
    return ok;
}

bool call_tree_init(struct call_tree *tree, const struct profile *profile,
                    const struct call_tree_request *request, struct err *err)
{
    const struct profile *samples;
    struct profile *made;
    *tree = (struct call_tree){.nodes = NULL};
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              tree_make(tree, samples, request, err);
    profile_destroy(made);
    return ok;
}

void call_tree_deinit(struct call_tree *tree)
{
    vector_free(tree->nodes);
    *tree = (struct call_tree){.nodes = NULL};
}

uint32_t call_tree_next(const struct call_tree *tree, uint32_t node, bool skip, uint32_t *depth)
{
    const struct call_node *nodes = tree->nodes;
    if (!skip && nodes[node].first_child != 0) {
        ++*depth;
        return nodes[node].first_child;
    }
    while (node != 0 && nodes[node].next_sibling == 0) {
        node = nodes[node].parent;
        --*depth;
    }
    return node == 0 ? 0 : nodes[node].next_sibling;
}
