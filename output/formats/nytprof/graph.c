/* graph.c - see formats/nytprof/graph.h. One walk down and up the tree of stacks, in which for each
 * function, edge and line it is known how often it is on the stack: the outermost one counts. */
#include "formats/nytprof/graph.h"

#include <string.h>

#include "model/convert.h"

/* What the walk needs by stack; rows of edges and lines are one higher than their index. */
struct walk {
    struct nytprof_graph *graph;
    uint64_t *self;
    uint64_t *total;
    uint64_t *n_self; /* samples */
    uint64_t *n_total;
    uint32_t *first_child;
    uint32_t *next;
    uint32_t *edge;
    uint32_t *line;
    uint32_t *n_active; /* by function */
    struct map edge_rows;
    struct map line_rows;
};

static uint32_t stack_function(const struct profile *profile, uint32_t stack)
{
    return profile->frames[profile->stacks[stack].frame].function;
}

static uint32_t stack_line(const struct profile *profile, uint32_t stack)
{
    return profile_frame_line_in_file(&profile->frames[profile->stacks[stack].frame]);
}

/* ---- files ---- */

static bool add_file(struct nytprof_graph *graph, struct map *rows, uint32_t function)
{
    const struct profile_function *f = &graph->profile->functions[function];
    struct nytprof_place place = {.file = f->file, .module = f->file == 0 ? f->module : 0};
    uint32_t row = map_add(rows, place.file, place.module, (uint32_t)graph->files.n);
    graph->fid_of_function[function] = row + 1;
    return row < graph->files.n || (row != MAP_NONE && nytprof_places_push(&graph->files, place));
}

static bool is_main(const struct profile *profile, uint32_t function)
{
    return text_is(profile_text(profile, profile->functions[function].name), "main");
}

/* Numbers the files of the functions in samples; that of the first `main` goes first. */
static bool number_files(struct nytprof_graph *graph, const struct walk *walk)
{
    const struct profile *profile = graph->profile;
    struct map rows = {0};
    bool ok = true;
    for (uint32_t stack = 1; stack < profile->n_stacks; stack++) {
        if (walk->n_total[stack] != 0)
            walk->n_active[stack_function(profile, stack)] = 1;
    }
    uint32_t main_function = 0;
    for (uint32_t function = 1; function < profile->n_functions && main_function == 0; function++) {
        if (walk->n_active[function] != 0 && is_main(profile, function))
            main_function = function;
    }
    if (main_function != 0) {
        graph->program = profile->functions[main_function].module;
        ok = add_file(graph, &rows, main_function);
    }
    for (uint32_t stack = 1; ok && stack < profile->n_stacks; stack++) {
        if (walk->n_total[stack] != 0)
            ok = add_file(graph, &rows, stack_function(profile, stack));
    }
    for (uint32_t function = 0; function < profile->n_functions; function++)
        walk->n_active[function] = 0;
    map_deinit(&rows);
    return ok;
}

/* ---- call tree ---- */

static bool add_nodes(struct nytprof_graph *graph, const struct walk *walk)
{
    const struct profile *profile = graph->profile;
    struct nytprof_nodes *nodes = &graph->nodes;
    struct map rows = {0};
    bool ok = nytprof_nodes_push(nodes, (struct nytprof_node){0});
    for (uint32_t stack = 1; ok && stack < profile->n_stacks; stack++) {
        if (walk->n_total[stack] == 0)
            continue;
        uint32_t parent = graph->node_of_stack[profile->stacks[stack].parent];
        uint32_t function = stack_function(profile, stack);
        uint32_t row = map_add(&rows, parent, function, (uint32_t)nodes->n);
        if (row == nodes->n) {
            nytprof_nodes_push(nodes, (struct nytprof_node){.parent = parent,
                                                            .function = function,
                                                            .depth = nodes->items[parent].depth + 1,
                                                            .next = nodes->items[parent].child});
            nodes->items[parent].child = row;
        }
        graph->node_of_stack[stack] = row;
        ok = !nodes->no_memory && !rows.no_memory;
    }
    map_deinit(&rows);
    return ok;
}

