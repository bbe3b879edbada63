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

/* The account of work: so many times the bytes there are, unpacked, and not more than some minutes
 * of it. */
#define WORK_FREE ((uint64_t)16 << 20)
#define WORK_PER_BYTE 4u
#define WORK_MAX ((uint64_t)1 << 35)

#define RANK_STATED ((uint64_t)1 << 40)

static bool builder_init(struct builder *builder)
{
    *builder = (struct builder){.arena = NULL};
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
    enclosing_list_deinit(&builder->unit_enclosing);
    chars_deinit(&builder->qualified);
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
    builder_span(builder, &builder->unit_spans, span);
}

static bool claims_stated(struct builder *builder)
{
    struct range_list ranges = {.items = NULL};
    bool done = unit_ranges(&builder->unit, &builder->unit.pcs, &ranges, &builder->work);
    for (size_t i = 0; i < ranges.n; i++)
        claim(builder, ranges.items[i].start, ranges.items[i].end, true);
    builder->no_memory |= ranges.no_memory;
    range_list_deinit(&ranges);
    return done;
}

static void claims_found(struct builder *builder, const struct spans *spans, size_t first)
{
    for (size_t i = first; i < spans->n; i++)
        claim(builder, spans->items[i].start, spans->items[i].end, false);
}

static void unit_read(struct builder *builder)
{
    size_t first_tree = builder->tree_spans.n;
    size_t first_line = builder->line_spans.n;
    size_t trees_bytes = builder->trees.n;
    lines_read(builder);
    bool fine = scopes_read(builder);
    if (!fine) {
        builder->trees.n = trees_bytes;
        builder->tree_spans.n = first_tree;
    }
    if (builder->unit.states_ranges) {
        fine &= claims_stated(builder);
    } else {
        claims_found(builder, &builder->tree_spans, first_tree);
        claims_found(builder, &builder->line_spans, first_line);
    }
    builder->n_damaged += !fine;
}

static bool small_sections_load(struct builder *builder)
{
    for (size_t i = 0; i < N_SECTIONS; i++) {
        if (i == SECTION_INFO || section_load(&builder->sections.of[i]))
            continue;
        builder->no_memory = builder->sections.of[i].no_memory;
        return false;
    }
    return true;
}

enum units_outcome { UNITS_DONE, UNITS_FOREIGN, UNITS_TOO_LARGE };

/* A unit of so many bytes, all there. False: not for us. */
static bool unit_take(struct builder *builder, const uint8_t *bytes, uint64_t length)
{
    builder->unit_number++;
    switch (unit_open(&builder->unit, &builder->sections, &builder->abbrevs, bytes, length,
                      &builder->work)) {
    case UNIT_COMPILE:
        unit_read(builder);
        return true;
    case UNIT_SKIP:
        return true;
    case UNIT_DAMAGED:
        builder->n_damaged++;
        return true;
    case UNIT_NO_MEMORY:
        builder->no_memory = true;
        return true;
    case UNIT_FOREIGN:
        break;
    }
    return false;
}

static bool goes_on(const struct builder *builder)
{
    return !builder->no_memory && !builder->work.spent;
}

/* Where a unit's length is wrong, nothing is known of what follows; the rest of the section is only
 * waited for, as its checksum tells whether what came before it was right. */
static enum units_outcome rest_pass(struct builder *builder, struct info_stream *stream)
{
    uint64_t size = builder->sections.of[SECTION_INFO].size_bytes;
    builder->n_damaged++;
    info_stream_done(stream, size);
    return info_stream_need(stream, size) ? UNITS_DONE : UNITS_FOREIGN;
}

static enum units_outcome units_read(struct builder *builder, struct info_stream *stream,
                                     size_t unit_max_bytes)
{
    uint64_t size = builder->sections.of[SECTION_INFO].size_bytes;
    uint64_t length;
    for (uint64_t at = 0; at < size && goes_on(builder); at += length) {
        if (size - at < UNIT_LENGTH_BYTES)
            return rest_pass(builder, stream);
        if (!info_stream_need(stream, at + UNIT_LENGTH_BYTES))
            return UNITS_FOREIGN;
        length = unit_length(info_stream_at(stream, at));
        if (length == 0)
            return UNITS_FOREIGN;
        if (length > size - at)
            return rest_pass(builder, stream);
        if (length > unit_max_bytes)
            return UNITS_TOO_LARGE;
        if (!info_stream_need(stream, at + length) ||
            !unit_take(builder, info_stream_at(stream, at), length))
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
    bool done = spans_clip(spans, units, &clipped, &builder->work);
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
    uint64_t texts_bytes = texts_size(builder->texts);
    if (functions->n > UINT32_MAX || lines->n > UINT32_MAX || builder->trees.n > UINT32_MAX ||
        builder->lines.n > UINT32_MAX || texts_bytes > UINT32_MAX)
        return INDEX_NOT_FOR_US;
    struct index_header header = {
        .magic = INDEX_MAGIC,
        .n_damaged = builder->n_damaged,
        .n_functions = (uint32_t)functions->n,
        .n_lines = (uint32_t)lines->n,
        .n_origins = (uint32_t)builder->origins.n,
        .n_texts = intern_count(builder->texts),
        .trees_bytes = (uint32_t)builder->trees.n,
        .lines_bytes = (uint32_t)builder->lines.n,
        .texts_bytes = (uint32_t)texts_bytes,
    };
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

static enum index_outcome build_with(struct builder *builder, const struct elf_file *file,
                                     size_t unit_max_bytes, bool *unit_too_large,
                                     struct dwarf_index *index)
{
    enum sections_outcome found = sections_find(&builder->sections, file);
    if (found != SECTIONS_FOUND)
        return found == SECTIONS_FOREIGN ? INDEX_NOT_FOR_US : INDEX_TOO_LARGE;
    builder->work.left =
        min_u64(WORK_FREE + WORK_PER_BYTE * builder->sections.total_bytes, WORK_MAX);
    enum units_outcome units = stream_read(builder, unit_max_bytes);
    enum index_outcome outcome = INDEX_NOT_FOR_US;
    *unit_too_large = units == UNITS_TOO_LARGE;
    if (units == UNITS_DONE && goes_on(builder))
        outcome = finish(builder, index);
    if (builder->no_memory)
        return INDEX_NO_MEMORY;
    return builder->work.spent ? INDEX_TOO_LARGE : outcome;
}

static enum index_outcome build(const struct elf_file *file, size_t unit_max_bytes,
                                bool *unit_too_large, struct dwarf_index *index)
{
    struct builder builder;
    enum index_outcome outcome = INDEX_NO_MEMORY;
    if (builder_init(&builder))
        outcome = build_with(&builder, file, unit_max_bytes, unit_too_large, index);
    builder_deinit(&builder);
    return outcome;
}

enum index_outcome dwarf_index_build(const struct elf_file *file, struct dwarf_index *index)
{
    bool unit_too_large = false;
    enum index_outcome outcome = build(file, UNIT_MAX_BYTES, &unit_too_large, index);
    return unit_too_large ? build(file, SIZE_MAX, &unit_too_large, index) : outcome;
}

uint32_t dwarf_index_n_damaged(const struct dwarf_index *index)
{
    struct index_header header;
    memcpy(&header, index->block, sizeof header);
    return header.n_damaged;
}

void dwarf_index_deinit(struct dwarf_index *index)
{
    free(index->block);
    *index = (struct dwarf_index){.block = NULL};
}
