/* write_common.c - what all parts of the writer put: headers of events, and texts
 * (formats/htdump/write.h). */
#include <string.h>

#include "formats/htdump/write.h"
#include "text/utf8.h"

uint64_t htdump_id_next(struct htdump_writer *writer)
{
    return writer->next_id++;
}

void htdump_event_put(struct htdump_writer *writer, uint32_t class_number, uint64_t timestamp_ns,
                      uint64_t id, const void *fields, size_t fields_bytes)
{
    struct {
        uint32_t class_number;
        uint8_t timestamp_ns[8];
        uint8_t id[8];
    } header = {.class_number = class_number};
    _Static_assert(sizeof header == 20, "the header on the wire has no padding");
    memcpy(header.timestamp_ns, &timestamp_ns, sizeof timestamp_ns);
    memcpy(header.id, &id, sizeof id);
    sink_write(writer->out, &header, sizeof header);
    sink_write(writer->out, fields, fields_bytes);
}

/* What stands for a character; NULL: itself. */
static const char *replacement_of(unsigned char byte, bool is_valid, bool is_label)
{
    if (!is_valid)
        return UTF8_REPLACEMENT;
    if (!is_label)
        return byte == '\0' ? UTF8_REPLACEMENT : NULL;
    if (byte < 0x20 || byte == 0x7f)
        return " ";
    if (byte == '"')
        return "'";
    return byte == '\\' ? "/" : NULL;
}

/* Returns whether all of it could be kept. */
static bool text_put(struct htdump_writer *writer, struct text text, bool is_label)
{
    size_t copied = 0;
    bool is_kept = true;
    for (size_t i = 0; i < text.length;) {
        bool is_valid;
        size_t n = utf8_next(text.bytes + i, text.length - i, &is_valid);
        const char *replacement = replacement_of((unsigned char)text.bytes[i], is_valid, is_label);
        if (replacement != NULL) {
            sink_write(writer->out, text.bytes + copied, i - copied);
            sink_text(writer->out, replacement);
            copied = i + n;
            is_kept = false;
        }
        i += n;
    }
    sink_write(writer->out, text.bytes + copied, text.length - copied);
    sink_u8(writer->out, 0);
    return is_kept;
}

void htdump_text_put(struct htdump_writer *writer, struct text text)
{
    if (!text_put(writer, text, false))
        writer->has_changed_text = true;
}

void htdump_label_put(struct htdump_writer *writer, struct text text)
{
    (void)text_put(writer, text, true); /* the raw classes keep the true text */
}
