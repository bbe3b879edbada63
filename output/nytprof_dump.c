/* nytprof_dump.c - a real NYTProf stream as JSON: each record as an event, then what they add up
 * to.
 *
 * Records are written as they come; only the sums are held. The members and their names are those
 * of docs/formats/nytprof.md. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_write.h"
#include "nytprof.h"
#include "nytprof_content.h"

struct dump {
    struct json json;
    struct nytprof_content content;
    struct array buffer; /* of nytprof_utf8 */
    bool no_memory;
};

/* ---- values -----------------------------------------------------------------------------------
 */

static struct text readable(struct dump *dump, struct text text)
{
    struct text result = {.bytes = ""};
    if (!nytprof_utf8(text, &dump->buffer, &result))
        dump->no_memory = true;
    return result;
}

static void put_key(struct dump *dump, struct text key)
{
    struct text utf8 = readable(dump, key);
    json_key_bytes(&dump->json, utf8.bytes, utf8.length);
}

static void put_text(struct dump *dump, const char *key, struct text text)
{
    json_key(&dump->json, key);
    json_text(&dump->json, readable(dump, text));
}

static void put_id(struct dump *dump, const char *key, uint32_t id)
{
    put_text(dump, key, intern_text(dump->content.texts, id));
}

static void put_u64(struct dump *dump, const char *key, uint64_t value)
{
    json_key(&dump->json, key);
    json_u64(&dump->json, value);
}

/* JSON knows no infinities and no NaN, but these files do. */
static void double_value(struct dump *dump, double value)
{
    if (isnan(value))
        json_cstring(&dump->json, "nan");
    else if (isinf(value))
        json_cstring(&dump->json, value > 0 ? "inf" : "-inf");
    else if (fabs(value) < 0x1p53 && value == nearbyint(value)) /* most are, and this is fast */
        json_i64(&dump->json, (int64_t)value);
    else
        json_f64(&dump->json, value);
}

static void put_double(struct dump *dump, const char *key, double value)
{
    json_key(&dump->json, key);
    double_value(dump, value);
}

static void put_number_key(struct dump *dump, uint32_t number)
{
    char key[16];
    int n = snprintf(key, sizeof key, "%" PRIu32, number);
    json_key_bytes(&dump->json, key, (size_t)n);
}

/* ---- events -----------------------------------------------------------------------------------
 */

struct tag_name {
    enum nytprof_tag tag;
    const char *name;
};

static const struct tag_name tag_names[] = {
    {NYTPROF_ATTRIBUTE, "ATTRIBUTE"},
    {NYTPROF_OPTION, "OPTION"},
    {NYTPROF_COMMENT, "COMMENT"},
    {NYTPROF_PROCESS_START, "PID_START"},
    {NYTPROF_PROCESS_END, "PID_END"},
    {NYTPROF_FILE, "NEW_FID"},
    {NYTPROF_LINE_TIME, "TIME_LINE"},
    {NYTPROF_BLOCK_TIME, "TIME_BLOCK"},
    {NYTPROF_DISCOUNT, "DISCOUNT"},
    {NYTPROF_SOURCE, "SRC_LINE"},
    {NYTPROF_SUB, "SUB_INFO"},
    {NYTPROF_EDGE, "SUB_CALLERS"},
    {NYTPROF_ENTRY, "SUB_ENTRY"},
    {NYTPROF_RETURN, "SUB_RETURN"},
    {NYTPROF_COMPRESSED, "START_DEFLATE"},
};
#define N_TAGS (sizeof tag_names / sizeof tag_names[0])

static const char *tag_name(enum nytprof_tag tag)
{
    for (size_t i = 0; i < N_TAGS; i++) {
        if (tag_names[i].tag == tag)
            return tag_names[i].name;
    }
    return "";
}

static void file_event(struct dump *dump, const struct nytprof_record *record)
{
    put_u64(dump, "fid", record->fid);
    put_u64(dump, "eval_fid", record->eval_fid);
    put_u64(dump, "eval_line", record->eval_line);
    put_u64(dump, "flags", record->flags);
    put_u64(dump, "size", record->size_bytes);
    put_u64(dump, "mtime", record->mtime);
    put_text(dump, "name", record->text);
}

