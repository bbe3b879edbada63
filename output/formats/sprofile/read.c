/* read.c - the reader: block by block, each row's ids turned into those of the profile being built.
 *
 * In a whole file the ids are the same, as the writer kept the order. They differ where a block was
 * damaged: its rows are missing, and what refers to them refers to a row made for the purpose. */
#include "formats/sprofile/read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sprofile/block.h"
#include "formats/sprofile/layout.h"
#include "formats/sprofile/rows.h"
#include "number.h"
#include "vector.h"

#define LOST UINT32_MAX /* in a list of ids: the row was in a damaged block */
#define MAX_DAMAGE_NOTES 3u

/* A small file must not become a profile of any size: rows there may be, whatever the file. */
#define ROWS_FREE (UINT64_C(1) << 25)
#define ROWS_PER_BYTE 16u

struct reading {
    struct profile_builder *builder;
    struct ids ids[SPROFILE_N_TABLES];  /* of the tables that are referred to: file's id -> ours */
    uint64_t n_rows[SPROFILE_N_TABLES]; /* rows read so far, lost ones included                 */
    uint64_t n_all;                     /* of all tables                                        */
    uint64_t n_most;                    /* as many as there may be                              */
    struct sprofile_rows rows;
    const struct format_notes *notes;
    bool is_strict;
    bool has_scalars;
    size_t n_damaged;
    struct err *err;
};

/* ---- damage ---- */

/* False where the damage is an error. */
static bool damage_note(struct reading *r, const struct err *damage)
{
    char line[512];
    if (r->is_strict) {
        *r->err = *damage;
        return false;
    }
    if (r->n_damaged++ < MAX_DAMAGE_NOTES)
        format_note(r->notes, "%s; what was there is lost",
                    err_describe(damage, line, sizeof line));
    return true;
}

/* What stands for a row that was lost: 0, "not known", where no name can say more. */
static uint32_t lost_row(struct reading *r, enum sprofile_table table)
{
    static const char name[] = "[damaged]";
    uint32_t text = profile_add_text(r->builder, name, sizeof name - 1);
    if (table == SPROFILE_TEXTS)
        return text;
    const struct profile_function function = {.name = text};
    const struct profile_frame frame = {.function = profile_add_function(r->builder, &function)};
    if (table == SPROFILE_FUNCTIONS)
        return frame.function;
    uint32_t id = profile_add_frame(r->builder, &frame);
    if (table == SPROFILE_FRAMES)
        return id;
    return table == SPROFILE_STACKS ? profile_add_stack(r->builder, 0, id) : 0;
}

/* ---- ids ---- */

static bool id_fail(struct reading *r, enum sprofile_table table, uint64_t id, uint64_t offset)
{
    return err_fail(r->err, ERR_FORMAT, offset,
                    "a row refers to number %" PRIu64 " of %s, which is not there before it", id,
                    sprofile_layouts[table].name);
}

/* Our id of the row that the file calls `id`. Rows are lost to damage only. */
static bool id_resolve(struct reading *r, enum sprofile_table table, uint64_t offset, uint32_t *id)
{
    const struct ids *ids = &r->ids[table];
    if (*id < ids->n && ids->items[*id] != LOST) {
        *id = ids->items[*id];
        return true;
    }
    if (*id == 0)
        return true;
    if (r->n_damaged == 0)
        return id_fail(r, table, *id, offset);
    *id = lost_row(r, table);
    return true;
}

static uint32_t *field_of(void *row, const struct sprofile_field *field)
{
    return (uint32_t *)(void *)((uint8_t *)row + field->offset);
}

/* All references of the block's rows but those to rows of the same table. */
static bool references_resolve(struct reading *r, const struct block *block)
{
    const struct sprofile_layout *layout = r->rows.layout;
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        const struct sprofile_field *field = &layout->fields[f];
        if (field->refers == 0 || field->refers == block->table)
            continue;
        for (uint32_t i = 0; i < block->n_rows; i++) {
            uint8_t *row = (uint8_t *)r->rows.rows + i * layout->row_bytes;
            if (!id_resolve(r, field->refers, block->offset, field_of(row, field)))
                return false;
        }
    }
    return true;
}

/* Rows between the last block of the table and this one were lost. */
static bool gap_note(struct reading *r, const struct block *block)
{
    uint32_t first = sprofile_layouts[block->table].first_row;
    uint64_t expected = max_u64(first, r->n_rows[block->table]);
    if (block->first_row == expected)
        return true;
    struct err damage = ERR_INIT;
    if (block->first_row < expected || r->n_damaged == 0) {
        err_fail(&damage, ERR_FORMAT, block->offset,
                 "a block of %s begins with number %" PRIu64 ", expected %" PRIu64,
                 sprofile_layouts[block->table].name, block->first_row, expected);
        *r->err = damage;
        return false;
    }
    return true;
}

