/* parse.c - see formats/nytprof/chunked/chunked.h. A chunk does not say of which variant it is: that follows
 * from its length, from what divides it without a rest, and from values that cannot be (docs/formats/nytprof-chunked.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "formats/nytprof/chunked/chunked.h"
#include "formats/nytprof/stream.h"

#define ROW_BYTES 28U
#define PROCESS_BYTES 16U
#define STATEMENT_BYTES 17U

/* A chunk: its payload, and where it begins in the file. */
struct chunk {
    struct cursor payload;
    uint64_t offset;
    uint32_t n_payload;
    uint8_t tag;
    bool is_raw; /* a process chunk without its length */
};

/* ---- banner ---- */

static bool add_pair(struct array *pairs, struct text line, uint64_t offset, struct err *err)
{
    const char *equals = line.length == 0 ? NULL : memchr(line.bytes, '=', line.length);
    if (equals == NULL)
        return err_fail(err, ERR_FORMAT, offset, "a line of the banner without '='");
    size_t order = pairs->n;
    struct chunked_pair *pair = array_push(pairs);
    if (pair == NULL)
        return err_fail_memory(err);
    size_t n_key = (size_t)(equals - line.bytes);
    *pair = (struct chunked_pair){
        .key = {.bytes = line.bytes, .length = n_key},
        .value = {.bytes = equals + 1, .length = line.length - n_key - 1},
        .order = order,
    };
    return true;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct chunked_pair *left = a;
    const struct chunked_pair *right = b;
    int order = text_compare(left->key, right->key);
    return order != 0 ? order : (left->order > right->order) - (left->order < right->order);
}

/* Sorts by key and keeps the last of each. */
static void settle_pairs(struct array *pairs)
{
    if (pairs->n == 0)
        return;
    struct chunked_pair *items = pairs->items;
    qsort(items, pairs->n, sizeof *items, compare_pairs);
    size_t n = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        if (i + 1 == pairs->n || text_compare(items[i].key, items[i + 1].key) != 0)
            items[n++] = items[i];
    }
    pairs->n = n;
}

static bool parse_banner(struct cursor *in, struct chunked_content *content, struct err *err)
{
    while (!cursor_at_end(in) && (*in->pos == '#' || *in->pos == ':' || *in->pos == '!')) {
        uint64_t offset = cursor_offset(in);
        uint8_t kind = cursor_u8(in);
        const uint8_t *newline = memchr(in->pos, '\n', cursor_left(in));
        if (newline == NULL)
            return err_fail(err, ERR_TRUNCATED, offset, "a line of the banner without its end");
        struct text line = {.bytes = (const char *)in->pos, .length = (size_t)(newline - in->pos)};
        cursor_skip(in, line.length + 1);
        if (kind == '#') {
            struct text *comment = array_push(&content->comments);
            if (comment == NULL)
                return err_fail_memory(err);
            *comment = line;
        } else if (!add_pair(kind == ':' ? &content->attributes : &content->options, line, offset,
                             err)) {
            return false;
        }
    }
    settle_pairs(&content->attributes);
    settle_pairs(&content->options);
    content->has_blank_line = !cursor_at_end(in) && *in->pos == '\n';
    if (content->has_blank_line)
        cursor_skip(in, 1);
    return true;
}

/* ---- chunks ---- */

static bool is_tag(const struct cursor *in, size_t ahead, const char *tags)
{
    return cursor_left(in) > ahead && in->pos[ahead] != 0 && strchr(tags, in->pos[ahead]) != NULL;
}

/* Whether the process chunk here lacks its length: the four bytes are not 16, or they are (process
 * 16) and a chunk begins where it would without a length, and none where it would with one. */
static bool is_raw_process(const struct cursor *in)
{
    if (cursor_left(in) < 5 || memcmp(in->pos + 1, "\x10\0\0\0", 4) != 0)
        return true;
    return is_tag(in, 17, "SDCEF") && !is_tag(in, 21, "SDCEF");
}

