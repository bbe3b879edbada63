/* index_build.c - the DWARF of a module, all of it, to an index.
 *
 *   .debug_info, as it comes out of zlib in another thread -> units -> trees  \
 *   the other sections, whole                                       -> lines   } pieces
 *                                                                   -> claims /
 *   pieces of units that have the address -> of those the ones in force -> the block
 *
 * An address belongs to the first unit that claims it by its own ranges; units that state none claim
 * what their functions and lines cover, of what is left. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/builder.h"
#include "dwarf/info_stream.h"
#include "number.h"

/* The largest unit read without keeping all of .debug_info: some ten times what is usual. */
#define UNIT_MAX_BYTES ((size_t)30 << 20)

/* What may be read again, in bytes and entries. */
#define WORK_MAX ((uint64_t)1 << 30)

#define RANK_STATED ((uint64_t)1 << 40)

static bool builder_init(struct builder *builder)
{
    *builder = (struct builder){.work_left = WORK_MAX};
    builder->arena = arena_create();
    builder->texts = builder->arena == NULL ? NULL : intern_create(builder->arena);
    return builder->texts != NULL;
}

static void builder_deinit(struct builder *builder)
{
    sections_drop(&builder->sections);
    abbrevs_deinit(&builder->abbrevs);
    folder_entries_deinit(&builder->folders);
    file_entries_deinit(&builder->files);
    map_deinit(&builder->unit_origins);
    map_deinit(&builder->texts_by_place);
    map_deinit(&builder->origin_map);
    index_origins_deinit(&builder->origins);
    chars_deinit(&builder->trees);
    chars_deinit(&builder->lines);
    spans_deinit(&builder->unit_spans);
    spans_deinit(&builder->tree_spans);
    spans_deinit(&builder->line_spans);
    intern_destroy(builder->texts);
    arena_destroy(builder->arena);
}

/* ---- units ---- */

/* The unit has [start, end) unless one before it has. */
static void claim(struct builder *builder, uint64_t start, uint64_t end, bool stated)
{
    struct span span = {
        .start = start,
        .end = end,
        .rank = (stated ? RANK_STATED : 0) + (UINT32_MAX - builder->unit_number),
        .unit = builder->unit_number,
    };
    if (!spans_push(&builder->unit_spans, span))
        builder->no_memory = true;
}

static bool claims_stated(struct builder *builder)
{
    struct range_list ranges = {.items = NULL};
    bool done = unit_ranges(&builder->unit, &builder->unit.pcs, &ranges, &builder->work_left);
    for (size_t i = 0; i < ranges.n; i++)
        claim(builder, ranges.items[i].start, ranges.items[i].end, true);
    range_list_deinit(&ranges);
    return done;
}

static void claims_found(struct builder *builder, const struct spans *spans, size_t first)
{
    for (size_t i = first; i < spans->n; i++)
        claim(builder, spans->items[i].start, spans->items[i].end, false);
}

static bool unit_read(struct builder *builder)
{
    size_t first_tree = builder->tree_spans.n;
    size_t first_line = builder->line_spans.n;
    lines_read(builder);
    if (!scopes_read(builder))
        return false;
    if (builder->unit.states_ranges)
        return claims_stated(builder);
    claims_found(builder, &builder->tree_spans, first_tree);
    claims_found(builder, &builder->line_spans, first_line);
    return true;
}

static bool small_sections_load(struct builder *builder)
{
    for (size_t i = 0; i < N_SECTIONS; i++) {
        if (i != SECTION_INFO && !section_load(&builder->sections.of[i]))
            return false;
    }
    return true;
}

enum units_outcome { UNITS_DONE, UNITS_FOREIGN, UNITS_TOO_LARGE };

static enum units_outcome units_read(struct builder *builder, struct info_stream *stream,
                                     size_t unit_max_bytes)
{
    uint64_t size = builder->sections.of[SECTION_INFO].size_bytes;
    uint64_t length;
    for (uint64_t at = 0; at < size && !builder->no_memory; at += length) {
        if (size - at < UNIT_LENGTH_BYTES || !info_stream_need(stream, at + UNIT_LENGTH_BYTES))
            return UNITS_FOREIGN;
        length = unit_length(info_stream_at(stream, at));
        if (length == 0 || length > size - at)
            return UNITS_FOREIGN;
        if (length > unit_max_bytes)
            return UNITS_TOO_LARGE;
        if (!info_stream_need(stream, at + length))
            return UNITS_FOREIGN;
        builder->unit_number++;
        enum unit_kind kind = unit_open(&builder->unit, &builder->sections, &builder->abbrevs,
                                        info_stream_at(stream, at), length, &builder->work_left);
        if (kind == UNIT_FOREIGN || (kind == UNIT_COMPILE && !unit_read(builder)))
            return UNITS_FOREIGN;
        info_stream_done(stream, at + length);
    }
    return UNITS_DONE;
}

/* Unpacking goes on in the other thread while this one loads the small sections. */
static enum units_outcome stream_read(struct builder *builder, size_t unit_max_bytes)
{
    const struct section *info = &builder->sections.of[SECTION_INFO];
    if (info->size_bytes < unit_max_bytes)
        unit_max_bytes = info->size_bytes;
    struct info_stream *stream = info_stream_open(info, unit_max_bytes);
    if (stream == NULL) {
        builder->no_memory = true;
        return UNITS_FOREIGN;
    }
    enum units_outcome outcome = UNITS_FOREIGN;
    if (small_sections_load(builder))
        outcome = units_read(builder, stream, unit_max_bytes);
    info_stream_close(stream);
    return outcome;
}

/* ---- the block ---- */

