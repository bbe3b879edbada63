/* test_formats.c - what every row of the table of formats promises, and what each format keeps:
 * read(write(p)) must equal p in all that its `keeps` names (format_round.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "fold/diff.h"
#include "fold/fold.h"
#include "fold/name.h"
#include "format_help.h"
#include "format_round.h"
#include "model/convert.h"
#include "profile_help.h"
#include "unit.h"

/* ---- the profiles ---- */

struct place {
    const char *name, *file, *module;
    uint32_t definition, line, flags;
    uint64_t address;
    const char *line_file; /* NULL: that of the function */
};

static uint32_t frame_add(struct profile_builder *builder, const struct place *place)
{
    const struct profile_module module = {.path = profile_add_cstring(builder, place->module)};
    const struct profile_function function = {.name = profile_add_cstring(builder, place->name),
                                              .file = profile_add_cstring(builder, place->file),
                                              .line = place->definition,
                                              .module = profile_add_module(builder, &module)};
    const struct profile_frame frame = {
        .function = profile_add_function(builder, &function),
        .line = place->line,
        .flags = place->flags,
        .address = place->address,
        .file = place->line_file == NULL ? 0 : profile_add_cstring(builder, place->line_file)};
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
        {"main", "/src/main.c", "/bin/app", 10, 12, 0, 0x1000, NULL},
        {"ns::Vec<int, std::string>::push back(int const&)", "/src/\xc3\xa9t\xc3\xa9.cc",
         "/bin/app", 20, 25, 0, 0x2000, NULL},
        {"<T as \"Trait\">::run\\x", "/src/a b.rs", "/lib/libx.so", 30, 31, PROFILE_FRAME_INLINED,
         0x3000, NULL},
        {"yyparse", "y.tab.c", "/bin/app", 0, 7, 0, 0, "grammar.y"},
    };
    uint32_t stacks[N_ELEMENTS(places) + 1] = {0};
    for (uint32_t i = 0; i < N_ELEMENTS(places); i++)
        stacks[i + 1] = profile_add_stack(builder, stacks[i], frame_add(builder, &places[i]));
    static const uint32_t depths[] = {1, 3, 2, 3, 4, 1};
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
    assert_true(profile_diff(before, after, false, NULL, &diff, &err));
    profile_destroy(before);
    profile_destroy(after);
    return diff;
}

/* Two processes, two numbers a sample, and something of all there is. */
static struct profile *everything_make(bool has_samples, bool has_spans, bool is_diff)
{
    static const struct place places[] = {
        {"main", "/src/main.c", "/bin/app", 10, 12, 0, 0x1000, NULL},
        {"inner", "/src/inner.h", "/lib/libx.so", 30, 31, PROFILE_FRAME_INLINED, 0x3000, NULL},
    };
    struct profile_builder *builder = sampled_builder();
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    scalars->kinds[0].name = profile_add_cstring(builder, is_diff ? "before" : "time");
    scalars->kinds[0].unit = is_diff ? PROFILE_UNIT_COUNT : PROFILE_UNIT_NS;
    scalars->kinds[1].name = profile_add_cstring(builder, is_diff ? "after" : "allocated");
    scalars->kinds[1].unit = is_diff ? PROFILE_UNIT_COUNT : PROFILE_UNIT_BYTES;
    for (uint64_t pid = 10; pid < 12; pid++) {
        uint32_t thread = thread_add(builder, pid == 10 ? "app" : "child", pid, "worker", pid);
        uint32_t frames[] = {frame_add(builder, &places[0]), frame_add(builder, &places[1])};
        uint32_t stack = profile_add_stack(builder, 0, frames[0]);
        stack = profile_add_stack(builder, stack, frames[1]);
        const struct profile_sample sample = {
            .thread = thread, .stack = stack, .time_ns = pid * MS};
        const uint64_t values[] = {5 * MS, 4096 + pid};
        const struct profile_span spans[] = {
            {.thread = thread, .frame = frames[0], .begin_ns = MS, .end_ns = 50 * MS},
            {.thread = thread, .frame = frames[1], .begin_ns = 2 * MS, .end_ns = 20 * MS},
        };
        if (has_samples)
            profile_add_sample(builder, &sample, values);
        for (size_t i = 0; i < N_ELEMENTS(spans) && has_spans; i++)
            profile_add_span(builder, &spans[i]);
        instants_add(builder, thread);
        const struct profile_off_cpu off_cpu = {
            .thread = thread, .to_tid = 77, .begin_ns = 31 * MS, .end_ns = 45 * MS};
        profile_add_off_cpu(builder, &off_cpu);
    }
    const struct profile_bookmark bookmark = {
        .text = profile_add_cstring(builder, "here"), .color = 0xff102030, .time_ns = 30 * MS};
    profile_add_bookmark(builder, &bookmark);
    profile_add_metadata(builder, "host", "here", strlen("here"));
    return builder_finish(builder);
}

static struct profile *all_sampled_make(void)
{
    return everything_make(true, false, false);
}

static struct profile *all_spans_make(void)
{
    return everything_make(false, true, false);
}

/* No diff is like that, but diff-folded takes it for one. */
static struct profile *all_diff_make(void)
{
    return everything_make(true, true, true);
}

static const struct {
    const char *name;
    struct profile *(*make)(void);
} cases[] = {
    {"empty", empty_make},
    {"single", single_make},
    {"typical", typical_make},
    {"threadless", threadless_make},
    {"threads", threads_make},
    {"spans", spans_make},
    {"rich", rich_make},
    {"described", described_make},
    {"huge", huge_make},
    {"diff", diff_make},
    {"all, sampled", all_sampled_make},
    {"all, spans", all_spans_make},
    {"all, diff", all_diff_make},
};

/* ---- the promises ---- */

/* What a format says it keeps comes back from all of them; what it does not say is lost from one at
 * least. So a word too many and a word too few in `keeps` are both found. */
static void formats_keep_what_they_say_and_no_more(void **state)
{
    (void)state;
    static struct format_rounds rounds;
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile *profile = cases[i].make();
        format_rounds_add(&rounds, cases[i].name, profile);
        profile_destroy(profile);
    }
    for (size_t row = 0; format_table[row] != NULL; row++) {
        const struct format *format = format_table[row];
        const struct format_round *round = &rounds.rounds[row];
        for (uint32_t i = 0; i < N_KEEPS && format->read != NULL && format->write != NULL; i++) {
            const uint32_t of_samples = KEEPS_TIMES | KEEPS_ALL_KINDS;
            bool is_kept = (format->keeps & 1u << i) != 0;
            if (!(format->keeps & KEEPS_SAMPLES) && of_samples & 1u << i)
                continue;
            if (is_kept ? round->n_compared[i] > 0 : round->n_lost[i] > 0)
                continue;
            print_error("%s: %s is %s by all profiles here\n", format->name, format_keeps_words[i],
                        is_kept ? "not shown" : "kept after all, or not shown,");
            rounds.n_failures++;
        }
    }
    assert_int_equal(rounds.n_failures, 0);
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
        if (format_write_bytes(*row, profile, 0, NULL, &out)) {
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
        cmocka_unit_test(formats_keep_what_they_say_and_no_more),
        cmocka_unit_test(rows_are_complete_and_found),
        cmocka_unit_test(own_files_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
