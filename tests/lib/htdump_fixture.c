/* htdump_fixture.c - see htdump_fixture.h. */
#include "htdump_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/htdump/htdump.h"
#include "unit.h"

struct bytes bytes_cut(const struct bytes *bytes, size_t n)
{
    struct bytes cut = {.data = malloc(n == 0 ? 1 : n), .n = n};
    assert_non_null(cut.data);
    if (n != 0)
        memcpy(cut.data, bytes->data, n);
    return cut;
}

struct bytes file_load(const char *path)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    struct stat status;
    assert_int_equal(fstat(fileno(file), &status), 0);
    struct bytes bytes = {.n = (size_t)status.st_size};
    bytes.data = malloc(bytes.n == 0 ? 1 : bytes.n);
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.n, file), bytes.n);
    fclose(file);
    return bytes;
}

const char *shared_folder(void)
{
    static char beside[] = TEST_DATA_DIR "/../../../shared";
    const char *named = getenv("SAMPLER_SHARED");
    struct stat status;
    if (named != NULL)
        return named;
    return stat(beside, &status) == 0 ? beside : NULL;
}

static void note_hear(void *context, const char *text)
{
    struct heard *heard = context;
    heard->n++;
    snprintf(heard->last, sizeof heard->last, "%s", text);
}

struct format_notes notes_into(struct heard *heard)
{
    *heard = (struct heard){0};
    return (struct format_notes){.note = note_hear, .context = heard};
}

static struct bytes sink_take(struct sink *sink)
{
    struct err err = ERR_INIT;
    struct bytes view = {0};
    const void *content = sink_buffer(sink, &view.n);
    struct bytes taken = {.data = malloc(view.n == 0 ? 1 : view.n), .n = view.n};
    assert_non_null(taken.data);
    memcpy(taken.data, content, view.n);
    assert_true(sink_close(sink, &err));
    return taken;
}

struct bytes dump_bytes(const struct bytes *in, const struct format_notes *notes)
{
    struct err err = ERR_INIT;
    struct sink *sink;
    assert_true(sink_create_buffer(&sink, &err));
    if (!format_htdump.dump(in->data, in->n, notes, sink, &err))
        fail_msg("dump: %s", err.text);
    return sink_take(sink);
}

struct bytes write_bytes(const struct profile *profile, const struct format_notes *notes)
{
    const struct format_options options = {0};
    struct err err = ERR_INIT;
    struct sink *sink;
    assert_true(sink_create_buffer(&sink, &err));
    if (!format_htdump.write(profile, &options, notes, sink, &err))
        fail_msg("write: %s", err.text);
    return sink_take(sink);
}

struct profile *read_profile(const struct bytes *in, const struct format_notes *notes)
{
    const struct format_options options = {0};
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    if (!format_htdump.read(in->data, in->n, &options, notes, &profile, &err))
        fail_msg("read: %s", err.text);
    return profile;
}

/* ---- building a stream ---- */

void stream_deinit(struct stream *stream)
{
    free(stream->data);
    *stream = (struct stream){0};
}

struct bytes stream_bytes(const struct stream *stream)
{
    const struct bytes all = {.data = stream->data, .n = stream->n};
    return bytes_cut(&all, all.n);
}

static void stream_put(struct stream *stream, const void *data, size_t n)
{
    if (stream->n + n > stream->n_reserved) {
        stream->n_reserved = 2 * (stream->n + n);
        stream->data = realloc(stream->data, stream->n_reserved);
        assert_non_null(stream->data);
    }
    memcpy(stream->data + stream->n, data, n);
    stream->n += n;
}

void stream_number(struct stream *stream, uint64_t value, unsigned size_bytes)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size_bytes; i++) {
        unsigned place = stream->is_big_endian ? size_bytes - 1 - i : i;
        bytes[place] = (uint8_t)(value >> (8 * i));
    }
    stream_put(stream, bytes, size_bytes);
}

void stream_text(struct stream *stream, const char *text)
{
    stream_put(stream, text, strlen(text) + 1);
}

void stream_header(struct stream *stream, uint32_t number, uint64_t timestamp_ns, uint64_t id)
{
    stream_number(stream, number, 4);
    stream_number(stream, timestamp_ns, 8);
    stream_number(stream, id, 8);
}

void stream_byte_order(struct stream *stream, bool is_big_endian)
{
    stream_header(stream, 0, 0, 0);
    stream_number(stream, is_big_endian, 1);
    stream->is_big_endian = is_big_endian;
}

void stream_class(struct stream *stream, uint32_t number, const char *name, unsigned n_fields)
{
    stream_header(stream, 2, 1, stream->next_id++);
    stream_number(stream, number, 4);
    stream_text(stream, name);
    stream_number(stream, n_fields, 1);
}

void stream_field(struct stream *stream, uint32_t number, const char *type, const char *name,
                  uint64_t size_bytes, unsigned data_type)
{
    stream_header(stream, 3, 1, stream->next_id++);
    stream_number(stream, number, 4);
    stream_text(stream, type);
    stream_text(stream, name);
    stream_number(stream, size_bytes, 8);
    stream_number(stream, data_type, 1);
}

void stream_call_classes(struct stream *stream)
{
    stream_class(stream, 4, "HT_CallstackBaseEvent", 3);
    stream_field(stream, 4, "HT_Event", "base", 24, HTDUMP_STRUCT);
    stream_field(stream, 4, "HT_DurationNs", "duration", 8, HTDUMP_UNSIGNED);
    stream_field(stream, 4, "HT_ThreadId", "thread_id", 4, HTDUMP_UNSIGNED);
    stream_class(stream, 5, "HT_CallstackIntEvent", 2);
    stream_field(stream, 5, "HT_CallstackBaseEvent", "base", 40, HTDUMP_STRUCT);
    stream_field(stream, 5, "HT_CallstackEventLabel", "label", 8, HTDUMP_UNSIGNED);
    stream_class(stream, 6, "HT_CallstackStringEvent", 2);
    stream_field(stream, 6, "HT_CallstackBaseEvent", "base", 40, HTDUMP_STRUCT);
    stream_field(stream, 6, "const char*", "label", 8, HTDUMP_STRING);
    stream_class(stream, 7, "HT_StringMappingEvent", 3);
    stream_field(stream, 7, "HT_Event", "base", 24, HTDUMP_STRUCT);
    stream_field(stream, 7, "uint64_t", "identifier", 8, HTDUMP_UNSIGNED);
    stream_field(stream, 7, "const char*", "label", 8, HTDUMP_STRING);
}

void stream_call(struct stream *stream, uint64_t start_ns, uint64_t duration_ns, uint32_t thread,
                 const char *label, uint64_t id)
{
    stream_header(stream, 6, start_ns, id);
    stream_number(stream, duration_ns, 8);
    stream_number(stream, thread, 4);
    stream_text(stream, label);
}

void stream_int_call(struct stream *stream, uint64_t start_ns, uint64_t duration_ns,
                     uint32_t thread, uint64_t label)
{
    stream_header(stream, 5, start_ns, stream->next_id++);
    stream_number(stream, duration_ns, 8);
    stream_number(stream, thread, 4);
    stream_number(stream, label, 8);
}

void stream_mapping(struct stream *stream, uint64_t number, const char *label)
{
    stream_header(stream, 7, 1, stream->next_id++);
    stream_number(stream, number, 8);
    stream_text(stream, label);
}
