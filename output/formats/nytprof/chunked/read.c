/* read.c - a file of the chunked NYTProf dialect as a profile.
 *
 * The dialect has no stacks. Where it names subs, samples are its edges, of caller and called; else
 * its lines, else its statements. The times of all of these are the same time seen differently. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/chunked/chunked.h"
#include "formats/nytprof/content.h"
#include "formats/nytprof/nytprof.h"

__extension__ typedef unsigned __int128 u128;

#define DEFAULT_TICKS_PER_SECOND 10000000U
#define NS_PER_SECOND 1000000000U

struct reader {
    struct chunked_content content;
    struct profile_builder *builder;
    struct map subs;      /* (sid, 0) -> row of content.subs       */
    struct map files;     /* (fid, 0) -> row of content.files      */
    struct map functions; /* (sid, 0) -> function                  */
    struct chars buffer;
    uint64_t ticks_per_second;
    uint32_t thread;
    bool no_memory;
};

static uint32_t text_of(struct reader *r, struct text text)
{
    struct text utf8 = {.bytes = ""};
    if (!nytprof_utf8(text, &r->buffer, &utf8))
        r->no_memory = true;
    return profile_add_text(r->builder, utf8.bytes, utf8.length);
}

static uint64_t ticks_to_ns(const struct reader *r, uint64_t ticks)
{
    u128 ns = ((u128)ticks * NS_PER_SECOND + r->ticks_per_second / 2) / r->ticks_per_second;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint32_t file_text(struct reader *r, uint32_t fid)
{
    uint32_t row = map_find(&r->files, fid, 0);
    if (row == MAP_NONE)
        return 0;
    return text_of(r, ((const struct chunked_file *)array_at(&r->content.files, row))->path);
}

/* Code of a file outside of all subs. File 0 is the application. */
static uint32_t file_function(struct reader *r, uint32_t fid)
{
    struct profile_function function = {.file = file_text(r, fid)};
    char name[32];
    snprintf(name, sizeof name, "file %" PRIu32, fid);
    function.name = function.file;
    if (function.name == 0 && fid == 0)
        function.name = text_of(r, chunked_content_attribute(&r->content, "application"));
    if (function.name == 0)
        function.name = profile_add_cstring(r->builder, name);
    return profile_add_function(r->builder, &function);
}

static uint32_t sub_function(struct reader *r, uint32_t sid)
{
    uint32_t known = map_find(&r->functions, sid, 0);
    if (known != MAP_NONE)
        return known;
    struct profile_function function = {.name = 0};
    uint32_t row = map_find(&r->subs, sid, 0);
    if (row == MAP_NONE) {
        char name[32];
        snprintf(name, sizeof name, "sub %" PRIu32, sid);
        function.name = profile_add_cstring(r->builder, name);
    } else {
        const struct chunked_sub *sub = array_at(&r->content.subs, row);
        function.name = text_of(r, sub->name);
        if (sub->layout == CHUNKED_RANGES) {
            function.file = file_text(r, sub->fid);
            function.line = sub->first_line;
        }
    }
    uint32_t id = profile_add_function(r->builder, &function);
    if (!map_set(&r->functions, sid, 0, id))
        r->no_memory = true;
    return id;
}

static uint32_t stack_of(struct reader *r, uint32_t parent, uint32_t function, uint32_t line)
{
    struct profile_frame frame = {.function = function, .line = line};
    return profile_add_stack(r->builder, parent, profile_add_frame(r->builder, &frame));
}

static void add_sample(struct reader *r, uint32_t stack, uint64_t weight_ns)
{
    struct profile_sample sample = {.thread = r->thread, .stack = stack};
    if (weight_ns != 0)
        profile_add_sample(r->builder, &sample, &weight_ns);
}

static bool is_root(const struct reader *r, uint32_t sid)
{
    uint32_t row = map_find(&r->subs, sid, 0);
    if (sid != 0 || row == MAP_NONE)
        return false;
    const struct chunked_sub *sub = array_at(&r->content.subs, row);
    return text_is(sub->name, NYTPROF_CHUNKED_ROOT);
}

static void read_calls(struct reader *r)
{
    bool by_place = r->content.sub_layout == CHUNKED_RANGES;
    for (size_t i = 0; i < r->content.calls.n; i++) {
        const struct chunked_row *call = array_at(&r->content.calls, i);
        uint32_t caller = 0;
        if (by_place)
            caller = stack_of(r, 0, file_function(r, call->words[0]), call->words[1]);
        else if (!is_root(r, call->words[0]))
            caller = stack_of(r, 0, sub_function(r, call->words[0]), 0);
        uint32_t called = sub_function(r, call->words[by_place ? 2 : 1]);
        add_sample(r, stack_of(r, caller, called, 0), ticks_to_ns(r, call->exclusive_ticks));
    }
}

static void read_lines(struct reader *r)
{
    for (size_t i = 0; i < r->content.lines.n; i++) {
        const struct chunked_row *line = array_at(&r->content.lines, i);
        uint32_t stack = stack_of(r, 0, file_function(r, line->words[0]), line->words[1]);
        add_sample(r, stack, ticks_to_ns(r, line->exclusive_ticks));
    }
}

static void read_statements(struct reader *r)
{
    for (size_t i = 0; i < r->content.statements.n; i++) {
        const struct chunked_statement *statement = array_at(&r->content.statements, i);
        uint32_t stack = stack_of(r, 0, file_function(r, statement->fid), statement->line);
        add_sample(r, stack, statement->time_ns);
    }
}

static bool index_rows(struct reader *r)
{
    for (size_t i = 0; i < r->content.subs.n; i++) {
        const struct chunked_sub *sub = array_at(&r->content.subs, i);
        if (!map_set(&r->subs, sub->sid, 0, (uint32_t)i))
            return false;
    }
    for (size_t i = 0; i < r->content.files.n; i++) {
        const struct chunked_file *file = array_at(&r->content.files, i);
        if (!map_set(&r->files, file->fid, 0, (uint32_t)i))
            return false;
    }
    return true;
}

static bool has_time(const struct array *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (((const struct chunked_row *)array_at(rows, i))->exclusive_ticks != 0)
            return true;
    }
    return false;
}

