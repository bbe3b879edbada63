/* dump.c - a real NYTProf stream as JSON: each record as an event (formats/nytprof/dump/events.c),
 * then what they add up to.
 *
 * Records are written as they come; only the sums are held. The members and their names are those
 * of docs/formats/nytprof.md. */
#include "formats/nytprof/dump/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/nytprof.h"

/* ---- events ---- */

static void version_event(struct nytprof_dump *dump)
{
    json_object_begin(&dump->out.json);
    json_key(&dump->out.json, "tag");
    json_cstring(&dump->out.json, "VERSION");
    nytprof_put_u64(&dump->out, "major", 5);
    nytprof_put_u64(&dump->out, "minor", dump->content.minor);
    json_object_end(&dump->out.json);
}

static bool dump_events(struct nytprof_dump *dump, struct nytprof_stream *stream, struct err *err)
{
    struct nytprof_record record;
    json_key(&dump->out.json, "events");
    json_array_begin(&dump->out.json);
    version_event(dump);
    while (nytprof_stream_next(stream, &record, err) && record.tag != NYTPROF_END) {
        if (!nytprof_content_add(&dump->content, &record, err))
            return false;
        if (!record.no_equals)
            nytprof_dump_event(dump, &record);
        if (dump->out.no_memory)
            return err_fail_memory(err);
    }
    json_array_end(&dump->out.json);
    return nytprof_content_finish(&dump->content, err);
}

static void put_number_key(struct nytprof_dump *dump, uint32_t number)
{
    char key[16];
    int n = snprintf(key, sizeof key, "%" PRIu32, number);
    json_key_bytes(&dump->out.json, key, (size_t)n);
}

/* ---- sums ---- */

static void dump_counts(struct nytprof_dump *dump)
{
    json_key(&dump->out.json, "version");
    json_array_begin(&dump->out.json);
    json_u64(&dump->out.json, 5);
    json_u64(&dump->out.json, dump->content.minor);
    json_array_end(&dump->out.json);
    json_key(&dump->out.json, "records");
    json_object_begin(&dump->out.json);
    for (size_t i = 0; i < nytprof_n_kinds; i++) {
        uint64_t n = dump->content.n_records[nytprof_kinds[i].tag];
        if (n != 0)
            nytprof_put_u64(&dump->out, nytprof_kinds[i].name, n);
    }
    nytprof_put_u64(&dump->out, "VERSION", 1);
    json_object_end(&dump->out.json);
}

static void dump_processes(struct nytprof_dump *dump)
{
    json_key(&dump->out.json, "processes");
    json_array_begin(&dump->out.json);
    for (size_t i = 0; i < dump->content.processes.n; i++) {
        const struct nytprof_process *process = array_at(&dump->content.processes, i);
        json_object_begin(&dump->out.json);
        nytprof_put_u64(&dump->out, "pid", process->pid);
        nytprof_put_u64(&dump->out, "ppid", process->ppid);
        nytprof_put_double(&dump->out, "start", process->start);
        json_key(&dump->out.json, "end");
        if (process->has_end)
            nytprof_put_number(&dump->out, process->end);
        else
            json_null(&dump->out.json);
        json_object_end(&dump->out.json);
    }
    json_array_end(&dump->out.json);
}

static void dump_pairs(struct nytprof_dump *dump, const char *key, const struct array *pairs)
{
    json_key(&dump->out.json, key);
    json_object_begin(&dump->out.json);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct nytprof_pair *pair = array_at(pairs, i);
        nytprof_put_key(&dump->out, intern_text(dump->content.texts, pair->key));
        json_text(&dump->out.json,
                  nytprof_readable(&dump->out, intern_text(dump->content.texts, pair->value)));
    }
    json_object_end(&dump->out.json);
}

static void dump_totals(struct nytprof_dump *dump)
{
    const struct nytprof_content *content = &dump->content;
    double overhead =
        content->ticks_per_second > 0.0 ? content->overhead_ticks / content->ticks_per_second : 0.0;
    uint64_t n_calls = 0;
    for (size_t i = 0; i < content->subs.n; i++)
        n_calls += ((const struct nytprof_sub *)array_at(&content->subs, i))->calls;
    json_key(&dump->out.json, "totals");
    json_object_begin(&dump->out.json);
    nytprof_put_u64(&dump->out, "complete",
                    content->oddities[NYTPROF_ODD_START_WITHOUT_END] == 0 ? 1 : 0);
    nytprof_put_double(&dump->out, "profiler_active", content->duration_seconds - overhead);
    if (content->n_records[NYTPROF_PROCESS_END] != 0) {
        nytprof_put_double(&dump->out, "profiler_duration", content->duration_seconds);
        nytprof_put_double(&dump->out, "profiler_end_time", content->last_end);
    }
    if (content->processes.n != 0) {
        const struct nytprof_process *latest =
            array_at(&content->processes, content->processes.n - 1);
        nytprof_put_double(&dump->out, "profiler_start_time", latest->start);
    }
    nytprof_put_u64(&dump->out, "total_stmts_discounted", content->n_discounted);
    nytprof_put_double(&dump->out, "total_stmts_duration", content->line_seconds);
    nytprof_put_u64(&dump->out, "total_stmts_measured", content->n_line_records);
    nytprof_put_u64(&dump->out, "total_sub_calls", n_calls);
    json_object_end(&dump->out.json);
}

static int compare_files(const void *a, const void *b)
{
    const struct nytprof_file *left = a;
    const struct nytprof_file *right = b;
    return (left->fid > right->fid) - (left->fid < right->fid);
}