/* The last made child first: read backwards, as readers must, the calls come in the order of the
 * stacks. */
static void rank_nodes(struct nytprof_graph *graph)
{
    struct nytprof_node *nodes = graph->nodes.items;
    uint32_t rank = 0;
    uint32_t at = 0;
    for (;;) {
        while (nodes[at].child != 0)
            at = nodes[at].child;
        while (at != 0 && nodes[at].next == 0) {
            nodes[at].rank = rank++;
            at = nodes[at].parent;
        }
        if (at == 0)
            break;
        nodes[at].rank = rank++;
        at = nodes[at].next;
    }
    nodes[0].rank = rank;
}

/* ---- edges and lines ---- */

static struct nytprof_graph_edge *edge_of(struct walk *walk, uint32_t stack)
{
    struct nytprof_graph *graph = walk->graph;
    const struct profile *profile = graph->profile;
    uint32_t parent = profile->stacks[stack].parent;
    uint32_t called = stack_function(profile, stack);
    uint32_t caller = parent == 0 ? 0 : stack_function(profile, parent);
    uint32_t line = parent == 0 ? 0 : stack_line(profile, parent);
    uint64_t place = (uint64_t)caller << 32 | line;
    uint64_t key = (uint64_t)(parent == 0) << 32 | called;
    uint32_t row = map_add(&walk->edge_rows, place, key, (uint32_t)graph->edges.n);
    walk->edge[stack] = row + 1;
    if (row == graph->edges.n)
        nytprof_graph_edges_push(
            &graph->edges,
            (struct nytprof_graph_edge){
                .is_outermost = parent == 0, .caller = caller, .line = line, .called = called});
    return row < graph->edges.n ? &graph->edges.items[row] : NULL;
}

static struct nytprof_graph_line *line_of(struct walk *walk, uint32_t stack)
{
    struct nytprof_graph *graph = walk->graph;
    uint32_t fid = graph->fid_of_function[stack_function(graph->profile, stack)];
    uint32_t number = stack_line(graph->profile, stack);
    uint32_t row = map_add(&walk->line_rows, fid, number, (uint32_t)graph->lines.n);
    walk->line[stack] = row + 1;
    if (row == graph->lines.n)
        nytprof_graph_lines_push(&graph->lines,
                                 (struct nytprof_graph_line){.fid = fid, .line = number});
    return row < graph->lines.n ? &graph->lines.items[row] : NULL;
}

static bool enter(struct walk *walk, uint32_t stack)
{
    struct nytprof_graph_edge *edge = edge_of(walk, stack);
    struct nytprof_graph_line *line = edge == NULL ? NULL : line_of(walk, stack);
    if (line == NULL)
        return false;
    if (edge->n_active++ == 0)
        edge->n_samples = add_saturated(edge->n_samples, walk->n_total[stack]);
    uint32_t depth = walk->n_active[edge->called]++;
    uint64_t *sum = depth == 0 ? &edge->inclusive : &edge->recursive;
    *sum = add_saturated(*sum, walk->total[stack]);
    edge->exclusive = add_saturated(edge->exclusive, walk->self[stack]);
    if (depth > edge->depth)
        edge->depth = depth;
    if (line->n_active++ == 0)
        line->inclusive = add_saturated(line->inclusive, walk->total[stack]);
    line->exclusive = add_saturated(line->exclusive, walk->self[stack]);
    line->n_samples = add_saturated(line->n_samples, walk->n_self[stack]);
    return true;
}

static void leave(struct walk *walk, uint32_t stack)
{
    struct nytprof_graph_edge *edge = &walk->graph->edges.items[walk->edge[stack] - 1];
    struct nytprof_graph_line *line = &walk->graph->lines.items[walk->line[stack] - 1];
    edge->n_active--;
    line->n_active--;
    walk->n_active[edge->called]--;
}

/* Down to the first child, else to the next sibling, else up. */
static bool walk_stacks(struct walk *walk)
{
    const struct profile_stack *stacks = walk->graph->profile->stacks;
    uint32_t at = walk->first_child[0];
    while (at != 0) {
        if (!enter(walk, at))
            return false;
        if (walk->first_child[at] != 0) {
            at = walk->first_child[at];
            continue;
        }
        leave(walk, at);
        while (at != 0 && walk->next[at] == 0) {
            at = stacks[at].parent;
            if (at != 0)
                leave(walk, at);
        }
        at = at == 0 ? 0 : walk->next[at];
    }
    return true;
}

