/* nytprof_chunked_dump.c - a file of the chunked NYTProf dialect as JSON. The members are those of
 * docs/formats/nytprof-chunked.md. */
#include "json_write.h"
#include "nytprof.h"
#include "nytprof_chunked.h"
#include "nytprof_content.h"

struct dump {
    struct json json;
    struct array buffer; /* of nytprof_utf8 */
    bool no_memory;
};

static struct text readable(struct dump *dump, struct text text)
{
    struct text result = {.bytes = ""};
    if (!nytprof_utf8(text, &dump->buffer, &result))
        dump->no_memory = true;
    return result;
}

static void put_text(struct dump *dump, const char *key, struct text text)
{
    json_key(&dump->json, key);
    json_text(&dump->json, readable(dump, text));
}

static void put_u64(struct dump *dump, const char *key, uint64_t value)
{
    json_key(&dump->json, key);
    json_u64(&dump->json, value);
}

static void dump_pairs(struct dump *dump, const char *key, const struct array *pairs)
{
    json_key(&dump->json, key);
    json_object_begin(&dump->json);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct chunked_pair *pair = array_at(pairs, i);
        struct text name = readable(dump, pair->key);
        json_key_bytes(&dump->json, name.bytes, name.length);
        json_text(&dump->json, readable(dump, pair->value));
    }
    json_object_end(&dump->json);
}

static void dump_banner(struct dump *dump, const struct chunked_content *content)
{
    json_key(&dump->json, "version");
    json_array_begin(&dump->json);
    json_u64(&dump->json, 5);
    json_u64(&dump->json, content->minor);
    json_array_end(&dump->json);
    dump_pairs(dump, "attributes", &content->attributes);
    dump_pairs(dump, "options", &content->options);
    json_key(&dump->json, "comments");
    json_array_begin(&dump->json);
    for (size_t i = 0; i < content->comments.n; i++) {
        const struct text *comment = array_at(&content->comments, i);
        json_text(&dump->json, readable(dump, *comment));
    }
    json_array_end(&dump->json);
    json_key(&dump->json, "blank_line");
    json_bool(&dump->json, content->has_blank_line);
}

static void dump_layout(struct dump *dump, const struct chunked_content *content)
{
    static const char *const process_layouts[] = {NULL, "seed", "pid_first", "raw"};
    static const char *const sub_layouts[] = {NULL, "seed", "lines", "statements"};
    json_key(&dump->json, "chunks");
    json_array_begin(&dump->json);
    for (size_t i = 0; i < content->chunks.n; i++) {
        const struct chunked_chunk *chunk = array_at(&content->chunks, i);
        json_array_begin(&dump->json);
        json_bytes(&dump->json, (const char *)&chunk->tag, 1);
        json_u64(&dump->json, chunk->n_payload);
        json_array_end(&dump->json);
    }
    json_array_end(&dump->json);
    json_key(&dump->json, "layout");
    json_object_begin(&dump->json);
    if (content->process_layout != CHUNKED_NO_PROCESS) {
        json_key(&dump->json, "P");
        json_cstring(&dump->json, process_layouts[content->process_layout]);
    }
    if (content->sub_layout != CHUNKED_NO_SUBS) {
        json_key(&dump->json, "D");
        json_cstring(&dump->json, sub_layouts[content->sub_layout]);
    }
    json_key(&dump->json, "C");
    json_cstring(&dump->json, content->sub_layout == CHUNKED_RANGES ? "lines" : "seed");
    json_object_end(&dump->json);
    json_key(&dump->json, "process");
    if (content->process_layout == CHUNKED_NO_PROCESS) {
        json_null(&dump->json);
        return;
    }
    json_object_begin(&dump->json);
    put_u64(dump, "pid", content->pid);
    put_u64(dump, "ppid", content->ppid);
    put_u64(dump, "start_us", content->start_us);
    json_object_end(&dump->json);
}

