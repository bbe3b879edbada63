/* content.c - see formats/nytprof/content.h. */
#include "formats/nytprof/content.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/utf8.h"

/* A small compressed file may hold much, but not any amount: a "zip bomb" ends here. */
#define KEPT_BYTES_FREE ((uint64_t)64 << 20)
#define KEPT_BYTES_PER_BYTE 32U

bool nytprof_content_init(struct nytprof_content *content, size_t size_bytes, bool is_brief,
                          struct err *err)
{
    *content = (struct nytprof_content){
        .is_brief = is_brief,
        .cut = ERR_INIT,
        .limit_bytes = KEPT_BYTES_FREE + (uint64_t)size_bytes * KEPT_BYTES_PER_BYTE,
    };
    array_init(&content->attributes, sizeof(struct nytprof_pair));
    array_init(&content->options, sizeof(struct nytprof_pair));
    array_init(&content->processes, sizeof(struct nytprof_process));
    array_init(&content->files, sizeof(struct nytprof_file));
    for (size_t i = 0; i < NYTPROF_N_LEVELS; i++)
        array_init(&content->lines[i], sizeof(struct nytprof_line));
    array_init(&content->subs, sizeof(struct nytprof_sub));
    array_init(&content->edges, sizeof(struct nytprof_edge));
    array_init(&content->callers, sizeof(struct nytprof_caller));
    array_init(&content->source, sizeof(struct nytprof_source_line));
    content->arena = arena_create();
    if (content->arena != NULL)
        content->texts = intern_create(content->arena);
    return content->texts != NULL || err_fail_memory(err);
}

void nytprof_content_deinit(struct nytprof_content *content)
{
    array_deinit(&content->attributes);
    array_deinit(&content->options);
    array_deinit(&content->processes);
    array_deinit(&content->files);
    for (size_t i = 0; i < NYTPROF_N_LEVELS; i++) {
        array_deinit(&content->lines[i]);
        map_deinit(&content->line_rows[i]);
    }
    array_deinit(&content->subs);
    array_deinit(&content->edges);
    array_deinit(&content->callers);
    array_deinit(&content->source);
    map_deinit(&content->attribute_rows);
    map_deinit(&content->option_rows);
    map_deinit(&content->process_rows);
    map_deinit(&content->file_rows);
    map_deinit(&content->sub_rows);
    map_deinit(&content->edge_rows);
    map_deinit(&content->caller_rows);
    map_deinit(&content->source_rows);
    intern_destroy(content->texts);
    arena_destroy(content->arena);
}

bool nytprof_content_keep(struct nytprof_content *content, size_t n_bytes, uint64_t offset,
                          struct err *err)
{
    content->kept_bytes += n_bytes;
    if (content->kept_bytes <= content->limit_bytes)
        return true;
    return err_fail(err, ERR_LIMIT, offset,
                    "the content of the file takes over %" PRIu64 " MiB of memory",
                    content->limit_bytes >> 20);
}

static void note_oddity(struct nytprof_content *content, enum nytprof_oddity oddity,
                        uint64_t offset, uint32_t number)
{
    if (content->oddities[oddity]++ != 0)
        return;
    content->odd_offset[oddity] = offset;
    content->odd_number[oddity] = number;
}

/* ---- rows by key ---- */

/* The row of a key in one of the tables, a zeroed one if the key is new. NULL: out of memory or
 * beyond the limit, and *err is filled. */
static void *row_at(struct nytprof_content *content, struct array *rows, struct map *map,
                    uint64_t a, uint64_t b, struct err *err)
{
    uint32_t row = map_find(map, a, b);
    if (row != MAP_NONE)
        return array_at(rows, row);
    if (!nytprof_content_keep(content, rows->item_bytes + 2 * sizeof(struct map_slot),
                              ERR_NO_OFFSET, err))
        return NULL;
    void *item = rows->n < UINT32_MAX - 1 ? array_push(rows) : NULL;
    if (item != NULL && map_set(map, a, b, (uint32_t)(rows->n - 1)))
        return item;
    err_fail_memory(err);
    return NULL;
}

