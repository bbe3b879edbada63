/* dwarf_search.h - the search of one module's addresses in its DWARF, as its parts share it.
 *
 *   dwarf_names.c    which units to look at, and the chains in the end
 *   dwarf_scopes.c   functions and inlined calls of a unit
 *   dwarf_lines.c    its line table
 *   dwarf_enclosing.c  what a function stands in, for names that are only part of one
 *   dwarf_search.c   what these need of the search: an address, a text, a path
 *
 * Nobody else includes it. */
#ifndef SAMPLER_DWARF_SEARCH_H
#define SAMPLER_DWARF_SEARCH_H

#include <stdbool.h>

#include "err.h"
#include "map.h"
#include "names/dwarf_names.h"

/* A function or an inlined call that covers wanted addresses. */
struct scope {
    uint32_t parent;    /* enclosing scope, for inlined ones; 0 = none          */
    uint32_t name;      /* text                                                 */
    uint32_t decl_file; /* text                                                 */
    uint32_t decl_line;
    uint32_t call_file; /* text; where an inlined one was called                */
    uint32_t call_line;
    uint32_t call_column;
    uint64_t entry; /* of a function that is not inlined                    */
    bool inlined;
    bool unmangled; /* of a language with mangled names, but known by its plain one only */
};

VECTOR_DEFINE(scopes, struct scope)

struct place {
    uint32_t unit;  /* number of the unit that covers the address, 0 = none yet */
    uint32_t scope; /* innermost scope, 0 = none                                */
    uint32_t file;  /* text                                                     */
    uint32_t line;
    uint32_t column;
};

/* A DIE that functions may stand in. Those that stand in it, when they have been looked for, are
 * `n_inner` from `inner` on in the list. */
struct enclosing_die {
    Dwarf_Die die;
    const void *end; /* of its children; NULL: of its unit */
    uint32_t inner;
    uint32_t n_inner;
    bool looked_for;
};

VECTOR_DEFINE(enclosing_dies, struct enclosing_die)

struct search {
    Dwarf *dwarf;
    const uint64_t *vaddrs; /* sorted                                                */
    struct place *places;   /* one per address                                       */
    size_t n;
    size_t unit_first; /* places of the unit in work lie in [unit_first, unit_end) */
    size_t unit_end;
    struct scopes scopes; /* [0] = none                                           */
    struct intern *texts;
    uint64_t ranges_left; /* bound on the ranges looked at, for the whole module   */
    struct enclosing_dies enclosing;
    struct map enclosing_units; /* DIE of a unit -> its place in `enclosing`         */
    struct chars qualified;     /* the name in work                                  */
    bool no_memory;
};

/* A range that begins here is of code the linker threw away. */
#define DWARF_DEAD_VADDR 1u

/* Index of the first address >= vaddr. */
size_t search_lower(const struct search *search, uint64_t vaddr);

/* A text of libdw (NULL = none) as an id. */
uint32_t search_text(struct search *search, const char *text);

/* A path of `unit`'s line table as an id. libdw leaves the compilation folder out of relative paths
 * of DWARF 5; here it is put in front. */
uint32_t search_path(struct search *search, Dwarf_CU *unit, const char *path);

/* Gives the addresses of unit `unit` their innermost scopes. */
void dwarf_scopes_find(struct search *search, uint32_t unit, Dwarf_Die *unit_die);

/* The C++ function's name with what encloses it, valid until the next call; NULL: nothing does, or
 * it cannot be told. *declared: where it was written, a lambda's function with the lambda. */
const char *search_qualify(struct search *search, Dwarf_Die *function, Dwarf_Die *declared);

/* Gives the addresses of unit `unit` their lines. */
void dwarf_lines_find(struct search *search, uint32_t unit, Dwarf_Die *unit_die);

#endif
