/* dump.c - a HawkTracer stream as JSON: one line {"klass": ..., "fields": {...}} per event,
 * in the order of the file, bookkeeping included.
 *
 * Nothing of the file is changed on the way: bytes that are not UTF-8 come out as \udcXX (a lone
 * surrogate per byte, as Python's surrogateescape has it), fields of sizes no number has as
 * "hex:...", NaN and infinities as strings. That is why json_write.h, which replaces what JSON
 * cannot hold, writes the numbers here but not the texts. */
#include <math.h>
#include <string.h>

#include "digits.h"
#include "formats/htdump/htdump.h"
#include "text/json_write.h"
#include "text/utf8.h"

static void byte_escape(struct sink *out, unsigned char byte)
{
    switch (byte) {
    case '"':
        sink_write(out, "\\\"", 2);
        break;
    case '\\':
        sink_write(out, "\\\\", 2);
        break;
    default: {
        char escape[] = "\\udcXX";
        if (byte < 0x20)
            escape[2] = escape[3] = '0';
        hex_digits(escape + 4, &byte, 1);
        sink_text(out, escape);
    }
    }
}

/* Well-formed text as it is; the rest byte by byte. */
static void text_write(struct sink *out, struct text text)
{
    sink_write(out, "\"", 1);
    size_t copied = 0;
    for (size_t i = 0; i < text.length;) {
        unsigned char byte = (unsigned char)text.bytes[i];
        bool is_valid;
        size_t n = utf8_next(text.bytes + i, text.length - i, &is_valid);
        bool is_plain = is_valid && byte >= 0x20 && byte != '"' && byte != '\\';
        if (!is_plain) {
            sink_write(out, text.bytes + copied, i - copied);
            for (size_t k = 0; k < n; k++)
                byte_escape(out, (unsigned char)text.bytes[i + k]);
            copied = i + n;
        }
        i += n;
    }
    sink_write(out, text.bytes + copied, text.length - copied);
    sink_write(out, "\"", 1);
}

static void bytes_write(struct sink *out, struct text bytes)
{
    sink_text(out, "\"hex:");
    for (size_t i = 0; i < bytes.length; i++) {
        char pair[2];
        hex_digits(pair, bytes.bytes + i, 1);
        sink_write(out, pair, sizeof pair);
    }
    sink_write(out, "\"", 1);
}

static void float_write(struct sink *out, double value)
{
    if (isnan(value)) {
        sink_text(out, "\"nan\"");
    } else if (isinf(value)) {
        sink_text(out, value < 0 ? "\"-inf\"" : "\"inf\"");
    } else {
        struct json json = json_make(out, 0);
        json_f64(&json, value);
    }
}

static void value_write(struct sink *out, const struct htdump_value *value)
{
    switch (value->kind) {
    case HTDUMP_VALUE_U64:
        sink_u64(out, value->as.u64);
        break;
    case HTDUMP_VALUE_I64:
        if (value->as.i64 < 0)
            sink_write(out, "-", 1);
        sink_u64(out, value->as.i64 < 0 ? -(uint64_t)value->as.i64 : (uint64_t)value->as.i64);
        break;
    case HTDUMP_VALUE_F64:
        float_write(out, value->as.f64);
        break;
    case HTDUMP_VALUE_TEXT:
        text_write(out, value->as.text);
        break;
    case HTDUMP_VALUE_BYTES:
        bytes_write(out, value->as.text);
        break;
    }
}

static void header_write(struct sink *out, const char *key, uint64_t value, bool is_hidden,
                         const char **separator)
{
    if (is_hidden)
        return;
    sink_text(out, *separator);
    sink_write(out, "\"", 1);
    sink_text(out, key);
    sink_text(out, "\": ");
    sink_u64(out, value);
    *separator = ", ";
}

static void event_write(struct sink *out, const struct htdump_parser *parser,
                        const struct htdump_event *event)
{
    const char *separator = "";
    sink_text(out, "{\"klass\": ");
    text_write(out, htdump_parser_text(parser, event->class_name));
    sink_text(out, ", \"fields\": {");
    header_write(out, "klass_id", event->class_id, event->hides_class_id, &separator);
    header_write(out, "timestamp", event->timestamp_ns, event->hides_timestamp, &separator);
    header_write(out, "id", event->id, event->hides_id, &separator);
    for (size_t i = 0; i < event->n_values; i++) {
        sink_text(out, separator);
        text_write(out, htdump_parser_text(parser, event->values[i].name));
        sink_text(out, ": ");
        value_write(out, &event->values[i]);
        separator = ", ";
    }
    sink_text(out, "}}\n");
}

bool htdump_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                 struct sink *out, struct err *err)
{
    struct htdump_parser *parser;
    struct htdump_event event;
    struct err cut = ERR_INIT;
    bool more = true;
    bool has_content = false;
    if (!htdump_parser_create(data, size_bytes, &parser, err))
        return false;
    while (htdump_parser_next(parser, &event, &more, &cut) && more && !sink_failed(out)) {
        event_write(out, parser, &event);
        has_content |= !htdump_event_is_bookkeeping(parser, &event);
    }
    struct htdump_oddities oddities = htdump_parser_oddities(parser);
    htdump_parser_destroy(parser);
    if (!htdump_cut_accept(&cut, has_content, false, notes, err))
        return false;
    htdump_note_oddities(&oddities, notes);
    return true;
}
