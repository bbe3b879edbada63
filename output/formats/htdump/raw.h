/* raw.h - the classes of our own that stand beside HawkTracer's calls: what the calls cannot
 * carry (docs/formats/htdump.md, "Raw classes"). One table, from which the writer describes the
 * classes and the reader finds their fields by name.
 *
 * Adding a class: a name in the enum, its row in raw.c, its case in write.c and
 * read_raw.c, its section in docs/formats/htdump.md. */
#ifndef SAMPLER_OUTPUT_FORMATS_HTDUMP_RAW_H
#define SAMPLER_OUTPUT_FORMATS_HTDUMP_RAW_H

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

struct htdump_raw_field {
    const char *name; /* NULL behind the last */
    enum htdump_raw_type type;
};

struct htdump_raw_description {
    const char *name;
    struct htdump_raw_field fields[HTDUMP_RAW_MAX_FIELDS + 1];
};

extern const struct htdump_raw_description htdump_raw_classes[HTDUMP_RAW_N];

/* Positions of fields in their rows. */
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
enum { MODULE_ID, MODULE_PATH, MODULE_BUILD_ID, MODULE_START, MODULE_END };
enum { PROCESS_REF, PROCESS_OS, PROCESS_PARENT, PROCESS_TITLE, PROCESS_START, PROCESS_END };
enum {
    THREAD_DETAIL_REF,
    THREAD_DETAIL_OS,
    THREAD_DETAIL_START,
    THREAD_DETAIL_END,
    THREAD_DETAIL_CPU
};
enum { THREAD_REF, THREAD_PROCESS, THREAD_TITLE };
enum {
    FUNCTION_ID,
    FUNCTION_NAME,
    FUNCTION_SYSTEM,
    FUNCTION_FILE,
    FUNCTION_LINE,
    FUNCTION_COLUMN,
    FUNCTION_MODULE
};
enum { FRAME_DETAIL_ID, FRAME_DETAIL_FUNCTION, FRAME_DETAIL_COLUMN, FRAME_DETAIL_FLAGS };
enum { FRAME_ID, FRAME_ADDRESS, FRAME_FUNCTION, FRAME_MODULE, FRAME_FILE, FRAME_LINE };
enum { STACK_ID, STACK_PARENT, STACK_FRAME };
enum { SAMPLE_THREAD, SAMPLE_CPU, SAMPLE_STACK, SAMPLE_WEIGHT };
enum { VALUE_KIND, VALUE_AMOUNT };
enum { SPAN_THREAD, SPAN_FRAME, SPAN_LENGTH };
enum { INSTANT_THREAD, INSTANT_FRAME, INSTANT_KIND, INSTANT_BITS, INSTANT_TEXT };
enum { OFF_CPU_THREAD, OFF_CPU_LENGTH, OFF_CPU_PROCESS, OFF_CPU_NEXT };
enum { BOOKMARK_TEXT, BOOKMARK_COLOR };

#define HTDUMP_RAW_VERSION 1U

/* Words for units, by enum profile_unit. */
#define HTDUMP_RAW_N_UNITS 5U
extern const char *const htdump_raw_units[HTDUMP_RAW_N_UNITS];

#endif
