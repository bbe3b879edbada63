/* write.h - what the files of the htdump writer share: only they include it.
 *
 *   write.c         the order of things, descriptions of classes, numbers of threads
 *   write_raw.c     the raw classes
 *   write_calls.c   the calls HawkTracer's tools show, from spans or from samples
 *   write_common.c  what they put alike: headers of events, texts
 *
 * Memory    Some bytes per row of the profile's tables and per level of the deepest stack; nothing
 *           grows with samples.
 * Failure   Of the sink is the sink's; of memory, `no_memory` of `path` or false. */
#ifndef SAMPLER_HTDUMP_WRITE_H
#define SAMPLER_HTDUMP_WRITE_H

#include "formats/format.h"
#include "formats/htdump/raw.h"
#include "vector.h"

/* Numbers the real library gives its own classes; every reader of the last years knows the first
 * four by number, all others by their descriptions. */
enum htdump_class_number {
    HTDUMP_CLASS_ENDIANNESS = 0,
    HTDUMP_CLASS_INFO = 2,
    HTDUMP_CLASS_FIELD = 3,
    HTDUMP_CLASS_CALL = 5, /* HT_CallstackIntEvent */
    HTDUMP_CLASS_MAPPING = 7,
    HTDUMP_CLASS_SYSTEM = 8,
    HTDUMP_CLASS_RAW = 9 /* HTDUMP_RAW_RECORDING; the others follow */
};

/* Numbers of rows in the stream, in order of their first use: reading a stream back and writing it
 * again gives the same numbers. */
struct htdump_numbers {
    uint32_t *of; /* by id; 0 = not in the stream yet */
    uint32_t n;   /* given so far */
};

/* Numbers the row if it is new; false if it is not, and for row 0, "none", which stays 0. */
static inline bool htdump_number_give(struct htdump_numbers *numbers, uint32_t id)
{
    if (id == 0 || numbers->of[id] != 0)
        return false;
    numbers->of[id] = ++numbers->n;
    return true;
}

struct htdump_writer {
    const struct profile *profile;
    struct sink *out;
    uint64_t base_ns; /* timestamp of the profile's time 0     */
    uint64_t next_id; /* of events                             */
    struct htdump_numbers tables[HTDUMP_RAW_N_TABLES];
    struct htdump_numbers labels; /* by text */
    struct ids path;              /* stacks on the way to the outermost frame */
    bool has_changed_text;
};

uint64_t htdump_id_next(struct htdump_writer *writer);

/* The header of an event, `fields_bytes` of whose fields follow in `fields`. */
void htdump_event_put(struct htdump_writer *writer, uint32_t class_number, uint64_t timestamp_ns,
                      uint64_t id, const void *fields, size_t fields_bytes);

/* A text with its NUL. What no text of the format can hold, NUL and ill-formed UTF-8, becomes
 * U+FFFD. */
void htdump_text_put(struct htdump_writer *writer, struct text text);

/* The same for a label, in which what HawkTracer's tools do not escape becomes harmless. */
void htdump_label_put(struct htdump_writer *writer, struct text text);

void htdump_raw_tables_put(struct htdump_writer *writer);
void htdump_raw_events_put(struct htdump_writer *writer);

MUST_CHECK bool htdump_calls_put(struct htdump_writer *writer, struct err *err);

#endif