static bool next_chunk(struct cursor *in, bool is_first, struct chunk *chunk, struct err *err)
{
    *chunk = (struct chunk){.offset = cursor_offset(in)};
    if (cursor_at_end(in))
        return err_fail(err, ERR_TRUNCATED, chunk->offset,
                        "the file ends before the chunk 'E', which is the last");
    if (!is_tag(in, 0, "PSDCEF"))
        return err_fail(err, ERR_FORMAT, chunk->offset,
                        "byte 0x%02x: expected a chunk, which begins with one of PSDCEF", *in->pos);
    chunk->is_raw = is_first && *in->pos == 'P' && is_raw_process(in);
    chunk->tag = cursor_u8(in);
    chunk->n_payload = chunk->is_raw ? PROCESS_BYTES : cursor_u32le(in);
    if (in->failed)
        return err_fail(err, ERR_TRUNCATED, chunk->offset, "chunk '%c' is cut in its length",
                        chunk->tag);
    size_t n_left = cursor_left(in);
    const uint8_t *payload = cursor_bytes(in, chunk->n_payload);
    if (payload == NULL)
        return err_fail(err, ERR_TRUNCATED, chunk->offset,
                        "chunk '%c' has a length of %u bytes, but only %zu are left", chunk->tag,
                        chunk->n_payload, n_left);
    chunk->payload = cursor_make(payload, chunk->n_payload);
    return true;
}

static bool parse_process(const struct chunk *chunk, struct chunked_content *content,
                          struct err *err)
{
    if (chunk->n_payload != PROCESS_BYTES)
        return err_fail(err, ERR_FORMAT, chunk->offset,
                        "chunk 'P' has a length of %u bytes, expected 16", chunk->n_payload);
    struct cursor time_first = chunk->payload;
    uint64_t start_us = cursor_u64le(&time_first);
    uint32_t pid = cursor_u32le(&time_first);
    uint32_t ppid = cursor_u32le(&time_first);
    struct cursor pid_first = chunk->payload;
    content->pid = cursor_u32le(&pid_first);
    content->ppid = cursor_u32le(&pid_first);
    uint64_t bits = cursor_u64le(&pid_first);
    double seconds;
    memcpy(&seconds, &bits, sizeof seconds);
    /* A parent's pid over 2^22 does not exist; as the high half of a time of today it must be. */
    if (seconds >= 0x1p26 && seconds < 0x1p34 && ppid > 0x400000) {
        content->process_layout = chunk->is_raw ? CHUNKED_RAW : CHUNKED_PID_FIRST;
        content->start_us = (uint64_t)llrint(seconds * 1e6);
        return true;
    }
    if (chunk->is_raw)
        return err_fail(err, ERR_FORMAT, chunk->offset,
                        "chunk 'P' has neither a length of 16 nor a start time");
    content->process_layout = CHUNKED_TIME_FIRST;
    content->start_us = start_us;
    content->pid = pid;
    content->ppid = ppid;
    return true;
}

/* Rows of `S` and `C`; fewer than 28 zero bytes may follow the last. */
static bool parse_rows(const struct chunk *chunk, struct array *rows, struct err *err)
{
    struct cursor in = chunk->payload;
    while (cursor_left(&in) >= ROW_BYTES) {
        struct chunked_row *row = array_push(rows);
        if (row == NULL)
            return err_fail_memory(err);
        for (size_t i = 0; i < 3; i++)
            row->words[i] = cursor_u32le(&in);
        row->inclusive_ticks = cursor_u64le(&in);
        row->exclusive_ticks = cursor_u64le(&in);
    }
    while (!cursor_at_end(&in)) {
        if (cursor_u8(&in) != 0)
            return err_fail(err, ERR_FORMAT, chunk->offset,
                            "chunk '%c' of %u bytes is not a whole number of rows of 28",
                            chunk->tag, chunk->n_payload);
    }
    return true;
}