static bool read_ticks_per_second(struct reader *r, struct err *err)
{
    struct text text = chunked_content_attribute(&r->content, "ticks_per_sec");
    uint64_t number = 0;
    r->ticks_per_second = DEFAULT_TICKS_PER_SECOND;
    if (text.length == 0)
        return true;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (!char_is_digit(c) || number > UINT32_MAX)
            return err_fail(err, ERR_FORMAT, 0, "attribute ticks_per_sec is no number");
        number = number * 10 + (uint64_t)(c - '0');
    }
    if (number == 0)
        return err_fail(err, ERR_FORMAT, 0, "attribute ticks_per_sec is 0");
    r->ticks_per_second = number;
    return true;
}

static void read_process(struct reader *r)
{
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    uint32_t name = text_of(r, chunked_content_attribute(&r->content, "application"));
    struct text command = profile_builder_text(r->builder, name);
    scalars->n_kinds = 1;
    scalars->kinds[0].unit = PROFILE_UNIT_NS;
    scalars->kinds[0].name = profile_add_cstring(r->builder, "time");
    if (command.length != 0)
        profile_add_metadata(r->builder, "command", command.bytes, command.length);
    if (r->content.process_layout == CHUNKED_NO_PROCESS)
        return;
    if (__builtin_mul_overflow(r->content.start_us, (uint64_t)1000, &scalars->start_realtime_ns))
        scalars->start_realtime_ns = 0;
    struct profile_process process = {.name = name, .pid = r->content.pid, .ppid = r->content.ppid};
    struct profile_thread thread = {.process = profile_add_process(r->builder, &process),
                                    .tid = r->content.pid};
    r->thread = profile_add_thread(r->builder, &thread);
}

bool nytprof_read_chunked(const uint8_t *data, size_t size_bytes,
                          const struct format_options *options, const struct format_notes *notes,
                          struct profile **out, struct err *err)
{
    struct reader r = {.thread = 0};
    if (!profile_builder_create(&r.builder, err))
        return false;
    bool ok = chunked_content_parse(data, size_bytes, &r.content, err) &&
              read_ticks_per_second(&r, err) && (index_rows(&r) || err_fail_memory(err));
    if (ok) {
        read_process(&r);
        if (r.content.subs.n != 0 && has_time(&r.content.calls))
            read_calls(&r);
        else if (has_time(&r.content.lines))
            read_lines(&r);
        else
            read_statements(&r);
        ok = !r.no_memory || err_fail_memory(err);
    }
    if (ok && options != NULL && options->strict && r.content.trailing_bytes != 0)
        ok = err_fail(err, ERR_FORMAT, size_bytes - r.content.trailing_bytes,
                      "bytes behind the last chunk");
    if (ok && r.content.minor > 0)
        format_note(notes,
                    "version 5.%" PRIu32 " is newer than 5.0, which is what is known here: "
                    "parts may be misread",
                    r.content.minor);
    if (ok && r.content.trailing_bytes > 0)
        format_note(notes, "%" PRIu64 " bytes behind the last chunk were not read",
                    r.content.trailing_bytes);
    chunked_content_deinit(&r.content);
    map_deinit(&r.subs);
    map_deinit(&r.files);
    map_deinit(&r.functions);
    chars_deinit(&r.buffer);
    if (!ok) {
        profile_builder_destroy(r.builder);
        return false;
    }
    return profile_builder_finish(r.builder, out, err);
}