static void edge_event(struct dump *dump, const struct nytprof_record *record)
{
    put_u64(dump, "fid", record->fid);
    put_u64(dump, "line", record->line);
    put_u64(dump, "count", record->count);
    put_double(dump, "incl", record->inclusive);
    put_double(dump, "excl", record->exclusive);
    put_double(dump, "reci", record->recursive);
    put_u64(dump, "rec_depth", record->depth);
    put_text(dump, "called", record->text);
    put_text(dump, "caller", record->other);
}

static void time_event(struct dump *dump, const struct nytprof_record *record)
{
    json_key(&dump->json, "ticks");
    json_i64(&dump->json, record->ticks);
    put_u64(dump, "fid", record->fid);
    put_u64(dump, "line", record->line);
    if (record->tag != NYTPROF_BLOCK_TIME)
        return;
    put_u64(dump, "block_line", record->block_line);
    put_u64(dump, "sub_line", record->sub_line);
}

static void process_event(struct dump *dump, const struct nytprof_record *record)
{
    put_u64(dump, "pid", record->pid);
    if (record->tag == NYTPROF_PROCESS_START)
        put_u64(dump, "ppid", record->ppid);
    put_double(dump, "time", record->time);
}

static void return_event(struct dump *dump, const struct nytprof_record *record)
{
    put_u64(dump, "depth", record->depth);
    put_double(dump, "incl_ticks", record->inclusive);
    put_double(dump, "excl_ticks", record->exclusive);
    put_text(dump, "name", record->text);
}

static void sub_event(struct dump *dump, const struct nytprof_record *record)
{
    put_u64(dump, "fid", record->fid);
    put_u64(dump, "first_line", record->line);
    put_u64(dump, "last_line", record->last_line);
    put_text(dump, "name", record->text);
}

static void place_event(struct dump *dump, const struct nytprof_record *record)
{
    put_u64(dump, "fid", record->fid);
    put_u64(dump, "line", record->line);
    if (record->tag == NYTPROF_SOURCE)
        put_text(dump, "text", record->text);
}

/* A comment's newline belongs to it; the record has it not, but it stands right behind. */
static void comment_event(struct dump *dump, const struct nytprof_record *record)
{
    struct text with_newline = {.bytes = record->text.bytes, .length = record->text.length + 1};
    put_text(dump, "text", with_newline);
}

static void record_event(struct dump *dump, const struct nytprof_record *record)
{
    json_object_begin(&dump->json);
    json_key(&dump->json, "tag");
    json_cstring(&dump->json, tag_name(record->tag));
    switch (record->tag) {
    case NYTPROF_ATTRIBUTE:
    case NYTPROF_OPTION:
        put_text(dump, "key", record->text);
        put_text(dump, "value", record->other);
        break;
    case NYTPROF_COMMENT:
        comment_event(dump, record);
        break;
    case NYTPROF_PROCESS_START:
    case NYTPROF_PROCESS_END:
        process_event(dump, record);
        break;
    case NYTPROF_FILE:
        file_event(dump, record);
        break;
    case NYTPROF_LINE_TIME:
    case NYTPROF_BLOCK_TIME:
        time_event(dump, record);
        break;
    case NYTPROF_SOURCE:
    case NYTPROF_ENTRY:
        place_event(dump, record);
        break;
    case NYTPROF_SUB:
        sub_event(dump, record);
        break;
    case NYTPROF_EDGE:
        edge_event(dump, record);
        break;
    case NYTPROF_RETURN:
        return_event(dump, record);
        break;
    case NYTPROF_DISCOUNT:
    case NYTPROF_COMPRESSED:
    case NYTPROF_END:
    default:
        break;
    }
    if (record->text_is_utf8 && record->tag == NYTPROF_FILE) {
        json_key(&dump->json, "name_utf8");
        json_bool(&dump->json, true);
    }
    if (record->text_is_utf8 && record->tag == NYTPROF_SOURCE) {
        json_key(&dump->json, "text_utf8");
        json_bool(&dump->json, true);
    }
    json_object_end(&dump->json);
}

