/* parse.c - the bytes of a .prof file into struct easyprofiler_file.
 *
 *   header -> descriptors -> thread sections (switches, blocks) -> mark -> bookmarks -> mark ->
 * nest
 *
 * Every record is checked against the bytes left and against its own size field; no count of the
 * file leads to an allocation before it was compared with what can fit. Totals in the header are
 * compared with what was read and never used. */
#include "formats/easyprofiler/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const oddity_texts[EASYPROFILER_N_ODDITIES] = {
    [EASYPROFILER_ODD_BEFORE_BEGIN] = "records that end before the begin of the file (kept)",
    [EASYPROFILER_ODD_REVERSED_BLOCK] = "blocks that end before they begin (taken as instants)",
    [EASYPROFILER_ODD_REVERSED_SWITCH] = "context switches that end before they begin",
    [EASYPROFILER_ODD_VALUE_TYPE] = "values of an unknown type (bytes kept)",
    [EASYPROFILER_ODD_HOLE] = "empty descriptors",
};

static void odd_count(struct easyprofiler_parser *p, enum easyprofiler_oddity oddity,
                      uint64_t offset)
{
    if (p->odd_counts[oddity]++ == 0)
        p->odd_offsets[oddity] = offset;
}

/* ---- records ------------------------------------------------------------------------------ */

/* Opens the next record: a u16 of size and as many bytes. */
__attribute__((always_inline)) static inline bool open_record(struct easyprofiler_parser *p,
                                                              const char *what, size_t least_bytes,
                                                              struct cursor *record)
{
    uint64_t offset = cursor_offset(&p->in);
    uint16_t size_bytes = cursor_u16le(&p->in);
    const uint8_t *bytes = cursor_bytes(&p->in, size_bytes);
    if (p->in.failed)
        return easyprofiler_fail_truncated(p, offset, what);
    if (size_bytes < least_bytes)
        return err_fail(p->err, ERR_FORMAT, offset, "%s of %u bytes, expected at least %zu", what,
                        size_bytes, least_bytes);
    *record = cursor_make(bytes, size_bytes);
    return true;
}

static bool fail_unterminated(struct easyprofiler_parser *p, uint64_t offset, const char *what)
{
    return err_fail(p->err, ERR_FORMAT, offset, "%s does not end in a 0 byte inside its record",
                    what);
}

/* Blocks refer to a descriptor by its position, so a hole (of size 0) keeps its place. */
static bool read_descriptor(struct easyprofiler_parser *p,
                            struct easyprofiler_descriptor *descriptor)
{
    uint64_t offset = cursor_offset(&p->in);
    if (cursor_left(&p->in) >= 2 && p->in.pos[0] == 0 && p->in.pos[1] == 0) {
        cursor_skip(&p->in, 2);
        odd_count(p, EASYPROFILER_ODD_HOLE, offset);
        return true;
    }
    struct cursor record = {.start = NULL};
    if (!open_record(p, "a descriptor", EASYPROFILER_DESCRIPTOR_BYTES + 2, &record))
        return false;
    p->descriptors_memory_found += cursor_left(&record);
    descriptor->id = cursor_u32le(&record);
    descriptor->line = (int32_t)cursor_u32le(&record);
    descriptor->color = cursor_u32le(&record);
    descriptor->type = cursor_u8(&record);
    descriptor->status = cursor_u8(&record);
    uint16_t name_bytes = cursor_u16le(&record);
    const char *name = (const char *)cursor_bytes(&record, name_bytes);
    if (name == NULL)
        return err_fail(p->err, ERR_FORMAT, offset,
                        "a descriptor's name of %u bytes, expected no more than %zu", name_bytes,
                        cursor_left(&record));
    size_t name_length = strnlen(name, name_bytes);
    if (name_length == name_bytes)
        return fail_unterminated(p, offset, "a descriptor's name");
    size_t file_length;
    if (cursor_text(&record, &file_length) == NULL)
        return fail_unterminated(p, offset, "a descriptor's file");
    descriptor->name = name;
    descriptor->name_length = (uint16_t)name_length;
    descriptor->file_start = name_bytes;
    descriptor->file_length = (uint16_t)file_length;
    return true;
}