static void dump_files(struct nytprof_dump *dump)
{
    struct array *files = &dump->content.files;
    json_key(&dump->out.json, "fids");
    json_array_begin(&dump->out.json);
    if (files->n != 0)
        qsort(files->items, files->n, files->item_bytes, compare_files);
    for (size_t i = 0; i < files->n; i++) {
        const struct nytprof_file *file = array_at(files, i);
        if (!file->is_defined)
            continue;
        json_object_begin(&dump->out.json);
        nytprof_put_u64(&dump->out, "fid", file->fid);
        nytprof_put_text(&dump->out, "name", intern_text(dump->content.texts, file->name));
        nytprof_put_u64(&dump->out, "flags", file->flags);
        nytprof_put_u64(&dump->out, "size", file->size_bytes);
        nytprof_put_u64(&dump->out, "mtime", file->mtime);
        nytprof_put_u64(&dump->out, "eval_fid", file->eval_fid);
        nytprof_put_u64(&dump->out, "eval_line", file->eval_line);
        json_object_end(&dump->out.json);
    }
    json_array_end(&dump->out.json);
}

static int compare_lines(const void *a, const void *b)
{
    const struct nytprof_line *left = a;
    const struct nytprof_line *right = b;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static void dump_lines(struct nytprof_dump *dump, const char *key, struct array *lines)
{
    json_key(&dump->out.json, key);
    json_object_begin(&dump->out.json);
    if (lines->n != 0)
        qsort(lines->items, lines->n, lines->item_bytes, compare_lines);
    for (size_t i = 0; i < lines->n; i++) {
        const struct nytprof_line *line = array_at(lines, i);
        if (i == 0 || line[-1].fid != line->fid) {
            if (i != 0)
                json_object_end(&dump->out.json);
            put_number_key(dump, line->fid);
            json_object_begin(&dump->out.json);
        }
        put_number_key(dump, line->line);
        json_array_begin(&dump->out.json);
        nytprof_put_number(&dump->out, line->seconds);
        json_i64(&dump->out.json, line->count);
        json_array_end(&dump->out.json);
    }
    if (lines->n != 0)
        json_object_end(&dump->out.json);
    json_object_end(&dump->out.json);
}

static int compare_source(const void *a, const void *b)
{
    const struct nytprof_source_line *left = a;
    const struct nytprof_source_line *right = b;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static void dump_source(struct nytprof_dump *dump)
{
    struct array *source = &dump->content.source;
    json_key(&dump->out.json, "source");
    json_object_begin(&dump->out.json);
    if (source->n != 0)
        qsort(source->items, source->n, source->item_bytes, compare_source);
    for (size_t i = 0; i < source->n; i++) {
        const struct nytprof_source_line *line = array_at(source, i);
        if (i == 0 || line[-1].fid != line->fid) {
            if (i != 0)
                json_object_end(&dump->out.json);
            put_number_key(dump, line->fid);
            json_object_begin(&dump->out.json);
        }
        put_number_key(dump, line->line);
        json_text(&dump->out.json,
                  nytprof_readable(&dump->out, intern_text(dump->content.texts, line->text)));
    }
    if (source->n != 0)
        json_object_end(&dump->out.json);
    json_object_end(&dump->out.json);
}

static bool dump_sums(struct nytprof_dump *dump, struct err *err)
{
    struct nytprof_content *content = &dump->content;
    dump_counts(dump);
    dump_processes(dump);
    dump_pairs(dump, "attributes", &content->attributes);
    dump_pairs(dump, "options", &content->options);
    dump_totals(dump);
    dump_files(dump);
    dump_lines(dump, "line_times", &content->lines[NYTPROF_BY_LINE]);
    if (content->lines[NYTPROF_BY_BLOCK].n != 0) {
        dump_lines(dump, "block_times", &content->lines[NYTPROF_BY_BLOCK]);
        dump_lines(dump, "sub_times", &content->lines[NYTPROF_BY_SUB]);
    }
    bool ok = nytprof_dump_subs(dump);
    dump_source(dump);
    return (ok && !dump->out.no_memory) || err_fail_memory(err);
}

static void dump_ok(struct nytprof_dump *dump)
{
    const struct err *cut = &dump->content.cut;
    json_key(&dump->out.json, "ok");
    json_bool(&dump->out.json, cut->code == ERR_NONE);
    if (cut->code == ERR_NONE)
        return;
    nytprof_put_text(&dump->out, "error",
                     (struct text){.bytes = cut->text, .length = strlen(cut->text)});
    nytprof_put_u64(&dump->out, "error_offset", cut->offset);
}

bool nytprof_dump_real(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                       struct sink *out, struct err *err)
{
    struct nytprof_dump dump = {.out = nytprof_json_make(out)};
    struct nytprof_stream *stream = NULL;
    bool ok = nytprof_content_init(&dump.content, size_bytes, false, err) &&
              nytprof_stream_open(data, size_bytes, &stream, err);
    if (ok) {
        dump.content.minor = nytprof_stream_minor(stream);
        json_object_begin(&dump.out.json);
        ok = dump_events(&dump, stream, err) && dump_sums(&dump, err);
    }
    if (ok) {
        dump_ok(&dump);
        json_object_end(&dump.out.json);
        sink_text(out, "\n");
        nytprof_content_notes(&dump.content, notes);
    }
    nytprof_stream_destroy(stream);
    nytprof_content_deinit(&dump.content);
    nytprof_json_deinit(&dump.out);
    return ok;
}
