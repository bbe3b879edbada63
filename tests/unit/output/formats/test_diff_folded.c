/* test_diff_folded.c - two profiles side by side, and the files they are written to. */
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "fold/diff.h"
#include "format_help.h"
#include "formats/folded/folded.h"
#include "profile_help.h"
#include "unit.h"

static struct profile *diff(const struct profile *before, const struct profile *after,
                            struct note_log *log)
{
    struct err err = ERR_INIT;
    struct profile *out = NULL;
    struct format_notes notes = note_log_make(log);
    assert_true(profile_diff(before, after, false, &notes, &out, &err));
    assert_true(profile_is_diff(out));
    return out;
}

static void expect_diff(struct profile *before, struct profile *after, const char *expected)
{
    struct note_log log;
    struct profile *out = diff(before, after, &log);
    expect_written(&format_diff_folded, out, NULL, expected);
    profile_destroy(out);
    profile_destroy(before);
    profile_destroy(after);
}

static void stacks_of_both_with_zero_where_absent(void **state)
{
    (void)state;
    expect_diff(text_read(&format_folded, "m;a 5\nm;gone 2\nm;w 3 9\nm;z 0\n", NULL),
                text_read(&format_folded, "m;b 3\nm;a 7\nm;w 3 1\nm;z 0\n", NULL),
                "m;a 5 7\nm;b 0 3\nm;gone 2 0\nm;w_3 9 1\n");
    expect_diff(text_read(&format_folded, "", NULL), text_read(&format_folded, "a 1\n", NULL),
                "a 0 1\n");
}

static struct profile *sampled_make(enum profile_unit unit, uint64_t period, uint64_t value)
{
    struct profile_builder *builder = builder_make(unit, period);
    sample_add(builder, 0, "main", 0, value);
    return builder_finish(builder);
}

static void numbers_are_comparable(void **state)
{
    (void)state;
    /* equal periods: periods */
    expect_diff(sampled_make(PROFILE_UNIT_NS, 10, 50), sampled_make(PROFILE_UNIT_NS, 10, 70),
                "main 5 7\n");
    /* different rates: time */
    expect_diff(sampled_make(PROFILE_UNIT_NS, 10, 50), sampled_make(PROFILE_UNIT_NS, 20, 80),
                "main 50 80\n");
    /* counts of a known period against time without period: time */
    expect_diff(sampled_make(PROFILE_UNIT_COUNT, 10, 3), sampled_make(PROFILE_UNIT_NS, 0, 80),
                "main 30 80\n");
    struct profile *counts = sampled_make(PROFILE_UNIT_COUNT, 0, 3);
    struct profile *bytes = sampled_make(PROFILE_UNIT_BYTES, 0, 80);
    struct profile *out = NULL;
    struct err err = ERR_INIT;
    assert_false(profile_diff(counts, bytes, false, NULL, &out, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_string_equal(err.text, "counts before cannot be compared with bytes after");
    profile_destroy(counts);
    profile_destroy(bytes);
}

/* One side with two processes: both sides get the process's name as root. */
static void process_roots_on_both_sides(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, thread_add(builder, "make", 1, "make", 1), "main", 0, 1);
    sample_add(builder, thread_add(builder, "cc", 2, "cc", 2), "main", 0, 2);
    struct profile *before = builder_finish(builder);
    builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, thread_add(builder, "cc", 3, "cc", 3), "main", 0, 4);
    expect_diff(before, builder_finish(builder), "cc;main 2 4\nmake;main 1 0\n");
    /* A file that knows of no processes has the names in its stacks, if anywhere. */
    builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, thread_add(builder, "make", 1, "make", 1), "main", 0, 1);
    sample_add(builder, thread_add(builder, "cc", 2, "cc", 2), "main", 0, 2);
    expect_diff(text_read(&format_folded, "cc;main 5\n", NULL), builder_finish(builder),
                "cc;main 5 2\nmake;main 0 1\n");
}

/* Self times of intervals are nanoseconds, and no count of anything. */
static void intervals_are_time(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NONE, 0);
    uint32_t thread = thread_add(builder, "app", 1, "app", 1);
    span_add(builder, thread, "main", 0, 50);
    struct profile *spans = builder_finish(builder);
    struct profile *counts = sampled_make(PROFILE_UNIT_COUNT, 0, 3), *out = NULL;
    struct err err = ERR_INIT;
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    assert_false(profile_diff(counts, spans, false, &notes, &out, &err));
    assert_string_equal(err.text, "counts before cannot be compared with nanoseconds after");
    assert_string_equal(log.text, "");
    profile_destroy(counts);
    struct profile *periods = sampled_make(PROFILE_UNIT_NS, 10, 30);
    out = diff(periods, spans, &log);
    expect_written(&format_diff_folded, out, NULL, "main 30 50\n");
    assert_non_null(strstr(log.text, "comparing nanoseconds"));
    profile_destroy(out);
    profile_destroy(periods);
    /* Nothing can be compared with anything. */
    expect_diff(text_read(&format_folded, "", NULL), spans, "main 0 50\n");
}

static void a_diff_reads_back(void **state)
{
    (void)state;
    struct profile *first =
        text_read(&format_diff_folded, "b;x 1 2\n a 3\t4 \nb;x 5 6\nzero 0 0\n", NULL);
    assert_true(profile_is_diff(first));
    expect_written(&format_diff_folded, first, NULL, "a 3 4\nb;x 6 8\n");
    expect_written(&format_folded, first, NULL, "a 3\nb;x 6\n"); /* the first of two */
    profile_destroy(first);
}

static void one_run_is_no_diff(void **state)
{
    (void)state;
    struct profile *plain = text_read(&format_folded, "a 1\n", NULL);
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_buffer(&sink, &err));
    assert_false(format_diff_folded.write(plain, NULL, NULL, sink, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    sink_abandon(sink);
    profile_destroy(plain);
}

static void the_name_of_the_file_decides(void **state)
{
    (void)state;
    assert_ptr_equal(format_by_path("a.diff.folded"), &format_diff_folded);
    assert_ptr_equal(format_by_path("a.folded"), &format_folded);
    assert_ptr_equal(format_by_path("x/y.collapsed"), &format_folded);
    assert_null(format_by_path("diff.folded.gz"));
    assert_null(format_by_path("folded"));
    assert_ptr_equal(format_by_name("diff-folded"), &format_diff_folded);
    assert_null(format_by_name("Folded"));
    assert_ptr_equal(format_by_content((const uint8_t *)"a 3 5\n", 6), &format_folded);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct profile *before = text_read(&format_folded, "m;a 5\nm;gone 2\n", NULL);
    struct profile *after = text_read(&format_folded, "m;b 3\nm;a 7\n", NULL);
    unsigned n = 1;
    for (;; n++) {
        struct err err = ERR_INIT;
        struct profile *out = NULL;
        alloc_fault_arm(n);
        bool ok = profile_diff(before, after, false, NULL, &out, &err);
        bool fired = alloc_fault_fired();
        if (!ok)
            assert_int_equal(err.code, ERR_MEMORY);
        profile_destroy(out);
        if (!fired)
            break;
    }
    assert_true(n > 50);
    profile_destroy(before);
    profile_destroy(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_of_both_with_zero_where_absent),
        cmocka_unit_test(numbers_are_comparable),
        cmocka_unit_test(process_roots_on_both_sides),
        cmocka_unit_test(intervals_are_time),
        cmocka_unit_test(a_diff_reads_back),
        cmocka_unit_test(one_run_is_no_diff),
        cmocka_unit_test(the_name_of_the_file_decides),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
