/* rows.c - see rows.h. */
#include "formats/sprofile/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "formats/sprofile/column.h"
#include "formats/sprofile/sprofile.h"

#define ROW_BYTES_MOST sizeof(struct sprofile_scalars)

bool sprofile_rows_init(struct sprofile_rows *rows, struct err *err)
{
    *rows = (struct sprofile_rows){.n = 0};
    rows->rows = calloc(SPROFILE_BLOCK_ROWS, ROW_BYTES_MOST);
    rows->numbers = calloc(SPROFILE_BLOCK_ROWS, sizeof *rows->numbers);
    bool ok = rows->rows != NULL && rows->numbers != NULL;
    for (size_t kind = 0; kind < PROFILE_MAX_KINDS; kind++) {
        rows->values[kind] = calloc(SPROFILE_BLOCK_ROWS, sizeof *rows->values[kind]);
        ok = ok && rows->values[kind] != NULL;
    }
    if (!ok) {
        sprofile_rows_deinit(rows);
        return err_fail_memory(err);
    }
    return true;
}

void sprofile_rows_deinit(struct sprofile_rows *rows)
{
    free(rows->rows);
    free(rows->numbers);
    for (size_t kind = 0; kind < PROFILE_MAX_KINDS; kind++)
        free(rows->values[kind]);
    *rows = (struct sprofile_rows){.n = 0};
}

static bool content_fail(const struct block *block, const char *what, struct err *err)
{
    return err_fail(err, ERR_FORMAT, block->offset, "a block of %s: %s",
                    sprofile_layouts[block->table].name, what);
}

static bool texts_unpack(struct sprofile_rows *rows, struct cursor *in, const struct block *block,
                         struct err *err)
{
    uint64_t left;
    column_get(in, rows->n, rows->numbers);
    left = cursor_left(in);
    for (uint32_t i = 0; i < rows->n && !in->failed; i++) {
        if (rows->numbers[i] > left)
            return content_fail(block, "a text longer than the block", err);
        left -= rows->numbers[i];
    }
    rows->bytes = (const char *)in->pos;
    return !in->failed || content_fail(block, "the lengths cannot be read", err);
}

static bool numbers_fit(const struct sprofile_field *field, const uint64_t *numbers, uint32_t n)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all |= numbers[i];
    return field->size_bytes == sizeof(uint64_t) || all <= UINT32_MAX;
}

static bool fields_unpack(struct sprofile_rows *rows, struct cursor *in, uint32_t n_columns,
                          const struct block *block, struct err *err)
{
    const struct sprofile_layout *layout = rows->layout;
    for (uint32_t i = 0; i < layout->n_fields && i < n_columns; i++) {
        column_get(in, rows->n, rows->numbers);
        if (in->failed || !numbers_fit(&layout->fields[i], rows->numbers, rows->n))
            return content_fail(block, layout->fields[i].name, err);
        sprofile_scatter(rows->numbers, &layout->fields[i], rows->n, rows->rows, layout->row_bytes);
    }
    return true;
}

static bool values_unpack(struct sprofile_rows *rows, struct cursor *in, uint32_t n_columns,
                          const struct block *block, struct err *err)
{
    for (uint32_t kind = 0; kind < PROFILE_MAX_KINDS; kind++) {
        if (rows->layout->n_fields + kind < n_columns)
            column_get(in, rows->n, rows->values[kind]);
        else
            memset(rows->values[kind], 0, rows->n * sizeof rows->values[kind][0]);
    }
    return !in->failed || content_fail(block, "the numbers of a kind cannot be read", err);
}

bool sprofile_rows_unpack(struct sprofile_rows *rows, const struct block *block, struct err *err)
{
    struct cursor in = cursor_make(block->content, block->content_bytes);
    uint32_t n_columns = cursor_u8(&in);
    rows->layout = &sprofile_layouts[block->table];
    rows->n = block->n_rows;
    if (rows->n == 0)
        return content_fail(block, "no rows", err);
    if (block->table == SPROFILE_TEXTS)
        return texts_unpack(rows, &in, block, err);
    memset(rows->rows, 0, rows->n * rows->layout->row_bytes);
    return fields_unpack(rows, &in, n_columns, block, err) &&
           (block->table != SPROFILE_SAMPLES || values_unpack(rows, &in, n_columns, block, err));
}

bool sprofile_header_check(const uint8_t *data, size_t size_bytes, struct err *err)
{
    if (size_bytes < SPROFILE_MAGIC_BYTES ||
        memcmp(data, SPROFILE_MAGIC, SPROFILE_MAGIC_BYTES) != 0)
        return err_fail(err, ERR_FORMAT, 0,
                        "not an sprofile file: expected \"" SPROFILE_MAGIC "\"");
    struct cursor in = cursor_make(data, size_bytes);
    cursor_skip(&in, SPROFILE_MAGIC_BYTES);
    uint32_t version = cursor_u32le(&in);
    cursor_skip(&in, sizeof(uint32_t));
    if (in.failed)
        return err_fail(err, ERR_TRUNCATED, size_bytes, "the file ends in its header");
    if (version != SPROFILE_VERSION)
        return err_fail(err, ERR_VERSION, SPROFILE_MAGIC_BYTES,
                        "version %" PRIu32 " of sprofile; this program reads version %u", version,
                        SPROFILE_VERSION);
    return true;
}
