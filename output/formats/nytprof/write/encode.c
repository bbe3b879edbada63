/* encode.c - see encode.h. Records are gathered in a buffer, which goes to the sink
 * as it is or through deflate. */
#include "formats/nytprof/write/encode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* next_in is only read */
#include <zlib.h>

#include "array.h"
#include "formats/nytprof/name.h"
#include "formats/nytprof/stream.h"

#define BUFFER_BYTES ((size_t)32 * 1024)
/* Perl's own is 6, which takes 4 times as long for a file 4 % smaller (docs/formats/nytprof.md). */
#define LEVEL 4

struct nytprof_encoder {
    struct sink *out;
    bool is_compressing;
    z_stream zlib;
    struct array line; /* of char: text being escaped */
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

static void put_double(struct nytprof_encoder *encoder, double value)
{
    put_bytes(encoder, &value, sizeof value);
}

static void put_text(struct nytprof_encoder *encoder, struct text text)
{
    uint32_t length = text.length > UINT32_MAX ? UINT32_MAX : (uint32_t)text.length;
    put_u8(encoder, '\'');
    put_u32(encoder, length);
    put_bytes(encoder, text.bytes, length);
}

static void put_cstring(struct nytprof_encoder *encoder, const char *text)
{
    put_bytes(encoder, text, strlen(text));
}

bool nytprof_encoder_create(struct sink *out, struct nytprof_encoder **encoder, struct err *err)
{
    struct nytprof_encoder *created = calloc(1, sizeof *created);
    if (created == NULL)
        return err_fail_memory(err);
    created->out = out;
    array_init(&created->line, 1);
    put_cstring(created, "NYTProf 5 0\n");
    *encoder = created;
    return true;
}

void nytprof_encoder_destroy(struct nytprof_encoder *encoder)
{
    if (encoder == NULL)
        return;
    if (encoder->is_compressing)
        deflateEnd(&encoder->zlib);
    array_deinit(&encoder->line);
    free(encoder);
}

bool nytprof_encode_compressed(struct nytprof_encoder *encoder, struct err *err)
{
    nytprof_encode_comment(encoder, " Compressed at level %d", LEVEL);
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

void nytprof_encode_comment(struct nytprof_encoder *encoder, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_u8(encoder, NYTPROF_COMMENT);
    put_cstring(encoder, text);
    put_u8(encoder, '\n');
}

static bool put_escaped(struct nytprof_encoder *encoder, struct text text)
{
    encoder->line.n = 0;
    if (!nytprof_line_encode(text, &encoder->line))
        return false;
    put_bytes(encoder, encoder->line.items, encoder->line.n);
    return true;
}

bool nytprof_encode_attribute(struct nytprof_encoder *encoder, const char *key, struct text value,
                              struct err *err)
{
    put_u8(encoder, NYTPROF_ATTRIBUTE);
    put_cstring(encoder, key);
    put_u8(encoder, '=');
    if (!put_escaped(encoder, value))
        return err_fail_memory(err);
    put_u8(encoder, '\n');
    return true;
}

static void put_setting(struct nytprof_encoder *encoder, uint8_t tag, const char *key,
                        uint64_t value)
{
    char text[128];
    snprintf(text, sizeof text, "%c%s=%" PRIu64 "\n", tag, key, value);
    put_cstring(encoder, text);
}

void nytprof_encode_attribute_u64(struct nytprof_encoder *encoder, const char *key, uint64_t value)
{
    put_setting(encoder, NYTPROF_ATTRIBUTE, key, value);
}

void nytprof_encode_option(struct nytprof_encoder *encoder, const char *key, uint64_t value)
{
    put_setting(encoder, NYTPROF_OPTION, key, value);
}

bool nytprof_encode_ours(struct nytprof_encoder *encoder, const char *key, const uint64_t *numbers,
                         size_t n_numbers, const struct text *text, struct err *err)
{
    put_cstring(encoder, "#sampler ");
    put_cstring(encoder, key);
    for (size_t i = 0; i < n_numbers; i++) {
        char digits[32];
        snprintf(digits, sizeof digits, "\t%" PRIu64, numbers[i]);
        put_cstring(encoder, digits);
    }
    if (text != NULL) {
        put_u8(encoder, '\t');
        if (!put_escaped(encoder, *text))
            return err_fail_memory(err);
    }
    put_u8(encoder, '\n');
    return true;
}

void nytprof_encode_process_start(struct nytprof_encoder *encoder, uint32_t pid, uint32_t ppid,
                                  double time)
{
    put_u8(encoder, NYTPROF_PROCESS_START);
    put_u32(encoder, pid);
    put_u32(encoder, ppid);
    put_double(encoder, time);
}

void nytprof_encode_process_end(struct nytprof_encoder *encoder, uint32_t pid, double time)
{
    put_u8(encoder, NYTPROF_PROCESS_END);
    put_u32(encoder, pid);
    put_double(encoder, time);
}

void nytprof_encode_file(struct nytprof_encoder *encoder, uint32_t fid, uint32_t flags,
                         struct text name)
{
    put_u8(encoder, NYTPROF_FILE);
    put_u32(encoder, fid);
    put_u32(encoder, 0); /* no eval: neither its file */
    put_u32(encoder, 0); /* nor its line */
    put_u32(encoder, flags);
    put_u32(encoder, 0); /* size */
    put_u32(encoder, 0); /* time of modification */
    put_text(encoder, name);
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

void nytprof_encode_return(struct nytprof_encoder *encoder, uint32_t depth, uint64_t inclusive,
                           uint64_t exclusive, struct text name)
{
    put_u8(encoder, NYTPROF_RETURN);
    put_u32(encoder, depth);
    put_double(encoder, (double)inclusive);
    put_double(encoder, (double)exclusive);
    put_text(encoder, name);
}

void nytprof_encode_source(struct nytprof_encoder *encoder, uint32_t fid, uint32_t line,
                           struct text text)
{
    put_u8(encoder, NYTPROF_SOURCE);
    put_u32(encoder, fid);
    put_u32(encoder, line);
    put_text(encoder, text);
}

void nytprof_encode_sub(struct nytprof_encoder *encoder, uint32_t fid, struct text name,
                        uint32_t first_line, uint32_t last_line)
{
    put_u8(encoder, NYTPROF_SUB);
    put_u32(encoder, fid);
    put_text(encoder, name);
    put_u32(encoder, first_line);
    put_u32(encoder, last_line);
}

void nytprof_encode_call(struct nytprof_encoder *encoder, const struct nytprof_call *call)
{
    put_u8(encoder, NYTPROF_EDGE);
    put_u32(encoder, call->fid);
    put_u32(encoder, call->line);
    put_text(encoder, call->caller);
    put_u32(encoder, call->count);
    put_double(encoder, call->inclusive);
    put_double(encoder, call->exclusive);
    put_double(encoder, call->recursive);
    put_u32(encoder, call->depth);
    put_text(encoder, call->called);
}
