/* encode.c - see formats/nytprof/encode.h.
 *
 *     record --> raw ----(plain)-----------------> sink
 *                    ----(after `z`)--> deflate --> packed --> sink */
#include "formats/nytprof/encode.h"

#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* next_in is only read */
#include <zlib.h>

#include "digits.h"

#define BUFFER_BYTES ((size_t)32 * 1024)
/* Perl's own is 6, which takes 4 times as long for a file 4 % smaller (docs/formats/nytprof.md). */
#define LEVEL 4
#define LEVEL_TEXT "4"

struct nytprof_encoder {
    struct sink *out;
    bool is_compressing;
    z_stream zlib;
    size_t n_raw;
    uint8_t raw[BUFFER_BYTES];
    uint8_t packed[BUFFER_BYTES];
};

/* Empties the buffer; `flush` is zlib's. deflate cannot fail with a valid stream and room to write.
 */
static void flush_raw(struct nytprof_encoder *encoder, int flush)
{
    if (!encoder->is_compressing) {
        sink_write(encoder->out, encoder->raw, encoder->n_raw);
        encoder->n_raw = 0;
        return;
    }
    z_stream *zlib = &encoder->zlib;
    zlib->next_in = encoder->raw;
    zlib->avail_in = (uInt)encoder->n_raw;
    do {
        zlib->next_out = encoder->packed;
        zlib->avail_out = (uInt)sizeof encoder->packed;
        deflate(zlib, flush);
        sink_write(encoder->out, encoder->packed, sizeof encoder->packed - zlib->avail_out);
    } while (zlib->avail_out == 0);
    encoder->n_raw = 0;
}

static void put_bytes(struct nytprof_encoder *encoder, const void *data, size_t size_bytes)
{
    const uint8_t *bytes = data;
    while (size_bytes > 0) {
        if (encoder->n_raw == sizeof encoder->raw)
            flush_raw(encoder, Z_NO_FLUSH);
        size_t room = sizeof encoder->raw - encoder->n_raw;
        size_t n = size_bytes < room ? size_bytes : room;
        memcpy(encoder->raw + encoder->n_raw, bytes, n);
        encoder->n_raw += n;
        bytes += n;
        size_bytes -= n;
    }
}

static void put_u8(struct nytprof_encoder *encoder, uint8_t byte)
{
    put_bytes(encoder, &byte, 1);
}

#define MAX_U32_BYTES 5U

