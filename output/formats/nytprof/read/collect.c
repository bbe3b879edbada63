/* collect.c - see collect.h. */
#include "formats/nytprof/read/collect.h"

#include <math.h>
#include <string.h>

#include "formats/nytprof/name.h"
#include "formats/nytprof/read/ours.h"

/* Rounded; what does not fit is cut. */
static uint64_t to_u64(struct nytprof_collection *c, double value)
{
    if (!(value >= 0.0)) {
        c->n_bad_weights++;
        return 0;
    }
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)nearbyint(value);
}

uint64_t nytprof_seconds_weight(struct nytprof_collection *c, double seconds)
{
    return to_u64(c, seconds * (1e9 / (double)c->ns_per_unit));
}

static bool add_section(struct nytprof_collection *c, uint32_t thread, struct err *err)
{
    if (!nytprof_content_keep(&c->content, sizeof(struct nytprof_section), ERR_NO_OFFSET, err))
        return false;
    struct nytprof_section *section = array_push(&c->sections);
    if (section == NULL)
        return err_fail_memory(err);
    *section = (struct nytprof_section){.first_return = c->returns.n, .thread = thread};
    return true;
}

/* ---- comments of ours -------------------------------------------------------------------------
 */

static bool is_key(const struct nytprof_ours *ours, const char *key)
{
    return strcmp(ours->key, key) == 0;
}

static uint32_t add_text(struct nytprof_collection *c, struct text text)
{
    return profile_add_text(c->builder, text.bytes, text.length);
}

/* nytprofmerge joins files and keeps their comments: each but the first file's numbers of processes
 * and threads, and its times, then follow those before. */
static void take_profile(struct nytprof_collection *c, const uint64_t *numbers)
{
    struct profile_scalars *scalars = profile_builder_scalars(c->builder);
    if (!c->has_profile) {
        scalars->start_time_ns = numbers[0];
        scalars->start_realtime_ns = numbers[1];
        scalars->duration_ns = numbers[2];
        scalars->period = numbers[3];
        c->has_profile = true;
        return;
    }
    c->base.process = c->n_processes;
    c->base.thread = c->n_threads;
    c->base.time_ns = 0;
    if (numbers[1] > scalars->start_realtime_ns)
        c->base.time_ns = numbers[1] - scalars->start_realtime_ns;
    if (scalars->duration_ns < c->base.time_ns + numbers[2])
        scalars->duration_ns = c->base.time_ns + numbers[2];
}

/* 0 if there is none of this number. */
static uint32_t id_of(uint64_t number, uint32_t base, uint32_t last)
{
    return number != 0 && number <= last - base ? base + (uint32_t)number : 0;
}

/* The model: what describes the profile as a whole. */
static bool take_model(struct nytprof_collection *c, const struct nytprof_ours *ours)
{
    const uint64_t *n = ours->numbers;
    struct profile_scalars *scalars = profile_builder_scalars(c->builder);
    if (is_key(ours, "profile")) {
        take_profile(c, n);
    } else if (is_key(ours, "kind")) {
        if (n[0] > PROFILE_UNIT_EVENTS || n[1] == 0)
            return true;
        c->unit = (enum profile_unit)n[0];
        c->ns_per_unit = n[1];
        scalars->kinds[0].name = add_text(c, ours->text);
    } else if (is_key(ours, "process")) {
        struct profile_process process = {.name = add_text(c, ours->text),
                                          .pid = n[0],
                                          .ppid = n[1],
                                          .start_ns = n[2] + c->base.time_ns,
                                          .end_ns = n[3] + c->base.time_ns};
        c->n_processes = profile_add_process(c->builder, &process);
    } else if (is_key(ours, "thread")) {
        struct profile_thread thread = {.process = id_of(n[0], c->base.process, c->n_processes),
                                        .name = add_text(c, ours->text),
                                        .tid = n[1],
                                        .start_ns = n[2] + c->base.time_ns,
                                        .end_ns = n[3] + c->base.time_ns,
                                        .cpu_ns = n[4]};
        c->n_threads = profile_add_thread(c->builder, &thread);
    } else {
        return false;
    }
    return true;
}

static bool add_return(struct nytprof_collection *c, uint32_t depth, struct text name,
                       uint64_t weight, uint64_t offset, struct err *err)
{
    uint32_t id;
    if (!nytprof_content_keep(&c->content, 2 * sizeof(struct nytprof_return), offset, err))
        return false;
    struct nytprof_return *entry = array_push(&c->returns);
    if (entry == NULL)
        return err_fail_memory(err);
    if (!nytprof_content_text(&c->content, name, &id, err))
        return false;
    *entry = (struct nytprof_return){.depth = depth, .name = id, .weight = weight};
    return true;
}

