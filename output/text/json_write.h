/* json_write.h - JSON written as it comes, into a sink.
 *
 *     struct json j = json_make(out, 1);
 *     json_object_begin(&j);
 *     json_key(&j, "n");
 *     json_u64(&j, 3);
 *     json_object_end(&j);
 *
 * Commas and indentation are put in here; that begins and ends match, and that an object's values
 * have keys, is the caller's part. Needs no memory, however deep the nesting. Failure is the
 * sink's: sticky, reported by sink_close. Same calls, same bytes: no locale, no clock. */
#ifndef SAMPLER_JSON_WRITE_H
#define SAMPLER_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "sink.h"

struct json {
    struct sink *out;
    unsigned indent; /* blanks per level; 0 = all on one line       */
    size_t depth;
    bool is_first;  /* nothing yet in the innermost object or array */
    bool after_key; /* the next value belongs to a key just written */
};

struct json json_make(struct sink *out, unsigned indent);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

void json_key(struct json *json, const char *key);
void json_key_bytes(struct json *json, const char *bytes, size_t length);

/* Any bytes; what is not UTF-8 becomes U+FFFD (utf8.h), control characters are escaped. */
void json_bytes(struct json *json, const char *bytes, size_t length);
void json_cstring(struct json *json, const char *text);
void json_text(struct json *json, struct text text);

void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
/* A number, or a string of digits where doubles are no longer exact (over 2^53 - 1). */
void json_u64_exact(struct json *json, uint64_t value);
/* The shortest form that reads back as the same double; null for NaN and infinities. */
void json_f64(struct json *json, double value);
/* A number (or any one value) already in JSON form. */
void json_raw(struct json *json, const char *bytes, size_t length);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

#endif
