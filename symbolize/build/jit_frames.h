/* jit_frames.h - frames of code that is in no file: [jit] by what its runtime said (jit/jit.h), [anon]
 * where nothing was said. The part of node_stacks.c for nodes without a module. */
#ifndef SAMPLER_JIT_FRAMES_H
#define SAMPLER_JIT_FRAMES_H

#include "build/build.h"

struct jit_frames;

/* Looks up all such nodes of the recordings. Keeps them, the options and the builder. */
MUST_CHECK bool jit_frames_create(const struct recording *const *recordings, size_t n,
                                  const struct build_options *options,
                                  struct profile_builder *builder, struct jit_frames **out,
                                  struct err *err);
void jit_frames_destroy(struct jit_frames *frames); /* takes NULL */

/* The frame of a node of recording `index`. */
uint32_t jit_frames_add(struct jit_frames *frames, size_t index, const struct recording_node *node);

/* Adds to what has such a node as its leaf. True: the code there has no name. */
bool jit_frames_weigh(struct jit_frames *frames, size_t index, const struct recording_node *node,
                      uint64_t weight_ns);

/* Adds both kinds to the account's modules. False when out of memory. */
bool jit_frames_account(const struct jit_frames *frames, struct account *account);

#endif