static bool is_fit_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)name[i];
        if (byte < 0x20 || byte == 0x7f)
            return false;
    }
    return length > 0;
}

/* Whether the payload divides into records of `n_words` numbers and a name. *names_fit: none is
 * empty or has control characters; *second_is_zero: the second number is 0 in all. */
static bool divides(struct cursor in, unsigned n_words, bool *names_fit, bool *second_is_zero)
{
    *names_fit = true;
    *second_is_zero = true;
    while (!cursor_at_end(&in)) {
        size_t length;
        for (unsigned i = 0; i < n_words; i++) {
            uint32_t word = cursor_u32le(&in);
            *second_is_zero = *second_is_zero && (i != 1 || word == 0);
        }
        const char *name = cursor_text(&in, &length);
        if (name == NULL)
            return false;
        *names_fit = *names_fit && is_fit_name(name, length);
    }
    return true;
}

static bool are_statements(const struct chunk *chunk)
{
    const uint8_t *bytes = chunk->payload.start;
    uint32_t n = chunk->n_payload;
    if (n % STATEMENT_BYTES != 1 || bytes[n - 1] != 0)
        return false;
    for (uint32_t i = 0; i + 1 < n; i += STATEMENT_BYTES) {
        if (bytes[i] != 1)
            return false;
    }
    return true;
}

static enum chunked_sub_layout sub_layout(const struct chunk *chunk)
{
    if (chunk->n_payload == 0)
        return CHUNKED_NAMES;
    if (are_statements(chunk))
        return CHUNKED_STATEMENTS;
    bool names_fit;
    bool flags_are_zero;
    bool two_words = divides(chunk->payload, 2, &names_fit, &flags_are_zero);
    if (two_words && names_fit && flags_are_zero)
        return CHUNKED_NAMES;
    bool four_fit;
    bool unused;
    if (divides(chunk->payload, 4, &four_fit, &unused) && four_fit)
        return CHUNKED_RANGES;
    return two_words ? CHUNKED_NAMES : CHUNKED_NO_SUBS;
}

static bool parse_statements(const struct chunk *chunk, struct array *statements, struct err *err)
{
    struct cursor in = chunk->payload;
    while (cursor_left(&in) >= STATEMENT_BYTES) {
        struct chunked_statement *statement = array_push(statements);
        if (statement == NULL)
            return err_fail_memory(err);
        cursor_skip(&in, 1);
        statement->fid = cursor_u32le(&in);
        statement->line = cursor_u32le(&in);
        statement->time_ns = cursor_u64le(&in);
    }
    return true;
}

static bool parse_subs(const struct chunk *chunk, struct chunked_content *content, struct err *err)
{
    enum chunked_sub_layout layout = sub_layout(chunk);
    if (layout == CHUNKED_NO_SUBS)
        return err_fail(err, ERR_FORMAT, chunk->offset, "chunk 'D' of %u bytes fits no layout",
                        chunk->n_payload);
    content->sub_layout = layout;
    if (layout == CHUNKED_STATEMENTS)
        return parse_statements(chunk, &content->statements, err);
    struct cursor in = chunk->payload;
    while (!cursor_at_end(&in)) {
        struct chunked_sub *sub = array_push(&content->subs);
        if (sub == NULL)
            return err_fail_memory(err);
        sub->layout = layout;
        sub->sid = cursor_u32le(&in);
        if (layout == CHUNKED_NAMES) {
            sub->flags = cursor_u32le(&in);
        } else {
            sub->fid = cursor_u32le(&in);
            sub->first_line = cursor_u32le(&in);
            sub->last_line = cursor_u32le(&in);
        }
        sub->name.bytes = cursor_text(&in, &sub->name.length);
    }
    return true;
}

