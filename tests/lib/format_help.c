/* format_help.c - see format_help.h. */
#include "format_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct bytes data_load(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", TEST_DATA_DIR, path);
    return file_load(full);
}

struct bytes file_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return (struct bytes){NULL, 0};
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    struct bytes in = {calloc((size_t)size + 1, 1), (size_t)size};
    assert_non_null(in.bytes);
    assert_int_equal(fread(in.bytes, 1, in.n, file), in.n);
    fclose(file);
    return in;
}

struct bytes path_load(const char *path)
{
    struct bytes in = file_load(path);
    if (in.bytes == NULL)
        fail_msg("cannot open %s", path);
    struct bytes exact = bytes_part(in, in.n);
    free(in.bytes);
    return exact;
}

struct bytes bytes_part(struct bytes in, size_t n)
{
    struct bytes part = {malloc(n == 0 ? 1 : n), n};
    assert_non_null(part.bytes);
    memcpy(part.bytes, in.bytes, n);
    return part;
}

static void note_add(void *context, const char *text)
{
    struct note_log *log = context;
    size_t n = strlen(log->text);
    log->n++;
    snprintf(log->text + n, sizeof log->text - n, "%s\n", text);
}

struct format_notes note_log_make(struct note_log *log)
{
    log->n = 0;
    log->text[0] = '\0';
    return (struct format_notes){.note = note_add, .context = log};
}

bool bytes_try_read(const struct format *format, struct bytes in, bool is_strict,
                    const struct format_notes *notes, struct profile **out, struct err *err)
{
    const struct format_options options = {.strict = is_strict};
    return format->read((const uint8_t *)in.bytes, in.n, &options, notes, out, err);
}

bool bytes_try_dump(const struct format *format, struct bytes in, const struct format_notes *notes,
                    struct err *err)
{
    struct sink *out = NULL;
    struct err sink_err = ERR_INIT;
    assert_true(sink_create_buffer(&out, &sink_err));
    bool ok = format->dump((const uint8_t *)in.bytes, in.n, notes, out, err);
    sink_abandon(out);
    return ok;
}

struct profile *bytes_read(const struct format *format, struct bytes in,
                           const struct format_notes *notes)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    const struct format_options options = {.strict = false};
    bool ok = format->read((const uint8_t *)in.bytes, in.n, &options, notes, &profile, &err);
    if (!ok)
        print_error("%s: %s\n", format->name, err.text);
    assert_true(ok);
    return profile;
}

struct profile *text_read(const struct format *format, const char *text,
                          const struct format_notes *notes)
{
    /* A copy of exactly that size, so that a sanitizer sees the first byte too far. */
    struct bytes in = {malloc(strlen(text) + 1), strlen(text)};
    char *exact = malloc(in.n == 0 ? 1 : in.n);
    assert_non_null(in.bytes);
    assert_non_null(exact);
    memcpy(exact, text, in.n);
    free(in.bytes);
    in.bytes = exact;
    struct profile *profile = bytes_read(format, in, notes);
    free(in.bytes);
    return profile;
}

static struct bytes sink_take(struct sink *sink)
{
    size_t n;
    const void *content = sink_buffer(sink, &n);
    struct bytes out = {calloc(n + 1, 1), n};
    assert_non_null(out.bytes);
    memcpy(out.bytes, content, n);
    sink_abandon(sink);
    return out;
}

struct bytes profile_write(const struct format *format, const struct profile *profile,
                           const struct format_options *options, const struct format_notes *notes)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_buffer(&sink, &err));
    bool ok = format->write(profile, options, notes, sink, &err);
    if (!ok)
        print_error("%s: %s\n", format->name, err.text);
    assert_true(ok && !sink_failed(sink));
    return sink_take(sink);
}

struct bytes bytes_dump(const struct format *format, struct bytes in)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_buffer(&sink, &err));
    bool ok = format->dump((const uint8_t *)in.bytes, in.n, NULL, sink, &err);
    if (!ok)
        print_error("%s: %s\n", format->name, err.text);
    assert_true(ok);
    return sink_take(sink);
}

void expect_written(const struct format *format, const struct profile *profile,
                    const struct format_options *options, const char *expected)
{
    struct bytes out = profile_write(format, profile, options, NULL);
    assert_string_equal(out.bytes, expected);
    free(out.bytes);
}