/* The shortest form: one to five bytes, most significant first. Returns what is behind them. */
static uint8_t *store_u32(uint8_t *at, uint32_t value)
{
    if (value < 0x80) {
        *at++ = (uint8_t)value;
        return at;
    }
    if (value < 0x4000) {
        *at++ = (uint8_t)(0x80 | value >> 8);
    } else {
        if (value < 0x200000) {
            *at++ = (uint8_t)(0xc0 | value >> 16);
        } else {
            if (value < 0x10000000) {
                *at++ = (uint8_t)(0xe0 | value >> 24);
            } else {
                *at++ = 0xff;
                *at++ = (uint8_t)(value >> 24);
            }
            *at++ = (uint8_t)(value >> 16);
        }
        *at++ = (uint8_t)(value >> 8);
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Where `size_bytes` more may be stored, for take_room; at most BUFFER_BYTES. */
static uint8_t *make_room(struct nytprof_encoder *encoder, size_t size_bytes)
{
    if (sizeof encoder->raw - encoder->n_raw < size_bytes)
        flush_raw(encoder, Z_NO_FLUSH);
    return encoder->raw + encoder->n_raw;
}

static void take_room(struct nytprof_encoder *encoder, const uint8_t *end)
{
    encoder->n_raw = (size_t)(end - encoder->raw);
}

static void put_u32(struct nytprof_encoder *encoder, uint32_t value)
{
    take_room(encoder, store_u32(make_room(encoder, MAX_U32_BYTES), value));
}

static void put_text(struct nytprof_encoder *encoder, struct text text)
{
    uint32_t length = text.length > UINT32_MAX ? UINT32_MAX : (uint32_t)text.length;
    put_u8(encoder, '\'');
    put_u32(encoder, length);
    put_bytes(encoder, text.bytes, length);
}

/* A text fit for a line. */
static void put_line(struct nytprof_encoder *encoder, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        put_u8(encoder, (uint8_t)(char_is_control(text.bytes[i]) ? ' ' : text.bytes[i]));
}

bool nytprof_encoder_create(struct sink *out, struct nytprof_encoder **encoder, struct err *err)
{
    struct nytprof_encoder *created = calloc(1, sizeof *created);
    if (created == NULL)
        return err_fail_memory(err);
    created->out = out;
    put_line(created, text_make("NYTProf 5 0"));
    put_u8(created, '\n');
    *encoder = created;
    return true;
}

void nytprof_encoder_destroy(struct nytprof_encoder *encoder)
{
    if (encoder == NULL)
        return;
    if (encoder->is_compressing)
        deflateEnd(&encoder->zlib);
    free(encoder);
}

bool nytprof_encode_compressed(struct nytprof_encoder *encoder, struct err *err)
{
    nytprof_encode(encoder,
                   &(struct nytprof_record){.tag = NYTPROF_COMMENT,
                                            .text = text_make(" Compressed at level " LEVEL_TEXT)});
    put_u8(encoder, NYTPROF_COMPRESSED);
    flush_raw(encoder, Z_NO_FLUSH);
    if (deflateInit(&encoder->zlib, LEVEL) != Z_OK)
        return err_fail_memory(err);
    encoder->is_compressing = true;
    return true;
}

void nytprof_encode_finish(struct nytprof_encoder *encoder)
{
    flush_raw(encoder, Z_FINISH);
}

static void put_field(struct nytprof_encoder *encoder, enum nytprof_wire wire, const void *member)
{
    switch (wire) {
    case NYTPROF_WIRE_U32:
        put_u32(encoder, *(const uint32_t *)member);
        break;
    case NYTPROF_WIRE_I32:
        put_u32(encoder, (uint32_t) * (const int32_t *)member);
        break;
    case NYTPROF_WIRE_F64:
        put_bytes(encoder, member, sizeof(double));
        break;
    case NYTPROF_WIRE_TEXT:
        put_text(encoder, *(const struct text *)member);
        break;
    case NYTPROF_WIRE_LINE:
    case NYTPROF_WIRE_VALUE:
        put_line(encoder, *(const struct text *)member);
        put_u8(encoder, '\n');
        break;
    case NYTPROF_WIRE_KEY:
        put_line(encoder, *(const struct text *)member);
        put_u8(encoder, '=');
        break;
    case NYTPROF_WIRE_NONE:
        break;
    }
}

void nytprof_encode(struct nytprof_encoder *encoder, const struct nytprof_record *record)
{
    const struct nytprof_kind *kind = nytprof_kind_of((uint8_t)record->tag);
    put_u8(encoder, (uint8_t)record->tag);
    for (const struct nytprof_field *field = kind->fields; field->name != NULL; field++)
        put_field(encoder, field->wire, (const char *)record + field->offset);
}

void nytprof_encode_setting(struct nytprof_encoder *encoder, enum nytprof_tag tag, const char *key,
                            uint64_t value)
{
    char digits[DIGITS_MAX];
    char *end = digits + sizeof digits;
    char *first = digits_before(end, value);
    nytprof_encode(encoder, &(struct nytprof_record){.tag = tag,
                                                     .text = text_make(key),
                                                     .other = {first, (size_t)(end - first)}});
}

void nytprof_encode_time(struct nytprof_encoder *encoder, uint64_t ticks, uint32_t fid,
                         uint32_t line)
{
    bool is_first = true;
    do {
        uint32_t part = ticks > INT32_MAX ? INT32_MAX : (uint32_t)ticks;
        uint8_t *at = make_room(encoder, 2 + 3 * MAX_U32_BYTES);
        if (!is_first)
            *at++ = NYTPROF_DISCOUNT;
        *at++ = NYTPROF_LINE_TIME;
        at = store_u32(at, part);
        at = store_u32(at, fid);
        at = store_u32(at, line);
        take_room(encoder, at);
        is_first = false;
        ticks -= part;
    } while (ticks > 0);
}
