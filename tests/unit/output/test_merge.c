/* test_merge.c - several profiles in one: tables, axis of time, kinds. */
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "format_help.h"
#include "formats/folded/folded.h"
#include "model/merge.h"
#include "profile_help.h"
#include "unit.h"

/* Merges and throws its inputs away. */
static struct profile *merge(struct profile **profiles, size_t n, struct note_log *log)
{
    struct err err = ERR_INIT;
    struct profile *out = NULL;
    struct format_notes notes = note_log_make(log);
    bool ok = profile_merge((const struct profile *const *)profiles, n, &notes, &out, &err);
    if (!ok)
        print_error("%s\n", err.text);
    assert_true(ok);
    for (size_t i = 0; i < n; i++)
        profile_destroy(profiles[i]);
    return out;
}

static struct profile *timed_make(uint64_t start_ns, uint64_t start_realtime_ns, uint64_t tid)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 10);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->has_times = true;
    scalars->start_time_ns = start_ns;
    scalars->start_realtime_ns = start_realtime_ns;
    scalars->duration_ns = 100;
    uint32_t thread = thread_add(builder, "app", 7, "main", tid);
    sample_add(builder, thread, "main;run", 5, 10);
    sample_add(builder, thread, "main;run", 15, 10);
    span_add(builder, thread, "main", 0, 50);
    const struct profile_instant instant = {.thread = thread,
                                            .time_ns = 20,
                                            .type = PROFILE_VALUE_TEXT,
                                            .value.u64 = profile_add_cstring(builder, "event")};
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread, .begin_ns = 30, .end_ns = 40};
    profile_add_off_cpu(builder, &off_cpu);
    const struct profile_bookmark bookmark = {.time_ns = 33,
                                              .text = profile_add_cstring(builder, "mark")};
    profile_add_bookmark(builder, &bookmark);
    profile_add_metadata(builder, "host", "box", 3);
    profile_add_metadata(builder, "tid", tid == 1 ? "1" : "2", 1);
    return builder_finish(builder);
}

static void tables_become_one_and_threads_stay_apart(void **state)
{
    (void)state;
    struct profile *in[] = {timed_make(1000, 0, 1), timed_make(1030, 0, 2)};
    struct note_log log;
    struct profile *out = merge(in, 2, &log);
    assert_int_equal(out->n_stacks, 3);
    assert_int_equal(out->n_functions, 3);
    assert_int_equal(out->n_processes, 3);
    assert_int_equal(out->n_threads, 3);
    assert_int_equal(out->threads[2].tid, 2);
    assert_int_equal(out->threads[2].process, 2);
    assert_int_equal(out->n_samples, 4);
    assert_int_equal(out->period, 10);
    assert_int_equal(out->start_time_ns, 1000);
    assert_int_equal(out->duration_ns, 130);
    const uint64_t times[] = {5, 15, 35, 45};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(out->samples[i].time_ns, times[i]);
        assert_int_equal(out->samples[i].thread, i < 2 ? 1 : 2);
        assert_int_equal(out->samples[i].stack, out->samples[0].stack);
        assert_int_equal(profile_value(out, i, 0), 10);
    }
    assert_int_equal(out->spans[2].begin_ns, 30);
    assert_int_equal(out->spans[2].thread, 2);
    assert_int_equal(out->instants[1].time_ns, 50);
    assert_int_equal(out->instants[1].span, 2);
    assert_string_equal(profile_text(out, (uint32_t)out->instants[1].value.u64).bytes, "event");
    assert_int_equal(out->off_cpus[1].end_ns, 70);
    assert_int_equal(out->off_cpus[1].thread, 2);
    assert_int_equal(out->bookmarks[1].time_ns, 63);
    assert_int_equal(out->n_metadata, 3); /* host once, tid twice */
    assert_string_equal(log.text, "");
    profile_destroy(out);
}

static struct profile *of_file(const char *name, const char *file)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 10);
    const struct profile_function function = {.name = profile_add_cstring(builder, name),
                                              .file = profile_add_cstring(builder, "a")};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = 7,
                                        .file = profile_add_cstring(builder, file)};
    uint32_t stack = profile_add_stack(builder, 0, profile_add_frame(builder, &frame));
    profile_add_sample(builder, &(struct profile_sample){.stack = stack}, &(uint64_t){1});
    return builder_finish(builder);
}

