/* test_htdump_read.c - what the reader of htdump makes of calls, marks, values and raw classes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/htdump/htdump.h"
#include "htdump_fixture.h"
#include "unit.h"

static struct bytes sample_load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/htdump/%s.htdump", TEST_DATA_DIR, name);
    return file_load(path);
}

static struct profile *stream_read(struct stream *stream, struct heard *heard)
{
    struct format_notes notes = notes_into(heard);
    struct bytes bytes = stream_bytes(stream);
    struct profile *profile = read_profile(&bytes, &notes);
    free(bytes.data);
    stream_deinit(stream);
    return profile;
}

static const char *frame_name(const struct profile *profile, uint32_t frame)
{
    return profile_text(profile, profile->functions[profile->frames[frame].function].name).bytes;
}

static void base_field(struct stream *stream, uint32_t number)
{
    stream_field(stream, number, "HT_Event", "base", 24, HTDUMP_STRUCT);
}

/* ---- reading ---- */

static void calls_become_spans(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct heard heard;
    stream_byte_order(&stream, true);
    stream_call_classes(&stream);
    stream_call(&stream, 1100, 50, 3, "in ner", 7);
    stream_call(&stream, 1000, 500, 3, "outer", 6);
    stream_call(&stream, 1000, 500, 4, "other", 9);
    struct profile *profile = stream_read(&stream, &heard);
    assert_int_equal(heard.n, 0);
    assert_int_equal(profile->start_time_ns, 1000);
    assert_int_equal(profile->duration_ns, 500);
    assert_false(profile->has_times);
    assert_int_equal(profile->n_threads, 3);
    assert_int_equal(profile->threads[1].tid, 3);
    assert_int_equal(profile->threads[2].tid, 4);
    assert_int_equal(profile->n_spans, 4);
    assert_string_equal(frame_name(profile, profile->spans[1].frame), "outer");
    assert_int_equal(profile->spans[1].begin_ns, 0);
    assert_int_equal(profile->spans[1].end_ns, 500);
    assert_string_equal(frame_name(profile, profile->spans[2].frame), "in ner");
    assert_int_equal(profile->spans[2].begin_ns, 100);
    assert_int_equal(profile->spans[2].parent, 1);
    assert_int_equal(profile->spans[3].thread, 2);
    profile_destroy(profile);
}

static void of_equal_calls_the_lower_id_is_the_outer(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct heard heard;
    stream_byte_order(&stream, false);
    stream_call_classes(&stream);
    stream_call(&stream, 10, 5, 1, "c", 42);
    stream_call(&stream, 10, 5, 1, "b", 41);
    stream_call(&stream, 10, 5, 1, "a", 40);
    struct profile *profile = stream_read(&stream, &heard);
    assert_string_equal(frame_name(profile, profile->spans[1].frame), "a");
    assert_string_equal(frame_name(profile, profile->spans[2].frame), "b");
    assert_string_equal(frame_name(profile, profile->spans[3].frame), "c");
    assert_int_equal(profile->spans[3].parent, 2);
    profile_destroy(profile);
}

static void labels_are_those_in_force(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct heard heard;
    stream_byte_order(&stream, false);
    stream_call_classes(&stream);
    stream_int_call(&stream, 10, 1, 1, 500); /* mapped later only: the first to come */
    stream_mapping(&stream, 500, "first");
    stream_mapping(&stream, 500, "first");
    stream_int_call(&stream, 20, 1, 1, 500);
    stream_mapping(&stream, 500, "second");
    stream_int_call(&stream, 30, 1, 1, 500);
    stream_int_call(&stream, 40, 1, 1, UINT64_MAX); /* never mapped */
    struct profile *profile = stream_read(&stream, &heard);
    static const char *const expected[] = {"first", "first", "second", "18446744073709551615"};
    assert_int_equal(profile->n_spans, 5);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(frame_name(profile, profile->spans[i + 1].frame), expected[i]);
    assert_int_equal(heard.n, 1);
    assert_non_null(strstr(heard.last, "label number"));
    profile_destroy(profile);
}

