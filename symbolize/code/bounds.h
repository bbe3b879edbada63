/* bounds.h - where the function around an address begins and ends, and its bytes.
 *
 *   symbol table (of the debug file, else of the file itself, with PLT entries)
 *   else the ranges of code without symbols (names/code_ranges.h), by which such code is named, too
 *
 * Views into the files, which must outlive it. */
#ifndef SAMPLER_BOUNDS_H
#define SAMPLER_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "err.h"
#include "files/elf_file.h"
#include "intern.h"
#include "names/code_ranges.h"
#include "names/symbols.h"

struct bounds {
    const struct elf_file *file;
    struct symbols symbols;
    struct code_ranges ranges;
};

struct code_bounds {
    uint64_t start; /* half-open, within the bytes the file has */
    uint64_t end;
    struct text symbol; /* as the table has it; "": none */
    const uint8_t *bytes;
};

/* `debug` may be NULL. Keeps the arena. False when out of memory; to be given back in every case. */
MUST_CHECK bool bounds_init(struct bounds *bounds, struct arena *arena, const struct elf_file *file,
                            const struct elf_file *debug);
void bounds_deinit(struct bounds *bounds); /* takes zeros */

/* The function at `vaddr`; false: the file has no code there, or nothing says what it is of. */
bool bounds_find(const struct bounds *bounds, uint64_t vaddr, struct code_bounds *out);

/* The symbol that covers `vaddr`; NULL: none. */
const struct symbol *bounds_symbol(const struct bounds *bounds, uint64_t vaddr);

#endif