static bool take_comment(struct nytprof_collection *c, const struct nytprof_record *record,
                         struct err *err)
{
    struct nytprof_ours ours;
    bool no_memory = false;
    if (!nytprof_ours_parse(record, &c->buffer, &ours, &no_memory))
        return !no_memory || err_fail_memory(err);
    if (is_key(&ours, "names=1")) {
        c->is_ours = true;
        c->content.has_better_than_edges = true;
        return true;
    }
    if (!c->is_ours)
        return true;
    if (!nytprof_content_keep(&c->content, ours.text.length + 64, record->offset, err))
        return false;
    if (take_model(c, &ours))
        return true;
    if (is_key(&ours, "section")) { /* right behind a `P`, which began a section already */
        struct nytprof_section *section = array_at(&c->sections, c->sections.n - 1);
        section->thread = id_of(ours.numbers[0], c->base.thread, c->n_threads);
    } else if (is_key(&ours, "return") && ours.numbers[0] <= UINT32_MAX) {
        return add_return(c, (uint32_t)ours.numbers[0], ours.text, ours.numbers[1], record->offset,
                          err);
    } else if (is_key(&ours, "key")) {
        c->metadata_key = add_text(c, ours.text);
    } else if (is_key(&ours, "value")) {
        profile_add_metadata(c->builder, profile_builder_text(c->builder, c->metadata_key).bytes,
                             ours.text.bytes, ours.text.length);
    } else if (is_key(&ours, "file") || is_key(&ours, "object")) {
        c->has_file = true;
        c->pending_file = add_text(c, ours.text);
    } else if (is_key(&ours, "name")) {
        c->has_name = true;
        c->pending_name = add_text(c, ours.text);
    } else if (is_key(&ours, "line")) {
        c->has_line = ours.numbers[0] <= UINT32_MAX;
        c->pending_line = ours.numbers[0];
    } else if (is_key(&ours, "self")) {
        c->has_self = true;
        c->pending_self = ours.numbers[0];
    }
    return true;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static bool take_return(struct nytprof_collection *c, const struct nytprof_record *record,
                        struct err *err)
{
    uint64_t weight =
        c->has_self ? c->pending_self
                    : nytprof_seconds_weight(c, record->exclusive / c->content.ticks_per_second);
    c->has_self = false;
    if (record->depth == 0)
        return err_fail(err, ERR_FORMAT, record->offset,
                        "a return from depth 0: they count from 1");
    return add_return(c, record->depth, record->text, weight, record->offset, err);
}

static bool take_time(struct nytprof_collection *c, const struct nytprof_record *record,
                      struct err *err)
{
    if (c->is_ours && !c->keeps_lines)
        return true;
    uint32_t section = (uint32_t)(c->sections.n - 1);
    uint64_t place = (uint64_t)record->fid << 32 | record->line;
    uint32_t row = nytprof_map_find(&c->flat_rows, section, place);
    if (row == UINT32_MAX) {
        if (!nytprof_content_keep(&c->content, 2 * sizeof(struct nytprof_flat), record->offset,
                                  err))
            return false;
        row = (uint32_t)c->flats.n;
        struct nytprof_flat *flat = array_push(&c->flats);
        if (flat == NULL || !nytprof_map_set(&c->flat_rows, section, place, row))
            return err_fail_memory(err);
        *flat = (struct nytprof_flat){.section = section, .fid = record->fid, .line = record->line};
    }
    struct nytprof_flat *flat = array_at(&c->flats, row);
    flat->seconds += record->ticks / c->content.ticks_per_second;
    return true;
}

/* Comments stand in front of the record they belong to. nytprofmerge, though, leaves records out
 * and moves others; so they count only if they can be meant. */
static bool take_path(struct nytprof_collection *c, const struct nytprof_record *record,
                      struct err *err)
{
    struct text path = profile_builder_text(c->builder, c->pending_file);
    c->has_file = false;
    return !nytprof_path_fits(record->text, path) ||
           nytprof_map_set(&c->files, record->fid, 0, c->pending_file) || err_fail_memory(err);
}

static bool take_name(struct nytprof_collection *c, const struct nytprof_record *record,
                      struct err *err)
{
    uint32_t sub;
    bool fits = false;
    bool ok = intern_add(c->content.texts, record->text.bytes, record->text.length, &sub);
    if (ok && c->has_name)
        ok = nytprof_name_fits(record->text, profile_builder_text(c->builder, c->pending_name),
                               &fits) &&
             (!fits || nytprof_map_set(&c->names, sub, 0, c->pending_name));
    if (ok && c->has_line && record->line == 0) /* too high a line for Perl's tools */
        ok = nytprof_map_set(&c->lines, sub, 0, (uint32_t)c->pending_line);
    c->has_name = false;
    c->has_line = false;
    return ok || err_fail_memory(err);
}

bool nytprof_collection_needs_lines(const struct nytprof_collection *c)
{
    return c->is_ours && !c->keeps_lines && c->content.cut.code != ERR_NONE;
}

static bool take_record(struct nytprof_collection *c, const struct nytprof_record *record,
                        struct err *err)
{
    if (record->tag == NYTPROF_COMMENT)
        return take_comment(c, record, err);
    if (record->tag == NYTPROF_RETURN)
        return take_return(c, record, err);
    if (record->tag == NYTPROF_LINE_TIME || record->tag == NYTPROF_BLOCK_TIME)
        return take_time(c, record, err);
    if (record->tag == NYTPROF_PROCESS_START)
        return add_section(c, 0, err);
    if (record->tag == NYTPROF_FILE && c->has_file)
        return take_path(c, record, err);
    if (record->tag == NYTPROF_SUB && (c->has_name || c->has_line))
        return take_name(c, record, err);
    return true;
}

/* A foreign file that was cut in front of where it says which lines belong to which sub: calls and
 * times of lines cannot be told apart then, so only those are taken that know of more time. */
static void settle_cut(struct nytprof_collection *c)
{
    double line_weight = 0.0;
    double call_weight = 0.0;
    if (c->is_ours || c->content.cut.code == ERR_NONE)
        return;
    for (size_t i = 0; i < c->content.subs.n; i++) {
        if (((const struct nytprof_sub *)array_at(&c->content.subs, i))->has_fid)
            return;
    }
    for (size_t i = 0; i < c->flats.n; i++)
        line_weight += ((const struct nytprof_flat *)array_at(&c->flats, i))->seconds * 1e9;
    for (size_t i = 0; i < c->returns.n; i++)
        call_weight += (double)((const struct nytprof_return *)array_at(&c->returns, i))->weight;
    if (line_weight < call_weight) {
        c->flats.n = 0;
        return;
    }
    c->returns.n = 0;
    for (size_t i = 0; i < c->sections.n; i++)
        ((struct nytprof_section *)array_at(&c->sections, i))->first_return = 0;
}

bool nytprof_collect(const uint8_t *data, size_t size_bytes, bool keeps_lines,
                     struct profile_builder *builder, struct nytprof_collection *c, struct err *err)
{
    struct nytprof_stream *stream = NULL;
    struct nytprof_record record;
    *c = (struct nytprof_collection){
        .builder = builder, .keeps_lines = keeps_lines, .unit = PROFILE_UNIT_NS, .ns_per_unit = 1};
    array_init(&c->returns, sizeof(struct nytprof_return));
    array_init(&c->sections, sizeof(struct nytprof_section));
    array_init(&c->flats, sizeof(struct nytprof_flat));
    array_init(&c->buffer, 1);
    bool ok = nytprof_content_init(&c->content, size_bytes, true, err) &&
              nytprof_stream_open(data, size_bytes, &stream, err) && add_section(c, 0, err);
    if (ok)
        c->content.minor = nytprof_stream_minor(stream);
    for (record.tag = NYTPROF_COMMENT; ok && record.tag != NYTPROF_END;)
        ok = nytprof_stream_next(stream, &record, err) &&
             nytprof_content_add(&c->content, &record, err) && take_record(c, &record, err);
    if (c->content.texts != NULL) /* else there is no content */
        ok = nytprof_content_finish(&c->content, err);
    if (ok)
        settle_cut(c);
    nytprof_stream_destroy(stream);
    return ok;
}

void nytprof_collection_deinit(struct nytprof_collection *c)
{
    nytprof_content_deinit(&c->content);
    array_deinit(&c->returns);
    array_deinit(&c->sections);
    array_deinit(&c->flats);
    array_deinit(&c->buffer);
    nytprof_map_deinit(&c->flat_rows);
    nytprof_map_deinit(&c->names);
    nytprof_map_deinit(&c->lines);
    nytprof_map_deinit(&c->files);
}
