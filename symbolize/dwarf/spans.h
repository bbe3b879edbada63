/* spans.h - pieces of the address space that claim something, and who has it in the end.
 *
 * Functions, units and line tables overlap where linkers fold or drop code. `spans_flatten` decides
 * it once for all addresses: of those that cover an address the one of the highest rank has it.
 * Costs n log n, whatever the pieces are. */
#ifndef SAMPLER_DWARF_SPANS_H
#define SAMPLER_DWARF_SPANS_H

#include "dwarf/work.h"
#include "vector.h"

struct span {
    uint64_t start;
    uint64_t end; /* > start                            */
    uint64_t rank;
    uint32_t unit;
    uint32_t payload;
};

VECTOR_DEFINE(spans, struct span)

/* Appends the flat pieces to `out`, ascending and disjoint; neighbours of one unit and payload are
 * one. Sorts `in`. False: out of memory. */
bool spans_flatten(struct spans *in, struct spans *out);

/* Appends what of `in` lies in pieces of its own unit; `units` is flat. False: out of memory, or
 * of work. */
bool spans_clip(const struct spans *in, const struct spans *units, struct spans *out,
                struct work_account *work);

#endif
