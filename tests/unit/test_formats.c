/* test_formats.c - what every row of the table of formats promises, and what each format keeps:
 * read(write(p)) must equal p in all that its `keeps` names. Profiles are compared as texts that
 * describe just those parts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "convert.h"
#include "diff.h"
#include "fold.h"
#include "fold_name.h"
#include "format_help.h"
#include "profile_help.h"
#include "unit.h"

/* ---- the profiles ---- */

struct place {
    const char *name, *file, *module;
    uint32_t definition, line, flags;
    uint64_t address;
};

static uint32_t frame_add(struct profile_builder *builder, const struct place *place)
{
    const struct profile_module module = {.path = profile_add_cstring(builder, place->module)};
    const struct profile_function function = {.name = profile_add_cstring(builder, place->name),
                                              .file = profile_add_cstring(builder, place->file),
                                              .line = place->definition,
                                              .module = profile_add_module(builder, &module)};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = place->line,
                                        .flags = place->flags,
                                        .address = place->address};
    return profile_add_frame(builder, &frame);
}

#define MS UINT64_C(1000000)

static struct profile_builder *sampled_builder(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->has_times = true;
    scalars->start_time_ns = 5000 * MS;
    scalars->start_realtime_ns = UINT64_C(1700000000000) * MS;
    scalars->duration_ns = 100 * MS;
    return builder;
}

static struct profile *empty_make(void)
{
    return builder_finish(sampled_builder());
}

static struct profile *single_make(void)
{
    struct profile_builder *builder = sampled_builder();
    sample_add(builder, thread_add(builder, "app", 10, "app", 10), "main", 0, MS);
    return builder_finish(builder);
}

/* One after another without a gap, each of its own length. */
static void samples_add(struct profile_builder *builder, uint32_t thread)
{
    static const struct place places[] = {
        {"main", "/src/main.c", "/bin/app", 10, 12, 0, 0x1000},
        {"ns::Vec<int, std::string>::push back(int const&)", "/src/\xc3\xa9t\xc3\xa9.cc",
         "/bin/app", 20, 25, 0, 0x2000},
        {"<T as \"Trait\">::run\\x", "/src/a b.rs", "/lib/libx.so", 30, 31, PROFILE_FRAME_INLINED,
         0x3000},
    };
    uint32_t stacks[4] = {0};
    for (uint32_t i = 0; i < 3; i++)
        stacks[i + 1] = profile_add_stack(builder, stacks[i], frame_add(builder, &places[i]));
    static const uint32_t depths[] = {1, 3, 2, 3, 3, 1};
    uint64_t time_ns = 0;
    for (size_t i = 0; i < N_ELEMENTS(depths); i++) {
        const uint64_t weight = (i % 3 + 1) * MS;
        const struct profile_sample sample = {
            .thread = thread, .stack = stacks[depths[i]], .time_ns = time_ns};
        profile_add_sample(builder, &sample, &weight);
        time_ns += weight;
    }
}

static struct profile *typical_make(void)
{
    struct profile_builder *builder = sampled_builder();
    samples_add(builder, thread_add(builder, "app", 10, "app", 10));
    return builder_finish(builder);
}

/* As folded files and old cpuprofiles are read: nothing known of threads. */
static struct profile *threadless_make(void)
{
    struct profile_builder *builder = sampled_builder();
    samples_add(builder, 0);
    return builder_finish(builder);
}

static struct profile *threads_make(void)
{
    struct profile_builder *builder = sampled_builder();
    samples_add(builder, thread_add(builder, "app", 10, "app", 10));
    samples_add(builder, thread_add(builder, "app", 10, "worker one", 11));
    return builder_finish(builder);
}

static struct profile *spans_make(void)
{
    struct profile_builder *builder = sampled_builder();
    uint32_t thread = thread_add(builder, "app", 10, "app", 10);
    span_add(builder, thread, "frame", 0, 50 * MS);
    span_add(builder, thread, "update", 5 * MS, 20 * MS);
    span_add(builder, thread, "physics", 5 * MS, 15 * MS);
    span_add(builder, thread, "render", 20 * MS, 45 * MS);
    span_add(builder, thread, "frame", 60 * MS, 80 * MS);
    return builder_finish(builder);
}