static bool read_descriptors(struct easyprofiler_parser *p)
{
    struct easyprofiler_file *file = p->file;
    uint64_t offset = cursor_offset(&p->in);
    if (file->n_descriptors == 0)
        return err_fail(p->err, ERR_FORMAT, offset,
                        "the count of descriptors is 0, expected at least 1");
    /* A hole takes only its size field. */
    if (file->n_descriptors > cursor_left(&p->in) / 2)
        return err_fail(p->err, ERR_LIMIT, offset,
                        "the header counts %u descriptors, %zu bytes are left", file->n_descriptors,
                        cursor_left(&p->in));
    file->descriptors = calloc(file->n_descriptors, sizeof *file->descriptors);
    if (file->descriptors == NULL)
        return err_fail_memory(p->err);
    for (uint32_t i = 0; i < file->n_descriptors; i++) {
        if (!read_descriptor(p, &file->descriptors[i]))
            return false;
    }
    return true;
}

static bool read_switch(struct easyprofiler_parser *p)
{
    uint64_t offset = cursor_offset(&p->in);
    bool wide = easyprofiler_has_wide_ids(p);
    struct cursor record = {.start = NULL};
    size_t fixed_bytes = wide ? EASYPROFILER_SWITCH_BYTES : EASYPROFILER_SWITCH_BYTES - 4;
    if (!open_record(p, "a context switch", fixed_bytes + 1, &record))
        return false;
    p->blocks_memory_found += cursor_left(&record);
    struct easyprofiler_switch item = {.process = NULL};
    item.begin_ns = easyprofiler_to_ns(p->file, cursor_u64le(&record));
    item.end_ns = easyprofiler_to_ns(p->file, cursor_u64le(&record));
    item.to_tid = wide ? cursor_u64le(&record) : cursor_u32le(&record);
    item.process = cursor_text(&record, &item.process_length);
    if (item.process == NULL)
        return fail_unterminated(p, offset, "a context switch's process name");
    if (item.end_ns < item.begin_ns)
        odd_count(p, EASYPROFILER_ODD_REVERSED_SWITCH, offset);
    else if (item.end_ns <= p->file->begin_ns)
        odd_count(p, EASYPROFILER_ODD_BEFORE_BEGIN, offset);
    return easyprofiler_switches_push(&p->file->switches, item) || err_fail_memory(p->err);
}

/* The part of a value after the fields of a block: name, size of the data, type, array or not,
 * id, data. */
static bool check_value(struct easyprofiler_parser *p, uint64_t offset, const struct cursor *whole)
{
    struct cursor record = cursor_make(whole->start, (size_t)(whole->end - whole->start));
    cursor_skip(&record, EASYPROFILER_BLOCK_BYTES + 2);
    uint16_t data_bytes = cursor_u16le(&record);
    uint8_t type = cursor_u8(&record);
    cursor_skip(&record, 9);
    if (record.failed)
        return err_fail(p->err, ERR_FORMAT, offset, "a value of %zu bytes, expected at least %d",
                        (size_t)(whole->end - whole->start), EASYPROFILER_VALUE_BYTES);
    if (data_bytes > cursor_left(&record))
        return err_fail(p->err, ERR_FORMAT, offset,
                        "a value with %u bytes of data, its record has room for %zu", data_bytes,
                        cursor_left(&record));
    if (type >= EASYPROFILER_N_DATA)
        odd_count(p, EASYPROFILER_ODD_VALUE_TYPE, offset);
    return true;
}

