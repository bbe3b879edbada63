/* builder.h - the index of a module while it is made, as the parts that make it share it.
 *
 *   index_build.c  from unit to unit; what belongs to which unit in the end
 *   scopes.c       functions and inlined calls of a unit   -> trees
 *   lines.c        its line table                          -> blocks of lines, names of its files
 *   origins.c      what a function is called and where it was written
 *   builder.c      what these need of each other: a text, a number, a span
 *
 * Nobody else includes it. How trees and blocks are written: index.h. */
#ifndef SAMPLER_DWARF_BUILDER_H
#define SAMPLER_DWARF_BUILDER_H

#include "arena.h"
#include "dwarf/index.h"
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

struct builder {
    struct sections sections;
    struct abbrevs abbrevs;
    struct unit unit; /* the one in work                                        */
    uint32_t unit_number;
    uint32_t n_damaged;            /* index.h                                                */
    bool mangles;                  /* its language has mangled names                         */
    bool through_types;            /* functions with code may stand within its types         */
    struct folder_entries folders; /* of the unit's line table                    */
    struct file_entries files;
    struct map unit_origins; /* offset of a DIE of the unit -> origin               */
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

/* The origin of the function whose DIE is at `offset`, of its own and what it refers to. False:
 * the unit is damaged. */
bool origin_find(struct builder *builder, uint64_t offset, uint32_t *origin);

/* Appends trees of all functions of the unit with code that is there. False: the unit is damaged,
 * or there is no more work left. */
bool scopes_read(struct builder *builder);

#endif
