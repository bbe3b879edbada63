/* boxes.c - see boxes.h. Both kinds of profiles become nodes whose parents come before them; then nodes
 * are sorted by parent and width, and in that order a node finds the place of its parent known. */
#include "formats/svg/boxes.h"

#include <math.h>
#include <stdlib.h>

#include "fold/call_tree.h"
#include "fold/diff.h"
#include "number.h"
#include "saturated.h"

/* A node of the tree, drawn or not. */
struct node {
    struct svg_box box; /* `width` is a weight until the node gets its place */
    uint32_t id;
    uint32_t parent; /* < id; 0 of the first ones, and of node 0 */
    bool is_drawn;
    double next; /* where its next child goes */
};

VECTOR_DEFINE(nodes, struct node)

/* ---- nodes ----------------------------------------------------------------------------------- */

static void add_self(struct svg_boxes *boxes, uint32_t function, uint64_t weight)
{
    add_to(&boxes->self[function], weight);
}

static bool nodes_of_one(struct nodes *nodes, struct svg_boxes *boxes,
                         const struct profile *profile, struct err *err)
{
    const struct call_tree_request request = {.by = SUMMARY_BY_FUNCTION,
                                              .direction = CALL_TREE_DOWN};
    struct call_tree tree;
    if (!call_tree_init(&tree, profile, &request, err))
        return false;
    boxes->unit = tree.weighed.unit;
    boxes->idle = tree.weighed.idle;
    boxes->measure = profile_text(profile, tree.weighed.measure);
    for (uint32_t id = 0; id < tree.n; id++) {
        const struct call_node *from = &tree.nodes[id];
        nodes_push(nodes, (struct node){.box = {.function = from->key.id,
                                                .width = (double)from->total,
                                                .total = from->total,
                                                .self = from->self,
                                                .interval = INFINITY},
                                        .id = id,
                                        .parent = from->parent});
        add_self(boxes, from->key.id, from->self);
    }
    call_tree_deinit(&tree);
    return !nodes->no_memory || err_fail_memory(err);
}

/* Stacks are the nodes: side_by_side.h makes one for each path. */
static bool nodes_of_two(struct nodes *nodes, struct svg_boxes *boxes,
                         const struct profile *profile, struct err *err)
{
    if (!intervals_init(&boxes->intervals, profile) || !nodes_extend(nodes, profile->n_stacks) ||
        nodes->items == NULL)
        return err_fail_memory(err);
    boxes->is_of_two = true;
    boxes->unit = profile->kinds[0].unit;
    boxes->measure = chars_text(&boxes->intervals.measure);
    for (size_t i = 0; i < profile->n_samples; i++) {
        uint32_t stack = profile->samples[i].stack;
        struct svg_box *box = &nodes->items[stack].box;
        uint64_t before = profile_value(profile, i, 0), after = profile_value(profile, i, 1);
        add_to(&box->before, before);
        add_to(&box->total, after);
        add_self(boxes, profile->frames[profile->stacks[stack].frame].function,
                 add_saturated(before, after));
    }
    for (uint32_t stack = profile->n_stacks - 1; stack > 0; stack--) {
        struct node *node = &nodes->items[stack];
        node->id = stack;
        node->parent = profile->stacks[stack].parent;
        node->box.function = profile->frames[profile->stacks[stack].frame].function;
        node->box.interval = intervals_of_stack(&boxes->intervals, stack);
        node->box.width = (double)node->box.before + (double)node->box.total;
        struct svg_box *parent = &nodes->items[node->parent].box;
        add_to(&parent->before, node->box.before);
        add_to(&parent->total, node->box.total);
    }
    struct svg_box *all = &nodes->items[0].box;
    all->width = (double)all->before + (double)all->total;
    all->interval = boxes->intervals.whole;
    return true;
}

/* ---- places ---------------------------------------------------------------------------------- */

static int node_compare(const void *left, const void *right)
{
    const struct node *a = *(struct node *const *)left, *b = *(struct node *const *)right;
    if (a->parent != b->parent)
        return compare_u64(a->parent, b->parent);
    if (a->box.width != b->box.width)
        return a->box.width > b->box.width ? -1 : 1;
    return compare_u64(a->id, b->id);
}

/* Beside its elder siblings; true if it is drawn. */
static bool place(struct node *node, struct node *parent, double all)
{
    node->box.width = all > 0 ? node->box.width / all : 0;
    node->box.start = node->next = parent->next;
    node->box.level = parent->box.level + 1;
    parent->next += node->box.width;
    return parent->is_drawn && node->box.level < SVG_MOST_LEVELS &&
           node->box.width * SVG_WIDTH_PX >= SVG_NARROWEST_PX;
}

static bool lay_out(struct svg_boxes *boxes, struct nodes *nodes)
{
    struct node **sorted = calloc(nodes->n + 1, sizeof(struct node *));
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < nodes->n; i++)
        sorted[i] = &nodes->items[i];
    qsort(sorted + 1, nodes->n - 1, sizeof(struct node *), node_compare);
    struct node *root = sorted[0];
    double all = root->box.width;
    root->box.width = 1;
    root->is_drawn = true;
    svg_box_list_push(&boxes->list, root->box);
    for (size_t i = 1; i < nodes->n; i++) {
        struct node *node = sorted[i];
        struct node *parent = &nodes->items[node->parent];
        node->is_drawn = place(node, parent, all);
        if (parent->is_drawn && !node->is_drawn)
            boxes->share_left_out += node->box.width;
        boxes->n_left_out += !node->is_drawn && node->box.width > 0;
        boxes->is_cut = boxes->is_cut || node->box.level == SVG_MOST_LEVELS;
        if (node->is_drawn)
            svg_box_list_push(&boxes->list, node->box);
        if (node->is_drawn && node->box.level >= boxes->n_levels)
            boxes->n_levels = node->box.level + 1;
    }
    free(sorted);
    return !boxes->list.no_memory;
}

bool svg_boxes_init(struct svg_boxes *boxes, const struct profile *profile, struct err *err)
{
    struct nodes nodes = {.items = NULL};
    *boxes = (struct svg_boxes){.n_levels = 1,
                                .measure = text_make(""),
                                .self = calloc(profile->n_functions, sizeof(uint64_t))};
    if (boxes->self == NULL)
        return err_fail_memory(err);
    bool ok = profile_is_diff(profile) ? nodes_of_two(&nodes, boxes, profile, err)
                                       : nodes_of_one(&nodes, boxes, profile, err);
    ok = ok && (lay_out(boxes, &nodes) || err_fail_memory(err));
    nodes_deinit(&nodes);
    return ok;
}

void svg_boxes_deinit(struct svg_boxes *boxes)
{
    svg_box_list_deinit(&boxes->list);
    intervals_deinit(&boxes->intervals);
    free(boxes->self);
    *boxes = (struct svg_boxes){.self = NULL};
}
