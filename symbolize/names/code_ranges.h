/* code_ranges.h - where the functions of code without symbols begin and end.
 *
 *   .eh_frame             an FDE for each function that compilers made, also in stripped files: one
 *                         range each
 *   executable sections   what no FDE covers: from the function before to the one after, within the
 *                         section (_init, assembly); all of it where it has none
 *   executable segments   in place of sections, in files without section headers
 *
 * The parts a compiler splits off a function (.cold) have an FDE, so a range, of their own.
 * Source: Linux Standard Base Core 5.0, 10.6 "Exception Frames"; entries are told apart by libdw.
 *
 * Damaged entries cost themselves only. One thread at a time; results are copies. */
#ifndef SAMPLER_CODE_RANGES_H
#define SAMPLER_CODE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "files/elf_file.h"
#include "vector.h"

struct code_range {
    uint64_t start; /* vaddr; half-open */
    uint64_t end;
};

VECTOR_DEFINE(code_range_list, struct code_range)

/* Both sorted, none within another. */
struct code_ranges {
    struct code_range_list regions; /* sections or segments */
    struct code_range_list functions;
};

/* False when out of memory; to be given back in every case. */
MUST_CHECK bool code_ranges_load(struct code_ranges *ranges, const struct elf_file *file);
void code_ranges_deinit(struct code_ranges *ranges); /* takes zeros */

/* The range that holds `vaddr`; false: the file has no code there. */
bool code_ranges_find(const struct code_ranges *ranges, uint64_t vaddr, struct code_range *out);

#endif