bool nytprof_content_text(struct nytprof_content *content, struct text text, uint32_t *id,
                          struct err *err)
{
    uint32_t n_before = intern_count(content->texts);
    if (!intern_add(content->texts, text.bytes, text.length, id))
        return err_fail_memory(err);
    return intern_count(content->texts) == n_before ||
           nytprof_content_keep(content, text.length + 64, ERR_NO_OFFSET, err);
}

static struct nytprof_sub *sub_row(struct nytprof_content *content, struct text name,
                                   struct err *err)
{
    uint32_t id;
    if (!nytprof_content_text(content, name, &id, err))
        return NULL;
    struct nytprof_sub *sub = row_at(content, &content->subs, &content->sub_rows, id, 0, err);
    if (sub != NULL)
        sub->name = id;
    return sub;
}

/* Notes that a record uses a fid; if no `@` told it yet, an oddity. */
static bool use_fid(struct nytprof_content *content, uint32_t fid, uint64_t offset, struct err *err)
{
    if (fid < NYTPROF_FEW_FIDS && (content->defined_fids[fid / 64] >> fid % 64 & 1) != 0)
        return true;
    struct nytprof_file *file = row_at(content, &content->files, &content->file_rows, fid, 0, err);
    if (file == NULL)
        return false;
    file->fid = fid;
    if (!file->is_defined)
        note_oddity(content, NYTPROF_ODD_UNDEFINED_FID, offset, fid);
    return true;
}

/* ---- records ---- */

static double text_to_double(struct text text)
{
    char digits[64];
    if (text.length == 0 || text.length >= sizeof digits)
        return 0.0;
    memcpy(digits, text.bytes, text.length);
    digits[text.length] = '\0';
    double value = strtod(digits, NULL);
    return isfinite(value) ? value : 0.0;
}

static bool add_pair(struct nytprof_content *content, const struct nytprof_record *record,
                     struct err *err)
{
    bool is_attribute = record->tag == NYTPROF_ATTRIBUTE;
    struct array *rows = is_attribute ? &content->attributes : &content->options;
    struct map *map = is_attribute ? &content->attribute_rows : &content->option_rows;
    uint32_t key;
    uint32_t value;
    if (record->no_equals) {
        content->n_records[record->tag]--;
        note_oddity(content, NYTPROF_ODD_NO_EQUALS, record->offset, 0);
        return true;
    }
    if (!nytprof_content_text(content, record->text, &key, err) ||
        !nytprof_content_text(content, record->other, &value, err))
        return false;
    struct nytprof_pair *pair = row_at(content, rows, map, key, 0, err);
    if (pair == NULL)
        return false;
    *pair = (struct nytprof_pair){.key = key, .value = value};
    if (!is_attribute)
        return true;
    double number = text_to_double(record->other);
    if (text_is(record->text, "nv_size") && number != 8.0)
        return err_fail(err, ERR_UNSUPPORTED, record->offset,
                        "nv_size is %g: only floats of 8 bytes can be read", number);
    if (text_is(record->text, "ticks_per_sec"))
        content->ticks_per_second = number > 0.0 ? number : 0.0;
    if (text_is(record->text, "cumulative_overhead_ticks"))
        content->overhead_ticks = number;
    return true;
}

static bool start_process(struct nytprof_content *content, const struct nytprof_record *record,
                          struct err *err)
{
    if (!nytprof_content_keep(content, sizeof(struct nytprof_process) + sizeof(struct map_slot),
                              record->offset, err))
        return false;
    struct nytprof_process *process =
        content->processes.n < UINT32_MAX - 1 ? array_push(&content->processes) : NULL;
    if (process == NULL)
        return err_fail_memory(err);
    *process =
        (struct nytprof_process){.pid = record->pid, .ppid = record->ppid, .start = record->time};
    uint32_t row = (uint32_t)(content->processes.n - 1);
    if (!map_set(&content->process_rows, record->pid, 0, row))
        return err_fail_memory(err);
    return true;
}

static void end_process(struct nytprof_content *content, const struct nytprof_record *record)
{
    uint32_t row = map_find(&content->process_rows, record->pid, 0);
    content->last_end = record->time;
    /* As Perl's reader does: the time since the latest start, whichever process that was. */
    if (content->processes.n != 0) {
        const struct nytprof_process *latest =
            array_at(&content->processes, content->processes.n - 1);
        content->duration_seconds += record->time - latest->start;
    }
    if (row == MAP_NONE) {
        note_oddity(content, NYTPROF_ODD_END_WITHOUT_START, record->offset, record->pid);
        return;
    }
    struct nytprof_process *process = array_at(&content->processes, row);
    process->has_end = true;
    process->end = record->time;
}

