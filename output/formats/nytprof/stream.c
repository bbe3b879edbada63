/* stream.c - see formats/nytprof/stream.h; records are read by the table of record.h.
 *
 *     file bytes --(plain)--------------------------------> cursor -> one record
 *                --(after `z`)--> inflate -> window ------->
 *
 * A record is parsed from where it starts; when the window ends in the middle of it, the window is
 * moved up and filled further, and the record is parsed again from its start. The window at least
 * doubles each time, so this stays linear.
 *
 * Times of lines, most records of most files, have a way of their own (next_time): no table, no cursor. */
#include "formats/nytprof/stream.h"

#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST /* next_in is only read */
#include <zlib.h>

#include "cursor.h"

#define WINDOW_BYTES ((size_t)64 * 1024)

struct nytprof_stream {
    struct cursor in; /* the file                                                         */
    uint32_t minor;
    bool inflating;
    bool inflate_open; /* inflateEnd is due                                                */
    bool inflate_done; /* the end of the zlib stream was seen and its check sum is right   */
    bool inflate_cut;  /* the file ends inside the zlib stream                             */
    z_stream zlib;
    uint8_t *window;     /* what is inflated and not consumed: [start, end)                   */
    size_t window_bytes; /* allocated                                                        */
    size_t start;
    size_t end;
    uint64_t window_offset; /* of window[start] in the inflated data                            */
    const char *bad_text;   /* what the record parser found wrong, NULL if only bytes are missing */
    uint64_t bad_offset;
    unsigned bad_byte;
};

bool nytprof_stream_open(const uint8_t *data, size_t size_bytes, struct nytprof_stream **out,
                         struct err *err)
{
    uint32_t major = 0;
    uint32_t minor = 0;
    size_t n_header = nytprof_header(data, size_bytes, &major, &minor);
    if (n_header == 0)
        return err_fail(err, ERR_FORMAT, 0,
                        "no NYTProf header: expected a first line 'NYTProf 5 0'");
    if (major != 5)
        return err_fail(err, ERR_VERSION, 0, "NYTProf version %u.%u: only version 5 can be read",
                        major, minor);
    struct nytprof_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return err_fail_memory(err);
    stream->in = cursor_make(data, size_bytes);
    cursor_skip(&stream->in, n_header);
    stream->minor = minor;
    *out = stream;
    return true;
}

void nytprof_stream_destroy(struct nytprof_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->inflate_open)
        inflateEnd(&stream->zlib);
    free(stream->window);
    free(stream);
}

uint32_t nytprof_stream_minor(const struct nytprof_stream *stream)
{
    return stream->minor;
}

/* ---- numbers and texts ---- */

/* The first thing found wrong with the record; fails the cursor so that parsing comes to its end.
 */
static void mark_bad(struct nytprof_stream *stream, struct cursor *c, uint64_t offset,
                     const char *text, unsigned byte)
{
    if (!c->failed && stream->bad_text == NULL) {
        stream->bad_text = text;
        stream->bad_offset = offset;
        stream->bad_byte = byte;
    }
    cursor_fail(c);
}

/* 1 to 5 bytes, which must be there, most significant first; the leading bits of the first say how
 * many. Returns what is behind them. */
static inline const uint8_t *load_u32(const uint8_t *at, uint32_t *value)
{
    uint32_t first = *at++;
    if (first < 0x80) {
        *value = first;
        return at;
    }
    if (first < 0xc0) {
        *value = (first & 0x3fU) << 8 | at[0];
        return at + 1;
    }
    if (first < 0xe0) {
        *value = (first & 0x1fU) << 16 | (uint32_t)at[0] << 8 | at[1];
        return at + 2;
    }
    uint32_t low = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
    if (first < 0xff) {
        *value = (first & 0x0fU) << 24 | low;
        return at + 3;
    }
    *value = low << 8 | at[3];
    return at + 4;
}

static uint32_t read_u32(struct cursor *c)
{
    uint8_t first = cursor_at_end(c) ? 0 : *c->pos;
    size_t n = first < 0x80 ? 1 : first < 0xc0 ? 2 : first < 0xe0 ? 3 : first < 0xff ? 4 : 5;
    const uint8_t *at = cursor_bytes(c, n);
    uint32_t value = 0;
    if (at != NULL)
        (void)load_u32(at, &value);
    return value;
}

