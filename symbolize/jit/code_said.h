/* code_said.h - addresses whose code a program made at run time, and what its runtime said of each:
 * what perf_map.c and jitdump.c fill.
 *
 *   asked  pc, when it was last seen    -> said  name, file and line, by the runtime's latest word
 *                                                before that
 *
 * A runtime reports code as it makes it, and may make other code at the same place later. So the
 * words about an address are read in their order, and each replaces the one before. */
#ifndef SAMPLER_CODE_SAID_H
#define SAMPLER_CODE_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number.h"
#include "text.h"

/* All texts are views of what was read. */
struct code_said {
    uint64_t pc;
    uint64_t seen_ns;      /* CLOCK_MONOTONIC, of the last sample with it on its stack */
    uint64_t entry;        /* where the code begins                                    */
    struct text name;      /* as the runtime has it; length 0: it said nothing         */
    struct text file;      /* being executed; length 0: not said                       */
    struct text decl_file; /* of the function itself; length 0: not said */
    uint32_t line;
    uint32_t decl_line;
};

/* Ascending by `pc`, which are distinct. */
struct codes_said {
    struct code_said *items;
    size_t n;
    uint64_t n_words; /* about one of them, in the file that is being read */
};

/* Of a hostile file each word may be about each address, over and over: so many are listened to, which
 * takes some seconds. */
#define CODES_MAX_WORDS UINT64_C(100000000)

static inline bool codes_said_listen(struct codes_said *codes)
{
    if (codes->n_words == CODES_MAX_WORDS)
        return false;
    codes->n_words++;
    return true;
}

/* The first at or after `pc`, `n` if there is none. */
static inline size_t codes_said_from(const struct codes_said *codes, uint64_t pc)
{
    size_t low = 0, high = codes->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (codes->items[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
