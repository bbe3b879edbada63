/* read.c - folded files in, tolerant and fast.
 *
 * Sorted files repeat the beginning of one line in the next: the frames two lines share are not
 * looked at again (common_prefix). In others most stacks are seen again with one of the frames met
 * last on top: each stack remembers two (child_find). What neither of the two knows costs one
 * search for ";", one hash of its name in a table that points into the file, and one hash of
 * (stack, frame) in the profile's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/folded/folded.h"
#include "saturated.h"
#include "text/utf8.h"

#define MAX_COLUMNS 2
#define MAX_WORD_BYTES 40

struct name {
    struct text text; /* in the file's bytes */
    uint32_t frame;
    uint32_t tag; /* upper half of its hash */
};

#define N_CHILDREN 2

/* What is known of a stack of the profile. */
struct known_stack {
    uint32_t name;                 /* of its leaf, in `names`                       */
    uint32_t record;               /* its number + 1; 0 = no line ends here         */
    uint32_t children[N_CHILDREN]; /* stacks with one frame more, the last seen first */
};

/* A frame of the line read last. */
struct line_frame {
    size_t end; /* offset of the ";" after it in the line, or of the line's end */
    uint32_t stack;
};

VECTOR_DEFINE(names, struct name)
VECTOR_DEFINE(known_stacks, struct known_stack)
VECTOR_DEFINE(line_frames, struct line_frame)
VECTOR_DEFINE(u64s, uint64_t)

struct reader {
    struct folded_content *content;
    struct profile_builder *builder;
    uint32_t n_columns;
    struct names names;               /* [0] is none */
    uint32_t *name_slots;             /* their numbers, 0 = free; hashed */
    size_t n_name_slots;              /* a power of two */
    struct known_stacks known_stacks; /* by stack */
    const char *line;                 /* the stack read last */
    size_t line_length;
    struct line_frames frames; /* its frames */
    struct ids stacks;         /* of records                   */
    struct u64s counts;        /* of records: n_columns of each */
    bool failed;               /* out of memory or ids */
};

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r' && byte != '\n');
}

static uint64_t name_hash(const char *bytes, size_t length)
{
    uint64_t hash = length;
    for (; length >= sizeof hash; bytes += sizeof hash, length -= sizeof hash) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    uint64_t rest = 0;
    memcpy(&rest, bytes, length);
    hash = (hash ^ rest) * 0xbf58476d1ce4e5b9U;
    return hash ^ (hash >> 32);
}

static const struct name *name_at(const struct reader *reader, uint32_t number)
{
    return &reader->names.items[number];
}

static bool names_grow(struct reader *reader)
{
    size_t n_slots = reader->n_name_slots * 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t number = 1; number < reader->names.n; number++) {
        struct text text = name_at(reader, number)->text;
        size_t at = name_hash(text.bytes, text.length) & (n_slots - 1);
        while (slots[at] != 0)
            at = (at + 1) & (n_slots - 1);
        slots[at] = number;
    }
    free(reader->name_slots);
    reader->name_slots = slots;
    reader->n_name_slots = n_slots;
    return true;
}

/* The number of a name, added if new; 0 when out of memory. */
static uint32_t name_number(struct reader *reader, const char *bytes, size_t length)
{
    uint64_t hash = name_hash(bytes, length);
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = hash & (reader->n_name_slots - 1);
    for (; reader->name_slots[at] != 0; at = (at + 1) & (reader->n_name_slots - 1)) {
        const struct name *name = name_at(reader, reader->name_slots[at]);
        if (name->tag == tag && name->text.length == length &&
            memcmp(name->text.bytes, bytes, length) == 0)
            return reader->name_slots[at];
    }
    uint32_t frame = profile_add_named_frame(reader->builder, bytes, length);
    uint32_t number = (uint32_t)reader->names.n;
    const struct name name = {.text = {bytes, length}, .frame = frame, .tag = tag};
    if (frame == 0 || !names_push(&reader->names, name))
        return 0;
    reader->name_slots[at] = number;
    if (reader->names.n * 3 > reader->n_name_slots * 2 && !names_grow(reader))
        return 0;
    return number;
}

/* The stack of `stack` and the frame `text` begins with, if that was seen not long ago; else 0. A
 * name seen before has no blanks around it, so what equals it up to ";" needs no trimming. */
