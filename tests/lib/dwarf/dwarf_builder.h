/* dwarf_builder.h - debug information put together byte by byte, and a small module of it in each
 * version of DWARF, in which everything occurs that symbolize/dwarf/ knows.
 *
 *   struct dwarf_sample sample;
 *   dwarf_sample_make(&sample, 5);
 *   sample.of[PART_INFO].bytes[...] = ...;                what the test is about
 *   image = dwarf_sample_image(&sample, PART_INFO, &n);   that section is the last one of the file
 *   dwarf_sample_drop(&sample);
 *
 * The module (its code is at 0x1000 to 0x2000), a unit of C++ and one of C:
 *
 *   0x1000  ns::box::get, declared in its class, defined outside of it; it has inlined
 *   0x1010    helper, in a block, in two pieces (the other at 0x1030), it has inlined
 *   0x1012      deep
 *   0x1100  helper, once more, not inlined
 *   0x1200  lambda, in a class in a function that the linker dropped
 *   0x1300  plain: a static function, without mangled name; lines in a sequence of their own
 *   0x1400  second, in the unit of C, which states no ranges */
#ifndef SAMPLER_TESTS_DWARF_BUILDER_H
#define SAMPLER_TESTS_DWARF_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "elf_builder.h"

struct dwarf_bytes {
    uint8_t *bytes;
    size_t n;
    size_t n_reserved;
};

void dwarf_put(struct dwarf_bytes *out, uint64_t value, unsigned n_bytes);
void dwarf_put_uleb(struct dwarf_bytes *out, uint64_t value);
void dwarf_put_text(struct dwarf_bytes *out, const char *text);

/* What was put from `from` on, so many times in all. */
void dwarf_repeat(struct dwarf_bytes *out, size_t from, size_t times);

/* Attribute names and forms in turn, 0, 0 at their end (forms with a constant: it follows). */
void dwarf_put_abbrev(struct dwarf_bytes *out, uint64_t code, unsigned tag, bool children,
                      const unsigned *attributes);

/* Writes the length of what follows the four bytes at `at` into them. */
void dwarf_length_set(struct dwarf_bytes *out, size_t at);

enum dwarf_part {
    PART_INFO,
    PART_ABBREV,
    PART_LINE,
    PART_STR,
    PART_LINE_STR,
    PART_RANGES,
    PART_RNGLISTS,
    PART_ADDR,
    PART_STR_OFFSETS,
    N_PARTS
};

#define DWARF_CODE_START 0x1000u
#define DWARF_CODE_BYTES 0x1000u

struct dwarf_sample {
    struct dwarf_bytes of[N_PARTS];
    /* Places to lie at: offsets in .debug_info. */
    size_t second_unit;
    size_t origin_of_call; /* the reference (ref4) of the inlined helper                 */
    size_t declaration;    /* the DIE of ns::box::get in its class                       */
    size_t specification;  /* the reference of its definition                            */
    size_t class;          /* the DIE of ns::box                                         */
    size_t sibling;        /* the reference of it                                        */
    size_t last_function;  /* the DIE of plain, the last one of its unit                 */
    size_t abstract;       /* the DIE of helper, as written                              */
    size_t abstract_ref;   /* a reference in it, to nothing that matters (DW_AT_specification) */
};

void dwarf_sample_make(struct dwarf_sample *sample, unsigned version);
void dwarf_sample_drop(struct dwarf_sample *sample);

/* An ELF image of it, of the heap; `last`: the section at its end. */
uint8_t *dwarf_sample_image(const struct dwarf_sample *sample, enum dwarf_part last,
                            size_t *size_bytes);

/* The parts of that image, N_PARTS and the code, for those who want to lie about them. */
void dwarf_sample_parts(const struct dwarf_sample *sample, enum dwarf_part last,
                        struct elf_part parts[N_PARTS + 1]);

#endif
