/* lines.c - line tables (DWARF 5, 6.2; the header of 2 to 4 is that of DWARF 4, 6.2.4).
 *
 *   header  -> folders and files, their paths made when they are asked for
 *   program -> rows of a sequence -> blocks of them (index.h), if its code is there
 *
 * Of several rows with one address the last is in force. Rows that say what the one before said are
 * left out. Machines with several operations an instruction are not ours. */
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/builder.h"
#include "number.h"

/* Of a byte of a table: a row, in the usual case. */
#define BYTE_WORK 2u

/* Rows of one sequence; compilers' largest, of generated code, have some hundred thousand. */
#define SEQUENCE_ROWS_MAX ((size_t)1 << 22)

struct row {
    uint64_t vaddr;
    uint32_t order; /* in the program                       */
    uint32_t file;  /* index                                */
    uint32_t line;
    uint32_t column;
};

VECTOR_DEFINE(rows, struct row)

struct program {
    struct builder *builder;
    struct cursor c;
    unsigned version;
    uint8_t min_instruction;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *opcode_lengths; /* of opcode 1 on                 */
    struct row row;                /* the registers                  */
    struct rows rows;              /* of the sequence                */
    bool ascending;
};

/* ---- header ---- */

/* The tables before DWARF 5: texts, each list ended by an empty one. Folder 0 and file 0 are not
 * stated. */
static void tables_before_5(struct builder *builder, struct cursor *c)
{
    size_t length;
    folder_entries_push(&builder->folders, builder->unit.folder);
    file_entries_push(&builder->files, (struct file_entry){.name = NULL, .text = 0});
    for (;;) {
        const char *folder = cursor_text(c, &length);
        if (folder == NULL || length == 0)
            break;
        folder_entries_push(&builder->folders, folder);
    }
    for (;;) {
        struct file_entry file = {.text = FILE_NOT_YET};
        file.name = cursor_text(c, &length);
        if (file.name == NULL || length == 0)
            return;
        file.folder = cursor_uleb128(c);
        (void)cursor_uleb128(c); /* date */
        (void)cursor_uleb128(c); /* size */
        file_entries_push(&builder->files, file);
    }
}

/* How entries of a table of DWARF 5 are written (6.2.4.1). */
struct entry_format {
    struct attribute content[UINT8_MAX]; /* name: DW_LNCT_ */
    uint8_t n;
};

static void entry_format_read(struct entry_format *format, struct cursor *c)
{
    format->n = cursor_u8(c);
    for (unsigned i = 0; i < format->n; i++) {
        uint64_t content = cursor_uleb128(c);
        uint64_t form = cursor_uleb128(c);
        if (content > UINT16_MAX)
            content = 0;
        if (form_bytes(form, 5) == FORM_UNKNOWN || form == DW_FORM_implicit_const)
            cursor_fail(c);
        format->content[i] = (struct attribute){.name = (uint16_t)content, .form = (uint16_t)form};
    }
}

static void table_of_5(struct builder *builder, struct cursor *c, bool of_files)
{
    struct entry_format format;
    entry_format_read(&format, c);
    uint64_t n = cursor_uleb128(c);
    if (n > cursor_left(c) || (n > 0 && format.n == 0)) /* an entry has a byte at least */
        cursor_fail(c);
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        struct file_entry entry = {.text = FILE_NOT_YET};
        const uint8_t *start = c->pos;
        for (unsigned k = 0; k < format.n; k++) {
            const struct attribute *content = &format.content[k];
            if (content->name == DW_LNCT_path)
                entry.name = unit_string(&builder->unit, c, content);
            else if (content->name == DW_LNCT_directory_index)
                entry.folder = form_number(c, content, 5);
            else
                form_skip(c, content->form, 5);
        }
        if (c->pos == start)
            cursor_fail(c);
        if (of_files)
            file_entries_push(&builder->files, entry);
        else
            folder_entries_push(&builder->folders, entry.name);
    }
}

/* Leaves p->c at the program, bounded by its end. */
static bool header_read(struct program *p)
{
    struct builder *builder = p->builder;
    const struct section *section = &builder->sections.of[SECTION_LINE];
    uint64_t offset = builder->unit.lines_offset;
    if (offset > section->size_bytes || section->size_bytes - offset < UNIT_LENGTH_BYTES)
        return false;
    uint64_t length = unit_length(section->bytes + offset);
    if (length == 0 || length > section->size_bytes - offset ||
        !work_spend(&builder->work, BYTE_WORK * (uint64_t)length))
        return false;
    struct cursor c = cursor_make(section->bytes + offset, length);
    cursor_skip(&c, UNIT_LENGTH_BYTES);
    p->version = cursor_u16le(&c);
    unsigned address_bytes = p->version >= 5 ? cursor_u8(&c) : 8;
    unsigned selector_bytes = p->version >= 5 ? cursor_u8(&c) : 0;
    if (address_bytes != 8 || selector_bytes != 0)
        return false;
    uint32_t header_length = cursor_u32le(&c);
    if (c.failed || p->version < 2 || p->version > 5 || header_length > cursor_left(&c))
        return false;
    const uint8_t *program = c.pos + header_length;
    p->min_instruction = cursor_u8(&c);
    unsigned max_operations = p->version >= 4 ? cursor_u8(&c) : 1;
    (void)cursor_u8(&c); /* default_is_stmt */
    p->line_base = (int8_t)cursor_u8(&c);
    p->line_range = cursor_u8(&c);
    p->opcode_base = cursor_u8(&c);
    if (p->opcode_base == 0 || p->line_range == 0 || max_operations > 1)
        return false;
    p->opcode_lengths = cursor_bytes(&c, p->opcode_base - 1U);
    if (p->version < 5) {
        tables_before_5(builder, &c);
    } else {
        table_of_5(builder, &c, false);
        table_of_5(builder, &c, true);
    }
    if (c.failed || c.pos > program)
        return false;
    c.pos = program;
    p->c = c;
    return true;
}

