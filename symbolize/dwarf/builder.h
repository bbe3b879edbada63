/* builder.h - the index of a module while it is made, as the parts that make it share it.
 *
 *   index_build.c  from unit to unit; what belongs to which unit in the end
 *   scopes.c       functions and inlined calls of a unit   -> trees
 *   lines.c        its line table                          -> blocks of lines, names of its files
 *   origins.c      what a function is called and where it was written
 *   enclosing.c    what a DIE stands in, for names that are only part of one
 *   builder.c      what these need of each other: what a DIE says, a text, a number, a span
 *
 * Nobody else includes it. How trees and blocks are written: index.h. */
#ifndef SAMPLER_DWARF_BUILDER_H
#define SAMPLER_DWARF_BUILDER_H

#include "arena.h"
#include "dwarf/index.h"
#include "dwarf/qualified.h"
#include "dwarf/spans.h"
#include "dwarf/unit.h"
#include "dwarf/work.h"
#include "intern.h"
#include "map.h"

/* A file of the unit's line table. */
struct file_entry {
    const char *name; /* NULL: none                                    */
    uint64_t folder;  /* index                                         */
    uint32_t text;    /* its path; FILE_NOT_YET before it is asked for */
};

#define FILE_NOT_YET UINT32_MAX

VECTOR_DEFINE(file_entries, struct file_entry)
VECTOR_DEFINE(folder_entries, const char *)
VECTOR_DEFINE(index_origins, struct index_origin)

/* A DIE that functions may stand in. Those that stand in it, when they have been looked for, are
 * `n_inner` from `inner` on in the list. */
struct enclosing {
    uint64_t offset;
    uint64_t end; /* of its children */
    uint32_t inner;
    uint32_t n_inner;
    uint16_t tag;
    bool looked_for;
};

VECTOR_DEFINE(enclosing_list, struct enclosing)

/* What a DIE says, and, where it does not, those it refers to by DW_AT_abstract_origin or
 * DW_AT_specification. */
struct die_facts {
    const char *linkage_name; /* NULL: none; not empty */
    const char *name;
    bool linkage_name_lasts; /* as builder_text wants to know */
    bool name_lasts;
    bool is_external; /* functions of other units may call it */
    bool has_file;
    bool has_line;
    uint64_t file; /* index                          */
    uint64_t line;
    uint64_t next; /* DIE it refers to; 0: none      */
    bool next_is_origin;
    uint64_t last; /* of those it refers to the last, where it was declared */
};

struct builder {
    struct sections sections;
    struct abbrevs abbrevs;
    struct unit unit; /* the one in work                                        */
    uint32_t unit_number;
    uint32_t n_damaged;            /* index.h                                                */
    struct language language;      /* its language                                           */
    struct folder_entries folders; /* of the unit's line table                    */
    struct file_entries files;
    struct map unit_origins;              /* offset of a DIE of the unit -> origin               */
    struct enclosing_list unit_enclosing; /* enclosing.c                          */
    struct chars qualified;               /* the name in work                     */
    /* The result. */
    struct arena *arena;
    struct intern *texts;
    struct map texts_by_place; /* address of a string in its section -> text         */
    struct index_origins origins;
    struct map origin_map;
    struct chars trees;
    struct chars lines;
    struct spans unit_spans; /* what each unit claims                              */
    struct spans tree_spans; /* payload: offset in trees                           */
    struct spans line_spans; /* payload: offset in lines                           */
    struct work_account work;
    bool no_memory;
};

/* Numbers as LEB128 (DWARF 5, 7.6), signed ones folded: 0, -1, 1, -2 ... */
void builder_number(struct builder *builder, struct chars *out, uint64_t value);
void builder_signed(struct builder *builder, struct chars *out, int64_t value);

/* Appends a span, which is paid for. */
void builder_span(struct builder *builder, struct spans *spans, struct span span);

/* A text as an id; NULL and "" are 0. `lasts`: it lies in a section and not in the unit. */
uint32_t builder_text(struct builder *builder, const char *text, bool lasts);

/* Reads the unit's line table: its files, and blocks of its lines. One that is damaged has
 * neither. */
void lines_read(struct builder *builder);

/* The path of a file of the unit's line table as a text; 0 if there is none. */
uint32_t lines_file(struct builder *builder, uint64_t index);

/* False: the unit is damaged. */
bool die_facts_read(struct builder *builder, uint64_t offset, struct die_facts *facts);

/* The C++ function's name with what encloses it, valid until the next call; NULL: nothing does, or
 * it cannot be told. The function of a lambda gets the place of the lambda, as it states none. */
const char *enclosing_qualify(struct builder *builder, struct die_facts *facts);

/* Before another unit. */
void enclosing_forget(struct builder *builder);

/* The origin of the function whose DIE is at `offset`, of its own and what it refers to. False:
 * the unit is damaged. */
bool origin_find(struct builder *builder, uint64_t offset, uint32_t *origin);

/* Appends trees of all functions of the unit with code that is there. False: the unit is damaged,
 * or there is no more work left. */
bool scopes_read(struct builder *builder);

#endif
