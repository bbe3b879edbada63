/* record.c - see formats/easyprofiler/record.h. A record is a head of fixed length, packed on
 * the stack, and texts with a 0 after each. */
#include "formats/easyprofiler/record.h"

#include <string.h>

#include "sink.h"

enum { MAX_HEAD = 80, MAX_FILE = 16384 };

/* Fields one after the other, little-endian (cursor.h refuses other hosts). */
struct head {
    uint8_t bytes[MAX_HEAD];
    size_t n;
};

static void pack(struct head *head, const void *value, size_t n_bytes)
{
    memcpy(head->bytes + head->n, value, n_bytes);
    head->n += n_bytes;
}

static void pack_u8(struct head *head, uint8_t value)
{
    pack(head, &value, sizeof value);
}

static void pack_u16(struct head *head, uint16_t value)
{
    pack(head, &value, sizeof value);
}

static void pack_u32(struct head *head, uint32_t value)
{
    pack(head, &value, sizeof value);
}

static void pack_u64(struct head *head, uint64_t value)
{
    pack(head, &value, sizeof value);
}

/* As much of `text` as a record can take. */
static size_t text_fit(struct easyprofiler_records *records, struct text text, size_t max_length)
{
    size_t length = strnlen(text.bytes, text.length);
    if (length > max_length) {
        length = max_length;
        for (int i = 0; i < 3 && length > 0 && ((unsigned char)text.bytes[length] & 0xc0) == 0x80;
             i++)
            length--;
    }
    if (length != text.length)
        records->n_cut++;
    return length;
}

static void put(struct easyprofiler_records *records, const void *data, size_t n_bytes)
{
    if (records->out != NULL && n_bytes != 0)
        sink_write(records->out, data, n_bytes);
}

static void put_text(struct easyprofiler_records *records, const char *bytes, size_t length)
{
    put(records, bytes, length);
    put(records, "", 1);
}

/* A record of a head and one text. `head` begins with room for the size. */
static void put_record(struct easyprofiler_records *records, struct head *head, const char *bytes,
                       size_t length)
{
    uint16_t size_bytes = (uint16_t)(head->n - 2 + length + 1);
    memcpy(head->bytes, &size_bytes, sizeof size_bytes);
    records->n_bytes += size_bytes;
    put(records, head->bytes, head->n);
    put_text(records, bytes, length);
}

void easyprofiler_put_header(struct sink *out, const struct easyprofiler_header *header)
{
    struct head head = {.n = 0};
    pack_u32(&head, EASYPROFILER_SIGNATURE);
    pack_u32(&head, EASYPROFILER_VERSION(2, 1, 0));
    pack_u64(&head, header->pid);
    pack_u64(&head, 0); /* frequency: times are ns */
    pack_u64(&head, header->begin_ns);
    pack_u64(&head, header->end_ns);
    pack_u64(&head, header->blocks_bytes);
    pack_u64(&head, header->descriptors_bytes);
    pack_u32(&head, header->n_records);
    pack_u32(&head, header->n_descriptors);
    pack_u32(&head, header->n_threads);
    pack_u16(&head, header->n_bookmarks);
    pack_u16(&head, 0);
    sink_write(out, head.bytes, head.n);
}

void easyprofiler_put_descriptor(struct easyprofiler_records *records, uint32_t id, uint32_t line,
                                 uint32_t color, enum easyprofiler_type type, struct text name,
                                 struct text file)
{
    enum { STATUS_ON = 1 };
    size_t file_length = text_fit(records, file, MAX_FILE);
    size_t name_length = text_fit(
        records, name, EASYPROFILER_MAX_RECORD - EASYPROFILER_DESCRIPTOR_BYTES - 2 - file_length);
    size_t size_bytes = EASYPROFILER_DESCRIPTOR_BYTES + name_length + 1 + file_length + 1;
    struct head head = {.n = 0};
    pack_u16(&head, (uint16_t)size_bytes);
    pack_u32(&head, id);
    pack_u32(&head, line <= INT32_MAX ? line : 0);
    pack_u32(&head, color);
    pack_u8(&head, (uint8_t)type);
    pack_u8(&head, STATUS_ON);
    pack_u16(&head, (uint16_t)(name_length + 1));
    records->n_bytes += size_bytes;
    put(records, head.bytes, head.n);
    put_text(records, name.bytes, name_length);
    put_text(records, file.bytes, file_length);
}