/* ---- blocks ---- */

static bool rows_say_the_same(const struct row *a, const struct row *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* Rows in force only, each different from the one before; the last one, the sequence's end, stays.
 */
static void rows_thin(struct rows *rows)
{
    size_t n = 0;
    size_t last = rows->n - 1;
    uint64_t end = rows->items[last].vaddr;
    for (size_t i = 0; i < last; i++) {
        const struct row *row = &rows->items[i];
        if (row->vaddr == row[1].vaddr || row->vaddr >= end)
            continue;
        if (n == 0 || !rows_say_the_same(row, &rows->items[n - 1]))
            rows->items[n++] = *row;
    }
    rows->items[n++] = rows->items[last];
    rows->n = n;
}

static void block_row_write(struct builder *builder, const struct row *row, uint32_t file,
                            struct index_line *before, uint64_t *vaddr)
{
    struct chars *out = &builder->lines;
    uint64_t step = row->vaddr - *vaddr;
    unsigned head = (file != before->file ? INDEX_LINE_FILE : 0) |
                    (row->column != before->column ? INDEX_LINE_COLUMN : 0);
    unsigned small = step < INDEX_LINE_STEP_MAX ? (unsigned)step : INDEX_LINE_STEP_MAX;
    builder_number(builder, out, head | small << INDEX_LINE_STEP_SHIFT);
    if (small == INDEX_LINE_STEP_MAX)
        builder_number(builder, out, step - small);
    builder_signed(builder, out, (int64_t)row->line - before->line);
    if (row->column != before->column)
        builder_number(builder, out, row->column);
    if (file != before->file)
        builder_signed(builder, out, (int64_t)file - before->file);
    *vaddr = row->vaddr;
    *before = (struct index_line){.file = file, .line = row->line, .column = row->column};
}

/* Rows [first, end) as one block; the row at `end` is the one after it. */
static void block_write(struct builder *builder, const struct rows *rows, size_t first, size_t end)
{
    struct span span = {
        .start = rows->items[first].vaddr,
        .end = rows->items[end].vaddr,
        .rank = builder->line_spans.n,
        .unit = builder->unit_number,
        .payload = (uint32_t)builder->lines.n,
    };
    uint64_t vaddr = span.start;
    struct index_line before = {.file = 0};
    builder_number(builder, &builder->lines, vaddr);
    builder_number(builder, &builder->lines, end - first);
    for (size_t i = first; i < end; i++)
        block_row_write(builder, &rows->items[i], lines_file(builder, rows->items[i].file), &before,
                        &vaddr);
    builder_span(builder, &builder->line_spans, span);
    if (builder->lines.n > UINT32_MAX)
        builder->no_memory = true;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    int order = compare_u64(a->vaddr, b->vaddr);
    return order != 0 ? order : compare_u64(a->order, b->order);
}

static void sequence_write(struct program *p)
{
    struct rows *rows = &p->rows;
    if (rows->n > 1 && !p->ascending)
        qsort(rows->items, rows->n - 1, sizeof *rows->items, compare_rows);
    if (rows->n > 1 &&
        unit_range_lives(&p->builder->unit, rows->items[0].vaddr, rows->items[rows->n - 1].vaddr)) {
        rows_thin(rows);
        for (size_t i = 0; i + 1 < rows->n; i += INDEX_BLOCK_ROWS)
            block_write(p->builder, rows, i, (size_t)min_u64(i + INDEX_BLOCK_ROWS, rows->n - 1));
    }
}

/* ---- program ---- */

static void registers_reset(struct program *p)
{
    p->row = (struct row){.file = 1, .line = 1};
    p->rows.n = 0;
    p->ascending = true;
}

static void row_append(struct program *p)
{
    p->row.order = (uint32_t)p->rows.n;
    if (p->rows.n > 0 && p->rows.items[p->rows.n - 1].vaddr > p->row.vaddr)
        p->ascending = false;
    if (p->rows.n >= SEQUENCE_ROWS_MAX)
        cursor_fail(&p->c);
    else
        rows_push(&p->rows, p->row);
}

static void file_define(struct program *p, struct cursor *c)
{
    size_t length;
    struct file_entry file = {.text = FILE_NOT_YET};
    file.name = cursor_text(c, &length);
    file.folder = cursor_uleb128(c);
    if (!c->failed)
        file_entries_push(&p->builder->files, file);
}

static void extended_run(struct program *p)
{
    uint64_t length = cursor_uleb128(&p->c);
    const uint8_t *bytes = cursor_bytes(&p->c, length);
    if (bytes == NULL || length == 0)
        return;
    struct cursor c = cursor_make(bytes, length);
    switch (cursor_u8(&c)) {
    case DW_LNE_end_sequence:
        row_append(p);
        sequence_write(p);
        registers_reset(p);
        break;
    case DW_LNE_set_address:
        p->row.vaddr = cursor_u64le(&c);
        break;
    case DW_LNE_define_file:
        if (p->version < 5)
            file_define(p, &c);
        break;
    default:
        break;
    }
    if (c.failed)
        cursor_fail(&p->c);
}

static void standard_run(struct program *p, uint8_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy:
        row_append(p);
        break;
    case DW_LNS_advance_pc:
        p->row.vaddr += p->min_instruction * cursor_uleb128(&p->c);
        break;
    case DW_LNS_advance_line:
        p->row.line += (uint32_t)cursor_sleb128(&p->c);
        break;
    case DW_LNS_set_file:
        p->row.file = (uint32_t)cursor_uleb128(&p->c);
        break;
    case DW_LNS_set_column:
        p->row.column = (uint32_t)cursor_uleb128(&p->c);
        break;
    case DW_LNS_const_add_pc:
        p->row.vaddr += (uint64_t)((255U - p->opcode_base) / p->line_range) * p->min_instruction;
        break;
    case DW_LNS_fixed_advance_pc:
        p->row.vaddr += cursor_u16le(&p->c);
        break;
    default: /* without a meaning for us: set_isa takes an operand, others are told by the header */
        for (unsigned n = p->opcode_lengths[opcode - 1]; n > 0; n--)
            (void)cursor_uleb128(&p->c);
    }
}