static void instants_add(struct profile_builder *builder, uint32_t thread)
{
    uint32_t frame = profile_add_named_frame(builder, "reached", strlen("reached"));
    uint32_t text = profile_add_cstring(builder, "a \"text\" \xc3\xa9");
    const struct profile_instant instants[] = {
        {.type = PROFILE_VALUE_NONE},
        {.type = PROFILE_VALUE_BOOL, .value.u64 = 1},
        {.type = PROFILE_VALUE_I64, .value.i64 = INT64_MIN},
        {.type = PROFILE_VALUE_U64, .value.u64 = UINT64_MAX},
        {.type = PROFILE_VALUE_F64, .value.f64 = -0.1},
        {.type = PROFILE_VALUE_TEXT, .value.u64 = text},
    };
    for (size_t i = 0; i < N_ELEMENTS(instants); i++) {
        struct profile_instant instant = instants[i];
        instant.thread = thread;
        instant.frame = frame;
        instant.time_ns = (6 + i) * MS;
        profile_add_instant(builder, &instant);
    }
}

/* All that formats of intervals know. */
static struct profile *rich_make(void)
{
    struct profile_builder *builder = sampled_builder();
    for (uint64_t tid = 10; tid < 12; tid++) {
        uint32_t thread = thread_add(builder, "app", 10, tid == 10 ? "app" : "worker one", tid);
        span_add(builder, thread, "frame", 0, 50 * MS);
        span_add(builder, thread, "update", 5 * MS, 20 * MS);
        instants_add(builder, thread);
        const struct profile_off_cpu off_cpu = {.thread = thread,
                                                .to_process = profile_add_cstring(builder, "other"),
                                                .to_tid = 77,
                                                .begin_ns = (21 + tid) * MS,
                                                .end_ns = 45 * MS};
        profile_add_off_cpu(builder, &off_cpu);
    }
    const struct profile_bookmark bookmark = {
        .text = profile_add_cstring(builder, "here"), .color = 0xff102030, .time_ns = 30 * MS};
    profile_add_bookmark(builder, &bookmark);
    return builder_finish(builder);
}

static struct profile *described_make(void)
{
    struct profile_builder *builder = sampled_builder();
    samples_add(builder, thread_add(builder, "app", 10, "app", 10));
    profile_add_metadata(builder, "command", "./app -x \"y\"", strlen("./app -x \"y\""));
    profile_add_metadata(builder, "host", "a\tb %d", strlen("a\tb %d"));
    return builder_finish(builder);
}

static struct profile *huge_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, 0, "main;a", 0, UINT64_C(1) << 63);
    sample_add(builder, 0, "main;b", 0, UINT64_MAX);
    return builder_finish(builder);
}

static struct profile *diff_make(void)
{
    struct profile *before = typical_make(), *after = single_make(), *diff = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_diff(before, after, NULL, NULL, &diff, &err));
    profile_destroy(before);
    profile_destroy(after);
    return diff;
}

static const struct {
    const char *name;
    struct profile *(*make)(void);
    uint32_t needs;   /* only for formats that keep all of these */
    uint32_t not_for; /* without times or threads: formats that have to have them invent them */
} cases[] = {
    {"empty", empty_make, 0, 0},
    {"single", single_make, 0, 0},
    {"typical", typical_make, 0, 0},
    {"threadless", threadless_make, 0, KEEPS_THREADS},
    {"threads", threads_make, KEEPS_THREADS, 0},
    {"spans", spans_make, 0, 0},
    {"rich", rich_make, KEEPS_SPANS | KEEPS_INSTANTS, 0},
    {"described", described_make, KEEPS_METADATA, 0},
    {"huge", huge_make, 0, KEEPS_TIMES | KEEPS_SPANS},
    {"diff", diff_make, 0, KEEPS_THREADS | KEEPS_TIMES},
};

/* ---- their description ---- */

struct description {
    struct array lines; /* of char *: "key\tnumber" */
    const struct profile *profile;
    uint32_t keeps;
    uint64_t origin_ns; /* earliest time */
};

static void put(struct array *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct array *text, const char *format, ...)
{
    char piece[500];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof piece);
    assert_true(bytes_append(text, piece, (size_t)n));
}

static const char *text_of(const struct description *d, uint32_t id)
{
    return profile_text(d->profile, id).bytes;
}

