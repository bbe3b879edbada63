/* node_stacks.h - from the stack nodes of recordings to the stacks of the profile; the middle part
 * of build.c.
 *
 *   create: all nodes -> distinct (module, address) -> module_symbolize -> chains
 *           -> names (demangled once each; functions of one short name are one)
 *   map:    node -> stack of the profile, parents first */
#ifndef SAMPLER_NODE_STACKS_H
#define SAMPLER_NODE_STACKS_H

#include "build/build.h"

struct node_stacks;

/* Resolves every address of the recordings. Keeps them, the options and the builder. */
MUST_CHECK bool node_stacks_create(const struct recording *const *recordings, size_t n,
                                   const struct build_options *options,
                                   struct profile_builder *builder, struct node_stacks **out,
                                   struct err *err);
void node_stacks_destroy(struct node_stacks *stacks); /* takes NULL */

/* Fills stacks[node] for each node of recording `index`; [0] is the stack for samples that have
 * none. `out` has room for n_nodes. */
void node_stacks_map(struct node_stacks *stacks, size_t index, uint32_t *out);

/* `parent` (a stack of the profile) with the frames of one node, which is not 0; `parent` itself
 * where they are hidden. */
uint32_t node_stacks_push(struct node_stacks *stacks, size_t index, uint32_t parent, uint32_t node);

/* Adds to the module a sample's leaf is in. True: the code there has no name of its own. */
bool node_stacks_weigh(struct node_stacks *stacks, size_t index, uint32_t node, uint64_t weight_ns);

/* Puts the modules into the account, the heaviest first. False when out of memory. */
bool node_stacks_account(const struct node_stacks *stacks, struct account *account);

#endif
