/* htdump.h - HawkTracer's event stream (docs/formats/htdump.md): classes, events and the parser
 * that yields them; shared by the reader, the dump and their tests.
 *
 *   bytes -> htdump_parser (knows the classes the stream describes) -> htdump_event, one by one
 *
 * The stream describes itself: nothing can be read, nor skipped, whose class was not described
 * before. The parser learns from the descriptions as they come, and yields them as events, too.
 *
 * Limits    Structs within structs to depth 32, 4096 fields in an event, 1024 in a class: beyond
 *           that, and for classes that contain themselves, ERR_LIMIT or ERR_FORMAT with the event's
 *           offset.
 * Bounds    Time and memory are a multiple of the input.
 * Context   Any thread, one parser each. */
#ifndef SAMPLER_HTDUMP_H
#define SAMPLER_HTDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "formats/format.h"
#include "intern.h"

/* Classes whose layout a reader knows in advance, whatever number the stream gives them. */
enum htdump_core {
    HTDUMP_CORE_ENDIANNESS,
    HTDUMP_CORE_EVENT,
    HTDUMP_CORE_CLASS_INFO,
    HTDUMP_CORE_FIELD_INFO,
    HTDUMP_CORE_NONE /* a class like any other */
};

/* data_type of a field description. */
enum htdump_data_type {
    HTDUMP_STRUCT = 1,
    HTDUMP_STRING = 2,
    HTDUMP_SIGNED = 3,
    HTDUMP_FLOAT = 4,
    HTDUMP_DOUBLE = 5,
    HTDUMP_POINTER = 6,
    HTDUMP_UNSIGNED = 99
};

enum htdump_value_kind {
    HTDUMP_VALUE_U64,
    HTDUMP_VALUE_I64,
    HTDUMP_VALUE_F64,
    HTDUMP_VALUE_TEXT,
    HTDUMP_VALUE_BYTES /* a field of a size no number has: its bytes as they stand in the file */
};

struct htdump_value {
    uint32_t name; /* text of htdump_parser_text                          */
    enum htdump_value_kind kind;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        struct text text; /* view into the input (text, bytes)                   */
    } as;
};

struct htdump_event {
    uint32_t class_index; /* dense, from 0, in order of first description; never changes       */
    uint32_t layout;      /* differs from the last event's of this class when fields were added */
    enum htdump_core core;
    uint32_t class_name; /* text                                                               */
    uint32_t class_id;   /* the header, 20 bytes at `offset`                                   */
    uint64_t timestamp_ns;
    uint64_t id;
    uint64_t offset;
    /* Fields in wire order, structs flattened, of equal names only the first. Borrowed until the
     * next event. */
    const struct htdump_value *values;
    size_t n_values;
    /* A field of that name stands in front of the header's. */
    bool hides_class_id;
    bool hides_timestamp;
    bool hides_id;
};

/* What was odd but not wrong in what was read so far. */
struct htdump_oddities {
    uint32_t n_redefined;        /* later descriptions that differ from the first, which holds  */
    uint32_t n_count_mismatches; /* classes with more or fewer fields than announced: right only
                                    once the end was reached */
};

struct htdump_parser;

/* Borrows the data while the parser lives. */
MUST_CHECK bool htdump_parser_create(const uint8_t *data, size_t size_bytes,
                                     struct htdump_parser **out, struct err *err);
void htdump_parser_destroy(struct htdump_parser *parser); /* takes NULL */

/* Reads the next event; *more = false (and *event unchanged) at the end of the stream. After a
 * failure the parser must not be used further. ERR_TRUNCATED: the stream ends inside the event at
 * err->offset; all before is sound. */
MUST_CHECK bool htdump_parser_next(struct htdump_parser *parser, struct htdump_event *event,
                                   bool *more, struct err *err);

struct text htdump_parser_text(const struct htdump_parser *parser, uint32_t id);

/* The id `name` has or would have as a class or field name. False when out of memory. */
bool htdump_parser_name(struct htdump_parser *parser, const char *name, uint32_t *id);

struct htdump_oddities htdump_parser_oddities(const struct htdump_parser *parser);

/* Notes what the oddities are. */
void htdump_note_oddities(const struct htdump_oddities *oddities, const struct format_notes *notes);

/* Whether the event belongs to the stream's own bookkeeping (descriptions, version, string
 * mappings) and not to what a program recorded. */
bool htdump_event_is_bookkeeping(const struct htdump_parser *parser,
                                 const struct htdump_event *event);

/* What becomes of a stream that stopped with `cut` (ERR_NONE: it did not): the complete events of
 * one that was only cut off are worth having, as a program that was killed leaves such files. Notes
 * the cut and returns true then; else (strict, nothing of interest before the cut, any other error)
 * *err = *cut and false. */
MUST_CHECK bool htdump_cut_accept(const struct err *cut, bool has_content, bool is_strict,
                                  const struct format_notes *notes, struct err *err);

int htdump_sniff(const uint8_t *head, size_t head_bytes);
MUST_CHECK bool htdump_read(const uint8_t *data, size_t size_bytes,
                            const struct format_options *options, const struct format_notes *notes,
                            struct profile **out, struct err *err);
MUST_CHECK bool htdump_dump(const uint8_t *data, size_t size_bytes,
                            const struct format_notes *notes, struct sink *out, struct err *err);
MUST_CHECK bool htdump_write(const struct profile *profile, const struct format_options *options,
                             const struct format_notes *notes, struct sink *out, struct err *err);

extern const struct format format_htdump;

#endif