static bool rows_count(struct reading *r, const struct block *block)
{
    uint64_t before = r->n_rows[block->table];
    uint64_t end = block->first_row + block->n_rows;
    if (end < block->first_row || end > UINT32_MAX - 1 || end - before > r->n_most - r->n_all)
        return err_fail(r->err, ERR_LIMIT, block->offset,
                        "more rows of %s than a file of this size can hold",
                        sprofile_layouts[block->table].name);
    r->n_all += end - before;
    r->n_rows[block->table] = end;
    return true;
}

/* Room for the ids of the block's rows; those before that are missing are lost. */
static bool ids_extend_to(struct reading *r, const struct block *block)
{
    struct ids *ids = &r->ids[block->table];
    size_t n_before = ids->n;
    if (!ids_extend(ids, (size_t)block->first_row + block->n_rows))
        return err_fail_memory(r->err);
    for (size_t i = max_u64(n_before, 1); i < block->first_row; i++)
        ids->items[i] = LOST;
    return true;
}

/* ---- rows ---- */

static bool scalars_add(struct reading *r, const struct block *block)
{
    const struct sprofile_scalars *from = r->rows.rows;
    if (r->has_scalars || block->n_rows != 1 || from->n_kinds > PROFILE_MAX_KINDS)
        return err_fail(r->err, ERR_FORMAT, block->offset, "a second or a wrong block of scalars");
    struct profile_scalars *scalars = profile_builder_scalars(r->builder);
    *scalars = (struct profile_scalars){.start_time_ns = from->start_time_ns,
                                        .start_realtime_ns = from->start_realtime_ns,
                                        .duration_ns = from->duration_ns,
                                        .period = from->period,
                                        .has_times = from->has_times != 0,
                                        .n_kinds = from->n_kinds};
    for (uint32_t kind = 0; kind < from->n_kinds; kind++) {
        scalars->kinds[kind] = from->kinds[kind];
        if (scalars->kinds[kind].unit > PROFILE_UNIT_EVENTS)
            scalars->kinds[kind].unit = PROFILE_UNIT_NONE; /* of a later version */
    }
    r->has_scalars = true;
    return true;
}

static bool texts_add(struct reading *r, uint32_t *ids)
{
    const char *bytes = r->rows.bytes;
    for (uint32_t i = 0; i < r->rows.n; i++) {
        ids[i] = profile_add_text(r->builder, bytes, r->rows.numbers[i]);
        bytes += r->rows.numbers[i];
    }
    return true;
}

static bool stacks_add(struct reading *r, const struct block *block, uint32_t *ids)
{
    const struct profile_stack *stacks = r->rows.rows;
    r->ids[SPROFILE_STACKS].n = block->first_row; /* those after it are not there yet */
    for (uint32_t i = 0; i < block->n_rows; i++) {
        uint32_t parent = stacks[i].parent;
        if (!id_resolve(r, SPROFILE_STACKS, block->offset, &parent))
            return false;
        ids[i] = profile_add_stack(r->builder, parent, stacks[i].frame);
        r->ids[SPROFILE_STACKS].n++;
    }
    return true;
}

static bool instants_add(struct reading *r, const struct block *block)
{
    const struct profile_instant *instants = r->rows.rows;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct profile_instant instant = instants[i];
        if (instant.type > PROFILE_VALUE_TEXT)
            return err_fail(r->err, ERR_FORMAT, block->offset, "an instant of an unknown type");
        if (instant.type == PROFILE_VALUE_TEXT) {
            uint32_t text = instant.value.u64 <= UINT32_MAX ? (uint32_t)instant.value.u64 : LOST;
            if (!id_resolve(r, SPROFILE_TEXTS, block->offset, &text))
                return false;
            instant.value.u64 = text;
        }
        profile_add_instant(r->builder, &instant);
    }
    return true;
}

/* ---- rows that are added one by one: their ids, 0 for those nothing refers to ---- */

typedef uint32_t row_adder(struct profile_builder *builder, const void *row);

static uint32_t module_add(struct profile_builder *builder, const void *row)
{
    return profile_add_module(builder, row);
}

static uint32_t function_add(struct profile_builder *builder, const void *row)
{
    return profile_add_function(builder, row);
}

static uint32_t frame_add(struct profile_builder *builder, const void *row)
{
    return profile_add_frame(builder, row);
}

static uint32_t process_add(struct profile_builder *builder, const void *row)
{
    return profile_add_process(builder, row);
}

static uint32_t thread_add(struct profile_builder *builder, const void *row)
{
    return profile_add_thread(builder, row);
}

static uint32_t metadata_add(struct profile_builder *builder, const void *row)
{
    const struct profile_metadata *entry = row;
    struct text key = profile_builder_text(builder, entry->key);
    struct text value = profile_builder_text(builder, entry->value);
    profile_add_metadata(builder, key.bytes, value.bytes, value.length);
    return 0;
}

static uint32_t span_add(struct profile_builder *builder, const void *row)
{
    profile_add_span(builder, row);
    return 0;
}

static uint32_t off_cpu_add(struct profile_builder *builder, const void *row)
{
    profile_add_off_cpu(builder, row);
    return 0;
}

