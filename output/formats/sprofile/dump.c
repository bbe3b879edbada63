/* dump.c - see dump.h. */
#include "formats/sprofile/dump.h"

#include <stdio.h>

#include "formats/sprofile/block.h"
#include "formats/sprofile/rows.h"
#include "formats/sprofile/sprofile.h"
#include "text/json_write.h"

struct dumping {
    struct json json;
    struct sprofile_rows rows;
    struct block_reader *blocks;
};

static void texts_dump(struct dumping *d)
{
    const char *bytes = d->rows.bytes;
    for (uint32_t i = 0; i < d->rows.n; i++) {
        json_bytes(&d->json, bytes, d->rows.numbers[i]);
        bytes += d->rows.numbers[i];
    }
}

static void row_dump(struct dumping *d, uint32_t index)
{
    const struct sprofile_layout *layout = d->rows.layout;
    const uint8_t *row = (const uint8_t *)d->rows.rows + index * layout->row_bytes;
    json_object_begin(&d->json);
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        uint64_t number;
        sprofile_gather(row, layout->row_bytes, &layout->fields[i], 1, &number);
        json_key(&d->json, layout->fields[i].name);
        json_u64_exact(&d->json, number);
    }
    if (layout == &sprofile_layouts[SPROFILE_SAMPLES]) {
        json_key(&d->json, "values");
        json_array_begin(&d->json);
        for (uint32_t kind = 0; kind < PROFILE_MAX_KINDS; kind++)
            json_u64_exact(&d->json, d->rows.values[kind][index]);
        json_array_end(&d->json);
    }
    json_object_end(&d->json);
}

static void damage_dump(struct dumping *d, const struct err *damage)
{
    json_object_begin(&d->json);
    json_key(&d->json, "offset");
    json_u64_exact(&d->json, damage->offset);
    json_key(&d->json, "damage");
    json_cstring(&d->json, damage->text);
    json_object_end(&d->json);
}

static void block_dump(struct dumping *d, const struct block *block)
{
    struct err damage = ERR_INIT;
    bool is_known = block->table < SPROFILE_N_TABLES;
    if (is_known && !sprofile_rows_unpack(&d->rows, block, &damage)) {
        damage_dump(d, &damage);
        return;
    }
    json_object_begin(&d->json);
    json_key(&d->json, "offset");
    json_u64_exact(&d->json, block->offset);
    json_key(&d->json, "table");
    if (is_known)
        json_cstring(&d->json, sprofile_layouts[block->table].name);
    else
        json_u64(&d->json, block->table);
    json_key(&d->json, "first");
    json_u64_exact(&d->json, block->first_row);
    json_key(&d->json, "rows");
    json_array_begin(&d->json);
    if (block->table == SPROFILE_TEXTS)
        texts_dump(d);
    for (uint32_t i = 0; is_known && block->table != SPROFILE_TEXTS && i < d->rows.n; i++)
        row_dump(d, i);
    json_array_end(&d->json);
    json_object_end(&d->json);
}

static bool blocks_dump(struct dumping *d, struct err *err)
{
    for (;;) {
        struct block block = {.n_rows = 0};
        struct err damage = ERR_INIT;
        switch (block_next(d->blocks, &block, &damage)) {
        case BLOCK_READ:
            block_dump(d, &block);
            break;
        case BLOCK_DAMAGED:
            damage_dump(d, &damage);
            break;
        case BLOCK_FAILED:
            *err = damage;
            return false;
        case BLOCK_LAST:
        default:
            return true;
        }
    }
}

bool sprofile_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                   struct sink *out, struct err *err)
{
    (void)notes; /* damage is in the dump itself */
    if (!sprofile_header_check(data, size_bytes, err))
        return false;
    struct dumping d = {.json = json_make(out, 1)};
    bool ok =
        sprofile_rows_init(&d.rows, err) && block_reader_create(data, size_bytes, &d.blocks, err);
    if (ok) {
        json_object_begin(&d.json);
        json_key(&d.json, "version");
        json_u64(&d.json, SPROFILE_VERSION);
        json_key(&d.json, "blocks");
        json_array_begin(&d.json);
        ok = blocks_dump(&d, err);
        json_array_end(&d.json);
        json_object_end(&d.json);
        sink_text(out, "\n");
    }
    block_reader_destroy(d.blocks);
    sprofile_rows_deinit(&d.rows);
    return ok;
}
