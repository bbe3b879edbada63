/* json_write.c - see json_write.h. Commas and line ends come before what follows them, since
 * only then it is known whether something follows. */
#include "text/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "text/utf8.h"

#define EXACT_MAX (((uint64_t)1 << 53) - 1)

struct json json_make(struct sink *out, unsigned indent)
{
    return (struct json){.out = out, .indent = indent, .is_first = true, .after_key = true};
}

static void line_begin(struct json *json)
{
    static const char blanks[] = "                                                                ";
    if (json->indent == 0)
        return;
    /* Past the first 64 columns indentation helps nobody, and it would be quadratic in the depth.
     */
    size_t n = json->depth < sizeof blanks ? json->depth * json->indent : sizeof blanks - 1;
    sink_write(json->out, "\n", 1);
    sink_write(json->out, blanks, n < sizeof blanks ? n : sizeof blanks - 1);
}

/* What goes in front of a value or a key. */
static void item_begin(struct json *json)
{
    if (json->after_key) {
        json->after_key = false;
        json->is_first = false;
        return;
    }
    if (!json->is_first)
        sink_write(json->out, ",", 1);
    json->is_first = false;
    line_begin(json);
}

static void nesting_begin(struct json *json, const char *bracket)
{
    item_begin(json);
    sink_write(json->out, bracket, 1);
    json->depth++;
    json->is_first = true;
}

static void nesting_end(struct json *json, const char *bracket)
{
    json->depth--;
    if (!json->is_first)
        line_begin(json);
    json->is_first = false;
    sink_write(json->out, bracket, 1);
}

void json_object_begin(struct json *json)
{
    nesting_begin(json, "{");
}

void json_object_end(struct json *json)
{
    nesting_end(json, "}");
}

void json_array_begin(struct json *json)
{
    nesting_begin(json, "[");
}

void json_array_end(struct json *json)
{
    nesting_end(json, "]");
}

/* In the short form where JSON has one. */
static void control_escape(struct sink *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    const char *short_form = byte == '\b'   ? "\\b"
                             : byte == '\t' ? "\\t"
                             : byte == '\n' ? "\\n"
                             : byte == '\f' ? "\\f"
                             : byte == '\r' ? "\\r"
                                            : NULL;
    if (short_form != NULL)
        sink_write(out, short_form, 2);
    else
        sink_write(out, escape, sizeof escape);
}

/* Bytes that stand for themselves (RFC 8259, 7); runs of them are written in one piece. */
static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void string_write(struct sink *out, const char *bytes, size_t length)
{
    sink_write(out, "\"", 1);
    size_t copied = 0; /* bytes before this one are written */
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)bytes[i];
        if (is_plain(byte)) {
            i++;
            continue;
        }
        bool is_valid;
        size_t n = utf8_next(bytes + i, length - i, &is_valid);
        if (!is_valid || byte < 0x80) {
            sink_write(out, bytes + copied, i - copied);
            copied = i + n;
            if (!is_valid)
                sink_write(out, UTF8_REPLACEMENT, 3);
            else if (byte < 0x20)
                control_escape(out, byte);
            else
                sink_write(out, byte == '"' ? "\\\"" : "\\\\", 2);
        }
        i += n;
    }
    sink_write(out, bytes + copied, length - copied);
    sink_write(out, "\"", 1);
}

void json_key_bytes(struct json *json, const char *bytes, size_t length)
{
    item_begin(json);
    string_write(json->out, bytes, length);
    sink_write(json->out, ": ", json->indent == 0 ? 1 : 2);
    json->after_key = true;
}

void json_key(struct json *json, const char *key)
{
    json_key_bytes(json, key, strlen(key));
}

void json_bytes(struct json *json, const char *bytes, size_t length)
{
    item_begin(json);
    string_write(json->out, bytes, length);
}

void json_cstring(struct json *json, const char *text)
{
    json_bytes(json, text, strlen(text));
}

void json_text(struct json *json, struct text text)
{
    json_bytes(json, text.bytes, text.length);
}

/* Lists of numbers are most of some files: the comma goes with the digits. */
void json_u64(struct json *json, uint64_t value)
{
    char digits[1 + DIGITS_MAX];
    char *end = digits + sizeof digits;
    char *first = digits_before(end, value);
    bool has_comma = !json->after_key && !json->is_first && json->indent == 0;
    if (has_comma)
        *--first = ',';
    else
        item_begin(json);
    sink_write(json->out, first, (size_t)(end - first));
}

void json_i64(struct json *json, int64_t value)
{
    item_begin(json);
    if (value < 0)
        sink_write(json->out, "-", 1);
    sink_u64(json->out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_u64_exact(struct json *json, uint64_t value)
{
    item_begin(json);
    if (value > EXACT_MAX)
        sink_write(json->out, "\"", 1);
    sink_u64(json->out, value);
    if (value > EXACT_MAX)
        sink_write(json->out, "\"", 1);
}

void json_f64(struct json *json, double value)
{
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    char digits[40];
    int n = 0;
    for (int precision = 15; precision <= 17; precision++) {
        n = snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    /* The program may have set a locale with another decimal point. */
    char *point = digits + strspn(digits, "-0123456789");
    if (*point != '\0' && *point != 'e')
        *point = '.';
    json_raw(json, digits, (size_t)n);
}

void json_raw(struct json *json, const char *bytes, size_t length)
{
    item_begin(json);
    sink_write(json->out, bytes, length);
}

void json_bool(struct json *json, bool value)
{
    json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json)
{
    json_raw(json, "null", 4);
}