static void put_frame(const struct description *d, struct array *text, uint32_t frame_id)
{
    const struct profile_frame *frame = &d->profile->frames[frame_id];
    const struct profile_function *function = &d->profile->functions[frame->function];
    put(text, ";%s", text_of(d, function->name));
    if (d->keeps & KEEPS_LINES)
        put(text, ":%" PRIu32, frame->line);
    if (d->keeps & KEEPS_INLINED)
        put(text, frame->flags & PROFILE_FRAME_INLINED ? " inlined" : "");
    if (d->keeps & KEEPS_FILES)
        put(text, " in %s:%" PRIu32, text_of(d, function->file), function->line);
    if (d->keeps & KEEPS_MODULES)
        put(text, " of %s", text_of(d, d->profile->modules[function->module].path));
    if (d->keeps & KEEPS_ADDRESSES)
        put(text, " at %" PRIx64, frame->address);
}

static void put_stack(const struct description *d, struct array *text, uint32_t stack)
{
    uint32_t path[64];
    size_t n = 0;
    for (; stack != 0 && n < N_ELEMENTS(path); stack = d->profile->stacks[stack].parent)
        path[n++] = d->profile->stacks[stack].frame;
    while (n > 0)
        put_frame(d, text, path[--n]);
}

static void put_thread(const struct description *d, struct array *text, uint32_t thread_id)
{
    const struct profile_thread *thread = &d->profile->threads[thread_id];
    if (d->keeps & KEEPS_PROCESSES)
        put(text, "process %" PRIu64 " ", d->profile->processes[thread->process].pid);
    if (d->keeps & KEEPS_THREADS)
        put(text, "thread %" PRIu64 " %s ", thread->tid, text_of(d, thread->name));
}

static void line_end(struct description *d, struct array *text)
{
    char **line = array_push(&d->lines);
    assert_non_null(line);
    assert_true(bytes_append(text, "", 1));
    *line = text->items;
}

static bool is_idle(const struct profile *profile, uint32_t stack)
{
    return (profile->frames[profile->stacks[stack].frame].flags & PROFILE_FRAME_IDLE) != 0;
}

static void describe_samples(struct description *d, struct fold_unit unit)
{
    const struct profile *profile = d->profile;
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t value = profile_value(profile, i, unit.kind);
        if (value == 0 && profile->n_kinds == 1)
            continue; /* closing samples and the like */
        if (is_idle(profile, sample->stack))
            continue; /* how some formats say that there is no sample for a while */
        struct array text;
        array_init(&text, 1);
        put_thread(d, &text, sample->thread);
        if (d->keeps & KEEPS_TIMES)
            put(&text, "+%" PRIu64 " ", sample->time_ns - d->origin_ns);
        put_stack(d, &text, sample->stack);
        put(&text, "\t%" PRIu64, value * unit.multiplier / unit.divisor);
        for (uint32_t kind = 1; kind < profile->n_kinds && d->keeps & KEEPS_ALL_KINDS; kind++)
            put(&text, ",%" PRIu64, profile_value(profile, i, kind));
        line_end(d, &text);
    }
}

static void describe_spans(struct description *d)
{
    for (uint32_t id = 1; id < d->profile->n_spans; id++) {
        const struct profile_span *span = &d->profile->spans[id];
        struct array text;
        array_init(&text, 1);
        put(&text, "span ");
        put_thread(d, &text, span->thread);
        put(&text, "%" PRIu64 "..%" PRIu64 " %s", span->begin_ns - d->origin_ns,
            span->end_ns - d->origin_ns,
            text_of(d, d->profile->functions[d->profile->frames[span->frame].function].name));
        line_end(d, &text);
    }
}

static void put_value(const struct description *d, struct array *text,
                      const struct profile_instant *instant)
{
    if (instant->type == PROFILE_VALUE_TEXT)
        put(text, "%s", text_of(d, (uint32_t)instant->value.u64));
    else if (instant->type != PROFILE_VALUE_NONE)
        put(text, "%" PRIx64, instant->value.u64); /* the bits, of whatever type */
}

static const char *frame_name(const struct description *d, uint32_t frame)
{
    return text_of(d, d->profile->functions[d->profile->frames[frame].function].name);
}

static void describe_instants(struct description *d)
{
    for (size_t i = 0; i < d->profile->n_instants; i++) {
        const struct profile_instant *instant = &d->profile->instants[i];
        struct array text;
        array_init(&text, 1);
        put(&text, "instant ");
        put_thread(d, &text, instant->thread);
        put(&text, "%" PRIu64 " in %s %s %d ", instant->time_ns - d->origin_ns,
            instant->span == 0 ? "-" : frame_name(d, d->profile->spans[instant->span].frame),
            frame_name(d, instant->frame), (int)instant->type);
        put_value(d, &text, instant);
        line_end(d, &text);
    }
}