static void files_of_lines_are_kept(void **state)
{
    (void)state;
    struct profile *in[] = {of_file("f", "y"), of_file("g", "z")};
    struct note_log log;
    struct profile *out = merge(in, 2, &log);
    assert_string_equal(profile_text(out, out->frames[1].file).bytes, "y");
    assert_string_equal(profile_text(out, out->frames[2].file).bytes, "z");
    profile_destroy(out);
}

static void the_axis_follows_the_clocks_known(void **state)
{
    (void)state;
    static const struct {
        uint64_t start[2], realtime[2], first, second; /* times of the profiles' first samples */
    } cases[] = {
        {{1000, 1030}, {0, 0}, 5, 35},                           /* one clock, it seems     */
        {{1000, 1030}, {5000000000, 5000000100}, 5, 35},         /* one clock, by both      */
        {{1000, 1030}, {5000000000, 9000000000}, 5, 4000000005}, /* two machines            */
        {{0, 1030}, {5000000000, 5000000070}, 5, 75},            /* only wall clocks        */
        {{0, 1030}, {5000000000, 0}, 5, 5},                      /* nothing in common       */
        {{1030, 1000}, {0, 0}, 35, 5},                           /* the second began first  */
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile *in[] = {timed_make(cases[i].start[0], cases[i].realtime[0], 1),
                                timed_make(cases[i].start[1], cases[i].realtime[1], 2)};
        struct note_log log;
        struct profile *out = merge(in, 2, &log);
        assert_int_equal(out->samples[0].time_ns, cases[i].first);
        assert_int_equal(out->samples[2].time_ns, cases[i].second);
        profile_destroy(out);
    }
}

static struct profile *kinds_make(const char *const names[2], const enum profile_unit units[2])
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 5);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    for (int kind = 0; kind < 2; kind++) {
        scalars->kinds[kind].name = profile_add_cstring(builder, names[kind]);
        scalars->kinds[kind].unit = units[kind];
    }
    const struct profile_sample sample = {.stack = folded_stack(builder, "main")};
    const uint64_t values[] = {3, 700};
    profile_add_sample(builder, &sample, values);
    return builder_finish(builder);
}

static void kinds_are_aligned(void **state)
{
    (void)state;
    const char *const names[] = {"samples", "cpu"};
    const char *const turned[] = {"cpu", "count"}; /* other order, other name */
    const enum profile_unit units[] = {PROFILE_UNIT_COUNT, PROFILE_UNIT_NS};
    const enum profile_unit turned_units[] = {PROFILE_UNIT_NS, PROFILE_UNIT_COUNT};
    struct profile *in[] = {kinds_make(names, units), kinds_make(turned, turned_units)};
    struct note_log log;
    struct profile *out = merge(in, 2, &log);
    assert_int_equal(out->n_kinds, 2);
    const uint64_t values[] = {3, 700, 700, 3};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(profile_value(out, i / 2, i % 2), values[i]);
    assert_string_equal(log.text, "");
    profile_destroy(out);

    const enum profile_unit bytes[] = {PROFILE_UNIT_COUNT, PROFILE_UNIT_BYTES};
    struct profile *partly[] = {kinds_make(names, units), kinds_make(names, bytes)};
    out = merge(partly, 2, &log);
    assert_int_equal(out->n_kinds, 1);
    assert_int_equal(out->kinds[0].unit, PROFILE_UNIT_COUNT);
    assert_non_null(strstr(log.text, "1 kinds of numbers"));
    profile_destroy(out);
}

