/* tree.h - what the files of `sampler tree` share: the tree, before anybody sees it. */
#ifndef SAMPLER_CLI_TREE_H
#define SAMPLER_CLI_TREE_H

#include "fold/call_tree.h"
#include "options/options.h"
#include "view/input.h"

struct tree {
    const struct options *options;
    const struct input *input;
    enum summary_by by;
    enum call_tree_direction direction;
    const char *from; /* FUNC of --callers or --callees, else NULL */
    struct call_tree calls;
    double least; /* weight of nodes that are shown */
};

/* Children have the most first: what follows a node that is not shown is not, either. */
static inline bool tree_shows(const struct tree *tree, uint32_t node)
{
    return node != 0 && (double)tree->calls.nodes[node].total >= tree->least;
}

/* For people (view/screen.h). */
MUST_CHECK bool tree_print_text(const struct tree *tree, struct err *err);

/* For programs; the man page says what is in it. */
MUST_CHECK bool tree_print_json(const struct tree *tree, struct err *err);

#endif
