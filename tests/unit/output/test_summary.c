/* test_summary.c - self and total, by function, module, line and thread. */
#include <stdio.h>
#include <string.h>

#include "alloc_fault.h"
#include "fold/summary.h"
#include "profile_help.h"
#include "unit.h"

/* "name[:line] self total" per row. */
static void expect(const struct profile *profile, enum summary_by by, bool by_total,
                   const char *expected)
{
    struct summary summary;
    struct err err = ERR_INIT;
    assert_true(summary_init(&summary, profile, by, &err));
    if (by_total)
        summary_sort_by_total(&summary);
    char text[1000] = "";
    for (size_t i = 0; i < summary.n; i++) {
        const struct summary_row *row = &summary.rows[i];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s:%u %llu %llu\n",
                 summary_row_name(profile, by, row->key).bytes, row->key.line,
                 (unsigned long long)row->self, (unsigned long long)row->total);
    }
    assert_string_equal(text, expected);
    summary_deinit(&summary);
}

static void add(struct profile_builder *builder, uint32_t thread, const char *frames,
                uint64_t value)
{
    const struct profile_sample sample = {.thread = thread, .stack = module_stack(builder, frames)};
    profile_add_sample(builder, &sample, &value);
}

static struct profile *recursive_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 10);
    uint32_t thread = thread_add(builder, "app", 1, "", 1);
    add(builder, 0, "x/a:1;x/f:2;y/f:3;x/f:3", 3); /* f of x twice */
    add(builder, 0, "x/a:1;x/f:2", 1);
    add(builder, thread, "x/a:2", 2);
    add(builder, thread, "x/a:2;x/i", 50);
    const struct profile_sample empty = {.thread = thread};
    const uint64_t value = 4;
    profile_add_sample(builder, &empty, &value);
    return builder_finish(builder);
}

static void recursion_counts_once(void **state)
{
    (void)state;
    struct profile *profile = recursive_make();
    expect(profile, SUMMARY_BY_FUNCTION, false,
           "[unknown]:0 40 40\nf:0 40 40\na:0 20 60\nf:0 0 30\n");
    expect(profile, SUMMARY_BY_FUNCTION, true,
           "a:0 20 60\n[unknown]:0 40 40\nf:0 40 40\nf:0 0 30\n");
    expect(profile, SUMMARY_BY_MODULE, false, "x:0 60 60\n[unknown]:0 40 40\ny:0 0 30\n");
    expect(profile, SUMMARY_BY_LINE, false,
           "[unknown]:0 40 40\nf:3 30 30\na:2 20 20\nf:2 10 40\na:1 0 40\nf:3 0 30\n");
    expect(profile, SUMMARY_BY_THREAD, false, "app:0 60 60\n[unknown]:0 40 40\n");
    struct summary summary;
    assert_true(summary_init(&summary, profile, SUMMARY_BY_FUNCTION, &(struct err)ERR_INIT));
    assert_int_equal(summary.weighed.all, 100);
    assert_int_equal(summary.weighed.idle, 500);
    assert_int_equal(summary.weighed.unit, PROFILE_UNIT_NS);
    summary_deinit(&summary);
    profile_destroy(profile);
}

static void rows_of_files_processes_commands_and_labels(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    uint32_t first = thread_add(builder, "cc1", 11, "", 11);
    uint32_t second = thread_add(builder, "cc1", 12, "lto", 13);
    uint32_t other = thread_add(builder, "as", 14, "", 14);
    const struct profile_function in_a = {.name = profile_add_cstring(builder, "f"),
                                          .file = profile_add_cstring(builder, "a.c")};
    const struct profile_frame frame = {.function = profile_add_function(builder, &in_a)};
    const struct profile_function work = {.name = profile_add_cstring(builder, "work")};
    const struct profile_frame label = {.function = profile_add_function(builder, &work),
                                        .flags = PROFILE_FRAME_LABEL};
    uint32_t stack = profile_add_stack(builder, 0, profile_add_frame(builder, &label));
    stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
    profile_add_sample(builder, &(struct profile_sample){.thread = first, .stack = stack},
                       &(uint64_t){5});
    sample_add(builder, second, "g;h", 0, 7);
    sample_add(builder, other, "g", 0, 11);
    sample_add(builder, first, "g", 0, 1);
    struct profile *profile = builder_finish(builder);
    expect(profile, SUMMARY_BY_FILE, false, "[no source file]:0 19 24\na.c:0 5 5\n");
    expect(profile, SUMMARY_BY_PROCESS, false, "as:0 11 11\ncc1:0 7 7\ncc1:0 6 6\n");
    expect(profile, SUMMARY_BY_COMMAND, false, "cc1:0 13 13\nas:0 11 11\n");
    expect(profile, SUMMARY_BY_LABEL, false, "[no label]:0 19 19\nwork:0 5 5\n");
    const struct summary_key key = {.id = second};
    assert_int_equal(summary_row_number(profile, SUMMARY_BY_THREAD, key), 13);
    assert_int_equal(summary_row_number(profile, SUMMARY_BY_PROCESS, key), 12);
    assert_int_equal(summary_row_number(profile, SUMMARY_BY_FUNCTION, key), 0);
    for (enum summary_by by = SUMMARY_BY_FUNCTION; by <= SUMMARY_BY_LABEL; by++)
        assert_int_equal(summary_is_known(profile, by),
                         by != SUMMARY_BY_LINE && by != SUMMARY_BY_MODULE);
    profile_destroy(profile);
}