/* "before" and "after" are both counts: neither may stand for a plain count. */
static void kinds_of_one_unit_need_their_names(void **state)
{
    (void)state;
    struct profile *diff = text_read(&format_diff_folded, "a 1 2\n", NULL);
    struct profile *plain = text_read(&format_folded, "a 1\n", NULL);
    const struct profile *const in[] = {diff, plain};
    struct profile *out = NULL;
    struct err err = ERR_INIT;
    assert_false(profile_merge(in, 2, NULL, &out, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_null(out);
    const struct profile *const twice[] = {diff, diff};
    assert_true(profile_merge(twice, 2, NULL, &out, &(struct err)ERR_INIT));
    expect_written(&format_diff_folded, out, NULL, "a 2 4\n");
    profile_destroy(out);
    profile_destroy(diff);
    profile_destroy(plain);
}

static void counts_and_times_meet_as_time(void **state)
{
    (void)state;
    struct profile_builder *counts = builder_make(PROFILE_UNIT_COUNT, 10);
    sample_add(counts, 0, "main", 0, 4);
    struct profile_builder *times = builder_make(PROFILE_UNIT_NS, 25);
    sample_add(times, 0, "main", 0, 50);
    struct profile *in[] = {builder_finish(counts), builder_finish(times)};
    struct note_log log;
    struct profile *out = merge(in, 2, &log);
    assert_int_equal(out->kinds[0].unit, PROFILE_UNIT_NS);
    assert_int_equal(profile_value(out, 0, 0) + profile_value(out, 1, 0), 90);
    assert_int_equal(out->period, 0);
    assert_string_equal(log.text, "the profiles count different things: merged as time\n");
    profile_destroy(out);
}

static void periods_that_differ(void **state)
{
    (void)state;
    static const enum profile_unit units[] = {PROFILE_UNIT_NS, PROFILE_UNIT_COUNT};
    static const char *const expected[] = {"main 30\n", "main 300\n"};
    for (size_t i = 0; i < N_ELEMENTS(units); i++) {
        struct profile_builder *first = builder_make(units[i], 10);
        sample_add(first, 0, "main", 0, 200);
        struct profile_builder *second = builder_make(units[i], 20);
        sample_add(second, 0, "main", 0, 100);
        struct profile *in[] = {builder_finish(first), builder_finish(second)};
        struct note_log log;
        struct profile *out = merge(in, 2, &log);
        assert_int_equal(out->period, units[i] == PROFILE_UNIT_NS ? 10 : 0);
        expect_written(&format_folded, out, NULL, expected[i]);
        profile_destroy(out);
    }
}

static void spans_and_samples_meet_as_samples(void **state)
{
    (void)state;
    struct profile_builder *spans = builder_make(PROFILE_UNIT_COUNT, 0);
    span_add(spans, 0, "main", 0, 30);
    span_add(spans, 0, "run", 10, 15);
    struct profile_builder *samples = builder_make(PROFILE_UNIT_NS, 0);
    sample_add(samples, 0, "main", 0, 1000);
    struct profile *in[] = {builder_finish(spans), builder_finish(samples)};
    struct note_log log;
    struct profile *out = merge(in, 2, &log);
    expect_written(&format_folded, out, NULL, "main 1025\nmain;run 5\n");
    assert_int_equal(out->n_spans, 1);
    assert_false(out->has_times);
    profile_destroy(out);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct profile *first = timed_make(1000, 0, 1);
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    span_add(builder, 0, "main", 0, 30);
    struct profile *second = builder_finish(builder);
    builder = builder_make(PROFILE_UNIT_NS, 0);
    sample_add(builder, 0, "main", 0, 30);
    struct profile *third = builder_finish(builder);
    const struct profile *const in[] = {first, second, third};
    unsigned n = 1;
    for (;; n++) {
        struct err err = ERR_INIT;
        struct profile *out = NULL;
        alloc_fault_arm(n);
        bool ok = profile_merge(in, 3, NULL, &out, &err);
        bool fired = alloc_fault_fired();
        if (!ok)
            assert_int_equal(err.code, ERR_MEMORY);
        profile_destroy(out);
        if (!fired)
            break;
    }
    assert_true(n > 50);
    profile_destroy(first);
    profile_destroy(second);
    profile_destroy(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_become_one_and_threads_stay_apart),
        cmocka_unit_test(files_of_lines_are_kept),
        cmocka_unit_test(the_axis_follows_the_clocks_known),
        cmocka_unit_test(kinds_are_aligned),
        cmocka_unit_test(kinds_of_one_unit_need_their_names),
        cmocka_unit_test(counts_and_times_meet_as_time),
        cmocka_unit_test(periods_that_differ),
        cmocka_unit_test(spans_and_samples_meet_as_samples),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