static bool add_file(struct nytprof_content *content, const struct nytprof_record *record,
                     struct err *err)
{
    uint32_t name;
    if (!nytprof_content_text(content, record->text, &name, err))
        return false;
    struct nytprof_file *file =
        row_at(content, &content->files, &content->file_rows, record->fid, 0, err);
    if (file == NULL)
        return false;
    if (file->is_defined && file->name != name)
        note_oddity(content, NYTPROF_ODD_FID_TWICE, record->offset, record->fid);
    *file = (struct nytprof_file){.fid = record->fid,
                                  .name = name,
                                  .flags = record->flags,
                                  .size_bytes = record->size_bytes,
                                  .mtime = record->mtime,
                                  .eval_fid = record->eval_fid,
                                  .eval_line = record->eval_line,
                                  .is_defined = true};
    if (record->fid < NYTPROF_FEW_FIDS)
        content->defined_fids[record->fid / 64] |= (uint64_t)1 << record->fid % 64;
    return true;
}

static bool add_line(struct nytprof_content *content, enum nytprof_level level, uint32_t fid,
                     uint32_t number, double seconds, struct err *err)
{
    struct nytprof_line *line =
        row_at(content, &content->lines[level], &content->line_rows[level], fid, number, err);
    if (line == NULL)
        return false;
    line->fid = fid;
    line->line = number;
    line->seconds += seconds;
    line->count += 1 - (int64_t)content->n_discounts;
    return true;
}

static bool add_time(struct nytprof_content *content, const struct nytprof_record *record,
                     struct err *err)
{
    if (content->is_brief) {
        content->n_discounts = 0;
        return use_fid(content, record->fid, record->offset, err);
    }
    double seconds = record->ticks / content->ticks_per_second;
    content->line_seconds += seconds;
    content->n_line_records++;
    if (!use_fid(content, record->fid, record->offset, err) ||
        !add_line(content, NYTPROF_BY_LINE, record->fid, record->line, seconds, err))
        return false;
    if (record->tag == NYTPROF_BLOCK_TIME &&
        (!add_line(content, NYTPROF_BY_BLOCK, record->fid, record->block_line, seconds, err) ||
         !add_line(content, NYTPROF_BY_SUB, record->fid, record->sub_line, seconds, err)))
        return false;
    content->n_discounted += content->n_discounts;
    content->n_discounts = 0;
    return true;
}

static bool add_source(struct nytprof_content *content, const struct nytprof_record *record,
                       struct err *err)
{
    uint32_t text;
    if (content->is_brief)
        return true;
    if (!nytprof_content_text(content, record->text, &text, err))
        return false;
    struct nytprof_source_line *source =
        row_at(content, &content->source, &content->source_rows, record->fid, record->line, err);
    if (source == NULL)
        return false;
    *source = (struct nytprof_source_line){.fid = record->fid, .line = record->line, .text = text};
    return true;
}

