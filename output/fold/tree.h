/* tree.h - the inside of a fold, shared by fold.c (building) and fold/visit.c (showing).
 *
 * Nodes are rows of (parent, name): a path is a node, its last name the leaf. A cell for each
 * node holds the sums of samples that end there. Nobody else includes this; fold.h is for users. */
#ifndef SAMPLER_FOLD_TREE_H
#define SAMPLER_FOLD_TREE_H

#include "fold/fold.h"
#include "model/row_table.h"
#include "vector.h"

struct fold_node {
    uint32_t parent; /* < own id; node 0 is the root, without a name */
    uint32_t name;   /* in `names` */
};

struct fold_cell {
    uint64_t sums[FOLD_MAX_COLUMNS];
    bool is_line; /* samples end here */
};

VECTOR_DEFINE(fold_cells, struct fold_cell)

struct fold {
    enum fold_style style;
    uint32_t n_columns;
    uint64_t divisors[FOLD_MAX_COLUMNS];
    struct arena *arena;
    struct intern *names;
    struct row_table nodes;  /* of struct fold_node */
    struct fold_cells cells; /* of struct fold_cell, by node */
    struct ids end_names;    /* of uint32_t, by name: the name where it ends a line */
    struct chars scratch;    /* of char */
    struct fold_losses losses;
};

/* Calls `visit` for each node that is a line, sorted by bytes; `numbers` as in fold_line. */
typedef void fold_node_visit(void *context, uint32_t node, const char *stack, size_t length,
                             const uint64_t *numbers);
MUST_CHECK bool fold_visit_nodes(struct fold *fold, fold_node_visit *visit, void *context,
                                 struct err *err);

#endif