static void other_events_become_values(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct heard heard;
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "Gauge", 6);
    base_field(&stream, 9);
    stream_field(&stream, 9, "u4", "thread_id", 4, HTDUMP_UNSIGNED);
    stream_field(&stream, 9, "int", "level", 2, HTDUMP_SIGNED);
    stream_field(&stream, 9, "float", "share", 4, HTDUMP_DOUBLE);
    stream_field(&stream, 9, "char*", "who", 8, HTDUMP_STRING);
    stream_class(&stream, 10, "Tick", 1);
    base_field(&stream, 10);
    stream_class(&stream, 11, "Note", 2);
    base_field(&stream, 11);
    stream_field(&stream, 11, "char*", "name", 8, HTDUMP_STRING);
    stream_header(&stream, 9, 100, 1);
    stream_number(&stream, 7, 4);
    stream_number(&stream, 0xfffe, 2);
    stream_number(&stream, 0x3f000000, 4);
    stream_text(&stream, "me");
    stream_header(&stream, 10, 101, 2);
    stream_header(&stream, 11, 102, 3);
    stream_text(&stream, "look");
    struct profile *profile = stream_read(&stream, &heard);
    static const char *const names[] = {"Gauge.level", "Gauge.share", "Gauge.who", "Tick", "look"};
    assert_int_equal(profile->n_instants, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(frame_name(profile, profile->instants[i].frame), names[i]);
    assert_int_equal(profile->instants[0].type, PROFILE_VALUE_I64);
    assert_true(profile->instants[0].value.i64 == -2);
    assert_int_equal(profile->threads[profile->instants[0].thread].tid, 7);
    assert_int_equal(profile->instants[1].type, PROFILE_VALUE_F64);
    assert_true(profile->instants[1].value.f64 == 0.5);
    assert_int_equal(profile->instants[2].type, PROFILE_VALUE_TEXT);
    assert_string_equal(profile_text(profile, (uint32_t)profile->instants[2].value.u64).bytes,
                        "me");
    assert_int_equal(profile->instants[3].type, PROFILE_VALUE_NONE);
    assert_int_equal(profile->instants[4].time_ns, 2);
    profile_destroy(profile);
}

static void raw_samples_are_taken_instead_of_calls(void **state)
{
    (void)state;
    struct heard heard;
    struct format_notes notes = notes_into(&heard);
    struct bytes bytes = sample_load("made/sampled_profile");
    struct profile *profile = read_profile(&bytes, &notes);
    assert_int_equal(heard.n, 0);
    assert_int_equal(profile->n_spans, 1);
    assert_int_equal(profile->n_samples, 80);
    assert_true(profile->has_times);
    assert_int_equal(profile->n_kinds, 1);
    assert_int_equal(profile->kinds[0].unit, PROFILE_UNIT_NS);
    assert_int_equal(profile->start_time_ns, 5000000140891);
    const struct profile_sample *first = &profile->samples[0];
    assert_int_equal(first->time_ns, 0);
    assert_int_equal(profile_value(profile, 0, 0), 1000000);
    const struct profile_thread *thread = &profile->threads[first->thread];
    assert_int_equal(thread->tid, 4242);
    assert_int_equal(profile->processes[thread->process].pid, 4242);
    assert_string_equal(profile_text(profile, thread->name).bytes, "worker-4242");
    const struct profile_frame *leaf = &profile->frames[profile->stacks[first->stack].frame];
    const struct profile_function *function = &profile->functions[leaf->function];
    assert_string_equal(profile_text(profile, function->name).bytes, "func_h");
    assert_string_equal(profile_text(profile, function->file).bytes, "demo.c");
    assert_string_equal(profile_text(profile, profile->modules[function->module].path).bytes,
                        "/usr/bin/demo");
    assert_int_equal(leaf->line, 40);
    assert_int_equal(leaf->address, 4194560);
    profile_destroy(profile);
    free(bytes.data);
}

static void times_do_not_overflow(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct heard heard;
    stream_byte_order(&stream, false);
    stream_call_classes(&stream);
    stream_call(&stream, 5, UINT64_MAX, 1, "long", 1);
    stream_call(&stream, UINT64_MAX, UINT64_MAX, 1, "late", 2);
    struct profile *profile = stream_read(&stream, &heard);
    assert_true(profile->spans[1].end_ns == UINT64_MAX);
    assert_true(profile->spans[2].begin_ns == UINT64_MAX - 5);
    assert_true(profile->spans[2].end_ns == UINT64_MAX);
    assert_true(profile->duration_ns == UINT64_MAX - 5);
    profile_destroy(profile);
}

static void unknown_references_are_told(void **state)
{
    (void)state;
    const struct format_options strict = {.strict = true};
    struct stream stream = {0};
    struct heard heard;
    struct err err = ERR_INIT;
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "ProfSampleEvent", 2);
    base_field(&stream, 9);
    stream_field(&stream, 9, "u8", "stack_id", 8, HTDUMP_UNSIGNED);
    stream_header(&stream, 9, 1, 1);
    stream_number(&stream, 4711, 8);
    struct bytes bytes = stream_bytes(&stream);
    struct profile *profile = NULL;
    assert_false(format_htdump.read(bytes.data, bytes.n, &strict, NULL, &profile, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    free(bytes.data);
    profile = stream_read(&stream, &heard);
    assert_int_equal(profile->n_samples, 1);
    assert_int_equal(profile->samples[0].stack, 0);
    assert_int_equal(heard.n, 1);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_spans),
        cmocka_unit_test(of_equal_calls_the_lower_id_is_the_outer),
        cmocka_unit_test(labels_are_those_in_force),
        cmocka_unit_test(other_events_become_values),
        cmocka_unit_test(raw_samples_are_taken_instead_of_calls),
        cmocka_unit_test(times_do_not_overflow),
        cmocka_unit_test(unknown_references_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