static uint32_t child_find(const struct reader *reader, uint32_t stack, const char *text,
                           size_t length, size_t *name_length)
{
    const struct known_stack *known = reader->known_stacks.items;
    for (int i = 0; i < N_CHILDREN; i++) {
        uint32_t child = known[stack].children[i];
        struct text name = name_at(reader, known[child].name)->text;
        if (child == 0)
            return 0;
        if (name.length <= length && (name.length == length || text[name.length] == ';') &&
            memcmp(name.bytes, text, name.length) == 0) {
            *name_length = name.length;
            return child;
        }
    }
    return 0;
}

/* The stack of `stack` and the frame of that name, added if new; 0 when out of memory or ids. */
static uint32_t child_add(struct reader *reader, uint32_t stack, const char *name, size_t length)
{
    uint32_t number = name_number(reader, name, length);
    uint32_t child =
        number == 0 ? 0 : profile_add_stack(reader->builder, stack, name_at(reader, number)->frame);
    if (child == 0 || !known_stacks_extend(&reader->known_stacks, (size_t)child + 1))
        return 0;
    struct known_stack *known = reader->known_stacks.items;
    known[child].name = number;
    memmove(known[stack].children + 1, known[stack].children,
            (N_CHILDREN - 1) * sizeof *known[stack].children);
    known[stack].children[0] = child;
    return child;
}