static bool walk_alloc(struct walk *walk)
{
    struct arena *arena = walk->graph->arena;
    size_t n_stacks = walk->graph->profile->n_stacks;
    size_t n_functions = walk->graph->profile->n_functions;
    walk->self = arena_array(arena, n_stacks, sizeof *walk->self);
    walk->total = arena_array(arena, n_stacks, sizeof *walk->total);
    walk->n_self = arena_array(arena, n_stacks, sizeof *walk->n_self);
    walk->n_total = arena_array(arena, n_stacks, sizeof *walk->n_total);
    walk->first_child = arena_array(arena, n_stacks, sizeof *walk->first_child);
    walk->next = arena_array(arena, n_stacks, sizeof *walk->next);
    walk->edge = arena_array(arena, n_stacks, sizeof *walk->edge);
    walk->line = arena_array(arena, n_stacks, sizeof *walk->line);
    walk->n_active = arena_array(arena, n_functions, sizeof *walk->n_active);
    walk->graph->fid_of_function = arena_array(arena, n_functions, sizeof(uint32_t));
    walk->graph->node_of_stack = arena_array(arena, n_stacks, sizeof(uint32_t));
    return walk->self != NULL && walk->total != NULL && walk->n_self != NULL &&
           walk->n_total != NULL && walk->first_child != NULL && walk->next != NULL &&
           walk->edge != NULL && walk->line != NULL && walk->n_active != NULL &&
           walk->graph->fid_of_function != NULL && walk->graph->node_of_stack != NULL;
}

/* Sums of the samples by stack, and the lists of children of stacks that have any. */
static void sum_stacks(struct walk *walk)
{
    const struct profile *profile = walk->graph->profile;
    for (size_t i = 0; i < profile->n_samples; i++) {
        uint32_t stack = profile->samples[i].stack;
        if (nytprof_is_idle(walk->graph, i)) {
            walk->graph->n_idle++;
            continue;
        }
        walk->self[stack] = add_saturated(walk->self[stack], nytprof_weight(walk->graph, i));
        walk->n_self[stack]++;
    }
    for (uint32_t stack = profile->n_stacks; stack-- > 1;) {
        uint32_t parent = profile->stacks[stack].parent;
        walk->total[stack] = add_saturated(walk->total[stack], walk->self[stack]);
        walk->n_total[stack] += walk->n_self[stack];
        walk->total[parent] = add_saturated(walk->total[parent], walk->total[stack]);
        walk->n_total[parent] += walk->n_total[stack];
        if (walk->n_total[stack] == 0)
            continue;
        walk->next[stack] = walk->first_child[parent];
        walk->first_child[parent] = stack;
    }
}

bool nytprof_graph_init(struct nytprof_graph *graph, const struct profile *profile, struct err *err)
{
    *graph = (struct nytprof_graph){.profile = profile, .arena = arena_create()};
    graph->kind = profile_kind_find(profile, PROFILE_UNIT_NS);
    if (graph->kind >= profile->n_kinds)
        graph->kind = 0;
    struct walk walk = {.graph = graph};
    bool ok = graph->arena != NULL && walk_alloc(&walk);
    if (ok) {
        sum_stacks(&walk);
        ok = number_files(graph, &walk) && add_nodes(graph, &walk) && walk_stacks(&walk);
    }
    if (ok)
        rank_nodes(graph);
    map_deinit(&walk.edge_rows);
    map_deinit(&walk.line_rows);
    return ok || err_fail_memory(err);
}

void nytprof_graph_deinit(struct nytprof_graph *graph)
{
    nytprof_places_deinit(&graph->files);
    nytprof_nodes_deinit(&graph->nodes);
    nytprof_graph_edges_deinit(&graph->edges);
    nytprof_graph_lines_deinit(&graph->lines);
    arena_destroy(graph->arena);
}
