/* parse.h - what the files of the htdump parser share: only they include it.
 *
 *   parse.c    events: header, values, what the stream says of itself
 *   layout.c   the class of an event -> its fields as they stand on the wire
 *
 * A class is what the stream described (fields); a layout is what follows from it (slots: structs
 * resolved, names that hide others known). Layouts are made when an event needs them and made again
 * when a class, or one within it, got a field since: `generation` tells. */
#ifndef SAMPLER_HTDUMP_PARSE_H
#define SAMPLER_HTDUMP_PARSE_H

#include "cursor.h"
#include "formats/htdump/htdump.h"
#include "map.h"
#include "vector.h"

struct arena;

/* A field as described. */
struct field {
    uint32_t name;
    uint32_t type_name; /* of a struct: its class            */
    uint32_t size_bytes;
    uint32_t round; /* of the class, when it was described last */
    uint8_t data_type;
};

/* A field as it stands on the wire, structs resolved. */
struct slot {
    uint32_t name;
    uint32_t size_bytes; /* 0 for texts                                         */
    uint8_t kind;        /* enum htdump_value_kind                              */
    bool is_shown;       /* false: an earlier field of the event has this name  */
};

VECTOR_DEFINE(fields, struct field)
VECTOR_DEFINE(slots, struct slot)

struct class
{
    uint32_t id;
    uint32_t name;
    enum htdump_core core;
    uint32_t n_announced; /* fields, by the class description           */
    uint32_t round;       /* descriptions of the class seen so far      */
    struct fields fields;
    struct slots slots;     /* of layout `generation`                     */
    uint32_t generation;    /* 0: no layout yet; else parser's at that time */
    uint32_t layout;        /* counts layouts of this class               */
    bool is_part_of_others; /* a layout of another class contains it      */
    bool is_being_expanded;
    bool hides_class_id, hides_timestamp, hides_id;
};

/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): n < n_reserved only where there are items */
VECTOR_DEFINE(classes, struct class)
VECTOR_DEFINE(values, struct htdump_value)

/* Names the parser itself looks for; the order is that of `well_known_names`. */
enum well_known {
    NAME_BASE,
    NAME_EVENT,
    NAME_CLASS_ID,
    NAME_TIMESTAMP,
    NAME_ID,
    NAME_MAPPING,
    NAME_SYSTEM,
    N_WELL_KNOWN
};

struct htdump_parser {
    struct cursor in;
    bool is_big_endian;
    struct arena *arena;
    struct intern *texts;
    struct classes classes;
    struct map class_by_id;   /* number in the stream -> index               */
    struct map class_by_name; /* text -> index of the first class of that name */
    struct values values;     /* of the latest event                         */
    struct ids stamps;        /* by text: the last layout with a field of that name */
    uint32_t stamp;
    uint32_t generation; /* changes when a class that is part of others gets a field */
    uint64_t n_steps_left;
    uint32_t n_redefined;
    uint32_t well_known[N_WELL_KNOWN];
};

#define HTDUMP_SHOWN_BYTES 64

/* A name from the file, fit for a message: one line, not long. Returns `out`, which has
 * HTDUMP_SHOWN_BYTES. */
const char *htdump_name_show(const struct htdump_parser *parser, uint32_t id, char *out);

/* Makes the layout of the class anew and room for its values. `offset`: of the event that asks. */
MUST_CHECK bool htdump_layout_make(struct htdump_parser *parser, struct class *class,
                                   uint64_t offset, struct err *err);

static inline struct class *htdump_class_at(const struct htdump_parser *parser, size_t index)
{
    return &parser->classes.items[index];
}

#endif
