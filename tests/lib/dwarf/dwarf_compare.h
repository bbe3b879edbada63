/* dwarf_compare.h - what our own index says of addresses beside what libdw says, field by field. */
#ifndef SAMPLER_TESTS_DWARF_COMPARE_H
#define SAMPLER_TESTS_DWARF_COMPARE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dwarf/index.h"

/* The frames of some addresses. */
struct dwarf_said {
    struct arena *arena;
    struct intern *texts;
    struct chain_frames frames;
    struct chain *chains; /* one per address */
    size_t n;
};

/* Results are to be dropped in every case. False: out of memory. */
bool dwarf_said_by_index(struct dwarf_said *said, const struct dwarf_index *index,
                         const uint64_t *vaddrs, size_t n);
bool dwarf_said_by_libdw(struct dwarf_said *said, const struct elf_file *file,
                         const uint64_t *vaddrs, size_t n);
void dwarf_said_drop(struct dwarf_said *said);

/* A text of a frame. */
const char *dwarf_said_text(const struct dwarf_said *said, uint32_t id);

/* Addresses whose chains differ in any field; the first few are told on `out`. */
size_t dwarf_said_differ(const struct dwarf_said *ours, const struct dwarf_said *theirs,
                         const uint64_t *vaddrs, FILE *out);

#endif