/* Checks a block; what it says is read when asked for. */
static bool read_block(struct easyprofiler_parser *p)
{
    const struct easyprofiler_file *file = p->file;
    uint64_t offset = cursor_offset(&p->in);
    struct cursor record = {.start = NULL};
    if (!open_record(p, "a block", EASYPROFILER_BLOCK_BYTES + 1, &record))
        return false;
    p->blocks_memory_found += cursor_left(&record);
    uint64_t begin_ns = easyprofiler_to_ns(file, cursor_u64le(&record));
    uint64_t end_ns = easyprofiler_to_ns(file, cursor_u64le(&record));
    uint32_t position = cursor_u32le(&record);
    if (position >= file->n_descriptors)
        return err_fail(p->err, ERR_FORMAT, offset, "a block of descriptor %u, expected below %u",
                        position, file->n_descriptors);
    const struct easyprofiler_descriptor *descriptor = &file->descriptors[position];
    if (descriptor->name == NULL)
        return err_fail(p->err, ERR_FORMAT, offset, "a block of descriptor %u, which is empty",
                        position);
    size_t length;
    if (cursor_text(&record, &length) == NULL)
        return fail_unterminated(p, offset, "a block's name");
    if (descriptor->type == EASYPROFILER_VALUE && !check_value(p, offset, &record))
        return false;
    if (end_ns < file->begin_ns)
        odd_count(p, EASYPROFILER_ODD_BEFORE_BEGIN, offset);
    if (end_ns < begin_ns)
        odd_count(p, EASYPROFILER_ODD_REVERSED_BLOCK, offset);
    return true;
}

/* ---- thread sections ----------------------------------------------------------------------- */

/* Reads a count of records and the records. `least_bytes` is the least a record can take, its size
 * field included; `n_before` is how many there were so far. */
static bool read_records(struct easyprofiler_parser *p, const char *what, size_t least_bytes,
                         bool (*read)(struct easyprofiler_parser *), uint64_t n_before,
                         uint32_t *count)
{
    uint64_t offset = cursor_offset(&p->in);
    uint32_t n = cursor_u32le(&p->in);
    if (p->in.failed)
        return easyprofiler_fail_truncated(p, offset, "a thread");
    if (n > cursor_left(&p->in) / least_bytes)
        return err_fail(p->err, ERR_LIMIT, offset, "the thread counts %u %s, %zu bytes are left", n,
                        what, cursor_left(&p->in));
    if (n_before + n >= UINT32_MAX)
        return err_fail(p->err, ERR_LIMIT, offset, "more than %u %s", UINT32_MAX - 1, what);
    *count = n;
    for (uint32_t i = 0; i < n; i++) {
        if (!read(p))
            return false;
    }
    return true;
}

static bool read_section(struct easyprofiler_parser *p)
{
    struct easyprofiler_file *file = p->file;
    uint64_t offset = cursor_offset(&p->in);
    struct easyprofiler_section section = {.order = (uint32_t)file->sections.n};
    section.tid = easyprofiler_has_wide_ids(p) ? cursor_u64le(&p->in) : cursor_u32le(&p->in);
    uint16_t name_bytes = cursor_u16le(&p->in);
    const char *name = (const char *)cursor_bytes(&p->in, name_bytes);
    if (p->in.failed)
        return easyprofiler_fail_truncated(p, offset, "a thread");
    if (name_bytes != 0) {
        size_t length = strnlen(name, name_bytes);
        if (length == name_bytes)
            return fail_unterminated(p, offset, "a thread's name");
        section.name = name;
        section.name_length = (uint32_t)length;
    }
    size_t fixed_bytes =
        easyprofiler_has_wide_ids(p) ? EASYPROFILER_SWITCH_BYTES : EASYPROFILER_SWITCH_BYTES - 4;
    section.first_switch = (uint32_t)file->switches.n;
    if (!read_records(p, "context switches", 2 + fixed_bytes + 1, read_switch, file->switches.n,
                      &section.n_switches))
        return false;
    section.blocks_offset = cursor_offset(&p->in) + sizeof section.n_blocks;
    if (!read_records(p, "blocks", 2 + EASYPROFILER_BLOCK_BYTES + 1, read_block, p->n_blocks,
                      &section.n_blocks))
        return false;
    p->n_blocks += section.n_blocks;
    return easyprofiler_sections_push(&file->sections, section) || err_fail_memory(p->err);
}

