/* record.h - the records of a real NYTProf stream, and the table of their fields.
 *
 * The table drives reading (stream.c), writing (encode.c) and the dump (dump/events.c); only the times of lines, which
 * are most of a file, are read and written by hand as well.
 *
 * To add a record: its tag below, a row in record.c, a field in struct nytprof_record for each field that has none. */
#ifndef SAMPLER_NYTPROF_RECORD_H
#define SAMPLER_NYTPROF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum nytprof_tag {
    NYTPROF_END = 0, /* not a record: no more of them */
    NYTPROF_ATTRIBUTE = ':',
    NYTPROF_OPTION = '!',
    NYTPROF_COMMENT = '#',
    NYTPROF_PROCESS_START = 'P',
    NYTPROF_PROCESS_END = 'p',
    NYTPROF_FILE = '@',
    NYTPROF_LINE_TIME = '+',
    NYTPROF_BLOCK_TIME = '*',
    NYTPROF_DISCOUNT = '-',
    NYTPROF_SOURCE = 'S',
    NYTPROF_SUB = 's',
    NYTPROF_EDGE = 'c',
    NYTPROF_ENTRY = '>',
    NYTPROF_RETURN = '<',
    NYTPROF_COMPRESSED = 'z'
};

/* One record; the fields its kind does not have are zero. */
struct nytprof_record {
    enum nytprof_tag tag;
    bool inflated;
    bool text_is_utf8;   /* the text came with the tag that says so                 */
    bool no_equals;      /* an attribute or option without `=`: all of it is the key */
    uint64_t offset;     /* of the tag; in the inflated data once `inflated` is set */
    uint32_t fid;        /* +, *, S, s, >, @; c: of the caller                      */
    uint32_t line;       /* +, *, S, >; c: of the call; s: first line of the sub    */
    uint32_t last_line;  /* s                                                       */
    uint32_t block_line; /* *                                                       */
    uint32_t sub_line;   /* *                                                       */
    uint32_t eval_fid;   /* @                                                       */
    uint32_t eval_line;  /* @                                                       */
    uint32_t flags;      /* @                                                       */
    uint32_t size_bytes; /* @                                                       */
    uint32_t mtime;      /* @                                                       */
    uint32_t pid;        /* P, p                                                    */
    uint32_t ppid;       /* P                                                       */
    uint32_t count;      /* c                                                       */
    uint32_t depth;      /* c: of recursion; <: from 1                              */
    int32_t ticks;       /* +, *                                                    */
    double time;         /* P, p: seconds since the epoch                           */
    double inclusive;    /* c: seconds; <: ticks                                    */
    double exclusive;    /* c: seconds; <: ticks                                    */
    double recursive;    /* c: seconds                                              */
    struct text text;    /* comment, key, file, source line, sub, called sub        */
    struct text other;   /* value; c: the caller                                    */
};

enum nytprof_wire {
    NYTPROF_WIRE_NONE, /* after the last field                                   */
    NYTPROF_WIRE_U32,  /* `u` of docs/formats/nytprof.md: 1 to 5 bytes           */
    NYTPROF_WIRE_I32,  /* `i`                                                    */
    NYTPROF_WIRE_F64,  /* `d`                                                    */
    NYTPROF_WIRE_TEXT, /* `s`                                                    */
    NYTPROF_WIRE_LINE, /* all up to the newline                                  */
    NYTPROF_WIRE_KEY,  /* up to the `=`, followed by a field VALUE               */
    NYTPROF_WIRE_VALUE /* from the `=` up to the newline                         */
};

struct nytprof_field {
    const char *name; /* in the dump */
    enum nytprof_wire wire;
    size_t offset; /* of the member in struct nytprof_record */
};

#define NYTPROF_MAX_FIELDS 10

struct nytprof_kind {
    enum nytprof_tag tag;
    const char *name;                                /* in the dump       */
    struct nytprof_field fields[NYTPROF_MAX_FIELDS]; /* in order of bytes */
};

/* In the order in which the dump counts them. */
extern const struct nytprof_kind nytprof_kinds[];
extern const size_t nytprof_n_kinds;

/* NULL if no record begins with this byte. */
const struct nytprof_kind *nytprof_kind_of(uint8_t tag);

#endif