static void dump_files(struct dump *dump, const struct array *files)
{
    json_key(&dump->json, "files");
    json_array_begin(&dump->json);
    for (size_t i = 0; i < files->n; i++) {
        const struct chunked_file *file = array_at(files, i);
        json_object_begin(&dump->json);
        put_u64(dump, "fid", file->fid);
        put_u64(dump, "flags", file->flags);
        put_u64(dump, "size", file->size_bytes);
        put_u64(dump, "mtime", file->mtime);
        put_text(dump, "path", file->path);
        json_object_end(&dump->json);
    }
    json_array_end(&dump->json);
}

/* `keys`: of the three words and the two times. */
static void dump_rows(struct dump *dump, const char *key, const char *const keys[5],
                      const struct array *rows)
{
    json_key(&dump->json, key);
    json_array_begin(&dump->json);
    for (size_t i = 0; i < rows->n; i++) {
        const struct chunked_row *row = array_at(rows, i);
        json_object_begin(&dump->json);
        for (size_t word = 0; word < 3; word++)
            put_u64(dump, keys[word], row->words[word]);
        put_u64(dump, keys[3], row->inclusive_ticks);
        put_u64(dump, keys[4], row->exclusive_ticks);
        json_object_end(&dump->json);
    }
    json_array_end(&dump->json);
}

static void dump_subs(struct dump *dump, const struct array *subs)
{
    json_key(&dump->json, "subs");
    json_array_begin(&dump->json);
    for (size_t i = 0; i < subs->n; i++) {
        const struct chunked_sub *sub = array_at(subs, i);
        json_object_begin(&dump->json);
        put_u64(dump, "sid", sub->sid);
        if (sub->layout == CHUNKED_NAMES) {
            put_u64(dump, "flags", sub->flags);
        } else {
            put_u64(dump, "fid", sub->fid);
            put_u64(dump, "first_line", sub->first_line);
            put_u64(dump, "last_line", sub->last_line);
        }
        put_text(dump, "name", sub->name);
        json_object_end(&dump->json);
    }
    json_array_end(&dump->json);
}

static void dump_statements(struct dump *dump, const struct array *statements)
{
    json_key(&dump->json, "statements");
    json_array_begin(&dump->json);
    for (size_t i = 0; i < statements->n; i++) {
        const struct chunked_statement *statement = array_at(statements, i);
        json_object_begin(&dump->json);
        put_u64(dump, "fid", statement->fid);
        put_u64(dump, "line", statement->line);
        put_u64(dump, "ns", statement->time_ns);
        json_object_end(&dump->json);
    }
    json_array_end(&dump->json);
}

static void dump_content(struct dump *dump, const struct chunked_content *content)
{
    static const char *const line_keys[] = {"fid", "line", "calls", "incl_ticks", "excl_ticks"};
    static const char *const call_keys[] = {"caller", "callee", "calls", "ticks", "sub_ticks"};
    static const char *const place_keys[] = {"fid", "line", "sid", "incl_ticks", "excl_ticks"};
    json_object_begin(&dump->json);
    json_key(&dump->json, "ok");
    json_bool(&dump->json, true);
    json_key(&dump->json, "dialect");
    json_cstring(&dump->json, "chunked");
    dump_banner(dump, content);
    dump_layout(dump, content);
    dump_files(dump, &content->files);
    dump_rows(dump, "lines", line_keys, &content->lines);
    dump_subs(dump, &content->subs);
    dump_rows(dump, "calls", content->sub_layout == CHUNKED_RANGES ? place_keys : call_keys,
              &content->calls);
    dump_statements(dump, &content->statements);
    put_u64(dump, "trailing_bytes", content->trailing_bytes);
    json_object_end(&dump->json);
}

bool nytprof_dump_chunked(const uint8_t *data, size_t size_bytes, struct sink *out, struct err *err)
{
    struct chunked_content content;
    struct dump dump = {.json = json_make(out, 1), .buffer = {.item_bytes = 1}};
    bool ok = chunked_content_parse(data, size_bytes, &content, err);
    if (ok) {
        dump_content(&dump, &content);
        sink_text(out, "\n");
        if (dump.no_memory)
            ok = err_fail_memory(err);
    }
    chunked_content_deinit(&content);
    array_deinit(&dump.buffer);
    return ok;
}
