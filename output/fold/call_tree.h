/* call_tree.h - who calls whom, with what weight: stacks merged from one end.
 *
 *   down   from the outermost frame to the leaf: what a function's time consists of
 *   up     from the leaf to the outermost frame: where a function is called from
 *
 * A tree is of whole stacks, or of the part that begins at certain functions: the outermost of them
 * in a stack, so that a function which calls itself counts once.
 *
 * Down from there: what the time under them consists of. Up: through whom it came. In both, the sum
 * of the first nodes' totals is the weight of all samples with such a function.
 *
 * Nodes are of functions, lines, files or modules as the rows of a summary are (summary.h); frames
 * next to each other with the same file or module are one. Weights and what is left out (idle
 * samples) are the summary's, too. */
#ifndef SAMPLER_CALL_TREE_H
#define SAMPLER_CALL_TREE_H

#include "fold/summary.h"
#include "model/profile.h"

enum call_tree_direction { CALL_TREE_DOWN, CALL_TREE_UP };

struct call_tree_request {
    enum summary_by by; /* not one of whole samples                                   */
    enum call_tree_direction direction;
    const uint8_t *starts; /* by function: not 0 where a tree begins; NULL: whole stacks */
};

/* Node 0 stands above all and has the sums; others have smaller ids than their children. */
struct call_node {
    uint64_t total;
    uint64_t self;   /* weight of stacks that end here: going down, of samples with it as leaf */
    uint32_t parent; /* 0 of the first ones                                      */
    uint32_t first_child;  /* 0: none. Children: most total first, then in order of id */
    uint32_t next_sibling; /* 0: none                                                  */
    struct summary_key key;
};

struct call_tree {
    struct call_node *nodes;
    uint32_t n;
    struct weighed weighed; /* all: in the tree or not */
};

/* The caller gives it back with call_tree_deinit. */
MUST_CHECK bool call_tree_init(struct call_tree *tree, const struct profile *profile,
                               const struct call_tree_request *request, struct err *err);
void call_tree_deinit(struct call_tree *tree);

/* The node visited after `node` in depth-first order, 0 at the end; *depth is kept up to date and
 * is 0 before the first, which follows node 0. `skip`: not to its children. */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node, bool skip, uint32_t *depth);

#endif
