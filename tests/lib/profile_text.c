/* profile_text.c - see profile_text.h. */
#include "profile_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/fold.h"
#include "fold/name.h"
#include "model/convert.h"
#include "text/utf8.h"
#include "unit.h"

#define MAX_NUMBERS (2 + PROFILE_MAX_KINDS)

struct line {
    char *key;
    uint64_t numbers[MAX_NUMBERS];
    uint32_t n_numbers;
    uint32_t n_added; /* rows of the profile in it */
};

struct telling {
    const struct profile *profile;
    const struct profile_text_rules *rules;
    struct array *lines;
    struct chars key;   /* of the line in the making */
    uint64_t origin_ns; /* earliest time */
};

/* ---- texts ---- */

static void put_bytes(struct telling *t, const char *bytes, size_t length)
{
    assert_true(chars_append(&t->key, bytes, length));
}

static void put(struct telling *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct telling *t, const char *format, ...)
{
    char piece[200];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof piece);
    put_bytes(t, piece, (size_t)n);
}

static void put_folded(struct telling *t, struct text text)
{
    struct chars clean = {0};
    assert_true(fold_name_clean(&clean, text.bytes, text.length));
    size_t blank = fold_name_number(clean.items, clean.n);
    if (blank != 0)
        clean.items[blank] = '_';
    put_bytes(t, clean.items, clean.n);
    chars_deinit(&clean);
}