static size_t common_prefix(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    for (; n - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word_a, word_b;
        memcpy(&word_a, a + i, sizeof word_a);
        memcpy(&word_b, b + i, sizeof word_b);
        if (word_a != word_b)
            return i + (size_t)__builtin_ctzll(word_a ^ word_b) / 8;
    }
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* How many frames of the last line this one begins with: those whose ";" is common too. */
static size_t shared_frames(const struct reader *reader, const char *line, size_t length)
{
    size_t shorter = length < reader->line_length ? length : reader->line_length;
    size_t common = common_prefix(reader->line, line, shorter);
    const struct line_frame *frames = reader->frames.items;
    size_t n = 0;
    while (n + 1 < reader->frames.n && frames[n].end < common)
        n++;
    return n;
}

/* The stack of a trimmed line's text; 0 when out of memory. */
static uint32_t stack_read(struct reader *reader, const char *line, size_t length)
{
    size_t n_shared = shared_frames(reader, line, length);
    struct line_frames *frames = &reader->frames;
    frames->n = n_shared;
    size_t pos = 0;
    uint32_t stack = 0;
    if (n_shared > 0) {
        const struct line_frame *last = &frames->items[n_shared - 1];
        pos = last->end + 1;
        stack = last->stack;
    }
    reader->line = line;
    reader->line_length = length;
    for (;;) {
        size_t end, name_length;
        uint32_t child = child_find(reader, stack, line + pos, length - pos, &name_length);
        if (child != 0) {
            end = pos + name_length;
        } else {
            const char *separator = memchr(line + pos, ';', length - pos);
            end = separator == NULL ? length : (size_t)(separator - line);
            size_t name_start = pos, name_end = end;
            while (name_start < name_end && is_blank(line[name_start]))
                name_start++;
            while (name_end > name_start && is_blank(line[name_end - 1]))
                name_end--;
            child = child_add(reader, stack, line + name_start, name_end - name_start);
        }
        stack = child;
        if (stack == 0 ||
            !line_frames_push(frames, (struct line_frame){.end = end, .stack = stack}))
            return 0;
        if (end == length)
            return stack;
        pos = end + 1;
    }
}

static void line_is_bad(struct reader *reader, enum folded_fault fault, const char *word,
                        size_t length)
{
    const struct folded_bad_line bad = {
        .line = reader->content->n_lines, .fault = fault, .word = {word, length}};
    if (!folded_bad_lines_push(&reader->content->bad, bad))
        reader->failed = true;
}

/* Takes the last word off [start, *end) and reads it as a count. */
static bool count_take(struct reader *reader, const char *start, const char **end, uint64_t *count)
{
    const char *word_end = *end, *word = word_end;
    bool overflow = false, digits = true;
    while (word > start && !is_blank(word[-1]))
        word--;
    *count = 0;
    for (const char *at = word; at < word_end && digits; at++) {
        digits = *at >= '0' && *at <= '9';
        overflow = overflow || __builtin_mul_overflow(*count, (uint64_t)10, count) ||
                   __builtin_add_overflow(*count, (uint64_t)(*at - '0'), count);
    }
    size_t length = (size_t)(word_end - word);
    if (length == 0 || !digits || overflow) {
        line_is_bad(reader,
                    length == 0 ? FOLDED_NO_COUNT
                    : !digits   ? FOLDED_NOT_A_COUNT
                                : FOLDED_COUNT_OVERFLOW,
                    word, length);
        return false;
    }
    while (word > start && is_blank(word[-1]))
        word--;
    *end = word;
    return true;
}

static void counts_add(struct reader *reader, uint32_t stack, const uint64_t *counts)
{
    uint32_t *record = &reader->known_stacks.items[stack].record;
    if (*record == 0) {
        if (!ids_push(&reader->stacks, stack) ||
            !u64s_extend(&reader->counts, reader->counts.n + reader->n_columns)) {
            reader->failed = true;
            return;
        }
        *record = (uint32_t)reader->stacks.n;
    } else {
        reader->content->n_merged++;
    }
    uint64_t *sums = &reader->counts.items[(size_t)(*record - 1) * reader->n_columns];
    bool overflow = false;
    for (uint32_t column = 0; column < reader->n_columns; column++) {
        uint64_t sum = add_saturated(sums[column], counts[column]);
        overflow = overflow || sum - sums[column] != counts[column];
        sums[column] = sum;
    }
    if (overflow)
        line_is_bad(reader, FOLDED_SUM_OVERFLOW, "", 0);
}

static void line_read(struct reader *reader, const char *start, const char *end)
{
    reader->content->n_lines++;
    while (end > start && is_blank(end[-1]))
        end--;
    while (start < end && is_blank(*start))
        start++;
    if (start == end) {
        reader->content->n_blank++;
        return;
    }
    uint64_t counts[MAX_COLUMNS] = {0};
    for (uint32_t column = reader->n_columns; column-- > 0;) {
        if (!count_take(reader, start, &end, &counts[column]))
            return;
    }
    if (start == end) {
        line_is_bad(reader, FOLDED_NO_STACK, "", 0);
        return;
    }
    reader->content->n_records++;
    uint32_t stack = stack_read(reader, start, (size_t)(end - start));
    if (stack == 0)
        reader->failed = true;
    else
        counts_add(reader, stack, counts);
}

static void lines_read(struct reader *reader, const char *pos, const char *end)
{
    while (pos < end && !reader->failed) {
        const char *newline = memchr(pos, '\n', (size_t)(end - pos));
        line_read(reader, pos, newline == NULL ? end : newline);
        pos = newline == NULL ? end : newline + 1;
    }
}

static void reader_deinit(struct reader *reader)
{
    profile_builder_destroy(reader->builder);
    free(reader->name_slots);
    names_deinit(&reader->names);
    known_stacks_deinit(&reader->known_stacks);
    line_frames_deinit(&reader->frames);
    ids_deinit(&reader->stacks);
    u64s_deinit(&reader->counts);
}

static bool reader_init(struct reader *reader, uint32_t n_columns, struct folded_content *content,
                        struct err *err)
{
    *reader = (struct reader){.content = content, .n_columns = n_columns, .line = ""};
    reader->n_name_slots = 1024;
    reader->name_slots = calloc(reader->n_name_slots, sizeof *reader->name_slots);
    if (reader->name_slots == NULL || !names_extend(&reader->names, 1) ||
        !known_stacks_extend(&reader->known_stacks, 1))
        return err_fail_memory(err);
    return profile_builder_create(&reader->builder, err);
}

static bool profile_make(struct reader *reader, struct profile **out, struct err *err)
{
    static const char *const kind_names[][2] = {{"samples", NULL}, {"before", "after"}};
    struct profile_scalars *scalars = profile_builder_scalars(reader->builder);
    scalars->n_kinds = reader->n_columns;
    for (uint32_t column = 0; column < reader->n_columns; column++) {
        const char *name = kind_names[reader->n_columns - 1][column];
        scalars->kinds[column].name = profile_add_cstring(reader->builder, name);
        scalars->kinds[column].unit = PROFILE_UNIT_COUNT;
    }
    for (size_t record = 0; record < reader->stacks.n; record++) {
        const struct profile_sample sample = {.stack = reader->stacks.items[record]};
        profile_add_sample(reader->builder, &sample,
                           &reader->counts.items[record * reader->n_columns]);
    }
    struct profile_builder *builder = reader->builder;
    reader->builder = NULL;
    return profile_builder_finish(builder, out, err);
}

bool folded_parse(const uint8_t *data, size_t size_bytes, uint32_t n_columns,
                  struct folded_content *out, struct err *err)
{
    *out = (struct folded_content){0};
    struct reader reader;
    bool ok = reader_init(&reader, n_columns, out, err);
    if (ok && size_bytes > 0) {
        const char *pos = (const char *)data, *end = pos + size_bytes;
        out->ends_with_newline = end[-1] == '\n';
        pos += utf8_mark_bytes(pos, size_bytes);
        lines_read(&reader, pos, end);
    }
    if (ok && reader.failed)
        ok = err_fail_memory(err);
    ok = ok && profile_make(&reader, &out->profile, err);
    reader_deinit(&reader);
    if (!ok)
        folded_content_deinit(out);
    return ok;
}

void folded_content_deinit(struct folded_content *content)
{
    profile_destroy(content->profile);
    folded_bad_lines_deinit(&content->bad);
    content->profile = NULL;
}

size_t folded_describe_fault(const struct folded_bad_line *bad, char *out, size_t out_bytes)
{
    static const char *const texts[] = {
        [FOLDED_NO_COUNT] = "no count",
        [FOLDED_NOT_A_COUNT] = " is not a count",
        [FOLDED_COUNT_OVERFLOW] = "count over 2^64-1",
        [FOLDED_NO_STACK] = "no stack",
        [FOLDED_SUM_OVERFLOW] = "sum over 2^64-1",
    };
    size_t n = 0;
    if (bad->fault == FOLDED_NOT_A_COUNT) {
        out[n++] = '"';
        for (size_t i = 0; i < bad->word.length && i < MAX_WORD_BYTES; i++)
            out[n++] = bad->word.bytes[i];
        out[n++] = '"';
    }
    snprintf(out + n, out_bytes - n, "%s", texts[bad->fault]);
    return n + strlen(texts[bad->fault]);
}

/* For terminals: what a file says must not move their cursor. */
static void printable_fault(const struct folded_bad_line *bad, char *out, size_t out_bytes)
{
    size_t n = folded_describe_fault(bad, out, out_bytes);
    for (size_t i = 0; i < n; i++) {
        if (char_is_control(out[i]))
            out[i] = '?';
    }
}

const char *folded_describe_bad(const struct folded_bad_line *bad, char *out, size_t out_bytes)
{
    char fault[FOLDED_FAULT_BYTES];
    printable_fault(bad, fault, sizeof fault);
    snprintf(out, out_bytes, "line %" PRIu64 ": %s", bad->line, fault);
    return out;
}

#define N_BAD_LINES_TOLD 5

static void bad_lines_note(const struct folded_content *content, const struct format_notes *notes)
{
    char text[160];
    for (size_t i = 0; i < content->bad.n && i < N_BAD_LINES_TOLD; i++)
        format_note(notes, "%s", folded_describe_bad(&content->bad.items[i], text, sizeof text));
    if (content->bad.n > 0)
        format_note(notes, "%zu of %" PRIu64 " lines could not be taken as they are",
                    content->bad.n, content->n_lines);
}

bool folded_read_columns(const uint8_t *data, size_t size_bytes, uint32_t n_columns,
                         const struct format_options *options, const struct format_notes *notes,
                         struct profile **out, struct err *err)
{
    struct folded_content content;
    if (!folded_parse(data, size_bytes, n_columns, &content, err))
        return false;
    bool strict = options != NULL && options->strict;
    if (content.bad.n > 0 && (strict || content.n_records == 0)) {
        const struct folded_bad_line *first = &content.bad.items[0];
        char text[FOLDED_FAULT_BYTES];
        printable_fault(first, text, sizeof text);
        err_fail_line(
            err, ERR_FORMAT, first->line, "%s%s", text,
            content.n_records == 0 ? ", and no other line is a stack with its count either" : "");
        folded_content_deinit(&content);
        return false;
    }
    bad_lines_note(&content, notes);
    *out = content.profile;
    content.profile = NULL;
    folded_content_deinit(&content);
    return true;
}
