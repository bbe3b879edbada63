/* record.h - the records of a .prof file of version 2.1.0, encoded one by one.
 *
 * Shape     Every function writes one whole record, or, without a sink, only counts it. The header
 * of a file needs totals of all that follows, so a writer goes twice through its profile: once
 * counting, once writing.
 * Limits    A record's size is a u16: texts are cut to fit, at the border of a UTF-8 character and
 * at the first 0 byte, and counted in n_cut. */
#ifndef SAMPLER_EASYPROFILER_RECORD_H
#define SAMPLER_EASYPROFILER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/easyprofiler/easyprofiler.h"

struct easyprofiler_records {
    struct sink *out; /* NULL: count only                               */
    uint64_t n_bytes; /* sum of the size fields of the records so far   */
    uint64_t n_cut;   /* texts that did not fit                         */
};

struct easyprofiler_header {
    uint64_t pid;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t blocks_bytes;
    uint64_t descriptors_bytes;
    uint32_t n_records;
    uint32_t n_descriptors;
    uint32_t n_threads;
    uint16_t n_bookmarks;
};

void easyprofiler_put_header(struct sink *out, const struct easyprofiler_header *header);

void easyprofiler_put_descriptor(struct easyprofiler_records *records, uint32_t id, uint32_t line,
                                 uint32_t color, enum easyprofiler_type type, struct text name,
                                 struct text file);

/* The head of a thread section: id and name. Not a record: nothing is added to n_bytes. */
void easyprofiler_put_thread(struct easyprofiler_records *records, uint64_t tid, struct text name);

void easyprofiler_put_switch(struct easyprofiler_records *records, uint64_t begin_ns,
                             uint64_t end_ns, uint64_t to_tid, struct text process);

void easyprofiler_put_block(struct easyprofiler_records *records, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t descriptor);

/* `instant` has a value; `text` is its text if that is what it is. */
void easyprofiler_put_value(struct easyprofiler_records *records, uint64_t time_ns,
                            uint32_t descriptor, const struct profile_instant *instant,
                            struct text text);

void easyprofiler_put_bookmark(struct easyprofiler_records *records, uint64_t position_ns,
                               uint32_t color, struct text text);

#endif