static bool is_bare(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

static void put_text(struct telling *t, uint32_t id)
{
    struct text text = profile_text(t->profile, id);
    if (t->rules->names == NAMES_FOLDED) {
        put_folded(t, text);
        return;
    }
    if (t->rules->names == NAMES_TO_NUL)
        text.length = strnlen(text.bytes, text.length);
    for (size_t i = 0; i < text.length;) {
        bool is_valid;
        size_t n = utf8_next(text.bytes + i, text.length - i, &is_valid);
        if (t->rules->names == NAMES_TO_NUL)
            put_bytes(t, text.bytes + i, n);
        else if (t->rules->names == NAMES_BARE)
            put_bytes(t, text.bytes + i, n == 1 && is_bare(text.bytes[i]));
        else if (!is_valid || text.bytes[i] == '\0')
            put_bytes(t, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
        else
            put_bytes(t, text.bytes + i, n);
        i += n;
    }
}

static void put_function(struct telling *t, uint32_t function_id)
{
    const struct profile_function *function = &t->profile->functions[function_id];
    put_text(t, function->name);
    if (t->rules->keeps & KEEPS_FILES) {
        put(t, " in ");
        bool has_file = function->file != 0 || !t->rules->modules_as_files;
        put_text(t, has_file ? function->file : t->profile->modules[function->module].path);
        put(t, ":%" PRIu32, function->file != 0 ? function->line : 0);
    }
    if (t->rules->keeps & KEEPS_MODULES) {
        put(t, " of ");
        put_text(t, t->profile->modules[function->module].path);
    }
}

static void put_frame(struct telling *t, uint32_t frame_id)
{
    const struct profile_frame *frame = &t->profile->frames[frame_id];
    put(t, ";");
    put_function(t, frame->function);
    if (t->rules->keeps & KEEPS_LINES)
        put(t, ":%" PRIu32, frame->line);
    if (t->rules->keeps & KEEPS_INLINED)
        put(t, frame->flags & PROFILE_FRAME_INLINED ? " inlined" : "");
    if ((t->rules->keeps & KEEPS_LINES) && frame->file != 0) {
        put(t, " in ");
        put_text(t, frame->file);
    }
    if (t->rules->keeps & KEEPS_ADDRESSES)
        put(t, " at %" PRIx64, frame->address);
}

static void put_stack(struct telling *t, uint32_t stack)
{
    struct array path;
    array_init(&path, sizeof(uint32_t));
    for (; stack != 0; stack = t->profile->stacks[stack].parent) {
        uint32_t *frame = array_push(&path);
        assert_non_null(frame);
        *frame = t->profile->stacks[stack].frame;
    }
    while (path.n > 0)
        put_frame(t, *(uint32_t *)array_at(&path, --path.n));
    array_deinit(&path);
}

static void put_thread(struct telling *t, uint32_t thread_id)
{
    const struct profile_thread *thread = &t->profile->threads[thread_id];
    if (t->rules->keeps & KEEPS_PROCESSES)
        put(t, "process %" PRIu64 " ", t->profile->processes[thread->process].pid);
    if (t->rules->keeps & KEEPS_THREADS) {
        put(t, "thread %" PRIu64 " ", t->rules->no_tids ? 0 : thread->tid);
        put_text(t, thread->name);
        put(t, " ");
        if (t->rules->process_in_names && thread->process != 0) {
            const struct profile_process *process = &t->profile->processes[thread->process];
            put(t, "(");
            put_text(t, process->name);
            put(t, "%s%" PRIu64 ") ", process->name != 0 ? " " : "", process->pid);
        }
    }
}

static struct line *line_end(struct telling *t)
{
    struct line *line = array_push(t->lines);
    assert_non_null(line);
    put_bytes(t, "", 1);
    *line = (struct line){.key = t->key.items, .n_added = 1};
    t->key = (struct chars){0};
    return line;
}

static void add_number(struct line *line, uint64_t number)
{
    assert_true(line->n_numbers < MAX_NUMBERS);
    line->numbers[line->n_numbers++] = number;
}

static bool is_told(const struct telling *t, uint32_t thread)
{
    return !t->rules->one_thread || t->rules->thread == thread;
}

/* ---- rows ---- */

/* Times of samples are told as where they begin on the time line: some formats keep that alone, and
 * a profile with a period has their ends instead. */

/* Some formats know idle samples by name alone. */
static bool is_idle(const struct profile *profile, uint32_t stack)
{
    const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
    return (frame->flags & PROFILE_FRAME_IDLE) != 0 ||
           strcmp(profile_text(profile, profile->functions[frame->function].name).bytes,
                  "(idle)") == 0;
}

static void tell_samples(struct telling *t)
{
    const struct profile *profile = t->profile;
    struct fold_unit unit = fold_unit_choose(profile, t->rules->in_ns);
    struct profile_timeline timeline = profile_timeline_make(profile);
    struct profile_slice slice;
    for (size_t i = 0; profile_timeline_next(&timeline, &slice); i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t weight =
            t->rules->in_ns && profile->kinds[0].unit <= PROFILE_UNIT_NS
                ? profile_sample_ns(profile, i)
                : profile_value(profile, i, unit.kind) * unit.multiplier / unit.divisor;
        bool has_weight = weight != 0;
        for (uint32_t kind = 1; kind < profile->n_kinds && t->rules->keeps & KEEPS_ALL_KINDS;
             kind++)
            has_weight = has_weight || profile_value(profile, i, kind) != 0;
        if (!is_told(t, sample->thread) || !has_weight)
            continue; /* closing samples and the like */
        if (is_idle(profile, sample->stack))
            continue; /* how some formats say that there is no sample for a while */
        put_thread(t, sample->thread);
        uint32_t process = profile->processes[profile->threads[sample->thread].process].name;
        if (t->rules->process_roots && process != 0) {
            put(t, ";");
            put_text(t, process);
        }
        put_stack(t, sample->stack);
        struct line *line = line_end(t);
        add_number(line, weight);
        if (t->rules->keeps & KEEPS_TIMES)
            add_number(line, slice.begin_ns - t->origin_ns);
        for (uint32_t kind = 1; kind < profile->n_kinds && t->rules->keeps & KEEPS_ALL_KINDS;
             kind++)
            add_number(line, profile_value(profile, i, kind));
    }
}

/* Samples that last no time make spans that no format has to show. */
static void tell_spans(struct telling *t, bool from_samples)
{
    for (uint32_t id = 1; id < t->profile->n_spans; id++) {
        const struct profile_span *span = &t->profile->spans[id];
        if (!is_told(t, span->thread) || (from_samples && span->begin_ns == span->end_ns))
            continue;
        put(t, "span ");
        put_thread(t, span->thread);
        put_frame(t, span->frame);
        struct line *line = line_end(t);
        add_number(line, span->begin_ns - t->origin_ns);
        add_number(line, span->end_ns - t->origin_ns);
    }
}

static void tell_instants(struct telling *t)
{
    for (size_t i = 0; i < t->profile->n_instants; i++) {
        const struct profile_instant *instant = &t->profile->instants[i];
        if (!is_told(t, instant->thread))
            continue;
        put(t, "instant ");
        put_thread(t, instant->thread);
        put_frame(t, instant->frame);
        put(t, " in ");
        if (instant->span != 0)
            put_function(t, t->profile->frames[t->profile->spans[instant->span].frame].function);
        put(t, " %d ", (int)instant->type);
        if (instant->type == PROFILE_VALUE_TEXT)
            put_text(t, (uint32_t)instant->value.u64);
        else if (instant->type != PROFILE_VALUE_NONE)
            put(t, "%" PRIx64, instant->value.u64); /* the bits, of whatever type */
        add_number(line_end(t), instant->time_ns - t->origin_ns);
    }
}

static void tell_off_cpus(struct telling *t)
{
    for (size_t i = 0; i < t->profile->n_off_cpus; i++) {
        const struct profile_off_cpu *off_cpu = &t->profile->off_cpus[i];
        if (!is_told(t, off_cpu->thread) || off_cpu->begin_ns == off_cpu->end_ns)
            continue;
        put(t, "off ");
        put_thread(t, off_cpu->thread);
        put(t, "to %" PRIu64 " ", off_cpu->to_tid);
        put_text(t, off_cpu->to_process);
        struct line *line = line_end(t);
        add_number(line, off_cpu->begin_ns - t->origin_ns);
        add_number(line, off_cpu->end_ns - t->origin_ns);
    }
}

static void tell_bookmarks(struct telling *t)
{
    for (size_t i = 0; i < t->profile->n_bookmarks; i++) {
        const struct profile_bookmark *bookmark = &t->profile->bookmarks[i];
        put(t, "bookmark %" PRIx32 " ", bookmark->color);
        put_text(t, bookmark->text);
        add_number(line_end(t), bookmark->time_ns - t->origin_ns);
    }
}

/* Readers add keys of their own, with the format's name and a dot in front. */
static void tell_metadata(struct telling *t)
{
    for (size_t i = 0; i < t->profile->n_metadata; i++) {
        const struct profile_metadata *row = &t->profile->metadata[i];
        if (strchr(profile_text(t->profile, row->key).bytes, '.') != NULL)
            continue;
        put_text(t, row->key);
        put(t, " = ");
        put_text(t, row->value);
        line_end(t);
    }
}

/* Of what is told: formats may begin anywhere. */
static uint64_t earliest_ns(const struct telling *t)
{
    const struct profile *profile = t->profile;
    uint64_t first_ns = UINT64_MAX;
    struct profile_timeline timeline = profile_timeline_make(profile);
    struct profile_slice slice;
    while (profile_timeline_next(&timeline, &slice)) {
        if (t->rules->format_keeps & KEEPS_SAMPLES && is_told(t, slice.thread) &&
            !is_idle(profile, slice.stack) && slice.begin_ns < first_ns)
            first_ns = slice.begin_ns;
    }
    for (uint32_t id = 1; id < profile->n_spans; id++) {
        const struct profile_span *span = &profile->spans[id];
        if (t->rules->format_keeps & KEEPS_SPANS && is_told(t, span->thread) &&
            span->begin_ns < first_ns)
            first_ns = span->begin_ns;
    }
    return first_ns == UINT64_MAX ? 0 : first_ns;
}

/* ---- lines ---- */

/* Times, the last numbers, before weights: those are rounded, so that equal ones differ. */
static int line_compare(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    uint32_t n = a->n_numbers < b->n_numbers ? a->n_numbers : b->n_numbers;
    for (uint32_t i = n; order == 0 && i > 0; i--)
        order = a->numbers[i - 1] < b->numbers[i - 1] ? -1 : a->numbers[i - 1] > b->numbers[i - 1];
    return order;
}

/* Samples of equal stacks become one line: without times a format may have added them up. */
static void lines_add_up(struct array *lines)
{
    struct line *rows = lines->items;
    size_t n = 0;
    for (size_t i = 0; i < lines->n; i++) {
        struct line *last = n > 0 ? &rows[n - 1] : NULL;
        bool is_sample = strchr(rows[i].key, ';') != NULL && rows[i].n_numbers > 0 &&
                         strncmp(rows[i].key, "span ", 5) != 0 &&
                         strncmp(rows[i].key, "instant ", 8) != 0;
        if (last != NULL && is_sample && strcmp(last->key, rows[i].key) == 0) {
            for (uint32_t k = 0; k < last->n_numbers; k++)
                last->numbers[k] += rows[i].numbers[k];
            last->n_added++;
            free(rows[i].key);
        } else {
            rows[n++] = rows[i];
        }
    }
    lines->n = n;
}

struct profile_text profile_text_make(const struct profile *profile,
                                      const struct profile_text_rules *rules)
{
    struct err err = ERR_INIT;
    struct profile_text text;
    struct profile *converted = NULL;
    uint32_t keeps = rules->keeps;
    bool wants_spans = (rules->format_keeps & (KEEPS_SPANS | KEEPS_SAMPLES)) == KEEPS_SPANS;
    if (wants_spans && profile->n_samples > 0 && profile->n_spans <= 1)
        assert_true(profile_samples_to_spans(profile, &converted, &err));
    else if (!(rules->format_keeps & KEEPS_SPANS) && profile->n_spans > 1 &&
             profile->n_samples == 0)
        assert_true(profile_spans_to_samples(profile, &converted, &err));
    struct telling t = {
        .profile = converted != NULL ? converted : profile, .rules = rules, .lines = &text.lines};
    array_init(&text.lines, sizeof(struct line));
    t.origin_ns = earliest_ns(&t);
    if (keeps & KEEPS_SAMPLES)
        tell_samples(&t);
    if (keeps & KEEPS_SPANS)
        tell_spans(&t, converted != NULL);
    if (keeps & KEEPS_INSTANTS)
        tell_instants(&t);
    if (keeps & KEEPS_OFF_CPU)
        tell_off_cpus(&t);
    if (keeps & KEEPS_BOOKMARKS)
        tell_bookmarks(&t);
    if (keeps & KEEPS_METADATA)
        tell_metadata(&t);
    if (text.lines.n > 0)
        qsort(text.lines.items, text.lines.n, sizeof(struct line), line_compare);
    if (!(keeps & KEEPS_TIMES))
        lines_add_up(&text.lines);
    profile_destroy(converted);
    return text;
}

void profile_text_free(struct profile_text *text)
{
    struct line *lines = text->lines.items;
    for (size_t i = 0; i < text->lines.n; i++)
        free(lines[i].key);
    array_deinit(&text->lines);
}

static bool is_near(uint64_t a, uint64_t b, uint64_t slack)
{
    return (a > b ? a - b : b - a) <= slack;
}

static bool line_agrees(const struct line *a, const struct line *b, uint64_t unit)
{
    bool agrees = strcmp(a->key, b->key) == 0 && a->n_numbers == b->n_numbers;
    uint32_t n_added = a->n_added > b->n_added ? a->n_added : b->n_added;
    for (uint32_t i = 0; agrees && i < a->n_numbers; i++)
        agrees = is_near(a->numbers[i], b->numbers[i], unit * n_added);
    return agrees;
}

static size_t line_describe(const struct line *line, char *out, size_t out_bytes)
{
    int n = snprintf(out, out_bytes, "%.*s", 300, line == NULL ? "nothing" : line->key);
    for (uint32_t i = 0; line != NULL && i < line->n_numbers; i++)
        n += snprintf(out + n, out_bytes - (size_t)n, " %" PRIu64, line->numbers[i]);
    return (size_t)n;
}

/* What lies below the unit of the format may appear or vanish. */
static bool is_too_small(const struct line *line, uint64_t unit)
{
    return unit > 0 && line->n_numbers > 0 && line->numbers[0] <= unit * line->n_added;
}

void profile_text_differ(const struct profile_text *found, const struct profile_text *expected,
                         uint64_t unit, char why[PROFILE_TEXT_WHY])
{
    const struct line *a = found->lines.items, *b = expected->lines.items;
    size_t i = 0, k = 0;
    why[0] = '\0';
    while (i < found->lines.n || k < expected->lines.n) {
        const struct line *is = i < found->lines.n ? &a[i] : NULL;
        const struct line *wanted = k < expected->lines.n ? &b[k] : NULL;
        if (is != NULL && wanted != NULL && line_agrees(is, wanted, unit)) {
            i++;
            k++;
        } else if (wanted != NULL && is_too_small(wanted, unit)) {
            k++;
        } else if (is != NULL && is_too_small(is, unit)) {
            i++;
        } else {
            int length = snprintf(why, PROFILE_TEXT_WHY, "found ");
            length += (int)line_describe(is, why + length, 380);
            length += snprintf(why + length, 20, ", expected ");
            line_describe(wanted, why + length, PROFILE_TEXT_WHY - (size_t)length);
            return;
        }
    }
}