/* Of `spans` what is in force. */
static bool resolve(struct builder *builder, struct spans *spans, const struct spans *units,
                    struct spans *flat)
{
    struct spans clipped = {.items = NULL};
    bool done = spans_clip(spans, units, &clipped, &builder->work_left);
    spans_deinit(spans);
    done = done && spans_flatten(&clipped, flat);
    builder->no_memory |= clipped.no_memory || flat->no_memory;
    spans_deinit(&clipped);
    return done;
}

static bool all_resolve(struct builder *builder, struct spans *functions, struct spans *lines)
{
    struct spans units = {.items = NULL};
    bool done = spans_flatten(&builder->unit_spans, &units) &&
                resolve(builder, &builder->tree_spans, &units, functions) &&
                resolve(builder, &builder->line_spans, &units, lines);
    builder->no_memory |= units.no_memory;
    spans_deinit(&units);
    return done;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
    if (n != 0)
        memcpy(at, bytes, n);
    return at + n;
}

static uint8_t *pieces_put(uint8_t *at, const struct spans *spans)
{
    for (size_t i = 0; i < spans->n; i++) {
        const struct span *span = &spans->items[i];
        struct index_piece piece = {
            .start = span->start,
            .size_bytes = (uint32_t)min_u64(span->end - span->start, UINT32_MAX),
            .offset = span->payload,
        };
        at = put(at, &piece, sizeof piece);
    }
    return at;
}

static uint64_t texts_size(const struct intern *texts)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < intern_count(texts); i++)
        size += intern_text(texts, i).length + 1;
    return size;
}

static uint8_t *texts_put(uint8_t *at, const struct intern *texts)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < intern_count(texts); i++) {
        at = put(at, &offset, sizeof offset);
        offset += (uint32_t)intern_text(texts, i).length + 1;
    }
    return at;
}

static uint8_t *text_bytes_put(uint8_t *at, const struct intern *texts)
{
    for (uint32_t i = 0; i < intern_count(texts); i++) {
        struct text text = intern_text(texts, i);
        at = put(at, text.bytes, text.length);
        *at++ = 0;
    }
    return at;
}

static enum index_outcome block_make(const struct builder *builder, const struct spans *functions,
                                     const struct spans *lines, struct dwarf_index *index)
{
    struct index_header header = {
        .magic = INDEX_MAGIC,
        .n_functions = (uint32_t)functions->n,
        .n_lines = (uint32_t)lines->n,
        .n_origins = (uint32_t)builder->origins.n,
        .n_texts = intern_count(builder->texts),
        .trees_bytes = (uint32_t)builder->trees.n,
        .lines_bytes = (uint32_t)builder->lines.n,
        .texts_bytes = texts_size(builder->texts),
    };
    if (functions->n > UINT32_MAX || lines->n > UINT32_MAX || builder->trees.n > UINT32_MAX ||
        builder->lines.n > UINT32_MAX || header.texts_bytes > UINT32_MAX)
        return INDEX_NOT_FOR_US;
    header.size_bytes = sizeof header + (functions->n + lines->n) * sizeof(struct index_piece) +
                        builder->origins.n * sizeof(struct index_origin) +
                        header.n_texts * sizeof(uint32_t) + builder->trees.n + builder->lines.n +
                        header.texts_bytes;
    uint8_t *block = malloc(header.size_bytes);
    if (block == NULL)
        return INDEX_NO_MEMORY;
    uint8_t *at = put(block, &header, sizeof header);
    at = pieces_put(at, functions);
    at = pieces_put(at, lines);
    at = put(at, builder->origins.items, builder->origins.n * sizeof(struct index_origin));
    at = texts_put(at, builder->texts);
    at = put(at, builder->trees.items, builder->trees.n);
    at = put(at, builder->lines.items, builder->lines.n);
    text_bytes_put(at, builder->texts);
    *index = (struct dwarf_index){.block = block, .size_bytes = header.size_bytes};
    return INDEX_DONE;
}

static enum index_outcome finish(struct builder *builder, struct dwarf_index *index)
{
    struct spans functions = {.items = NULL};
    struct spans lines = {.items = NULL};
    sections_drop(&builder->sections);
    enum index_outcome outcome = INDEX_NOT_FOR_US;
    if (all_resolve(builder, &functions, &lines))
        outcome = block_make(builder, &functions, &lines, index);
    spans_deinit(&functions);
    spans_deinit(&lines);
    return outcome;
}

static enum index_outcome build(const struct elf_file *file, size_t unit_max_bytes, bool *too_large,
                                struct dwarf_index *index)
{
    struct builder builder;
    enum index_outcome outcome = INDEX_NO_MEMORY;
    if (builder_init(&builder)) {
        outcome = INDEX_NOT_FOR_US;
        if (sections_find(&builder.sections, file)) {
            enum units_outcome units = stream_read(&builder, unit_max_bytes);
            *too_large = units == UNITS_TOO_LARGE;
            if (units == UNITS_DONE && !builder.no_memory)
                outcome = finish(&builder, index);
        }
        if (builder.no_memory)
            outcome = INDEX_NO_MEMORY;
    }
    builder_deinit(&builder);
    return outcome;
}

enum index_outcome dwarf_index_build(const struct elf_file *file, struct dwarf_index *index)
{
    bool too_large = false;
    enum index_outcome outcome = build(file, UNIT_MAX_BYTES, &too_large, index);
    return too_large ? build(file, SIZE_MAX, &too_large, index) : outcome;
}

void dwarf_index_deinit(struct dwarf_index *index)
{
    free(index->block);
    *index = (struct dwarf_index){.block = NULL};
}