static void describe_off_cpus(struct description *d)
{
    for (size_t i = 0; i < d->profile->n_off_cpus; i++) {
        const struct profile_off_cpu *off_cpu = &d->profile->off_cpus[i];
        struct array text;
        array_init(&text, 1);
        put(&text, "off ");
        put_thread(d, &text, off_cpu->thread);
        put(&text, "%" PRIu64 "..%" PRIu64 " to %" PRIu64 " %s", off_cpu->begin_ns - d->origin_ns,
            off_cpu->end_ns - d->origin_ns, off_cpu->to_tid, text_of(d, off_cpu->to_process));
        line_end(d, &text);
    }
}

static void describe_bookmarks(struct description *d)
{
    for (size_t i = 0; i < d->profile->n_bookmarks; i++) {
        const struct profile_bookmark *bookmark = &d->profile->bookmarks[i];
        struct array text;
        array_init(&text, 1);
        put(&text, "bookmark %" PRIu64 " %" PRIx32 " %s", bookmark->time_ns - d->origin_ns,
            bookmark->color, text_of(d, bookmark->text));
        line_end(d, &text);
    }
}

/* Readers add keys of their own, with the format's name and a dot in front. */
static void describe_metadata(struct description *d)
{
    for (size_t i = 0; i < d->profile->n_metadata; i++) {
        const struct profile_metadata *row = &d->profile->metadata[i];
        struct array text;
        if (strchr(text_of(d, row->key), '.') != NULL)
            continue;
        array_init(&text, 1);
        put(&text, "%s = %s", text_of(d, row->key), text_of(d, row->value));
        line_end(d, &text);
    }
}

static uint64_t earliest_ns(const struct profile *profile)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < profile->n_samples; i++)
        first_ns = profile->samples[i].time_ns < first_ns ? profile->samples[i].time_ns : first_ns;
    for (uint32_t id = 1; id < profile->n_spans; id++)
        first_ns = profile->spans[id].begin_ns < first_ns ? profile->spans[id].begin_ns : first_ns;
    return first_ns;
}

static int line_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines of equal keys become one; without times a format may have added them up. */
static void lines_add_up(struct description *d)
{
    char **lines = d->lines.items;
    size_t n = 0;
    for (size_t i = 0; i < d->lines.n; i++) {
        size_t key = strcspn(lines[i], "\t") + 1;
        if (n > 0 && lines[i][key - 1] == '\t' && strncmp(lines[n - 1], lines[i], key) == 0 &&
            strchr(lines[i] + key, ',') == NULL) {
            uint64_t sum =
                strtoull(lines[n - 1] + key, NULL, 10) + strtoull(lines[i] + key, NULL, 10);
            struct array text;
            array_init(&text, 1);
            assert_true(bytes_append(&text, lines[i], key));
            put(&text, "%" PRIu64, sum);
            assert_true(bytes_append(&text, "", 1));
            free(lines[n - 1]);
            free(lines[i]);
            lines[n - 1] = text.items;
        } else {
            lines[n++] = lines[i];
        }
    }
    d->lines.n = n;
}

/* What the format has to keep of the profile, as sorted lines. Takes no part of it. */
static char *describe(const struct profile *profile, uint32_t keeps, bool in_ns)
{
    struct err err = ERR_INIT;
    struct profile *converted = NULL;
    bool wants_spans = (keeps & (KEEPS_SPANS | KEEPS_SAMPLES)) == KEEPS_SPANS;
    if (wants_spans && profile->n_samples > 0)
        assert_true(profile_samples_to_spans(profile, &converted, &err));
    else if (!(keeps & KEEPS_SPANS) && profile->n_spans > 1)
        assert_true(profile_spans_to_samples(profile, &converted, &err));
    struct description d = {.profile = converted != NULL ? converted : profile, .keeps = keeps};
    array_init(&d.lines, sizeof(char *));
    d.origin_ns = earliest_ns(d.profile);
    if (keeps & KEEPS_SAMPLES)
        describe_samples(&d, fold_unit_choose(d.profile, in_ns));
    if (keeps & KEEPS_SPANS)
        describe_spans(&d);
    if (keeps & KEEPS_INSTANTS)
        describe_instants(&d);
    if (keeps & KEEPS_OFF_CPU)
        describe_off_cpus(&d);
    if (keeps & KEEPS_BOOKMARKS)
        describe_bookmarks(&d);
    if (keeps & KEEPS_METADATA)
        describe_metadata(&d);
    if (d.lines.n > 0)
        qsort(d.lines.items, d.lines.n, sizeof(char *), line_compare);
    lines_add_up(&d);
    struct array all;
    array_init(&all, 1);
    for (size_t i = 0; i < d.lines.n; i++) {
        char *line = *(char **)array_at(&d.lines, i);
        assert_true(bytes_append(&all, line, strlen(line)) && bytes_append(&all, "\n", 1));
        free(line);
    }
    assert_true(bytes_append(&all, "", 1));
    array_deinit(&d.lines);
    profile_destroy(converted);
    return all.items;
}