static void version_event(struct dump *dump)
{
    json_object_begin(&dump->json);
    json_key(&dump->json, "tag");
    json_cstring(&dump->json, "VERSION");
    put_u64(dump, "major", 5);
    put_u64(dump, "minor", dump->content.minor);
    json_object_end(&dump->json);
}

static bool dump_events(struct dump *dump, struct nytprof_stream *stream, struct err *err)
{
    struct nytprof_record record;
    json_key(&dump->json, "events");
    json_array_begin(&dump->json);
    version_event(dump);
    while (nytprof_stream_next(stream, &record, err) && record.tag != NYTPROF_END) {
        if (!nytprof_content_add(&dump->content, &record, err))
            return false;
        if (!record.no_equals)
            record_event(dump, &record);
        if (dump->no_memory)
            return err_fail_memory(err);
    }
    json_array_end(&dump->json);
    return nytprof_content_finish(&dump->content, err);
}

/* ---- sums -------------------------------------------------------------------------------------
 */

static void dump_counts(struct dump *dump)
{
    json_key(&dump->json, "version");
    json_array_begin(&dump->json);
    json_u64(&dump->json, 5);
    json_u64(&dump->json, dump->content.minor);
    json_array_end(&dump->json);
    json_key(&dump->json, "records");
    json_object_begin(&dump->json);
    for (size_t i = 0; i < N_TAGS; i++) {
        uint64_t n = dump->content.n_records[tag_names[i].tag];
        if (n != 0)
            put_u64(dump, tag_names[i].name, n);
    }
    put_u64(dump, "VERSION", 1);
    json_object_end(&dump->json);
}

static void dump_processes(struct dump *dump)
{
    json_key(&dump->json, "processes");
    json_array_begin(&dump->json);
    for (size_t i = 0; i < dump->content.processes.n; i++) {
        const struct nytprof_process *process = array_at(&dump->content.processes, i);
        json_object_begin(&dump->json);
        put_u64(dump, "pid", process->pid);
        put_u64(dump, "ppid", process->ppid);
        put_double(dump, "start", process->start);
        json_key(&dump->json, "end");
        if (process->has_end)
            double_value(dump, process->end);
        else
            json_null(&dump->json);
        json_object_end(&dump->json);
    }
    json_array_end(&dump->json);
}

static void dump_pairs(struct dump *dump, const char *key, const struct array *pairs)
{
    json_key(&dump->json, key);
    json_object_begin(&dump->json);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct nytprof_pair *pair = array_at(pairs, i);
        put_key(dump, intern_text(dump->content.texts, pair->key));
        json_text(&dump->json, readable(dump, intern_text(dump->content.texts, pair->value)));
    }
    json_object_end(&dump->json);
}

static void dump_totals(struct dump *dump)
{
    const struct nytprof_content *content = &dump->content;
    double overhead =
        content->ticks_per_second > 0.0 ? content->overhead_ticks / content->ticks_per_second : 0.0;
    uint64_t n_calls = 0;
    for (size_t i = 0; i < content->subs.n; i++)
        n_calls += ((const struct nytprof_sub *)array_at(&content->subs, i))->calls;
    json_key(&dump->json, "totals");
    json_object_begin(&dump->json);
    put_u64(dump, "complete", content->oddities[NYTPROF_ODD_START_WITHOUT_END] == 0 ? 1 : 0);
    put_double(dump, "profiler_active", content->duration_seconds - overhead);
    if (content->n_records[NYTPROF_PROCESS_END] != 0) {
        put_double(dump, "profiler_duration", content->duration_seconds);
        put_double(dump, "profiler_end_time", content->last_end);
    }
    if (content->processes.n != 0) {
        const struct nytprof_process *latest =
            array_at(&content->processes, content->processes.n - 1);
        put_double(dump, "profiler_start_time", latest->start);
    }
    put_u64(dump, "total_stmts_discounted", content->n_discounted);
    put_double(dump, "total_stmts_duration", content->line_seconds);
    put_u64(dump, "total_stmts_measured", content->n_line_records);
    put_u64(dump, "total_sub_calls", n_calls);
    json_object_end(&dump->json);
}

