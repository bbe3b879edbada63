/* list_code.h - the instructions of functions and what they weigh, before anybody sees them.
 *
 * A function is in one or more pieces: its own code, its cold part, and the code of each function it
 * was inlined into. An instruction's weights are those of samples in the function asked for; of the
 * others that are inlined there, too, as the processor knows no difference. */
#ifndef SAMPLER_CLI_LIST_CODE_H
#define SAMPLER_CLI_LIST_CODE_H

#include "code/code.h"
#include "fold/code_weights.h"
#include "vector.h"

/* Of a module of the profile. */
struct list_module {
    struct code *code; /* NULL: not asked for, or `err` says why there is none */
    struct err err;
};

struct list_code {
    struct code_weights weights;
    struct list_module *modules; /* by module */
    size_t n_modules;
};

struct instruction_weight {
    uint64_t self;
    uint64_t total;
};

/* Code of a function in one place. */
struct list_piece {
    const struct code *code;
    const struct code_function *function;
    uint32_t module;
    uint32_t inlined_into;              /* function of the profile; 0: it is its own code */
    uint64_t self;                      /* of all its instructions                        */
    uint64_t total_most;                /* the largest of an instruction                  */
    struct instruction_weight *weights; /* by instruction of `function`      */
};

VECTOR_DEFINE(list_piece_vector, struct list_piece)

struct list_pieces {
    struct list_piece_vector all; /* most self first                                      */
    uint64_t self_elsewhere;      /* at addresses whose code is not here                  */
    uint32_t missing_module;      /* the first module whose code is not here; 0: none     */
};

/* Reads the code of functions, which are marked; not here is no error. To be given back in every
 * case. */
MUST_CHECK bool list_code_init(struct list_code *code, const struct profile *profile,
                               const uint8_t *functions, const struct code_options *options,
                               struct err *err);
void list_code_deinit(struct list_code *code); /* takes zeros */

/* Of a function that was marked. False when out of memory; to be given back in every case. */
MUST_CHECK bool list_pieces_init(struct list_pieces *pieces, const struct list_code *code,
                                 uint32_t function);
void list_pieces_deinit(struct list_pieces *pieces);

#endif
