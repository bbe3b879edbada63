/* dump.c - a file of the chunked NYTProf dialect as JSON. The members are those of
 * docs/formats/nytprof-chunked.md. */
#include "formats/nytprof/chunked/chunked.h"
#include "formats/nytprof/dump/json.h"
#include "formats/nytprof/nytprof.h"

static void dump_pairs(struct nytprof_json *out, const char *key, const struct array *pairs)
{
    json_key(&out->json, key);
    json_object_begin(&out->json);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct chunked_pair *pair = array_at(pairs, i);
        nytprof_put_key(out, pair->key);
        json_text(&out->json, nytprof_readable(out, pair->value));
    }
    json_object_end(&out->json);
}

static void dump_banner(struct nytprof_json *out, const struct chunked_content *content)
{
    json_key(&out->json, "version");
    json_array_begin(&out->json);
    json_u64(&out->json, 5);
    json_u64(&out->json, content->minor);
    json_array_end(&out->json);
    dump_pairs(out, "attributes", &content->attributes);
    dump_pairs(out, "options", &content->options);
    json_key(&out->json, "comments");
    json_array_begin(&out->json);
    for (size_t i = 0; i < content->comments.n; i++) {
        const struct text *comment = array_at(&content->comments, i);
        json_text(&out->json, nytprof_readable(out, *comment));
    }
    json_array_end(&out->json);
    json_key(&out->json, "blank_line");
    json_bool(&out->json, content->has_blank_line);
}

static void dump_layout(struct nytprof_json *out, const struct chunked_content *content)
{
    static const char *const process_layouts[] = {NULL, "seed", "pid_first", "raw"};
    static const char *const sub_layouts[] = {NULL, "seed", "lines", "statements"};
    json_key(&out->json, "chunks");
    json_array_begin(&out->json);
    for (size_t i = 0; i < content->chunks.n; i++) {
        const struct chunked_chunk *chunk = array_at(&content->chunks, i);
        json_array_begin(&out->json);
        json_bytes(&out->json, (const char *)&chunk->tag, 1);
        json_u64(&out->json, chunk->n_payload);
        json_array_end(&out->json);
    }
    json_array_end(&out->json);
    json_key(&out->json, "layout");
    json_object_begin(&out->json);
    if (content->process_layout != CHUNKED_NO_PROCESS) {
        json_key(&out->json, "P");
        json_cstring(&out->json, process_layouts[content->process_layout]);
    }
    if (content->sub_layout != CHUNKED_NO_SUBS) {
        json_key(&out->json, "D");
        json_cstring(&out->json, sub_layouts[content->sub_layout]);
    }
    json_key(&out->json, "C");
    json_cstring(&out->json, content->sub_layout == CHUNKED_RANGES ? "lines" : "seed");
    json_object_end(&out->json);
    json_key(&out->json, "process");
    if (content->process_layout == CHUNKED_NO_PROCESS) {
        json_null(&out->json);
        return;
    }
    json_object_begin(&out->json);
    nytprof_put_u64(out, "pid", content->pid);
    nytprof_put_u64(out, "ppid", content->ppid);
    nytprof_put_u64(out, "start_us", content->start_us);
    json_object_end(&out->json);
}

static void dump_files(struct nytprof_json *out, const struct array *files)
{
    json_key(&out->json, "files");
    json_array_begin(&out->json);
    for (size_t i = 0; i < files->n; i++) {
        const struct chunked_file *file = array_at(files, i);
        json_object_begin(&out->json);
        nytprof_put_u64(out, "fid", file->fid);
        nytprof_put_u64(out, "flags", file->flags);
        nytprof_put_u64(out, "size", file->size_bytes);
        nytprof_put_u64(out, "mtime", file->mtime);
        nytprof_put_text(out, "path", file->path);
        json_object_end(&out->json);
    }
    json_array_end(&out->json);
}

/* `keys`: of the three words and the two times. */
static void dump_rows(struct nytprof_json *out, const char *key, const char *const keys[5],
                      const struct array *rows)
{
    json_key(&out->json, key);
    json_array_begin(&out->json);
    for (size_t i = 0; i < rows->n; i++) {
        const struct chunked_row *row = array_at(rows, i);
        json_object_begin(&out->json);
        for (size_t word = 0; word < 3; word++)
            nytprof_put_u64(out, keys[word], row->words[word]);
        nytprof_put_u64(out, keys[3], row->inclusive_ticks);
        nytprof_put_u64(out, keys[4], row->exclusive_ticks);
        json_object_end(&out->json);
    }
    json_array_end(&out->json);
}

static void dump_subs(struct nytprof_json *out, const struct array *subs)
{
    json_key(&out->json, "subs");
    json_array_begin(&out->json);
    for (size_t i = 0; i < subs->n; i++) {
        const struct chunked_sub *sub = array_at(subs, i);
        json_object_begin(&out->json);
        nytprof_put_u64(out, "sid", sub->sid);
        if (sub->layout == CHUNKED_NAMES) {
            nytprof_put_u64(out, "flags", sub->flags);
        } else {
            nytprof_put_u64(out, "fid", sub->fid);
            nytprof_put_u64(out, "first_line", sub->first_line);
            nytprof_put_u64(out, "last_line", sub->last_line);
        }
        nytprof_put_text(out, "name", sub->name);
        json_object_end(&out->json);
    }
    json_array_end(&out->json);
}

static void dump_statements(struct nytprof_json *out, const struct array *statements)
{
    json_key(&out->json, "statements");
    json_array_begin(&out->json);
    for (size_t i = 0; i < statements->n; i++) {
        const struct chunked_statement *statement = array_at(statements, i);
        json_object_begin(&out->json);
        nytprof_put_u64(out, "fid", statement->fid);
        nytprof_put_u64(out, "line", statement->line);
        nytprof_put_u64(out, "ns", statement->time_ns);
        json_object_end(&out->json);
    }
    json_array_end(&out->json);
}

static void dump_content(struct nytprof_json *out, const struct chunked_content *content)
{
    static const char *const line_keys[] = {"fid", "line", "calls", "incl_ticks", "excl_ticks"};
    static const char *const call_keys[] = {"caller", "callee", "calls", "ticks", "sub_ticks"};
    static const char *const place_keys[] = {"fid", "line", "sid", "incl_ticks", "excl_ticks"};
    json_object_begin(&out->json);
    json_key(&out->json, "ok");
    json_bool(&out->json, true);
    json_key(&out->json, "dialect");
    json_cstring(&out->json, "chunked");
    dump_banner(out, content);
    dump_layout(out, content);
    dump_files(out, &content->files);
    dump_rows(out, "lines", line_keys, &content->lines);
    dump_subs(out, &content->subs);
    dump_rows(out, "calls", content->sub_layout == CHUNKED_RANGES ? place_keys : call_keys,
              &content->calls);
    dump_statements(out, &content->statements);
    nytprof_put_u64(out, "trailing_bytes", content->trailing_bytes);
    json_object_end(&out->json);
}

bool nytprof_dump_chunked(const uint8_t *data, size_t size_bytes, struct sink *out, struct err *err)
{
    struct chunked_content content;
    struct nytprof_json json = nytprof_json_make(out);
    bool ok = chunked_content_parse(data, size_bytes, &content, err);
    if (ok) {
        dump_content(&json, &content);
        sink_text(out, "\n");
        if (json.no_memory)
            ok = err_fail_memory(err);
    }
    chunked_content_deinit(&content);
    nytprof_json_deinit(&json);
    return ok;
}