/* ---- the promises ---- */

/* False when the format does not take such a profile. */
static bool write_it(const struct format *format, const struct profile *profile, struct bytes *out)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    const struct format_options options = {.count_ns = false};
    assert_true(sink_create_buffer(&sink, &err));
    bool ok = format->write(profile, &options, NULL, sink, &err);
    if (!ok)
        assert_int_equal(err.code, ERR_UNSUPPORTED);
    size_t n;
    const void *bytes = sink_buffer(sink, &n);
    *out = (struct bytes){ok ? malloc(n == 0 ? 1 : n) : NULL, n};
    if (ok)
        memcpy(out->bytes, bytes, n);
    sink_abandon(sink);
    return ok;
}

/* Whether the format took it. */
static bool round_trip(const struct format *format, const struct profile *profile, const char *name)
{
    struct bytes first, second, third;
    if (!write_it(format, profile, &first))
        return false;
    assert_true(write_it(format, profile, &second));
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.bytes, second.bytes, first.n);
    if (format->read != NULL) {
        struct profile *again = bytes_read(format, first, NULL);
        bool in_ns = fold_unit_choose(again, true).unit == PROFILE_UNIT_NS;
        char *expected = describe(profile, format->keeps, in_ns);
        char *found = describe(again, format->keeps, in_ns);
        if (strcmp(found, expected) != 0)
            print_error("%s: profile \"%s\" came back changed\n", format->name, name);
        assert_string_equal(found, expected);
        assert_true(write_it(format, again, &third));
        free(third.bytes);
        free(expected);
        free(found);
        profile_destroy(again);
    }
    free(first.bytes);
    free(second.bytes);
    return true;
}

static void what_a_format_keeps_comes_back(void **state)
{
    (void)state;
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        unsigned n_taken = 0;
        for (size_t i = 0; i < N_ELEMENTS(cases) && (*row)->write != NULL; i++) {
            uint32_t keeps = (*row)->keeps;
            if ((keeps & cases[i].needs) != cases[i].needs || (keeps & cases[i].not_for) != 0)
                continue;
            struct profile *profile = cases[i].make();
            n_taken += round_trip(*row, profile, cases[i].name);
            profile_destroy(profile);
        }
        assert_true((*row)->write == NULL || n_taken > 0);
    }
}

static void rows_are_complete_and_found(void **state)
{
    (void)state;
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        const struct format *format = *row;
        assert_ptr_equal(format_by_name(format->name), format);
        assert_true(strlen(format->about) > 10);
        assert_true(format->read != NULL || format->write != NULL);
        assert_int_equal(format->read == NULL, format->dump == NULL);
        assert_non_null(format->extensions[0]);
        for (const char *const *extension = format->extensions; *extension != NULL; extension++) {
            char path[100];
            snprintf(path, sizeof path, "some.dir/name.%s", *extension);
            assert_non_null(format_by_path(path));
            if (extension[1] != NULL)
                assert_true(strlen(extension[0]) >= strlen(extension[1]));
        }
        char page[500];
        snprintf(page, sizeof page, "%s/../../docs/formats/%s.md", TEST_DATA_DIR, format->name);
        if (access(page, R_OK) != 0)
            print_error("no docs/formats/%s.md\n", format->name);
        assert_int_equal(access(page, R_OK), 0);
    }
}

static void own_files_are_recognised(void **state)
{
    (void)state;
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        if ((*row)->sniff == NULL || (*row)->write == NULL)
            continue;
        struct profile *profile = typical_make();
        struct bytes out;
        if (write_it(*row, profile, &out)) {
            size_t head_bytes = out.n < 4096 ? out.n : 4096;
            assert_ptr_equal(format_by_content((const uint8_t *)out.bytes, head_bytes), *row);
        }
        free(out.bytes);
        profile_destroy(profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_format_keeps_comes_back),
        cmocka_unit_test(rows_are_complete_and_found),
        cmocka_unit_test(own_files_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