static int compare_files(const void *a, const void *b)
{
    const struct nytprof_file *left = a;
    const struct nytprof_file *right = b;
    return (left->fid > right->fid) - (left->fid < right->fid);
}

static void dump_files(struct dump *dump)
{
    struct array *files = &dump->content.files;
    json_key(&dump->json, "fids");
    json_array_begin(&dump->json);
    if (files->n != 0)
        qsort(files->items, files->n, files->item_bytes, compare_files);
    for (size_t i = 0; i < files->n; i++) {
        const struct nytprof_file *file = array_at(files, i);
        if (!file->is_defined)
            continue;
        json_object_begin(&dump->json);
        put_u64(dump, "fid", file->fid);
        put_id(dump, "name", file->name);
        put_u64(dump, "flags", file->flags);
        put_u64(dump, "size", file->size_bytes);
        put_u64(dump, "mtime", file->mtime);
        put_u64(dump, "eval_fid", file->eval_fid);
        put_u64(dump, "eval_line", file->eval_line);
        json_object_end(&dump->json);
    }
    json_array_end(&dump->json);
}

static int compare_lines(const void *a, const void *b)
{
    const struct nytprof_line *left = a;
    const struct nytprof_line *right = b;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static void dump_lines(struct dump *dump, const char *key, struct array *lines)
{
    json_key(&dump->json, key);
    json_object_begin(&dump->json);
    if (lines->n != 0)
        qsort(lines->items, lines->n, lines->item_bytes, compare_lines);
    for (size_t i = 0; i < lines->n; i++) {
        const struct nytprof_line *line = array_at(lines, i);
        if (i == 0 || line[-1].fid != line->fid) {
            if (i != 0)
                json_object_end(&dump->json);
            put_number_key(dump, line->fid);
            json_object_begin(&dump->json);
        }
        put_number_key(dump, line->line);
        json_array_begin(&dump->json);
        double_value(dump, line->seconds);
        json_i64(&dump->json, line->count);
        json_array_end(&dump->json);
    }
    if (lines->n != 0)
        json_object_end(&dump->json);
    json_object_end(&dump->json);
}

static int compare_source(const void *a, const void *b)
{
    const struct nytprof_source_line *left = a;
    const struct nytprof_source_line *right = b;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static void dump_source(struct dump *dump)
{
    struct array *source = &dump->content.source;
    json_key(&dump->json, "source");
    json_object_begin(&dump->json);
    if (source->n != 0)
        qsort(source->items, source->n, source->item_bytes, compare_source);
    for (size_t i = 0; i < source->n; i++) {
        const struct nytprof_source_line *line = array_at(source, i);
        if (i == 0 || line[-1].fid != line->fid) {
            if (i != 0)
                json_object_end(&dump->json);
            put_number_key(dump, line->fid);
            json_object_begin(&dump->json);
        }
        put_number_key(dump, line->line);
        json_text(&dump->json, readable(dump, intern_text(dump->content.texts, line->text)));
    }
    if (source->n != 0)
        json_object_end(&dump->json);
    json_object_end(&dump->json);
}

/* ---- subs -------------------------------------------------------------------------------------
 */

/* A row and where it goes; sorted without a context by carrying all that the order needs. */
struct ranked {
    struct text name;
    uint32_t group; /* of callers: the edge                */
    uint32_t row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    size_t n = left->name.length < right->name.length ? left->name.length : right->name.length;
    int order = memcmp(left->name.bytes, right->name.bytes, n);
    if (order != 0)
        return order;
    return (left->name.length > right->name.length) - (left->name.length < right->name.length);
}

struct ranked_edge {
    struct nytprof_edge edge;
    uint32_t row;
};

static int compare_edges(const void *a, const void *b)
{
    const struct nytprof_edge *left = &((const struct ranked_edge *)a)->edge;
    const struct nytprof_edge *right = &((const struct ranked_edge *)b)->edge;
    if (left->sub != right->sub)
        return left->sub < right->sub ? -1 : 1;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

struct sub_tables {
    struct ranked *subs;       /* by name                  */
    struct ranked *callers;    /* by edge, then name       */
    struct ranked_edge *edges; /* by sub, then fid, line   */
    size_t n_subs, n_callers, n_edges;
    size_t *first_caller; /* by edge: in callers      */
    size_t *first_edge;   /* by sub: in edges         */
};

static bool sub_tables_init(struct sub_tables *tables, const struct nytprof_content *content)
{
    *tables = (struct sub_tables){
        .n_subs = content->subs.n, .n_callers = content->callers.n, .n_edges = content->edges.n};
    tables->subs = calloc(tables->n_subs + 1, sizeof *tables->subs);
    tables->callers = calloc(tables->n_callers + 1, sizeof *tables->callers);
    tables->edges = calloc(tables->n_edges + 1, sizeof *tables->edges);
    tables->first_caller = calloc(tables->n_edges + 1, sizeof *tables->first_caller);
    tables->first_edge = calloc(tables->n_subs + 1, sizeof *tables->first_edge);
    if (tables->subs == NULL || tables->callers == NULL || tables->edges == NULL ||
        tables->first_caller == NULL || tables->first_edge == NULL)
        return false;
    for (size_t i = 0; i < tables->n_subs; i++) {
        const struct nytprof_sub *sub = array_at(&content->subs, i);
        tables->subs[i] =
            (struct ranked){.name = intern_text(content->texts, sub->name), .row = (uint32_t)i};
    }
    for (size_t i = 0; i < tables->n_callers; i++) {
        const struct nytprof_caller *caller = array_at(&content->callers, i);
        tables->callers[i] = (struct ranked){.name = intern_text(content->texts, caller->name),
                                             .group = caller->edge};
    }
    for (size_t i = 0; i < tables->n_edges; i++) {
        const struct nytprof_edge *edge = array_at(&content->edges, i);
        tables->edges[i] = (struct ranked_edge){.edge = *edge, .row = (uint32_t)i};
    }
    qsort(tables->subs, tables->n_subs, sizeof *tables->subs, compare_ranked);
    qsort(tables->callers, tables->n_callers, sizeof *tables->callers, compare_ranked);
    qsort(tables->edges, tables->n_edges, sizeof *tables->edges, compare_edges);
    for (size_t i = tables->n_callers; i-- > 0;)
        tables->first_caller[tables->callers[i].group] = i;
    for (size_t i = tables->n_edges; i-- > 0;)
        tables->first_edge[tables->edges[i].edge.sub] = i;
    return true;
}

static void sub_tables_deinit(struct sub_tables *tables)
{
    free(tables->subs);
    free(tables->callers);
    free(tables->edges);
    free(tables->first_caller);
    free(tables->first_edge);
}

static void dump_edge(struct dump *dump, const struct sub_tables *tables,
                      const struct ranked_edge *ranked)
{
    const struct nytprof_edge *edge = &ranked->edge;
    json_object_begin(&dump->json);
    put_u64(dump, "fid", edge->fid);
    put_u64(dump, "line", edge->line);
    put_u64(dump, "count", edge->count);
    put_double(dump, "incl", edge->inclusive);
    put_double(dump, "excl", edge->exclusive);
    put_double(dump, "reci", edge->recursive);
    put_u64(dump, "rec_depth", edge->depth);
    json_key(&dump->json, "callers");
    json_array_begin(&dump->json);
    for (size_t i = tables->first_caller[ranked->row];
         i < tables->n_callers && tables->callers[i].group == ranked->row; i++)
        json_text(&dump->json, readable(dump, tables->callers[i].name));
    json_array_end(&dump->json);
    json_object_end(&dump->json);
}

/* `CORE::name` or `PACKAGE::CORE:name`: an operator of the language. */
static bool is_operator(struct text name)
{
    static const char word[] = "CORE:";
    const size_t n_word = sizeof word - 1;
    size_t end = name.length;
    size_t at = end;
    while (at > 0 &&
           (name.bytes[at - 1] == '_' || (name.bytes[at - 1] >= '0' && name.bytes[at - 1] <= '9') ||
            ((name.bytes[at - 1] | 0x20) >= 'a' && (name.bytes[at - 1] | 0x20) <= 'z')))
        at--;
    if (at == end)
        return false;
    if (at == n_word + 1 && memcmp(name.bytes, "CORE::", at) == 0)
        return true;
    return at >= n_word + 2 && memcmp(name.bytes + at - n_word - 2, "::CORE:", n_word + 2) == 0;
}

static const char *sub_kind(struct text name, const struct nytprof_sub *sub)
{
    if (sub->first_line == 0 && sub->last_line == 0 && is_operator(name))
        return "opcode";
    return sub->has_lines && sub->first_line == 0 && sub->last_line == 0 ? "xsub" : "perl";
}

static void put_if(struct dump *dump, const char *key, bool is_known, uint32_t value)
{
    json_key(&dump->json, key);
    if (is_known)
        json_u64(&dump->json, value);
    else
        json_null(&dump->json);
}

static void dump_sub(struct dump *dump, const struct sub_tables *tables, uint32_t row)
{
    const struct nytprof_sub *sub = array_at(&dump->content.subs, row);
    struct text name = intern_text(dump->content.texts, sub->name);
    bool is_homeless = !sub->has_fid && sub->calls != 0;
    json_object_begin(&dump->json);
    put_text(dump, "name", name);
    json_key(&dump->json, "kind");
    json_cstring(&dump->json, sub_kind(name, sub));
    put_if(dump, "fid", sub->has_fid || is_homeless, is_homeless ? 1 : sub->fid);
    put_if(dump, "first_line", sub->has_lines, sub->first_line);
    put_if(dump, "last_line", sub->has_lines, sub->last_line);
    put_u64(dump, "calls", sub->calls);
    put_double(dump, "incl", sub->inclusive);
    put_double(dump, "excl", sub->exclusive);
    put_u64(dump, "rec_depth", sub->depth);
    put_double(dump, "reci", sub->recursive);
    json_key(&dump->json, "called_by");
    json_array_begin(&dump->json);
    for (size_t i = tables->first_edge[row];
         i < tables->n_edges && tables->edges[i].edge.sub == row; i++)
        dump_edge(dump, tables, &tables->edges[i]);
    json_array_end(&dump->json);
    json_object_end(&dump->json);
}

static bool dump_subs(struct dump *dump)
{
    struct sub_tables tables;
    bool ok = sub_tables_init(&tables, &dump->content);
    if (ok) {
        json_key(&dump->json, "subs");
        json_array_begin(&dump->json);
        for (size_t i = 0; i < tables.n_subs; i++)
            dump_sub(dump, &tables, tables.subs[i].row);
        json_array_end(&dump->json);
    }
    sub_tables_deinit(&tables);
    return ok;
}

static bool dump_sums(struct dump *dump, struct err *err)
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
    bool ok = dump_subs(dump);
    dump_source(dump);
    return (ok && !dump->no_memory) || err_fail_memory(err);
}

static void dump_ok(struct dump *dump)
{
    const struct err *cut = &dump->content.cut;
    json_key(&dump->json, "ok");
    json_bool(&dump->json, cut->code == ERR_NONE);
    if (cut->code == ERR_NONE)
        return;
    put_text(dump, "error", (struct text){.bytes = cut->text, .length = strlen(cut->text)});
    put_u64(dump, "error_offset", cut->offset);
}

bool nytprof_dump_real(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                       struct sink *out, struct err *err)
{
    struct dump dump = {.json = json_make(out, 1), .buffer = {.item_bytes = 1}};
    struct nytprof_stream *stream = NULL;
    bool ok = nytprof_content_init(&dump.content, size_bytes, false, err) &&
              nytprof_stream_open(data, size_bytes, &stream, err);
    if (ok) {
        dump.content.minor = nytprof_stream_minor(stream);
        json_object_begin(&dump.json);
        ok = dump_events(&dump, stream, err) && dump_sums(&dump, err);
        dump_ok(&dump);
        json_object_end(&dump.json);
        sink_text(out, "\n");
    }
    if (ok)
        nytprof_content_notes(&dump.content, notes);
    nytprof_stream_destroy(stream);
    nytprof_content_deinit(&dump.content);
    array_deinit(&dump.buffer);
    return ok;
}
