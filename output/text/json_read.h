/* json_read.h - JSON as a sequence of events, read by RapidJSON.
 *
 *     const struct json_visitor visitor = {.event = my_event, .context = my};
 *     json_read(data, size_bytes, &visitor, &err);
 *
 * Input     UTF-8; a byte order mark is passed over. What decoders of the web replace is replaced:
 *           bytes that are no UTF-8 and escaped lone surrogates become U+FFFD.
 * Errors    UTF-16, comments, NaN, text after the value, a nesting that does not end: with their
 *           offset, also in what is skipped.
 * Numbers   are doubles, as in JavaScript: beyond 2^53 the last digits are lost.
 * Memory    Besides the input that of the longest text and a few bytes per level of nesting, on the
 *           heap; no recursion. No tree is made: a .cpuprofile of gigabytes is read in one pass.
 * Owner     json_read borrows all for the call; an event and its bytes live for the visit.
 * Context   Any thread.
 *
 * The parser is RapidJSON, which is fast and reads by events. It is C++: its exceptions do not
 * leave json_read.cpp, the only C++ of the project. */
#ifndef SAMPLER_JSON_READ_H
#define SAMPLER_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "text/number_list.h"

enum json_kind {
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

/* How far reading has come; what a visitor has in hand. */
struct json_walk;

struct json_visitor {
    /* False stops reading; *err is filled. */
    bool (*event)(void *context, struct json_walk *walk, const struct json_event *event,
                  struct err *err);
    void *context;
};

/* One event after the other until the value ends, at the end of the input. False: not JSON from
 * some offset on, out of memory, or what the visitor says. */
MUST_CHECK bool json_read(const uint8_t *data, size_t size_bytes,
                          const struct json_visitor *visitor, struct err *err);

/* ---- for visitors ---- */

/* In a KEY: its value leaves no events. In OBJECT_BEGIN or ARRAY_BEGIN: the rest of it leaves none,
 * its END neither. */
void json_skip(struct json_walk *walk);

/* In an ARRAY_BEGIN: its elements go to `numbers` and leave no events, only its END does. One that
 * is no number is an error that calls it `what`. Keeps both until then. */
void json_numbers(struct json_walk *walk, const char *what, struct number_list *numbers);

/* Where reading stands, as an offset in the input: after what the event is about. */
uint64_t json_offset(const struct json_walk *walk);

#endif
