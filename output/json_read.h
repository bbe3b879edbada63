/* json_read.h - JSON as a sequence of events, read by simdjson (On Demand).
 *
 *     struct json_reader *reader;  struct json_event event;
 *     json_reader_create(data, size, &reader, &err);
 *     while (json_next(reader, &event, &err) && event.kind != JSON_END) ...
 *
 * Input     UTF-8, a byte order mark is passed over. What decoders of the web replace is replaced:
 * bytes that are no UTF-8 and escaped lone surrogates become U+FFFD. UTF-16, comments, NaN, text
 * after the value: errors with their offset. What is skipped with json_skip is checked for balanced
 * brackets and strings only. Memory    A copy of the input, and 4 bytes for each of its brackets,
 * commas, strings and numbers. Nesting costs heap, not stack. Owner     json_reader_create borrows
 * `data` for the call. Texts of events live until json_reader_destroy. Context   One thread at a
 * time. */
#ifndef SAMPLER_JSON_READ_H
#define SAMPLER_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "err.h"

enum json_kind {
    JSON_END, /* the whole value was read */
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_KEY, /* the next event is, or begins, its value */
    JSON_STRING,
    JSON_NUMBER,
    JSON_BOOL,
    JSON_NULL,
};

struct json_event {
    enum json_kind kind;
    bool boolean;      /* BOOL                                             */
    bool is_integer;   /* NUMBER: whole and |number| <= 2^53               */
    double number;     /* NUMBER                                           */
    const char *bytes; /* KEY, STRING: UTF-8; may hold NUL                 */
    size_t length;
};

struct json_reader;

MUST_CHECK bool json_reader_create(const uint8_t *data, size_t size_bytes, struct json_reader **out,
                                   struct err *err);
void json_reader_destroy(struct json_reader *reader); /* takes NULL */

/* The next event. False: not JSON from here on (offset in err). */
MUST_CHECK bool json_next(struct json_reader *reader, struct json_event *event, struct err *err);

/* After KEY: leaves out its value. After OBJECT_BEGIN or ARRAY_BEGIN: leaves out the rest of it,
 * its END event too. */
void json_skip(struct json_reader *reader);

/* After ARRAY_BEGIN: appends all its elements to `numbers` (of double) and takes its END event too.
 * An element that is no number is an error that calls it `what`. */
MUST_CHECK bool json_numbers(struct json_reader *reader, const char *what, struct array *numbers,
                             struct err *err);

/* Where reading stands, as an offset in the input. */
uint64_t json_offset(struct json_reader *reader);

#endif
