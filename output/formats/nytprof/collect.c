/* collect.c - see formats/nytprof/collect.h.
 *
 * Times of lines are most of a file and are of no use where calls say all, so those of files of ours are skipped. That a
 * file of ours was cut shows at its end only: it is read a second time then, rather than keeping the lines of all files
 * for the sake of the few that were cut. */
#include "formats/nytprof/collect.h"

#include <math.h>

/* Rounded; what does not fit is cut. */
uint64_t nytprof_seconds_weight(struct nytprof_collection *c, double seconds)
{
    double ns = seconds * 1e9;
    if (!(ns >= 0.0)) {
        c->n_bad_weights++;
        return 0;
    }
    return ns >= 0x1p64 ? UINT64_MAX : (uint64_t)nearbyint(ns);
}

static bool add_section(struct nytprof_collection *c, struct err *err)
{
    const struct nytprof_section section = {.first_return = c->returns.n};
    return nytprof_content_keep(&c->content, sizeof section, ERR_NO_OFFSET, err) &&
           (nytprof_sections_push(&c->sections, section) || err_fail_memory(err));
}

static bool take_return(struct nytprof_collection *c, const struct nytprof_record *record,
                        struct err *err)
{
    struct nytprof_return entry = {.depth = record->depth};
    if (record->depth == 0)
        return err_fail(err, ERR_FORMAT, record->offset,
                        "a return from depth 0: they count from 1");
    entry.weight = nytprof_seconds_weight(c, record->exclusive / c->content.ticks_per_second);
    return nytprof_content_keep(&c->content, 2 * sizeof entry, record->offset, err) &&
           nytprof_content_text(&c->content, record->text, &entry.name, err) &&
           (nytprof_returns_push(&c->returns, entry) || err_fail_memory(err));
}

static bool take_time(struct nytprof_collection *c, const struct nytprof_record *record,
                      struct err *err)
{
    if (c->is_ours && !c->keeps_lines)
        return true;
    uint32_t section = (uint32_t)(c->sections.n - 1);
    uint64_t place = (uint64_t)record->fid << 32 | record->line;
    uint32_t row = map_add(&c->flat_rows, section, place, (uint32_t)c->flats.n);
    if (row == c->flats.n) {
        const struct nytprof_flat flat = {
            .section = section, .fid = record->fid, .line = record->line};
        nytprof_flats_push(&c->flats, flat);
        if (!nytprof_content_keep(&c->content, 2 * sizeof flat, record->offset, err))
            return false;
    }
    if (row >= c->flats.n)
        return err_fail_memory(err);
    c->flats.items[row].seconds += record->ticks / c->content.ticks_per_second;
    return true;
}

/* The mark stands in front of its sub. nytprofmerge, though, leaves records out and moves others: then the package
 * that we put in front of a name stays there. */
static bool take_mark(struct nytprof_collection *c, const struct nytprof_record *record,
                      struct err *err)
{
    uint32_t name;
    if (record->tag == NYTPROF_COMMENT) {
        c->next_is_whole = c->next_is_whole || text_is(record->text, NYTPROF_MARK_WHOLE);
        c->is_ours = c->is_ours || text_is(record->text, NYTPROF_MARK_NAMES);
        c->content.has_better_than_edges = c->is_ours;
        return true;
    }
    bool ok = !c->next_is_whole || (nytprof_content_text(&c->content, record->text, &name, err) &&
                                    (map_set(&c->whole, name, 0, 1) || err_fail_memory(err)));
    c->next_is_whole = false;
    return ok;
}

bool nytprof_collection_needs_lines(const struct nytprof_collection *c)
{
    return c->is_ours && !c->keeps_lines && c->content.cut.code != ERR_NONE;
}

static bool take_record(struct nytprof_collection *c, const struct nytprof_record *record,
                        struct err *err)
{
    if (record->tag == NYTPROF_COMMENT || record->tag == NYTPROF_SUB)
        return take_mark(c, record, err);
    if (record->tag == NYTPROF_RETURN)
        return take_return(c, record, err);
    if (record->tag == NYTPROF_LINE_TIME || record->tag == NYTPROF_BLOCK_TIME)
        return take_time(c, record, err);
    return record->tag != NYTPROF_PROCESS_START || add_section(c, err);
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
        line_weight += c->flats.items[i].seconds * 1e9;
    for (size_t i = 0; i < c->returns.n; i++)
        call_weight += (double)c->returns.items[i].weight;
    if (line_weight < call_weight) {
        c->flats.n = 0;
        return;
    }
    c->returns.n = 0;
    for (size_t i = 0; i < c->sections.n; i++)
        c->sections.items[i].first_return = 0;
}

bool nytprof_collect(const uint8_t *data, size_t size_bytes, bool keeps_lines,
                     struct nytprof_collection *c, struct err *err)
{
    struct nytprof_stream *stream = NULL;
    struct nytprof_record record;
    *c = (struct nytprof_collection){.keeps_lines = keeps_lines};
    bool ok = nytprof_content_init(&c->content, size_bytes, true, err) &&
              nytprof_stream_open(data, size_bytes, &stream, err) && add_section(c, err);
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
    nytprof_returns_deinit(&c->returns);
    nytprof_sections_deinit(&c->sections);
    nytprof_flats_deinit(&c->flats);
    map_deinit(&c->flat_rows);
    map_deinit(&c->whole);
}
