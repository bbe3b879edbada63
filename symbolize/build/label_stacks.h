/* label_stacks.h - stacks of samples that bear a label (sampler.h): those of their nodes, below a
 * root frame of the label's name.
 *
 * Made as samples ask for them, each once. Keeps the node stacks and the builder. */
#ifndef SAMPLER_LABEL_STACKS_H
#define SAMPLER_LABEL_STACKS_H

#include "build/node_stacks.h"

struct label_stacks;

/* For recording `index`; NULL when out of memory. */
struct label_stacks *label_stacks_create(struct node_stacks *stacks, size_t index,
                                         const struct recording *recording,
                                         struct profile_builder *builder);
void label_stacks_destroy(struct label_stacks *labels); /* takes NULL */

/* The stack of `node` below `label` (an index in the recording's labels, not 0). False when out of
 * memory. */
MUST_CHECK bool label_stacks_get(struct label_stacks *labels, uint32_t label, uint32_t node,
                                 uint32_t *stack);

#endif