static double read_double(struct cursor *c)
{
    uint64_t bits = cursor_u64le(c);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static struct text read_text(struct nytprof_stream *stream, struct cursor *c, bool *is_utf8)
{
    struct text text = {.bytes = ""};
    uint64_t offset = cursor_offset(c);
    uint8_t tag = cursor_u8(c);
    if (c->failed)
        return text;
    if (tag != '\'' && tag != '"') {
        mark_bad(stream, c, offset, "expected a text, which begins with 0x22 or 0x27", tag);
        return text;
    }
    *is_utf8 = tag == '"';
    uint32_t length = read_u32(c);
    const uint8_t *bytes = cursor_bytes(c, length);
    if (bytes != NULL)
        text = (struct text){.bytes = (const char *)bytes, .length = length};
    return text;
}

static struct text read_line(struct cursor *c)
{
    struct text text = {.bytes = ""};
    const uint8_t *newline = c->failed ? NULL : memchr(c->pos, '\n', cursor_left(c));
    if (newline == NULL) {
        cursor_fail(c);
        return text;
    }
    text.length = (size_t)(newline - c->pos);
    text.bytes = (const char *)cursor_bytes(c, text.length);
    cursor_skip(c, 1);
    return text;
}

/* ---- records ---- */

/* The text before the `=` and behind it. */
static void read_pair(struct cursor *c, struct nytprof_record *record)
{
    struct text line = read_line(c);
    const char *equals = line.length == 0 ? NULL : memchr(line.bytes, '=', line.length);
    record->no_equals = equals == NULL;
    record->text = line;
    if (equals == NULL)
        return;
    record->text.length = (size_t)(equals - line.bytes);
    record->other = text_from(line, record->text.length + 1);
}

static void read_field(struct nytprof_stream *stream, struct cursor *c,
                       const struct nytprof_field *field, struct nytprof_record *record)
{
    void *member = (char *)record + field->offset;
    bool other_is_utf8;
    switch (field->wire) {
    case NYTPROF_WIRE_U32:
        *(uint32_t *)member = read_u32(c);
        break;
    case NYTPROF_WIRE_I32:
        *(int32_t *)member = (int32_t)read_u32(c);
        break;
    case NYTPROF_WIRE_F64:
        *(double *)member = read_double(c);
        break;
    case NYTPROF_WIRE_TEXT:
        *(struct text *)member =
            read_text(stream, c, member == &record->text ? &record->text_is_utf8 : &other_is_utf8);
        break;
    case NYTPROF_WIRE_LINE:
        *(struct text *)member = read_line(c);
        break;
    case NYTPROF_WIRE_KEY:
        read_pair(c, record);
        break;
    case NYTPROF_WIRE_VALUE:
    case NYTPROF_WIRE_NONE:
        break;
    }
}

static void read_record(struct nytprof_stream *stream, struct cursor *c,
                        struct nytprof_record *record)
{
    uint64_t offset = cursor_offset(c);
    uint8_t tag = cursor_u8(c);
    const struct nytprof_kind *kind = nytprof_kind_of(tag);
    record->tag = (enum nytprof_tag)tag;
    if (kind == NULL)
        mark_bad(stream, c, offset, "expected a record, which begins with one of :!#Pp@+*-Ssc<>z",
                 tag);
    for (size_t i = 0; kind != NULL && kind->fields[i].name != NULL; i++)
        read_field(stream, c, &kind->fields[i], record);
}

/* ---- the window ---- */

static bool inflate_start(struct nytprof_stream *stream, struct err *err)
{
    stream->zlib.next_in = stream->in.pos;
    stream->zlib.avail_in = 0;
    stream->window = malloc(WINDOW_BYTES);
    if (stream->window == NULL || inflateInit(&stream->zlib) != Z_OK)
        return err_fail_memory(err);
    stream->window_bytes = WINDOW_BYTES;
    stream->inflate_open = true;
    stream->inflating = true;
    return true;
}

/* Room behind `end`: by moving what is left to the front, and by doubling when that is not half. */
static bool window_reserve(struct nytprof_stream *stream, struct err *err)
{
    size_t n_left = stream->end - stream->start;
    memmove(stream->window, stream->window + stream->start, n_left);
    stream->start = 0;
    stream->end = n_left;
    if (n_left * 2 <= stream->window_bytes)
        return true;
    if (stream->window_bytes >= NYTPROF_MAX_RECORD_BYTES)
        return err_fail(err, ERR_LIMIT, stream->window_offset,
                        "a record of more than %zu MiB in the compressed part",
                        NYTPROF_MAX_RECORD_BYTES >> 20);
    uint8_t *window = realloc(stream->window, stream->window_bytes * 2);
    if (window == NULL)
        return err_fail_memory(err);
    stream->window = window;
    stream->window_bytes *= 2;
    return true;
}

/* Inflates until the window is full or the data ends. */
static bool window_fill(struct nytprof_stream *stream, struct err *err)
{
    z_stream *zlib = &stream->zlib;
    if (!window_reserve(stream, err))
        return false;
    while (!stream->inflate_done && stream->end < stream->window_bytes) {
        if (zlib->avail_in == 0) {
            size_t n_in = cursor_left(&stream->in);
            zlib->avail_in = n_in > (1U << 30) ? 1U << 30 : (uInt)n_in;
            cursor_skip(&stream->in, zlib->avail_in);
        }
        zlib->next_out = stream->window + stream->end;
        zlib->avail_out = (uInt)(stream->window_bytes - stream->end);
        int status = inflate(zlib, Z_NO_FLUSH);
        stream->end = stream->window_bytes - zlib->avail_out;
        if (status == Z_STREAM_END) {
            stream->inflate_done = true;
        } else if (status == Z_MEM_ERROR) {
            return err_fail_memory(err);
        } else if (status == Z_BUF_ERROR || (status == Z_OK && zlib->avail_in == 0 &&
                                             cursor_at_end(&stream->in) && zlib->avail_out != 0)) {
            stream->inflate_cut = true;
            break;
        } else if (status != Z_OK) {
            return err_fail(err, ERR_FORMAT, cursor_offset(&stream->in) - zlib->avail_in,
                            "compressed data is damaged: %s",
                            zlib->msg != NULL ? zlib->msg : "not a zlib stream");
        }
    }
    return true;
}

static bool fail_cut(const struct nytprof_stream *stream, struct err *err)
{
    return err_fail(err, ERR_TRUNCATED, cursor_offset(&stream->in) - stream->zlib.avail_in,
                    "the file ends inside the compressed data: it was cut, or the profiled program "
                    "was killed");
}

static bool fail_record(const struct nytprof_stream *stream, const struct nytprof_record *record,
                        struct err *err)
{
    const char *where = record->inflated ? " of the decompressed data" : "";
    if (stream->bad_text != NULL)
        return err_fail(err, ERR_FORMAT, stream->bad_offset, "byte 0x%02x%s: %s", stream->bad_byte,
                        where, stream->bad_text);
    return err_fail(err, ERR_TRUNCATED, record->offset,
                    "a record '%c' begins here%s%s, but the data ends before it does",
                    record->tag != 0 ? (int)record->tag : '?', record->inflated ? "," : "", where);
}

/* One try at a record from `c`; moves nothing in the stream. */
static struct cursor try_record(struct nytprof_stream *stream, struct nytprof_record *record)
{
    struct cursor c = stream->in;
    uint64_t window_offset = 0;
    if (stream->inflating) {
        c = cursor_make(stream->window + stream->start, stream->end - stream->start);
        window_offset = stream->window_offset;
    }
    *record = (struct nytprof_record){.inflated = stream->inflating,
                                      .offset = window_offset + cursor_offset(&c),
                                      .text = {.bytes = ""},
                                      .other = {.bytes = ""}};
    if (!cursor_at_end(&c))
        read_record(stream, &c, record);
    if (stream->bad_text != NULL)
        stream->bad_offset += window_offset;
    return c;
}

#define MAX_TIME_BYTES (1 + 5 * 5)

/* The quick way for times, if all the bytes one may have are at hand. */
static bool next_time(struct nytprof_stream *stream, struct nytprof_record *record)
{
    const uint8_t *first = stream->in.pos;
    const uint8_t *end = stream->in.end;
    if (stream->inflating) {
        first = stream->window + stream->start;
        end = stream->window + stream->end;
    }
    if (end - first < MAX_TIME_BYTES ||
        (*first != NYTPROF_LINE_TIME && *first != NYTPROF_BLOCK_TIME))
        return false;
    uint32_t ticks;
    const uint8_t *at = load_u32(first + 1, &ticks);
    at = load_u32(at, &record->fid);
    at = load_u32(at, &record->line);
    record->tag = (enum nytprof_tag) * first;
    record->ticks = (int32_t)ticks;
    record->inflated = stream->inflating;
    record->text_is_utf8 = false;
    record->no_equals = false;
    if (*first == NYTPROF_BLOCK_TIME) {
        at = load_u32(at, &record->block_line);
        at = load_u32(at, &record->sub_line);
    }
    if (stream->inflating) {
        record->offset = stream->window_offset;
        stream->start += (size_t)(at - first);
        stream->window_offset += (uint64_t)(at - first);
    } else {
        record->offset = cursor_offset(&stream->in);
        stream->in.pos = at;
    }
    return true;
}

bool nytprof_stream_next(struct nytprof_stream *stream, struct nytprof_record *record,
                         struct err *err)
{
    if (next_time(stream, record))
        return true;
    struct cursor c = try_record(stream, record);
    while ((c.failed || record->tag == NYTPROF_END) && stream->bad_text == NULL &&
           stream->inflating && !stream->inflate_done && !stream->inflate_cut) {
        if (!window_fill(stream, err))
            return false;
        c = try_record(stream, record);
    }
    if (stream->inflate_cut && stream->bad_text == NULL && (c.failed || record->tag == NYTPROF_END))
        return fail_cut(stream, err);
    if (c.failed)
        return fail_record(stream, record, err);
    if (stream->inflating) {
        stream->start += (size_t)cursor_offset(&c);
        stream->window_offset += cursor_offset(&c);
    } else {
        stream->in = c;
    }
    if (record->tag != NYTPROF_COMPRESSED)
        return true;
    if (record->inflated)
        return err_fail(err, ERR_FORMAT, record->offset,
                        "a second start of compression inside the decompressed data");
    return inflate_start(stream, err);
}
