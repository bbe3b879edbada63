/* write.c - the writer: each table of the profile in blocks, rows before those that refer to them.
 *
 * A block's columns are gathered into numbers one after the other and packed; nothing is sorted and
 * nothing left out, so ids stay what they were, and so do the bytes of a profile that is read and
 * written again. */
#include "formats/sprofile/write.h"

#include <stdlib.h>
#include <string.h>

#include "formats/sprofile/block.h"
#include "formats/sprofile/column.h"
#include "formats/sprofile/layout.h"
#include "formats/sprofile/sprofile.h"

/* Of texts, a block ends at the first beyond this. */
#define TEXT_BYTES ((size_t)1 << 20)

#define COLUMNS_MOST (SPROFILE_MAX_FIELDS + PROFILE_MAX_KINDS)

struct writing {
    const struct profile *profile;
    struct block_writer *blocks;
    uint64_t *numbers; /* SPROFILE_BLOCK_ROWS */
    uint8_t *content;  /* of the block in the making */
    size_t content_room;
    struct err *err;
};

static bool content_reserve(struct writing *w, size_t n)
{
    if (n <= w->content_room)
        return true;
    uint8_t *larger = realloc(w->content, n);
    if (larger == NULL)
        return err_fail_memory(w->err);
    w->content = larger;
    w->content_room = n;
    return true;
}

/* ---- texts ---- */

/* Lengths, then bytes, of the texts from `first` on; how many went in. */
static bool text_block_write(struct writing *w, uint32_t first, uint32_t *n_written)
{
    uint32_t n_texts = intern_count(w->profile->texts), n = 0;
    size_t length = 0;
    for (; first + n < n_texts && n < SPROFILE_BLOCK_ROWS && length < TEXT_BYTES; n++) {
        w->numbers[n] = profile_text(w->profile, first + n).length;
        length += w->numbers[n];
    }
    if (!content_reserve(w, COLUMN_BYTES_MOST(n) + 1 + length))
        return false;
    uint8_t *at = w->content;
    *at++ = 1;
    at = column_put(w->numbers, n, at);
    for (uint32_t i = 0; i < n; i++) {
        struct text text = profile_text(w->profile, first + i);
        memcpy(at, text.bytes, text.length);
        at += text.length;
    }
    *n_written = n;
    return block_write(w->blocks, SPROFILE_TEXTS, first, n, w->content, (size_t)(at - w->content),
                       w->err);
}

static bool texts_write(struct writing *w)
{
    uint32_t n = 0;
    for (uint32_t first = 1; first < intern_count(w->profile->texts); first += n) {
        if (!text_block_write(w, first, &n))
            return false;
    }
    return true;
}

/* ---- tables ---- */

/* `n_kinds` columns of the samples' numbers follow those of the fields. */
static bool rows_block_write(struct writing *w, enum sprofile_table table, const uint8_t *rows,
                             uint64_t first, uint32_t n, uint32_t n_kinds)
{
    const struct sprofile_layout *layout = &sprofile_layouts[table];
    if (!content_reserve(w, 1 + COLUMNS_MOST * COLUMN_BYTES_MOST(n)))
        return false;
    uint8_t *at = w->content;
    *at++ = (uint8_t)(layout->n_fields + n_kinds);
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        sprofile_gather(rows + first * layout->row_bytes, layout->row_bytes, &layout->fields[i], n,
                        w->numbers);
        at = column_put(w->numbers, n, at);
    }
    for (uint32_t kind = 0; kind < n_kinds; kind++) {
        for (uint32_t i = 0; i < n; i++)
            w->numbers[i] = profile_value(w->profile, first + i, kind);
        at = column_put(w->numbers, n, at);
    }
    return block_write(w->blocks, table, first, n, w->content, (size_t)(at - w->content), w->err);
}

/* Rows from the table's first to n_rows - 1. */
static bool table_write(struct writing *w, enum sprofile_table table, const void *rows,
                        size_t n_rows)
{
    uint32_t n_kinds = table == SPROFILE_SAMPLES ? w->profile->n_kinds : 0;
    size_t first = sprofile_layouts[table].first_row;
    while (first < n_rows) {
        size_t n = n_rows - first < SPROFILE_BLOCK_ROWS ? n_rows - first : SPROFILE_BLOCK_ROWS;
        if (!rows_block_write(w, table, rows, first, (uint32_t)n, n_kinds))
            return false;
        first += n;
    }
    return true;
}

static bool scalars_write(struct writing *w)
{
    const struct profile *profile = w->profile;
    struct sprofile_scalars scalars = {.start_time_ns = profile->start_time_ns,
                                       .start_realtime_ns = profile->start_realtime_ns,
                                       .duration_ns = profile->duration_ns,
                                       .period = profile->period,
                                       .has_times = profile->has_times,
                                       .n_kinds = profile->n_kinds};
    memcpy(scalars.kinds, profile->kinds, profile->n_kinds * sizeof scalars.kinds[0]);
    return table_write(w, SPROFILE_SCALARS, &scalars, 1);
}

static bool all_write(struct writing *w)
{
    const struct profile *p = w->profile;
    return texts_write(w) && scalars_write(w) &&
           table_write(w, SPROFILE_METADATA, p->metadata, p->n_metadata) &&
           table_write(w, SPROFILE_MODULES, p->modules, p->n_modules) &&
           table_write(w, SPROFILE_FUNCTIONS, p->functions, p->n_functions) &&
           table_write(w, SPROFILE_FRAMES, p->frames, p->n_frames) &&
           table_write(w, SPROFILE_STACKS, p->stacks, p->n_stacks) &&
           table_write(w, SPROFILE_PROCESSES, p->processes, p->n_processes) &&
           table_write(w, SPROFILE_THREADS, p->threads, p->n_threads) &&
           table_write(w, SPROFILE_SAMPLES, p->samples, p->n_samples) &&
           table_write(w, SPROFILE_SPANS, p->spans, p->n_spans) &&
           table_write(w, SPROFILE_INSTANTS, p->instants, p->n_instants) &&
           table_write(w, SPROFILE_OFF_CPUS, p->off_cpus, p->n_off_cpus) &&
           table_write(w, SPROFILE_BOOKMARKS, p->bookmarks, p->n_bookmarks);
}

bool sprofile_write(const struct profile *profile, const struct format_options *options,
                    const struct format_notes *notes, struct sink *out, struct err *err)
{
    (void)options;
    (void)notes;
    struct writing writing = {.profile = profile, .err = err};
    writing.numbers = calloc(SPROFILE_BLOCK_ROWS, sizeof *writing.numbers);
    if (writing.numbers == NULL)
        return err_fail_memory(err);
    bool ok = block_writer_create(out, &writing.blocks, err);
    if (ok) {
        sink_write(out, SPROFILE_MAGIC, SPROFILE_MAGIC_BYTES);
        sink_u32le(out, SPROFILE_VERSION);
        sink_u32le(out, 0);
        ok = all_write(&writing);
        if (ok)
            block_write_end(writing.blocks);
    }
    block_writer_destroy(writing.blocks);
    free(writing.numbers);
    free(writing.content);
    return ok;
}
