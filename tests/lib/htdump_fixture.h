/* htdump_fixture.h - what the tests of the htdump format share: files, notes, and a builder that
 * puts a stream together field by field. */
#ifndef SAMPLER_TESTS_HTDUMP_FIXTURE_H
#define SAMPLER_TESTS_HTDUMP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"

struct bytes {
    uint8_t *data; /* heap, exactly as large as it says */
    size_t n;
};

/* Fails the test when the file cannot be read. */
struct bytes file_load(const char *path);

/* A copy cut to `n` bytes, so that a sanitizer sees the first byte too far. */
struct bytes bytes_cut(const struct bytes *bytes, size_t n);

/* The folder of the shared corpus and checkers, or NULL: $SAMPLER_SHARED, else beside the
 * repository. */
const char *shared_folder(void);

/* Counts notes and keeps the last. */
struct heard {
    unsigned n;
    char last[512];
};
struct format_notes notes_into(struct heard *heard);

/* What the sink of `dump` or `write` got; fails the test when they fail. */
struct bytes dump_bytes(const struct bytes *in, const struct format_notes *notes);
struct bytes write_bytes(const struct profile *profile, const struct format_notes *notes);
struct profile *read_profile(const struct bytes *in, const struct format_notes *notes);

/* ---- building a stream ---- */

struct stream {
    uint8_t *data;
    size_t n;
    size_t n_reserved;
    bool is_big_endian;
    uint64_t next_id;
};

void stream_deinit(struct stream *stream);
struct bytes stream_bytes(const struct stream *stream); /* a copy */

void stream_number(struct stream *stream, uint64_t value, unsigned size_bytes);
void stream_text(struct stream *stream, const char *text);
void stream_header(struct stream *stream, uint32_t number, uint64_t timestamp_ns, uint64_t id);
/* The byte order event; what follows is in that order. */
void stream_byte_order(struct stream *stream, bool is_big_endian);
void stream_class(struct stream *stream, uint32_t number, const char *name, unsigned n_fields);
void stream_field(struct stream *stream, uint32_t number, const char *type, const char *name,
                  uint64_t size_bytes, unsigned data_type);
/* HT_CallstackStringEvent as 6, HT_CallstackIntEvent as 5, HT_StringMappingEvent as 7. */
void stream_call_classes(struct stream *stream);
void stream_call(struct stream *stream, uint64_t start_ns, uint64_t duration_ns, uint32_t thread,
                 const char *label, uint64_t id);
void stream_int_call(struct stream *stream, uint64_t start_ns, uint64_t duration_ns,
                     uint32_t thread, uint64_t label);
void stream_mapping(struct stream *stream, uint64_t number, const char *label);

#endif