static void program_run(struct program *p)
{
    registers_reset(p);
    while (!cursor_at_end(&p->c) && !p->c.failed) {
        uint8_t opcode = cursor_u8(&p->c);
        if (opcode >= p->opcode_base) {
            unsigned adjusted = opcode - p->opcode_base;
            p->row.vaddr += (uint64_t)(adjusted / p->line_range) * p->min_instruction;
            p->row.line += (uint32_t)(p->line_base + (int)(adjusted % p->line_range));
            row_append(p);
        } else if (opcode == 0) {
            extended_run(p);
        } else {
            standard_run(p, opcode);
        }
    }
}

void lines_read(struct builder *builder)
{
    struct program p = {.builder = builder};
    builder->folders.n = builder->files.n = 0;
    if (!builder->unit.has_lines)
        return;
    size_t n_lines = builder->lines.n;
    size_t n_spans = builder->line_spans.n;
    bool read = header_read(&p);
    if (read)
        program_run(&p);
    if (!read || p.c.failed) { /* libdw takes nothing of a damaged table either */
        builder->folders.n = builder->files.n = 0;
        builder->lines.n = n_lines;
        builder->line_spans.n = n_spans;
    }
    if (p.rows.no_memory || builder->folders.no_memory || builder->files.no_memory)
        builder->no_memory = true;
    rows_deinit(&p.rows);
}

/* ---- paths ---- */

/* Folder and name as libdw joins them, then the compilation folder in front of what is relative,
 * unless the path begins with it, be it relative or not. */
static uint32_t path_make(struct builder *builder, const char *folder, const char *name)
{
    char path[PATH_MAX];
    char joined[PATH_MAX];
    const char *const base = builder->unit.folder;
    if (name[0] == '/' || folder == NULL)
        folder = "";
    size_t length = base == NULL ? 0 : strnlen(base, PATH_MAX);
    size_t bytes = length + strnlen(folder, PATH_MAX) + strnlen(name, PATH_MAX);
    if (bytes >= PATH_MAX)
        return 0;
    int n = snprintf(path, sizeof path, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
    if (n < 0 || (size_t)n >= sizeof path)
        return 0;
    if (path[0] == '/' || length == 0 || (strncmp(path, base, length) == 0 && path[length] == '/'))
        return builder_text(builder, path, false);
    n = snprintf(joined, sizeof joined, "%s/%s", base, path);
    return builder_text(builder, n > 0 && (size_t)n < sizeof joined ? joined : path, false);
}

uint32_t lines_file(struct builder *builder, uint64_t index)
{
    if (index >= builder->files.n)
        return 0;
    struct file_entry *file = &builder->files.items[index];
    if (file->text == FILE_NOT_YET) {
        const char *folder =
            file->folder < builder->folders.n ? builder->folders.items[file->folder] : NULL;
        file->text = file->name == NULL ? 0 : path_make(builder, folder, file->name);
    }
    return file->text;
}