static bool add_sub(struct nytprof_content *content, const struct nytprof_record *record,
                    struct err *err)
{
    struct nytprof_sub *sub = sub_row(content, record->text, err);
    if (sub == NULL)
        return false;
    if (sub->has_lines && sub->has_fid)
        note_oddity(content, NYTPROF_ODD_SUB_TWICE, record->offset, 0);
    sub->fid = record->fid;
    sub->first_line = record->line;
    sub->last_line = record->last_line;
    sub->has_fid = true;
    sub->has_lines = true;
    return use_fid(content, record->fid, record->offset, err);
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool add_edge(struct nytprof_content *content, const struct nytprof_record *record,
                     struct err *err)
{
    uint32_t caller_name;
    if (content->has_better_than_edges)
        return record->fid == 0 || use_fid(content, record->fid, record->offset, err);
    struct nytprof_sub *sub = sub_row(content, record->text, err);
    if (sub == NULL || !nytprof_content_text(content, record->other, &caller_name, err))
        return false;
    uint32_t sub_at = map_find(&content->sub_rows, sub->name, 0);
    sub->calls += record->count;
    sub->inclusive += record->inclusive;
    sub->exclusive += record->exclusive;
    sub->recursive += record->recursive;
    sub->depth = max_u32(sub->depth, record->depth);
    if (record->fid == 0) { /* says only that the sub is none of the profiled language */
        sub->first_line = 0;
        sub->last_line = 0;
        sub->has_lines = true;
        return true;
    }
    struct nytprof_edge *edge = row_at(content, &content->edges, &content->edge_rows, sub_at,
                                       (uint64_t)record->fid << 32 | record->line, err);
    if (edge == NULL)
        return false;
    edge->sub = sub_at;
    edge->fid = record->fid;
    edge->line = record->line;
    edge->count += record->count;
    edge->inclusive += record->inclusive;
    edge->exclusive += record->exclusive;
    edge->recursive += record->recursive;
    edge->depth = max_u32(edge->depth, record->depth);
    uint32_t edge_at = (uint32_t)(edge - (struct nytprof_edge *)content->edges.items);
    struct nytprof_caller *caller =
        row_at(content, &content->callers, &content->caller_rows, edge_at, caller_name, err);
    if (caller == NULL)
        return false;
    *caller = (struct nytprof_caller){.edge = edge_at, .name = caller_name};
    return use_fid(content, record->fid, record->offset, err);
}

static bool needs_ticks(enum nytprof_tag tag)
{
    return tag == NYTPROF_LINE_TIME || tag == NYTPROF_BLOCK_TIME || tag == NYTPROF_RETURN;
}

bool nytprof_content_add(struct nytprof_content *content, const struct nytprof_record *record,
                         struct err *err)
{
    content->n_records[(unsigned char)record->tag]++;
    if (needs_ticks(record->tag) && content->ticks_per_second == 0.0)
        return err_fail(err, ERR_FORMAT, record->offset,
                        "a time, but no attribute ticks_per_sec before it says in which unit");
    switch (record->tag) {
    case NYTPROF_ATTRIBUTE:
    case NYTPROF_OPTION:
        return add_pair(content, record, err);
    case NYTPROF_PROCESS_START:
        return start_process(content, record, err);
    case NYTPROF_PROCESS_END:
        end_process(content, record);
        return true;
    case NYTPROF_FILE:
        return add_file(content, record, err);
    case NYTPROF_LINE_TIME:
    case NYTPROF_BLOCK_TIME:
        return add_time(content, record, err);
    case NYTPROF_DISCOUNT:
        if (content->n_discounts != 0)
            note_oddity(content, NYTPROF_ODD_DISCOUNT_TWICE, record->offset, 0);
        if (content->n_discounts != UINT32_MAX)
            content->n_discounts++;
        return true;
    case NYTPROF_SOURCE:
        return add_source(content, record, err);
    case NYTPROF_SUB:
        return add_sub(content, record, err);
    case NYTPROF_EDGE:
        return add_edge(content, record, err);
    case NYTPROF_ENTRY:
    case NYTPROF_RETURN:
    case NYTPROF_COMMENT:
    case NYTPROF_COMPRESSED:
    case NYTPROF_END:
    default:
        return true;
    }
}

static bool has_times(const struct nytprof_content *content)
{
    return (content->n_records[NYTPROF_LINE_TIME] | content->n_records[NYTPROF_BLOCK_TIME] |
            content->n_records[NYTPROF_RETURN] | content->n_records[NYTPROF_EDGE]) != 0;
}

bool nytprof_content_finish(struct nytprof_content *content, struct err *err)
{
    if (err->code == ERR_TRUNCATED && has_times(content)) {
        content->cut = *err;
        *err = (struct err)ERR_INIT;
    }
    if (err->code != ERR_NONE)
        return false;
    if (content->minor > 0)
        note_oddity(content, NYTPROF_ODD_MINOR, 0, content->minor);
    for (size_t i = 0; i < content->processes.n; i++) {
        const struct nytprof_process *process = array_at(&content->processes, i);
        if (!process->has_end)
            note_oddity(content, NYTPROF_ODD_START_WITHOUT_END, ERR_NO_OFFSET, process->pid);
    }
    return true;
}

static const char *const odd_texts[NYTPROF_N_ODDITIES] = {
    [NYTPROF_ODD_NO_EQUALS] = "an attribute or option has no '=' and was left out",
    [NYTPROF_ODD_UNDEFINED_FID] = "a file number is used that no record has defined yet",
    [NYTPROF_ODD_FID_TWICE] = "a file number is defined twice; the last name is taken",
    [NYTPROF_ODD_SUB_TWICE] = "a sub is defined twice; its times are mixed",
    [NYTPROF_ODD_END_WITHOUT_START] = "a process ends that was not started",
    [NYTPROF_ODD_START_WITHOUT_END] = "a process has no end; the profile may be incomplete",
    [NYTPROF_ODD_DISCOUNT_TWICE] =
        "two discounts in a row; each takes one from the count of the next time",
};

bool nytprof_content_is_sound(const struct nytprof_content *content, struct err *err)
{
    if (content->cut.code != ERR_NONE) {
        *err = content->cut;
        return false;
    }
    size_t first = NYTPROF_N_ODDITIES;
    for (size_t i = 0; i < NYTPROF_N_ODDITIES; i++) {
        if (i != NYTPROF_ODD_MINOR && content->oddities[i] != 0 &&
            (first == NYTPROF_N_ODDITIES || content->odd_offset[i] < content->odd_offset[first]))
            first = i;
    }
    return first == NYTPROF_N_ODDITIES ||
           err_fail(err, ERR_FORMAT, content->odd_offset[first], "%s", odd_texts[first]);
}

void nytprof_content_notes(const struct nytprof_content *content, const struct format_notes *notes)
{
    if (content->cut.code != ERR_NONE)
        format_note(notes, "offset %" PRIu64 ": %s; what stands before it was read",
                    content->cut.offset, content->cut.text);
    for (size_t i = 0; i < NYTPROF_N_ODDITIES; i++) {
        uint64_t n = content->oddities[i];
        if (n == 0 || (i == NYTPROF_ODD_START_WITHOUT_END && content->cut.code != ERR_NONE))
            continue;
        if (i == NYTPROF_ODD_MINOR) {
            format_note(notes,
                        "version 5.%" PRIu32 " is newer than 5.0, which is what is known "
                        "here: parts may be misread",
                        content->minor);
            continue;
        }
        char where[80] = "";
        if (content->odd_offset[i] != ERR_NO_OFFSET)
            snprintf(where, sizeof where, "offset %" PRIu64 ": ", content->odd_offset[i]);
        char number[48] = "";
        if (content->odd_number[i] != 0)
            snprintf(number, sizeof number, " (number %" PRIu32 ")", content->odd_number[i]);
        char more[48] = "";
        if (n > 1)
            snprintf(more, sizeof more, "; %" PRIu64 " times in all", n);
        format_note(notes, "%s%s%s%s", where, odd_texts[i], number, more);
    }
}

const struct nytprof_sub *nytprof_content_sub(const struct nytprof_content *content, uint32_t name)
{
    uint32_t row = map_find(&content->sub_rows, name, 0);
    return row == MAP_NONE ? NULL : array_at(&content->subs, row);
}

const struct nytprof_file *nytprof_content_file(const struct nytprof_content *content, uint32_t fid)
{
    uint32_t row = map_find(&content->file_rows, fid, 0);
    const struct nytprof_file *file = row == MAP_NONE ? NULL : array_at(&content->files, row);
    return file != NULL && file->is_defined ? file : NULL;
}

struct text nytprof_content_attribute(const struct nytprof_content *content, const char *key)
{
    for (size_t i = 0; i < content->attributes.n; i++) {
        const struct nytprof_pair *pair = array_at(&content->attributes, i);
        struct text text = intern_text(content->texts, pair->key);
        if (text_is(text, key))
            return intern_text(content->texts, pair->value);
    }
    return (struct text){.bytes = ""};
}

/* ---- texts ---- */

bool nytprof_utf8(struct text text, struct chars *buffer, struct text *out)
{
    if (utf8_is_valid(text.bytes, text.length)) {
        *out = text;
        return true;
    }
    buffer->n = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        if (byte >= 0x80)
            chars_push(buffer, (char)(0xc0U | byte >> 6));
        chars_push(buffer, (char)(byte < 0x80 ? byte : 0x80U | (byte & 0x3fU)));
    }
    *out = (struct text){.bytes = buffer->items, .length = buffer->n};
    return !buffer->no_memory;
}
