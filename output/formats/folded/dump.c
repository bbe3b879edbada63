/* dump.c - what a folded file says, as JSON: how many lines of which sort, the bad ones with
 * their reason, and the stacks sorted by bytes. */
#include <string.h>

#include "fold/fold.h"
#include "formats/folded/folded.h"
#include "text/json_write.h"

#define EXACT_MAX (((uint64_t)1 << 53) - 1)

__extension__ typedef unsigned __int128 wide_u64;

/* Totals may pass 2^64: digits by hand, in quotes where a double is not exact. */
static void json_wide(struct json *json, wide_u64 value)
{
    char digits[48];
    size_t at = sizeof digits;
    bool is_quoted = value > EXACT_MAX;
    if (is_quoted)
        digits[--at] = '"';
    do {
        digits[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value != 0);
    if (is_quoted)
        digits[--at] = '"';
    json_raw(json, digits + at, sizeof digits - at);
}

static void bad_lines_dump(struct json *json, const struct folded_bad_lines *bad_lines)
{
    json_array_begin(json);
    for (size_t i = 0; i < bad_lines->n; i++) {
        const struct folded_bad_line *bad = &bad_lines->items[i];
        char text[FOLDED_FAULT_BYTES];
        json_object_begin(json);
        json_key(json, "line");
        json_u64(json, bad->line);
        json_key(json, "why");
        json_bytes(json, text, folded_describe_fault(bad, text, sizeof text));
        json_object_end(json);
    }
    json_array_end(json);
}

static void totals_dump(struct json *json, const struct profile *profile)
{
    wide_u64 totals[2] = {0, 0};
    for (size_t i = 0; i < profile->n_samples; i++) {
        for (uint32_t kind = 0; kind < 2 && kind < profile->n_kinds; kind++)
            totals[kind] += profile_value(profile, i, kind);
    }
    if (profile->n_kinds == 1) {
        json_wide(json, totals[0]);
        return;
    }
    json_array_begin(json);
    json_wide(json, totals[0]);
    json_wide(json, totals[1]);
    json_array_end(json);
}

struct stack_dumper {
    struct json *json;
    uint32_t n_columns;
};

static void stack_dump(void *context, const char *stack, size_t length, const uint64_t *numbers)
{
    const struct stack_dumper *dumper = context;
    struct json *json = dumper->json;
    json_object_begin(json);
    json_key(json, "stack");
    json_array_begin(json);
    for (size_t pos = 0;;) {
        const char *separator = length == pos ? NULL : memchr(stack + pos, ';', length - pos);
        size_t end = separator == NULL ? length : (size_t)(separator - stack);
        json_bytes(json, end == pos ? "" : stack + pos, end - pos);
        if (separator == NULL)
            break;
        pos = end + 1;
    }
    json_array_end(json);
    json_key(json, "count");
    if (dumper->n_columns > 1)
        json_array_begin(json);
    for (uint32_t column = 0; column < dumper->n_columns; column++)
        json_u64_exact(json, numbers[column]);
    if (dumper->n_columns > 1)
        json_array_end(json);
    json_object_end(json);
}

static bool stacks_dump(struct json *json, const struct profile *profile, struct err *err)
{
    struct fold *fold = NULL;
    if (!fold_create(profile->n_kinds, FOLD_RAW, &fold, err))
        return false;
    bool ok = true;
    for (uint32_t kind = 0; kind < profile->n_kinds && ok; kind++) {
        const struct fold_unit unit = {.kind = kind, .multiplier = 1, .divisor = 1};
        ok = fold_add(fold, kind, profile, unit, (struct fold_roots){0}, err);
    }
    struct stack_dumper dumper = {.json = json, .n_columns = profile->n_kinds};
    json_array_begin(json);
    ok = ok && fold_visit(fold, stack_dump, &dumper, err);
    json_array_end(json);
    fold_destroy(fold);
    return ok;
}

bool folded_dump_columns(const uint8_t *data, size_t size_bytes, uint32_t n_columns,
                         struct sink *out, struct err *err)
{
    struct folded_content content;
    if (!folded_parse(data, size_bytes, n_columns, &content, err))
        return false;
    struct json json = json_make(out, 1);
    json_object_begin(&json);
    json_key(&json, "lines");
    json_u64(&json, content.n_lines);
    json_key(&json, "records");
    json_u64(&json, content.n_records);
    json_key(&json, "blank");
    json_u64(&json, content.n_blank);
    json_key(&json, "merged");
    json_u64(&json, content.n_merged);
    json_key(&json, "bad");
    bad_lines_dump(&json, &content.bad);
    json_key(&json, "total");
    totals_dump(&json, content.profile);
    json_key(&json, "endsWithNewline");
    json_bool(&json, content.ends_with_newline);
    json_key(&json, "stacks");
    bool ok = stacks_dump(&json, content.profile, err);
    json_object_end(&json);
    sink_text(out, "\n");
    folded_content_deinit(&content);
    return ok;
}
