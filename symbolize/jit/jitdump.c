/* jitdump.c - see jitdump.h. */
#include "jit/jitdump.h"

#include "cursor.h"
#include "jit/runtime_name.h"
#include "map.h"
#include "vector.h"

#define JITDUMP_MAGIC 0x4a695444u
#define HEADER_MIN_BYTES 40u
#define RECORD_HEAD_BYTES 16u
#define FLAG_OTHER_CLOCK 1u
#define V8_LINES_OFFSET 0x40u

enum { RECORD_LOAD = 0, RECORD_MOVE = 1, RECORD_DEBUG = 2 };

/* Code with its name and lines, wherever it lies. */
struct loaded {
    uint64_t start;
    uint64_t size_bytes;
    struct text name;
    struct cursor lines;  /* entries of a DEBUG record */
    uint64_t lines_start; /* `start` when they were written */
    uint64_t n_lines;     /* 0: there are none         */
};
VECTOR_DEFINE(loads, struct loaded)

struct dump {
    struct codes_said *codes;
    struct loads loads;
    struct map by_index; /* of MOVE -> in loads                      */
    struct cursor lines; /* of the last DEBUG, which is for the next LOAD */
    uint64_t lines_of;
    uint64_t n_lines;
    bool has_times;
};

struct line_entry {
    uint64_t pc;
    uint32_t line;
    struct text file;
};

/* ---- lines ---- */

static bool is_name_of_file(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.bytes[i] < ' ')
            return false;
    return text.length != 0;
}

/* A file of "\377" is that of the entry before. */
static bool entry_read(struct cursor *c, const struct loaded *code, struct line_entry *entry)
{
    size_t length;
    uint64_t shift = runtime_name_is_v8(code->name) ? V8_LINES_OFFSET : 0;
    uint64_t offset = cursor_u64le(c) - shift - code->lines_start;
    entry->pc = code->start + offset;
    entry->line = cursor_u32le(c);
    cursor_skip(c, sizeof(uint32_t)); /* column */
    const char *file = cursor_text(c, &length);
    if (c->failed || offset > code->size_bytes)
        return false;
    if (length != 1 || file[0] != '\377')
        entry->file = runtime_file((struct text){file, length});
    return is_name_of_file(entry->file);
}

/* The first entry is the function's own, others may be of what was inlined into it. */
static bool lines_make_sense(const struct loaded *code)
{
    struct text own_file = runtime_name_split(code->name).file;
    struct cursor c = code->lines;
    struct line_entry entry = {.file = text_make("")};
    uint64_t n = 0;
    while (n < code->n_lines && entry_read(&c, code, &entry)) {
        if (n == 0 && own_file.length != 0 && !text_equal(entry.file, own_file))
            return false;
        n++;
    }
    return n == code->n_lines;
}

/* The line at the code's address is that of the entry with the highest one up to it; they need not be in
 * order. */
static void lines_said(const struct loaded *code, struct codes_said *codes, struct code_said *said)
{
    struct cursor c = code->lines;
    struct line_entry entry = {.file = text_make("")};
    uint64_t best = 0;
    for (uint64_t i = 0;
         i < code->n_lines && entry_read(&c, code, &entry) && codes_said_listen(codes); i++) {
        if (i == 0) {
            said->decl_file = entry.file;
            said->decl_line = entry.line;
        }
        if (entry.pc > said->pc || entry.pc < best)
            continue;
        best = entry.pc;
        said->file = entry.file;
        said->line = entry.line;
    }
}

/* ---- records ---- */

static void code_said_at(const struct dump *dump, const struct loaded *code, uint64_t time_ns)
{
    struct codes_said *codes = dump->codes;
    for (size_t i = codes_said_from(codes, code->start);
         i < codes->n && codes->items[i].pc - code->start < code->size_bytes &&
         codes_said_listen(codes);
         i++) {
        struct code_said *said = &codes->items[i];
        if (dump->has_times && time_ns > said->seen_ns)
            continue;
        *said = (struct code_said){.pc = said->pc,
                                   .seen_ns = said->seen_ns,
                                   .entry = code->start,
                                   .name = code->name,
                                   .file = text_make(""),
                                   .decl_file = text_make("")};
        lines_said(code, codes, said);
    }
}