static bool parse_files(const struct chunk *chunk, struct array *files, struct err *err)
{
    struct cursor in = chunk->payload;
    while (!cursor_at_end(&in)) {
        struct chunked_file *file = array_push(files);
        if (file == NULL)
            return err_fail_memory(err);
        file->fid = cursor_u32le(&in);
        file->flags = cursor_u32le(&in);
        file->size_bytes = cursor_u32le(&in);
        file->mtime = cursor_u32le(&in);
        file->path.bytes = cursor_text(&in, &file->path.length);
        if (in.failed)
            return err_fail(err, ERR_FORMAT, chunk->offset,
                            "chunk 'F' of %u bytes is not a whole number of records",
                            chunk->n_payload);
    }
    return true;
}

static bool parse_chunk(const struct chunk *chunk, struct chunked_content *content, struct err *err)
{
    struct chunked_chunk *entry = array_push(&content->chunks);
    if (entry == NULL)
        return err_fail_memory(err);
    *entry = (struct chunked_chunk){.tag = chunk->tag, .n_payload = chunk->n_payload};
    switch (chunk->tag) {
    case 'P':
        return parse_process(chunk, content, err);
    case 'S':
        return parse_rows(chunk, &content->lines, err);
    case 'D':
        return parse_subs(chunk, content, err);
    case 'C':
        return parse_rows(chunk, &content->calls, err);
    case 'F':
        return parse_files(chunk, &content->files, err);
    default:
        return chunk->n_payload == 0 ||
               err_fail(err, ERR_FORMAT, chunk->offset,
                        "chunk 'E' has a length of %u bytes, expected 0", chunk->n_payload);
    }
}

bool chunked_content_parse(const uint8_t *data, size_t size_bytes, struct chunked_content *content,
                           struct err *err)
{
    uint32_t major = 0;
    *content = (struct chunked_content){0};
    array_init(&content->attributes, sizeof(struct chunked_pair));
    array_init(&content->options, sizeof(struct chunked_pair));
    array_init(&content->comments, sizeof(struct text));
    array_init(&content->chunks, sizeof(struct chunked_chunk));
    array_init(&content->files, sizeof(struct chunked_file));
    array_init(&content->lines, sizeof(struct chunked_row));
    array_init(&content->subs, sizeof(struct chunked_sub));
    array_init(&content->calls, sizeof(struct chunked_row));
    array_init(&content->statements, sizeof(struct chunked_statement));
    size_t n_header = nytprof_header(data, size_bytes, &major, &content->minor);
    if (n_header == 0)
        return err_fail(err, ERR_FORMAT, 0,
                        "no NYTProf header: expected a first line 'NYTProf 5 0'");
    if (major != 5)
        return err_fail(err, ERR_VERSION, 0, "NYTProf version %u.%u: only version 5 can be read",
                        major, content->minor);
    struct cursor in = cursor_make(data, size_bytes);
    cursor_skip(&in, n_header);
    if (!parse_banner(&in, content, err))
        return false;
    struct chunk chunk = {.tag = 0};
    while (chunk.tag != 'E') {
        if (!next_chunk(&in, chunk.tag == 0, &chunk, err) || !parse_chunk(&chunk, content, err))
            return false;
    }
    content->trailing_bytes = cursor_left(&in);
    return true;
}

void chunked_content_deinit(struct chunked_content *content)
{
    array_deinit(&content->attributes);
    array_deinit(&content->options);
    array_deinit(&content->comments);
    array_deinit(&content->chunks);
    array_deinit(&content->files);
    array_deinit(&content->lines);
    array_deinit(&content->subs);
    array_deinit(&content->calls);
    array_deinit(&content->statements);
}

struct text chunked_content_attribute(const struct chunked_content *content, const char *key)
{
    for (size_t i = 0; i < content->attributes.n; i++) {
        const struct chunked_pair *pair = array_at(&content->attributes, i);
        if (text_is(pair->key, key))
            return pair->value;
    }
    return (struct text){.bytes = ""};
}
