/* dump_events.c - the records of a real NYTProf stream as JSON, one by one. */
#include "formats/nytprof/dump.h"

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

const char *nytprof_tag_name(size_t index, enum nytprof_tag *tag)
{
    if (index >= N_TAGS)
        return NULL;
    *tag = tag_names[index].tag;
    return tag_names[index].name;
}

static const char *tag_name(enum nytprof_tag tag)
{
    for (size_t i = 0; i < N_TAGS; i++) {
        if (tag_names[i].tag == tag)
            return tag_names[i].name;
    }
    return "";
}

static void file_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    nytprof_put_u64(&dump->out, "fid", record->fid);
    nytprof_put_u64(&dump->out, "eval_fid", record->eval_fid);
    nytprof_put_u64(&dump->out, "eval_line", record->eval_line);
    nytprof_put_u64(&dump->out, "flags", record->flags);
    nytprof_put_u64(&dump->out, "size", record->size_bytes);
    nytprof_put_u64(&dump->out, "mtime", record->mtime);
    nytprof_put_text(&dump->out, "name", record->text);
}

static void edge_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    nytprof_put_u64(&dump->out, "fid", record->fid);
    nytprof_put_u64(&dump->out, "line", record->line);
    nytprof_put_u64(&dump->out, "count", record->count);
    nytprof_put_double(&dump->out, "incl", record->inclusive);
    nytprof_put_double(&dump->out, "excl", record->exclusive);
    nytprof_put_double(&dump->out, "reci", record->recursive);
    nytprof_put_u64(&dump->out, "rec_depth", record->depth);
    nytprof_put_text(&dump->out, "called", record->text);
    nytprof_put_text(&dump->out, "caller", record->other);
}

static void time_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    json_key(&dump->out.json, "ticks");
    json_i64(&dump->out.json, record->ticks);
    nytprof_put_u64(&dump->out, "fid", record->fid);
    nytprof_put_u64(&dump->out, "line", record->line);
    if (record->tag != NYTPROF_BLOCK_TIME)
        return;
    nytprof_put_u64(&dump->out, "block_line", record->block_line);
    nytprof_put_u64(&dump->out, "sub_line", record->sub_line);
}

static void process_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    nytprof_put_u64(&dump->out, "pid", record->pid);
    if (record->tag == NYTPROF_PROCESS_START)
        nytprof_put_u64(&dump->out, "ppid", record->ppid);
    nytprof_put_double(&dump->out, "time", record->time);
}

static void return_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    nytprof_put_u64(&dump->out, "depth", record->depth);
    nytprof_put_double(&dump->out, "incl_ticks", record->inclusive);
    nytprof_put_double(&dump->out, "excl_ticks", record->exclusive);
    nytprof_put_text(&dump->out, "name", record->text);
}

static void sub_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    nytprof_put_u64(&dump->out, "fid", record->fid);
    nytprof_put_u64(&dump->out, "first_line", record->line);
    nytprof_put_u64(&dump->out, "last_line", record->last_line);
    nytprof_put_text(&dump->out, "name", record->text);
}

static void place_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    nytprof_put_u64(&dump->out, "fid", record->fid);
    nytprof_put_u64(&dump->out, "line", record->line);
    if (record->tag == NYTPROF_SOURCE)
        nytprof_put_text(&dump->out, "text", record->text);
}

/* A comment's newline belongs to it; the record has it not, but it stands right behind. */
static void comment_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    struct text with_newline = {.bytes = record->text.bytes, .length = record->text.length + 1};
    nytprof_put_text(&dump->out, "text", with_newline);
}

void nytprof_dump_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    json_object_begin(&dump->out.json);
    json_key(&dump->out.json, "tag");
    json_cstring(&dump->out.json, tag_name(record->tag));
    switch (record->tag) {
    case NYTPROF_ATTRIBUTE:
    case NYTPROF_OPTION:
        nytprof_put_text(&dump->out, "key", record->text);
        nytprof_put_text(&dump->out, "value", record->other);
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
        json_key(&dump->out.json, "name_utf8");
        json_bool(&dump->out.json, true);
    }
    if (record->text_is_utf8 && record->tag == NYTPROF_SOURCE) {
        json_key(&dump->out.json, "text_utf8");
        json_bool(&dump->out.json, true);
    }
    json_object_end(&dump->out.json);
}