void easyprofiler_put_thread(struct easyprofiler_records *records, uint64_t tid, struct text name)
{
    size_t length = text_fit(records, name, EASYPROFILER_MAX_RECORD - 1);
    struct head head = {.n = 0};
    pack_u64(&head, tid);
    pack_u16(&head, (uint16_t)(length + 1));
    put(records, head.bytes, head.n);
    put_text(records, name.bytes, length);
}

void easyprofiler_put_switch(struct easyprofiler_records *records, uint64_t begin_ns,
                             uint64_t end_ns, uint64_t to_tid, struct text process)
{
    struct head head = {.n = 2};
    pack_u64(&head, begin_ns);
    pack_u64(&head, end_ns);
    pack_u64(&head, to_tid);
    size_t length =
        text_fit(records, process, EASYPROFILER_MAX_RECORD - EASYPROFILER_SWITCH_BYTES - 1);
    put_record(records, &head, process.bytes, length);
}

void easyprofiler_put_block(struct easyprofiler_records *records, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t descriptor)
{
    struct head head = {.n = 2};
    pack_u64(&head, begin_ns);
    pack_u64(&head, end_ns);
    pack_u32(&head, descriptor);
    put_record(records, &head, "", 0);
}

void easyprofiler_put_value(struct easyprofiler_records *records, uint64_t time_ns,
                            uint32_t descriptor, const struct profile_instant *instant,
                            struct text text)
{
    static const struct {
        uint8_t type;
        uint8_t n_bytes;
    } kinds[] = {
        [PROFILE_VALUE_NONE] = {EASYPROFILER_BOOL, 1},
        [PROFILE_VALUE_BOOL] = {EASYPROFILER_BOOL, 1},
        [PROFILE_VALUE_I64] = {EASYPROFILER_I64, 8},
        [PROFILE_VALUE_U64] = {EASYPROFILER_U64, 8},
        [PROFILE_VALUE_F64] = {EASYPROFILER_DOUBLE, 8},
        [PROFILE_VALUE_TEXT] = {EASYPROFILER_STRING, 0},
    };
    bool is_text = instant->type == PROFILE_VALUE_TEXT;
    size_t length =
        is_text ? text_fit(records, text, EASYPROFILER_MAX_RECORD - EASYPROFILER_VALUE_BYTES - 1)
                : 0;
    size_t data_bytes = is_text ? length + 1 : kinds[instant->type].n_bytes;
    struct head head = {.n = 0};
    pack_u16(&head, (uint16_t)(EASYPROFILER_VALUE_BYTES + data_bytes));
    pack_u64(&head, time_ns);
    pack_u64(&head, time_ns);
    pack_u32(&head, descriptor);
    pack_u16(&head, 0); /* no run-time name, padding */
    pack_u16(&head, (uint16_t)data_bytes);
    pack_u8(&head, kinds[instant->type].type);
    pack_u8(&head, is_text);
    pack_u64(&head, 0); /* value id: grouped by name */
    if (instant->type == PROFILE_VALUE_F64)
        pack(&head, &instant->value.f64, data_bytes);
    else if (!is_text)
        pack(&head, &instant->value.u64, data_bytes);
    records->n_bytes += EASYPROFILER_VALUE_BYTES + data_bytes;
    put(records, head.bytes, head.n);
    if (is_text)
        put_text(records, text.bytes, length);
}

void easyprofiler_put_bookmark(struct easyprofiler_records *records, uint64_t position_ns,
                               uint32_t color, struct text text)
{
    struct head head = {.n = 2};
    pack_u64(&head, position_ns);
    pack_u32(&head, color);
    size_t length =
        text_fit(records, text, EASYPROFILER_MAX_RECORD - EASYPROFILER_BOOKMARK_BYTES - 1);
    put_record(records, &head, text.bytes, length);
}