/* Lines of one number in two files are two rows; the file of a function's own lines is not named. */
static void lines_of_one_function_in_two_files(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    uint32_t own = profile_add_cstring(builder, "eval.c");
    uint32_t other = profile_add_cstring(builder, "cases.h");
    const struct profile_function eval = {.name = profile_add_cstring(builder, "eval"),
                                          .file = own};
    struct profile_frame frame = {.function = profile_add_function(builder, &eval), .line = 7};
    const uint32_t files[] = {0, own, other};
    const uint64_t values[] = {1, 2, 4};
    for (size_t i = 0; i < N_ELEMENTS(files); i++) {
        frame.file = files[i];
        uint32_t stack = profile_add_stack(builder, 0, profile_add_frame(builder, &frame));
        profile_add_sample(builder, &(struct profile_sample){.stack = stack}, &values[i]);
    }
    struct profile *profile = builder_finish(builder);
    expect(profile, SUMMARY_BY_LINE, false, "eval:7 4 4\neval:7 3 3\n");
    expect(profile, SUMMARY_BY_FUNCTION, false, "eval:0 7 7\n");
    const struct profile_frame *of_other = &profile->frames[profile->n_frames - 1];
    assert_string_equal(profile_text(profile, profile_frame_file(profile, of_other)).bytes,
                        "cases.h");
    assert_int_equal(profile_frame_line_in_file(of_other), 0);
    assert_string_equal(
        profile_text(profile, profile_frame_file(profile, &profile->frames[1])).bytes, "eval.c");
    assert_int_equal(profile_frame_line_in_file(&profile->frames[1]), 7);
    assert_int_equal(profile->n_frames, 3);
    profile_destroy(profile);
}

/* A module or two among many samples without one make no table. */
static void few_modules_are_none(void **state)
{
    (void)state;
    for (uint64_t n_known = 1; n_known <= 2; n_known++) {
        struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
        const struct profile_module module = {.path = profile_add_cstring(builder, "m")};
        const struct profile_function in_m = {.name = profile_add_cstring(builder, "f"),
                                              .module = profile_add_module(builder, &module)};
        const struct profile_frame frame = {.function = profile_add_function(builder, &in_m)};
        uint32_t stack = profile_add_stack(builder, 0, profile_add_frame(builder, &frame));
        for (uint64_t i = 0; i < 10; i++) {
            if (i < n_known)
                profile_add_sample(builder, &(struct profile_sample){.stack = stack},
                                   &(uint64_t){1});
            else
                sample_add(builder, 0, "f;g", 0, 100);
        }
        struct profile *profile = builder_finish(builder);
        assert_int_equal(summary_is_known(profile, SUMMARY_BY_MODULE), n_known == 2);
        profile_destroy(profile);
    }
}

static void only_functions_are_always_known(void **state)
{
    (void)state;
    struct profile *profile = builder_finish(builder_make(PROFILE_UNIT_COUNT, 0));
    for (enum summary_by by = SUMMARY_BY_FUNCTION; by <= SUMMARY_BY_LABEL; by++)
        assert_int_equal(summary_is_known(profile, by), by == SUMMARY_BY_FUNCTION);
    profile_destroy(profile);
    profile = recursive_make();
    for (enum summary_by by = SUMMARY_BY_FUNCTION; by <= SUMMARY_BY_LABEL; by++)
        assert_int_equal(summary_is_known(profile, by),
                         by != SUMMARY_BY_FILE && by != SUMMARY_BY_LABEL);
    profile_destroy(profile);
}

static void spans_count_by_self_time(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    span_add(builder, 0, "outer", 0, 100);
    span_add(builder, 0, "inner", 10, 40);
    struct profile *profile = builder_finish(builder);
    expect(profile, SUMMARY_BY_FUNCTION, false, "outer:0 70 100\ninner:0 30 30\n");
    profile_destroy(profile);
}

static void nothing_is_summed_to_nothing(void **state)
{
    (void)state;
    struct profile *profile = builder_finish(builder_make(PROFILE_UNIT_COUNT, 0));
    expect(profile, SUMMARY_BY_FUNCTION, true, "");
    profile_destroy(profile);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct profile *profile = recursive_make();
    for (int by = SUMMARY_BY_FUNCTION; by <= SUMMARY_BY_LABEL; by++) {
        for (unsigned n = 1;; n++) {
            struct err err = ERR_INIT;
            struct summary summary;
            alloc_fault_arm(n);
            bool ok = summary_init(&summary, profile, (enum summary_by)by, &err);
            bool fired = alloc_fault_fired();
            assert_int_equal(ok, !fired);
            if (ok)
                summary_deinit(&summary);
            else
                assert_int_equal(err.code, ERR_MEMORY);
            if (!fired)
                break;
        }
    }
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(rows_of_files_processes_commands_and_labels),
        cmocka_unit_test(lines_of_one_function_in_two_files),
        cmocka_unit_test(few_modules_are_none),
        cmocka_unit_test(only_functions_are_always_known),
        cmocka_unit_test(spans_count_by_self_time),
        cmocka_unit_test(nothing_is_summed_to_nothing),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
