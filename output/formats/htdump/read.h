/* read.h - what the files of the htdump reader share: only they include it.
 *
 *   survey   one pass: the earliest time, the kinds of values, the first label of each number, and
 *            which of the two stories the file tells
 *   read     a second pass: events -> profile
 *
 *   shape.c        which fields of a class mean what
 *   read_raw.c     our raw classes: samples, stacks, frames, threads ...
 *   read_common.c  numbers and times of the file -> of the profile
 *   read.c         calls, other events, and the steering
 *
 * Two passes over the input, since the builder wants kinds and times before the first sample,
 * and calls may come before the text of their label. */
#ifndef SAMPLER_HTDUMP_READ_H
#define SAMPLER_HTDUMP_READ_H

#include "formats/htdump/htdump.h"
#include "formats/htdump/raw.h"
#include "map.h"
#include "vector.h"

enum htdump_role {
    HTDUMP_ROLE_NONE, /* bookkeeping                                            */
    HTDUMP_ROLE_RAW,
    HTDUMP_ROLE_CALL, /* has a label and a duration                             */
    HTDUMP_ROLE_MARK, /* has a label only                                       */
    HTDUMP_ROLE_DATA, /* anything else: each of its fields is a value           */
    HTDUMP_ROLE_MAPPING,
    HTDUMP_ROLE_VERSION
};

#define HTDUMP_NO_FIELD (-1)
#define HTDUMP_MAX_DATA_FIELDS                                                                     \
    6 /* of an event become values; bounds what a small file can ask for */

/* What the fields of a class mean: indexes into the values of its events, or HTDUMP_NO_FIELD. */
struct htdump_shape {
    uint32_t layout; /* of the class when this was found out; 0 = never */
    uint8_t role;    /* enum htdump_role */
    uint8_t raw;     /* enum htdump_raw_class */
    uint8_t n_data;
    bool has_arguments; /* a call with more fields than a span has room for */
    int16_t raw_fields[HTDUMP_RAW_MAX_FIELDS];
    int16_t label, duration, thread, identifier;
    int16_t data[HTDUMP_MAX_DATA_FIELDS];
    uint32_t data_frames[HTDUMP_MAX_DATA_FIELDS]; /* frames of their names, 0 = not made yet */
    uint32_t frame;                               /* of the class's name, 0 = not made yet   */
};

VECTOR_DEFINE(htdump_shapes, struct htdump_shape)

/* Names the shapes are found by; ids of the parser's texts. */
enum htdump_name {
    HTDUMP_NAME_DURATION,
    HTDUMP_NAME_THREAD,
    HTDUMP_NAME_LABEL,
    HTDUMP_NAME_NAME,
    HTDUMP_NAME_IDENTIFIER,
    HTDUMP_NAME_HASH,
    HTDUMP_NAME_MAPPING_CLASS,
    HTDUMP_NAME_VERSION_CLASS,
    HTDUMP_NAME_N
};

struct htdump_names {
    uint32_t known[HTDUMP_NAME_N];
    uint32_t raw_classes[HTDUMP_RAW_N];
    uint32_t raw_fields[HTDUMP_RAW_N][HTDUMP_RAW_MAX_FIELDS];
};

MUST_CHECK bool htdump_names_init(struct htdump_names *names, struct htdump_parser *parser);

/* What the event's class is to us. Valid until the next call; NULL when out of memory. `shapes`
 * are by class. */
struct htdump_shape *htdump_shape_of(struct htdump_shapes *shapes, const struct htdump_names *names,
                                     const struct htdump_event *event);

/* Fields by shape index; 0 and "" for HTDUMP_NO_FIELD. */
uint64_t htdump_number(const struct htdump_event *event, int field);
struct text htdump_text(const struct htdump_event *event, int field);

/* A label a number stands for. */
struct htdump_label {
    struct text text;
    uint32_t frame; /* 0 = not made yet */
};
VECTOR_DEFINE(htdump_labels, struct htdump_label)

/* Gathered until the end: of two calls with the same times the one with the lower id is the outer
 * one, but it stands after the other in the file. */
struct htdump_call {
    uint64_t id;
    uint64_t begin_ns, end_ns;
    uint32_t thread;
    uint32_t frame;
    uint32_t order; /* in the file, for equal ids */
};
VECTOR_DEFINE(htdump_calls, struct htdump_call)

/* What the first pass finds. */
struct htdump_survey {
    bool has_recording; /* the file is ours: raw classes tell all, its calls only repeat it  */
    bool has_samples;   /* raw samples: the calls are the same in another form               */
    bool has_content;
    uint64_t first_ns; /* earliest time of anything a program recorded; UINT64_MAX if nothing is  */
    uint64_t last_ns;
    uint64_t origin_ns; /* timestamp of the profile's time 0 */
    struct profile_scalars scalars;
    uint32_t weight_kind; /* which kind a sample's weight_ns is; PROFILE_MAX_KINDS = none */
    struct htdump_labels labels;
    struct map label_by_number; /* -> index of the label in force, at first the first one */
};

/* A sample whose further values may follow. */
struct htdump_open_sample {
    bool is_open;
    struct profile_sample sample;
    uint64_t values[PROFILE_MAX_KINDS];
};

struct htdump_reader {
    const struct htdump_parser *parser;
    struct profile_builder *builder;
    struct htdump_names names;
    struct htdump_survey survey;
    struct htdump_shapes shapes;
    bool is_out_of_memory; /* of ours; the builder keeps its own account */

    /* numbers in the file -> ids of the builder */
    struct map tables[HTDUMP_RAW_N_TABLES];
    struct htdump_open_sample open_sample;
    /* Details wait for what they belong to. */
    bool has_frame_detail, has_thread_detail;
    uint64_t frame_detail_id, thread_detail_id;
    struct profile_frame frame_detail;   /* function, column, flags */
    struct profile_thread thread_detail; /* tid, start, end, cpu    */

    struct htdump_calls calls;

    /* For the notes. */
    uint64_t n_bad_references, n_unmapped, n_with_arguments, n_long;
};

/* `key` of the file is `id` of the builder from now on. */
void htdump_bind(struct htdump_reader *reader, enum htdump_raw_table table, uint64_t key,
                 uint32_t id);

/* The id of the builder for `key` of the file; 0 for 0, "none", and for a key that was not bound. */
uint32_t htdump_bound(const struct htdump_reader *reader, enum htdump_raw_table table,
                      uint64_t key);

/* The thread of that number, added if new; 0 for 0. */
uint32_t htdump_thread(struct htdump_reader *reader, uint64_t number);

/* Time of the profile for a timestamp of the file. */
uint64_t htdump_time(const struct htdump_reader *reader, uint64_t timestamp_ns);

/* First pass: an event of one of the raw classes. */
void htdump_raw_survey(struct htdump_survey *survey, const struct htdump_event *event,
                       const struct htdump_shape *shape, struct profile_builder *builder);

/* Second pass. */
void htdump_raw_read(struct htdump_reader *reader, const struct htdump_event *event,
                     const struct htdump_shape *shape);

/* Adds the sample that waits for further values, if any. */
void htdump_open_sample_close(struct htdump_reader *reader);

#endif