/* Is all that is left one mark, of 4 bytes or (as some writers have it) of 8? */
static bool is_last_mark(const struct easyprofiler_parser *p)
{
    struct cursor in = p->in;
    if (cursor_left(&in) == 8 && !easyprofiler_has_counts(p))
        return cursor_u64le(&in) == EASYPROFILER_SIGNATURE;
    return cursor_left(&in) == 4 && cursor_u32le(&in) == EASYPROFILER_SIGNATURE;
}

/* Before 2.1 threads go on to the end of the file. */
static bool read_old_sections(struct easyprofiler_parser *p)
{
    while (!cursor_at_end(&p->in)) {
        uint64_t offset = cursor_offset(&p->in);
        if (is_last_mark(p)) {
            cursor_skip(&p->in, cursor_left(&p->in));
            return easyprofiler_odd(p, offset,
                                    "an end mark, which this version does not have; left out");
        }
        if (!read_section(p))
            return false;
    }
    return true;
}

static bool read_mark(struct easyprofiler_parser *p, const char *what)
{
    uint64_t offset = cursor_offset(&p->in);
    uint32_t mark = cursor_u32le(&p->in);
    if (p->in.failed)
        return err_fail(p->err, ERR_TRUNCATED, offset, "the file ends before the mark after the %s",
                        what);
    if (mark != EASYPROFILER_SIGNATURE)
        return err_fail(p->err, ERR_FORMAT, offset,
                        "expected the mark 0x%08x after the %s, found 0x%08x",
                        EASYPROFILER_SIGNATURE, what, mark);
    return true;
}

/* Sets *complete to false if the file ends, at a clean border, before all that was announced. */
static bool read_new_sections(struct easyprofiler_parser *p, bool *complete)
{
    for (uint32_t i = 0; i < p->n_sections; i++) {
        uint64_t offset = cursor_offset(&p->in);
        if (cursor_at_end(&p->in) || is_last_mark(p)) {
            *complete = false;
            cursor_skip(&p->in, cursor_left(&p->in));
            return easyprofiler_odd(p, offset,
                                    "the header counts %u threads, the file ends after %u",
                                    p->n_sections, i);
        }
        if (!read_section(p))
            return false;
    }
    return read_mark(p, "threads");
}

static bool read_bookmark(struct easyprofiler_parser *p)
{
    uint64_t offset = cursor_offset(&p->in);
    struct cursor record = {.start = NULL};
    if (!open_record(p, "a bookmark", EASYPROFILER_BOOKMARK_BYTES + 1, &record))
        return false;
    struct easyprofiler_bookmark bookmark = {.text = NULL};
    bookmark.position_ns = cursor_u64le(&record);
    bookmark.color = cursor_u32le(&record);
    bookmark.text = cursor_text(&record, &bookmark.text_length);
    if (bookmark.text == NULL)
        return fail_unterminated(p, offset, "a bookmark's text");
    return easyprofiler_bookmarks_push(&p->file->bookmarks, bookmark) || err_fail_memory(p->err);
}

