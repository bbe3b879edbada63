/* code_weights.h - what the addresses in a function's code weigh.
 *
 * Frames of one address stand together: functions inlined into each other and the one they are in. An
 * address is of each of them. It has
 *
 *   self   weight of samples taken there: the processor stood at it
 *   total  weight of samples with it anywhere in the stack, counted once per stack
 *
 * so that the self of a function's addresses is at least its own, by that of what was inlined into it.
 * Weights, and what is idle, are those of weighing.h. */
#ifndef SAMPLER_CODE_WEIGHTS_H
#define SAMPLER_CODE_WEIGHTS_H

#include "fold/weighing.h"
#include "model/profile.h"

struct code_key {
    uint32_t function; /* one of those asked for                                  */
    uint32_t module;   /* that of the code                                        */
    uint64_t vaddr;
    uint32_t is_return;    /* 1: the address behind a call, of a frame that had called */
    uint32_t inlined_into; /* function whose code it is; 0: `function` itself       */
};

struct code_weight {
    struct code_key key;
    uint64_t self;
    uint64_t total;
};

struct code_weights {
    struct code_weight *rows; /* by function, module, vaddr */
    size_t n;
};

/* `functions`: by function, not 0 for those asked for. To be given back in every
 * case. */
MUST_CHECK bool code_weights_init(struct code_weights *weights, const struct profile *profile,
                                  const uint8_t *functions, struct err *err);
void code_weights_deinit(struct code_weights *weights);

/* Sets marks[function] for each function that the profile has an address of. */
void code_weights_mark_known(const struct profile *profile, uint8_t *marks);

#endif
