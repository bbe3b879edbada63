/* unit.h - one unit of .debug_info (DWARF 5, 7.5.1): its header, what its own DIE says, and how to
 * read values in it: strings, addresses, ranges.
 *
 * Offsets are those within the unit, from the first byte of its header, as references state them. */
#ifndef SAMPLER_DWARF_UNIT_H
#define SAMPLER_DWARF_UNIT_H

#include "dwarf/abbrev.h"
#include "dwarf/sections.h"
#include "dwarf/work.h"

enum unit_kind {
    UNIT_COMPILE,
    UNIT_SKIP,    /* holds types, or what other units import: no code */
    UNIT_FOREIGN, /* not for us: of another kind                      */
    UNIT_DAMAGED,
    UNIT_NO_MEMORY,
};

/* Where a DIE has code, of all its attributes that say so. */
struct unit_pcs {
    bool has_low;
    bool has_high;
    bool high_is_length;
    bool has_list;
    struct attribute list_form;
    uint64_t low;
    uint64_t high;
    uint64_t list;
};

struct unit {
    const struct sections *sections;
    struct abbrevs *abbrevs;
    struct cursor bytes; /* from the header on                            */
    unsigned version;
    uint64_t abbrev_offset;
    uint64_t first_die;   /* offset of its own DIE                         */
    uint64_t first_child; /* offset behind it                             */
    bool has_children;
    /* What its DIE says. */
    bool states_ranges;
    uint64_t language;
    const char *folder; /* DW_AT_comp_dir, NULL if there is none         */
    bool has_lines;
    uint64_t lines_offset; /* in .debug_line                                */
    uint64_t low_pc;       /* ranges count from there                       */
    struct unit_pcs pcs;   /* where it has code, as it says                 */
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
};

struct range {
    uint64_t start;
    uint64_t end; /* > start */
};

VECTOR_DEFINE(range_list, struct range)

/* Bytes of the unit at the start of `bytes`, which holds UNIT_LENGTH_BYTES; 0: of 64-bit DWARF. */
#define UNIT_LENGTH_BYTES 4u
uint64_t unit_length(const uint8_t *bytes);

/* Header and DIE of the unit in `bytes`. Abbreviations are read into `unit->abbrevs`. */
enum unit_kind unit_open(struct unit *unit, const struct sections *sections,
                         struct abbrevs *abbrevs, const uint8_t *bytes, uint64_t n_bytes,
                         struct work_account *work);

/* A cursor at an offset; failed if it lies outside of the DIEs. */
struct cursor unit_cursor(const struct unit *unit, uint64_t offset);

/* Over the attributes of a DIE. */
void unit_skip_attributes(const struct unit *unit, struct cursor *c, const struct abbrev *abbrev);

/* Over the children of a DIE whose attributes end at the cursor: by DW_AT_sibling, else one by one;
 * stops where there is no more work left. */
void unit_skip_children(const struct unit *unit, struct cursor *c, const struct abbrev *abbrev,
                        struct work_account *work);

/* What looking at a DIE costs of the account beside its attributes. */
#define UNIT_DIE_WORK 2u

/* The string of an attribute, NULL if it is none; the cursor moves on. It ends in NUL and lives as
 * long as its section, or, in the unit itself, as long as that. */
const char *unit_string(const struct unit *unit, struct cursor *c,
                        const struct attribute *attribute);

/* An address, also by index; *is_address: whether its form is of that class. */
uint64_t unit_address(const struct unit *unit, struct cursor *c, const struct attribute *attribute,
                      bool *is_address);

/* Takes one attribute in if it is of these; returns whether it was, and then has moved on. */
bool unit_pcs_take(const struct unit *unit, struct unit_pcs *pcs, struct cursor *c,
                   const struct attribute *attribute);

/* Appends the ranges with code that is there: neither empty nor dropped by the linker, nor outside
 * of executable sections. False: damaged, out of work, or of memory. */
bool unit_ranges(const struct unit *unit, const struct unit_pcs *pcs, struct range_list *out,
                 struct work_account *work);

/* Whether code there can be meant. */
bool unit_range_lives(const struct unit *unit, uint64_t start, uint64_t end);

#endif