static bool read_bookmarks(struct easyprofiler_parser *p)
{
    for (uint32_t i = 0; i < p->n_bookmarks; i++) {
        uint64_t offset = cursor_offset(&p->in);
        if (cursor_at_end(&p->in) || is_last_mark(p)) {
            cursor_skip(&p->in, cursor_left(&p->in));
            return easyprofiler_odd(p, offset,
                                    "the header counts %u bookmarks, the file ends after %u",
                                    p->n_bookmarks, i);
        }
        if (!read_bookmark(p))
            return false;
    }
    return p->n_bookmarks == 0 || read_mark(p, "bookmarks");
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Writers get them wrong, EasyProfiler's own among them: no more than a note, or an error with
 * --strict. */
static bool check_totals(struct easyprofiler_parser *p)
{
    const struct easyprofiler_file *file = p->file;
    if (file->n_records != p->records_total &&
        !easyprofiler_odd(p, 0, "the header counts %u records, the file holds %" PRIu64,
                          p->records_total, file->n_records))
        return false;
    if (p->blocks_memory != p->blocks_memory_found &&
        !easyprofiler_odd(p, 0,
                          "the header gives %" PRIu64 " bytes of records, the file holds %" PRIu64,
                          p->blocks_memory, p->blocks_memory_found))
        return false;
    /* More than needed is usual: EasyProfiler's viewer adds two bytes each at every save. */
    if (p->descriptors_memory < p->descriptors_memory_found &&
        !easyprofiler_odd(
            p, 0, "the header gives %" PRIu64 " bytes of descriptors, the file holds %" PRIu64,
            p->descriptors_memory, p->descriptors_memory_found))
        return false;
    for (int i = 0; i < EASYPROFILER_N_ODDITIES; i++) {
        if (p->odd_counts[i] != 0 &&
            !easyprofiler_odd(p, p->odd_offsets[i], "%s: %" PRIu64 ", first at offset %" PRIu64,
                              oddity_texts[i], p->odd_counts[i], p->odd_offsets[i]))
            return false;
    }
    return true;
}

static bool check_levels(struct easyprofiler_parser *p)
{
    const struct easyprofiler_file *file = p->file;
    uint32_t n_levels = 0;
    for (uint32_t i = 0; i < file->n_threads; i++) {
        if (file->threads[i].n_levels > n_levels)
            n_levels = file->threads[i].n_levels;
    }
    if (n_levels <= EASYPROFILER_MAX_LEVELS)
        return true;
    return easyprofiler_odd(
        p, 0, "blocks are nested %u levels deep; EasyProfiler itself refuses more than %d",
        n_levels, EASYPROFILER_MAX_LEVELS);
}

static bool parse_all(struct easyprofiler_parser *p)
{
    struct easyprofiler_file *file = p->file;
    if (!easyprofiler_read_header(p) || !read_descriptors(p))
        return false;
    bool complete = true;
    if (!easyprofiler_has_counts(p)) {
        if (!read_old_sections(p))
            return false;
    } else if (!read_new_sections(p, &complete) || (complete && !read_bookmarks(p))) {
        return false;
    }
    uint64_t offset = cursor_offset(&p->in);
    if (!cursor_at_end(&p->in) &&
        !easyprofiler_odd(p, offset, "%zu bytes after the end, at offset %" PRIu64 "; left out",
                          cursor_left(&p->in), offset))
        return false;
    file->n_records = p->n_blocks + file->switches.n;
    if (!easyprofiler_gather(file))
        return err_fail_memory(p->err);
    return check_totals(p) && check_levels(p);
}

bool easyprofiler_parse(const uint8_t *data, size_t size_bytes, bool strict,
                        const struct format_notes *notes, struct easyprofiler_file **out,
                        struct err *err)
{
    struct easyprofiler_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return err_fail_memory(err);
    file->data = data;
    struct easyprofiler_parser parser = {.in = cursor_make(data, size_bytes),
                                         .file = file,
                                         .notes = notes,
                                         .err = err,
                                         .strict = strict};
    if (!parse_all(&parser)) {
        easyprofiler_file_destroy(file);
        return false;
    }
    *out = file;
    return true;
}

void easyprofiler_file_destroy(struct easyprofiler_file *file)
{
    if (file == NULL)
        return;
    easyprofiler_sections_deinit(&file->sections);
    easyprofiler_switches_deinit(&file->switches);
    easyprofiler_places_deinit(&file->places);
    easyprofiler_bookmarks_deinit(&file->bookmarks);
    free(file->descriptors);
    free(file->threads);
    free(file);
}
