/* raw.h - the classes of our own that stand next to HawkTracer's calls: what the calls cannot carry
 * (docs/formats/htdump.md, "Raw classes"). One table, from which the writer describes the classes
 * and the reader finds their fields by name.
 *
 * Adding a class: 1. its name in the enum; 2. its row in raw.c; 3. its case in write_raw.c and
 * read_raw.c; 4. its section in docs/formats/htdump.md. HawkTracer's own tools skip classes they
 * do not know, as the stream describes them. */
#ifndef SAMPLER_HTDUMP_RAW_H
#define SAMPLER_HTDUMP_RAW_H

#include <stdint.h>

enum htdump_raw_class {
    HTDUMP_RAW_RECORDING,     /* the profile's scalars; its timestamp is time 0            */
    HTDUMP_RAW_KIND,          /* a kind of value                                           */
    HTDUMP_RAW_METADATA,      /* key and value                                             */
    HTDUMP_RAW_MODULE,        /*                                                           */
    HTDUMP_RAW_PROCESS,       /*                                                           */
    HTDUMP_RAW_THREAD_DETAIL, /* in front of its thread                                    */
    HTDUMP_RAW_THREAD,        /*                                                           */
    HTDUMP_RAW_FUNCTION,      /*                                                           */
    HTDUMP_RAW_FRAME_DETAIL,  /* in front of its frame                                     */
    HTDUMP_RAW_FRAME,         /*                                                           */
    HTDUMP_RAW_STACK,         /*                                                           */
    HTDUMP_RAW_SAMPLE,        /*                                                           */
    HTDUMP_RAW_VALUE,         /* of the sample in front of it: a kind the sample has no field for */
    HTDUMP_RAW_SPAN,          /*                                                           */
    HTDUMP_RAW_INSTANT,       /*                                                           */
    HTDUMP_RAW_OFF_CPU,       /*                                                           */
    HTDUMP_RAW_BOOKMARK,      /*                                                           */
    HTDUMP_RAW_N
};

/* HawkTracer's tools take nothing but these; the value is the size on the wire, 0 for texts. */
enum htdump_raw_type {
    HTDUMP_RAW_TEXT = 0,
    HTDUMP_RAW_U8 = 1,
    HTDUMP_RAW_U32 = 4,
    HTDUMP_RAW_U64 = 8
};

#define HTDUMP_RAW_MAX_FIELDS 7

/* Where the value of a field is in the profile's row that the event stands for. */
enum htdump_raw_from {
    HTDUMP_RAW_BY_HAND, /* not in the row: whoever writes or reads the class knows                */
    HTDUMP_RAW_SELF,    /* the number of the row itself                                           */
    HTDUMP_RAW_MEMBER,  /* a member: a number as it is, a text by its id                          */
    HTDUMP_RAW_REF,     /* a member that is an id of another table: by the number of that row     */
    HTDUMP_RAW_LENGTH   /* end_ns - begin_ns, members side by side; the event's time is begin_ns  */
};

/* Tables whose rows have numbers in the stream. */
enum htdump_raw_table {
    HTDUMP_RAW_MODULES,
    HTDUMP_RAW_PROCESSES,
    HTDUMP_RAW_THREADS,
    HTDUMP_RAW_FUNCTIONS,
    HTDUMP_RAW_FRAMES,
    HTDUMP_RAW_STACKS,
    HTDUMP_RAW_N_TABLES
};

struct htdump_raw_field {
    const char *name; /* NULL after the last */
    enum htdump_raw_type type;
    enum htdump_raw_from from;
    uint16_t offset;             /* of the member in its row     */
    uint16_t size_bytes;         /* of the member: 4 or 8        */
    enum htdump_raw_table table; /* of a HTDUMP_RAW_REF          */
};

struct htdump_raw_description {
    const char *name;
    struct htdump_raw_field fields[HTDUMP_RAW_MAX_FIELDS + 1];
};

extern const struct htdump_raw_description htdump_raw_classes[HTDUMP_RAW_N];

/* Positions of fields that are read or written by hand. */
enum {
    RECORDING_VERSION,
    RECORDING_START,
    RECORDING_REALTIME,
    RECORDING_LENGTH,
    RECORDING_PERIOD,
    RECORDING_HAS_TIMES
};
enum { KIND_REF, KIND_TITLE, KIND_UNIT, KIND_IS_WEIGHT };
enum { METADATA_KEY, METADATA_VALUE };
enum { SELF_NUMBER }; /* of classes that have one */
enum { FRAME_FUNCTION = 2, FRAME_MODULE, FRAME_FILE };
enum { STACK_PARENT = 1, STACK_FRAME };
enum { SAMPLE_THREAD, SAMPLE_CPU, SAMPLE_STACK, SAMPLE_WEIGHT };
enum { VALUE_KIND, VALUE_AMOUNT };
enum { INSTANT_KIND = 2, INSTANT_BITS, INSTANT_TEXT };

#define HTDUMP_RAW_VERSION 1U

/* Words for units, by enum profile_unit. */
#define HTDUMP_RAW_N_UNITS 5U
extern const char *const htdump_raw_units[HTDUMP_RAW_N_UNITS];

#endif