static uint32_t bookmark_add(struct profile_builder *builder, const void *row)
{
    profile_add_bookmark(builder, row);
    return 0;
}

static row_adder *const row_adders[SPROFILE_N_TABLES] = {
    [SPROFILE_MODULES] = module_add,     [SPROFILE_FUNCTIONS] = function_add,
    [SPROFILE_FRAMES] = frame_add,       [SPROFILE_PROCESSES] = process_add,
    [SPROFILE_THREADS] = thread_add,     [SPROFILE_METADATA] = metadata_add,
    [SPROFILE_SPANS] = span_add,         [SPROFILE_OFF_CPUS] = off_cpu_add,
    [SPROFILE_BOOKMARKS] = bookmark_add,
};

/* ---- blocks ---- */

/* `ids`: where those of the block's rows go; NULL for tables that are not referred to. */
static bool rows_add(struct reading *r, const struct block *block, uint32_t *ids)
{
    if (block->table == SPROFILE_TEXTS)
        return texts_add(r, ids);
    if (block->table == SPROFILE_STACKS)
        return stacks_add(r, block, ids);
    if (block->table == SPROFILE_SCALARS)
        return scalars_add(r, block);
    if (block->table == SPROFILE_INSTANTS)
        return instants_add(r, block);
    if (block->table == SPROFILE_SAMPLES) {
        profile_add_samples(r->builder, block->n_rows, r->rows.rows,
                            (const uint64_t *const *)r->rows.values);
        return true;
    }
    const uint8_t *row = r->rows.rows;
    row_adder *add = row_adders[block->table];
    for (uint32_t i = 0; add != NULL && i < block->n_rows; i++, row += r->rows.layout->row_bytes) {
        uint32_t id = add(r->builder, row);
        if (ids != NULL)
            ids[i] = id;
    }
    return true;
}

static bool is_referred_to(uint32_t table)
{
    return table == SPROFILE_TEXTS || (table >= SPROFILE_MODULES && table <= SPROFILE_THREADS);
}

/* False: nothing more can be read. */
static bool block_add(struct reading *r, const struct block *block)
{
    struct err damage = ERR_INIT;
    if (block->table >= SPROFILE_N_TABLES)
        return true; /* of a later version */
    if (!sprofile_rows_unpack(&r->rows, block, &damage))
        return damage_note(r, &damage);
    if (!gap_note(r, block) || !rows_count(r, block) ||
        (block->table != SPROFILE_TEXTS && !references_resolve(r, block)))
        return false;
    if (!is_referred_to(block->table))
        return rows_add(r, block, NULL);
    return ids_extend_to(r, block) &&
           rows_add(r, block, r->ids[block->table].items + block->first_row);
}

/* ---- the file ---- */

static bool blocks_read(struct reading *r, struct block_reader *blocks)
{
    for (;;) {
        struct block block = {.n_rows = 0};
        struct err damage = ERR_INIT;
        switch (block_next(blocks, &block, &damage)) {
        case BLOCK_READ:
            if (!block_add(r, &block))
                return false;
            break;
        case BLOCK_DAMAGED:
            if (!damage_note(r, &damage))
                return false;
            break;
        case BLOCK_FAILED:
            *r->err = damage;
            return false;
        case BLOCK_LAST:
        default:
            if (r->n_damaged > MAX_DAMAGE_NOTES)
                format_note(r->notes, "%zu more damaged places", r->n_damaged - MAX_DAMAGE_NOTES);
            return r->has_scalars ||
                   err_fail(r->err, ERR_FORMAT, ERR_NO_OFFSET,
                            "the block that states what the numbers mean is damaged or missing: "
                            "nothing can be read");
        }
    }
}

static void reading_deinit(struct reading *r)
{
    for (size_t table = 0; table < SPROFILE_N_TABLES; table++)
        ids_deinit(&r->ids[table]);
    sprofile_rows_deinit(&r->rows);
    profile_builder_destroy(r->builder);
}

bool sprofile_read(const uint8_t *data, size_t size_bytes, const struct format_options *options,
                   const struct format_notes *notes, struct profile **out, struct err *err)
{
    struct reading reading = {.notes = notes,
                              .is_strict = options != NULL && options->strict,
                              .n_most = max_u64(ROWS_FREE, size_bytes * (uint64_t)ROWS_PER_BYTE),
                              .err = err};
    struct block_reader *blocks = NULL;
    bool ok = sprofile_header_check(data, size_bytes, err) &&
              sprofile_rows_init(&reading.rows, err) &&
              profile_builder_create(&reading.builder, err) &&
              block_reader_create(data, size_bytes, &blocks, err) && blocks_read(&reading, blocks);
    block_reader_destroy(blocks);
    if (ok && options != NULL && options->input_done != NULL)
        options->input_done(options->input);
    if (ok) {
        ok = profile_builder_finish(reading.builder, out, err);
        reading.builder = NULL; /* taken in every case */
    }
    reading_deinit(&reading);
    return ok;
}