static bool load_read(struct dump *dump, struct cursor *c, uint64_t time_ns)
{
    size_t length;
    struct loaded code = {0};
    cursor_skip(c, 4 + 4 + 8); /* pid, tid, vma */
    code.start = cursor_u64le(c);
    code.size_bytes = cursor_u64le(c);
    uint64_t index = cursor_u64le(c);
    const char *name = cursor_text(c, &length);
    if (c->failed)
        return true;
    code.name = (struct text){name, length};
    if (dump->n_lines != 0 && dump->lines_of == code.start) {
        code.lines = dump->lines;
        code.lines_start = code.start;
        code.n_lines = dump->n_lines;
        if (!lines_make_sense(&code))
            code.n_lines = 0;
    }
    dump->n_lines = 0;
    code_said_at(dump, &code, time_ns);
    return loads_push(&dump->loads, code) &&
           map_set(&dump->by_index, index, 0, (uint32_t)(dump->loads.n - 1));
}

static void move_read(struct dump *dump, struct cursor *c, uint64_t time_ns)
{
    cursor_skip(c, 4 + 4 + 8); /* pid, tid, vma */
    uint64_t old_start = cursor_u64le(c);
    uint64_t new_start = cursor_u64le(c);
    uint64_t size_bytes = cursor_u64le(c);
    uint32_t row = map_find(&dump->by_index, cursor_u64le(c), 0);
    if (c->failed || row >= dump->loads.n)
        return; /* MAP_NONE is larger */
    struct loaded *code = &dump->loads.items[row];
    if (code->start != old_start || code->size_bytes != size_bytes)
        return;
    code->start = new_start;
    code_said_at(dump, code, time_ns);
}

static void debug_read(struct dump *dump, struct cursor *c)
{
    dump->lines_of = cursor_u64le(c);
    dump->n_lines = cursor_u64le(c);
    dump->lines = *c;
    if (c->failed)
        dump->n_lines = 0;
}

/* False: no memory. */
static bool records_read(struct dump *dump, struct cursor *all)
{
    while (cursor_left(all) >= RECORD_HEAD_BYTES) {
        uint32_t id = cursor_u32le(all);
        uint32_t size_bytes = cursor_u32le(all);
        uint64_t time_ns = cursor_u64le(all);
        if (size_bytes < RECORD_HEAD_BYTES)
            return true;
        const uint8_t *bytes = cursor_bytes(all, size_bytes - RECORD_HEAD_BYTES);
        if (bytes == NULL)
            return true;
        struct cursor c = cursor_make(bytes, size_bytes - RECORD_HEAD_BYTES);
        if (id == RECORD_LOAD && !load_read(dump, &c, time_ns))
            return false;
        if (id == RECORD_MOVE)
            move_read(dump, &c, time_ns);
        if (id == RECORD_DEBUG)
            debug_read(dump, &c);
    }
    return true;
}

enum jitdump_outcome jitdump_read(struct text dump, uint32_t pid, struct codes_said *codes)
{
    struct cursor c = cursor_make(dump.bytes, dump.length);
    uint32_t magic = cursor_u32le(&c);
    cursor_skip(&c, sizeof(uint32_t)); /* version: records have had this shape in each */
    uint32_t header_bytes = cursor_u32le(&c);
    cursor_skip(&c, 2 * sizeof(uint32_t)); /* machine, pad */
    uint32_t of_pid = cursor_u32le(&c);
    cursor_skip(&c, sizeof(uint64_t)); /* time */
    uint64_t flags = cursor_u64le(&c);
    if (c.failed || magic != JITDUMP_MAGIC || of_pid != pid || header_bytes < HEADER_MIN_BYTES ||
        header_bytes > dump.length)
        return JITDUMP_NONE;
    struct dump read = {.codes = codes, .has_times = (flags & FLAG_OTHER_CLOCK) == 0};
    cursor_skip(&c, header_bytes - HEADER_MIN_BYTES);
    bool done = records_read(&read, &c);
    loads_deinit(&read.loads);
    map_deinit(&read.by_index);
    return done ? JITDUMP_READ : JITDUMP_NO_MEMORY;
}
