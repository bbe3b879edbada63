/* test_easyprofiler_write.c - writing .prof files: round trips, and each rule of the writer.
 *
 * With SAMPLER_TEST_OUT set to a folder the files the writer made are left there, for a checker. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "easyprofiler_profiles.h"
#include "format_help.h"
#include "format_round.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "profile_help.h"
#include "sink.h"
#include "unit.h"

static const struct format_options no_options = {.strict = false};

struct heard {
    unsigned n;
    char last[512];
};

static void hear(void *context, const char *text)
{
    struct heard *heard = context;
    heard->n++;
    (void)snprintf(heard->last, sizeof heard->last, "%s", text);
}

/* ---- writing and looking at it ----------------------------------------------------------------
 */

static struct sink *write_profile(const struct profile *profile, struct heard *heard)
{
    const struct format_notes notes = {.note = hear, .context = heard};
    struct err err = ERR_INIT;
    struct sink *sink;
    assert_true(sink_create_buffer(&sink, &err));
    if (!easyprofiler_write(profile, &no_options, &notes, sink, &err))
        fail_msg("write: %s", err.text);
    return sink;
}

static void keep_for_checker(const char *name, const void *data, size_t n)
{
    const char *folder = getenv("SAMPLER_TEST_OUT");
    if (folder == NULL)
        return;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s.prof", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Writes, and parses strictly: our own files give no cause for a remark. */
static struct easyprofiler_file *rewrite(const struct profile *profile, const char *name,
                                         struct heard *heard, struct sink **sink)
{
    *sink = write_profile(profile, heard);
    size_t n;
    const void *data = sink_buffer(*sink, &n);
    keep_for_checker(name, data, n);
    struct err err = ERR_INIT;
    struct easyprofiler_file *file;
    if (!easyprofiler_parse(data, n, true, NULL, &file, &err))
        fail_msg("%s at %" PRIu64, err.text, err.offset);
    return file;
}

struct written {
    struct profile *profile;
    struct heard heard; /* from the writer */
    struct sink *sink;
    struct easyprofiler_file *file;
};

/* Takes the profile. */
static struct written write_out(struct profile *profile, const char *name)
{
    struct written w = {.profile = profile};
    w.file = rewrite(profile, name, &w.heard, &w.sink);
    return w;
}

/* The innermost block around `number`, 0 = none. */
static uint32_t block_parent(const struct easyprofiler_file *file, uint32_t number)
{
    for (uint32_t other = number + 1; other < file->places.n; other++) {
        if (number >= other - easyprofiler_n_within(file, other))
            return other;
    }
    return 0;
}

static void written_free(struct written *w)
{
    easyprofiler_file_destroy(w->file);
    sink_abandon(w->sink);
    profile_destroy(w->profile);
}

static struct profile *read_sink(const struct sink *sink)
{
    struct err err = ERR_INIT;
    struct profile *profile;
    size_t n;
    const void *data = sink_buffer(sink, &n);
    if (!easyprofiler_read(data, n, &no_options, NULL, &profile, &err))
        fail_msg("%s at %" PRIu64, err.text, err.offset);
    return profile;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void a_rich_profile_survives(void **state)
{
    (void)state;
    struct written w = write_out(rich_profile(), "rich");
    if (w.heard.n != 0)
        fail_msg("unexpected: %s", w.heard.last);
    struct profile *back = read_sink(w.sink);
    assert_int_equal(back->start_time_ns, w.profile->start_time_ns);
    assert_int_equal(back->duration_ns, w.profile->duration_ns);
    assert_int_equal(back->processes[1].pid, 4242);
    static struct format_rounds rounds;
    format_rounds_add(&rounds, "rich", w.profile);
    assert_int_equal(rounds.n_failures, 0);
    profile_destroy(back);
    written_free(&w);
}

static void samples_become_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t begin_ms, end_ms;
    } expected[] = {{"b", 0, 3},  {"c", 2, 3}, {"c", 3, 5}, {"a", 0, 5},
                    {"a", 9, 10}, {"q", 2, 3}, {"q", 1, 4}, {"q", 0, 4}};
    static const unsigned order[] = {1, 0, 2, 3, 4, 5, 6, 7}; /* as the blocks end */
    struct written w = write_out(sampled_profile(), "sampled");
    assert_int_equal(w.heard.n, 1);
    assert_int_equal(w.file->places.n - 1, N_ELEMENTS(expected));
    for (uint32_t i = 0; i < N_ELEMENTS(expected); i++) {
        const struct easyprofiler_block block = easyprofiler_block_at(w.file, i + 1);
        const struct easyprofiler_descriptor *descriptor = &w.file->descriptors[block.descriptor];
        assert_string_equal(descriptor->name, expected[order[i]].name);
        assert_int_equal(block.begin_ns, 500 + expected[order[i]].begin_ms * 1000000);
        assert_int_equal(block.end_ns, 500 + expected[order[i]].end_ms * 1000000);
    }
    assert_int_equal(w.file->begin_ns, 500);
    assert_int_equal(w.file->n_threads, 2);
    assert_int_equal(w.file->threads[0].n_levels, 3);
    written_free(&w);
}

/* The viewer crops by the end of the file, and its reader drops what ends before the begin. */
static void the_header_spans_all_records(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(1000, 5);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    uint32_t frame = add_frame(builder, "f", "", 0);
    add_span(builder, thread, frame, 0, 70);
    const struct profile_instant instant = {.thread = thread, .frame = frame, .time_ns = 80};
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread, .begin_ns = 80, .end_ns = 90};
    profile_add_off_cpu(builder, &off_cpu);
    struct written w = write_out(builder_finish(builder), "range");
    assert_int_equal(w.file->begin_ns, 1000);
    assert_int_equal(w.file->end_ns, 1090);
    written_free(&w);
}

/* Measured intervals end where the next begins; samples of a clock each stand for their weight. */
static void samples_at_one_time_by_their_kind(void **state)
{
    (void)state;
    static const uint64_t times[] = {1000, 1000, 2000};
    static const struct {
        uint64_t period, first_ns;
        const char *names;
    } cases[] = {{0, 1000, "bc"}, {1000, 0, "abc"}};
    for (size_t k = 0; k < N_ELEMENTS(cases); k++) {
        struct profile_builder *builder = timed_builder(0, 0);
        struct profile_scalars *scalars = profile_builder_scalars(builder);
        scalars->n_kinds = 1;
        scalars->kinds[0] =
            (struct profile_kind){profile_add_cstring(builder, "cpu"), PROFILE_UNIT_NS};
        scalars->has_times = true;
        scalars->period = cases[k].period;
        uint32_t thread = add_thread(builder, 0, 5, "t");
        for (size_t i = 0; i < N_ELEMENTS(times); i++) {
            const uint64_t value = 1000;
            uint32_t frame = profile_add_named_frame(builder, &"abc"[i], 1);
            const struct profile_sample sample = {.thread = thread,
                                                  .stack = profile_add_stack(builder, 0, frame),
                                                  .time_ns = times[i]};
            profile_add_sample(builder, &sample, &value);
        }
        struct written w = write_out(builder_finish(builder), "one_time");
        uint32_t n = (uint32_t)strlen(cases[k].names);
        assert_int_equal(w.file->places.n - 1, n);
        for (uint32_t i = 0; i < n; i++) {
            const struct easyprofiler_block block = easyprofiler_block_at(w.file, i + 1);
            assert_int_equal(w.file->descriptors[block.descriptor].name[0], cases[k].names[i]);
            assert_int_equal(block.begin_ns, cases[k].first_ns + 1000 * i);
            assert_int_equal(block.end_ns, block.begin_ns + 1000);
        }
        written_free(&w);
    }
}

static void an_event_comes_after_what_ends_with_it(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin_ns, end_ns;
        uint32_t parent;
    } expected[] = {{10, 20, 3}, {20, 20, 3}, {0, 30, 0}, {30, 30, 0}};
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    uint32_t frame = add_frame(builder, "f", "", 0);
    add_span(builder, thread, frame, 0, 30);
    add_span(builder, thread, frame, 10, 20);
    for (uint64_t time_ns = 30; time_ns >= 20; time_ns -= 10) {
        const struct profile_instant instant = {
            .thread = thread, .frame = frame, .time_ns = time_ns};
        profile_add_instant(builder, &instant);
    }
    struct written w = write_out(builder_finish(builder), "events");
    assert_int_equal(w.file->places.n - 1, N_ELEMENTS(expected));
    for (uint32_t i = 0; i < N_ELEMENTS(expected); i++) {
        const struct easyprofiler_block block = easyprofiler_block_at(w.file, i + 1);
        assert_int_equal(block.begin_ns, expected[i].begin_ns);
        assert_int_equal(block.end_ns, expected[i].end_ns);
        assert_int_equal(block_parent(w.file, i + 1), expected[i].parent);
    }
    written_free(&w);
}

static void an_empty_profile_is_refused(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(0, 10);
    uint32_t thread = add_thread(builder, 0, 5, "idle");
    const struct profile_off_cpu off_cpu = {.thread = thread, .begin_ns = 1, .end_ns = 2};
    profile_add_off_cpu(builder, &off_cpu);
    struct profile *profile = builder_finish(builder);
    struct err err = ERR_INIT;
    struct sink *sink;
    assert_true(sink_create_buffer(&sink, &err));
    assert_false(easyprofiler_write(profile, &no_options, NULL, sink, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_int_equal(sink_offset(sink), 0);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void deep_chains_fit_in_255_levels(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        bool with_event;
        uint32_t n_levels;
        unsigned n_notes;
    } cases[] = {{1, false, 1, 0},      {1, true, 2, 0},       {254, true, 255, 0},
                 {255, false, 255, 0},  {255, true, 255, 1},   {256, false, 255, 1},
                 {1000, false, 255, 1}, {100000, true, 255, 1}};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "chain_%zu", i);
        struct written w = write_out(chain_profile(cases[i].n, cases[i].with_event), name);
        assert_int_equal(w.file->threads[0].n_levels, cases[i].n_levels);
        assert_int_equal(w.heard.n, cases[i].n_notes);
        /* The innermost span is there, with its event in it. */
        const struct easyprofiler_block innermost =
            easyprofiler_block_at(w.file, cases[i].with_event ? 2 : 1);
        assert_int_equal(innermost.begin_ns, cases[i].n - 1);
        unsigned n_omitted = 0;
        for (uint32_t k = 0; k < w.file->n_descriptors; k++)
            n_omitted += strcmp(w.file->descriptors[k].name, "[frames omitted]") == 0;
        assert_int_equal(n_omitted, cases[i].n_notes);
        written_free(&w);
    }
}

/* Each begins in the one before and outlasts it: to EasyProfiler the later owns the earlier. */
static void crossing_spans_stay_readable(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "crossing");
    uint32_t frame = add_frame(builder, "f", "", 0);
    for (uint64_t i = 0; i < 1000; i++)
        add_span(builder, thread, frame, i * 10, i * 10 + 15);
    struct written w = write_out(builder_finish(builder), "crossing");
    assert_int_equal(w.file->threads[0].n_levels, 255);
    assert_int_equal(w.file->n_records, 1000);
    assert_int_equal(w.heard.n, 1);
    written_free(&w);
}

static void every_thread_gets_an_id_of_its_own(void **state)
{
    (void)state;
    static const uint64_t given[] = {7, 0, 7, 3, UINT64_MAX, 0, 1};
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t frame = add_frame(builder, "f", "", 0);
    for (size_t i = 0; i < N_ELEMENTS(given); i++) {
        uint32_t thread = add_thread(builder, 0, given[i], "t");
        add_span(builder, thread, frame, i, i + 1);
    }
    add_span(builder, 0, frame, 100, 200); /* the thread of formats that know none */
    struct written w = write_out(builder_finish(builder), "tids");
    assert_int_equal(w.file->n_threads, N_ELEMENTS(given) + 1);
    bool has_seven = false, has_three = false, has_largest = false;
    for (uint32_t i = 0; i < w.file->n_threads; i++) {
        const struct easyprofiler_thread *thread = &w.file->threads[i];
        assert_true(thread->tid != 0);
        assert_int_equal(thread->n_sections, 1);
        has_seven = has_seven || thread->tid == 7;
        has_three = has_three || thread->tid == 3;
        has_largest = has_largest || thread->tid == UINT64_MAX;
    }
    assert_true(has_seven && has_three && has_largest);
    assert_int_equal(w.heard.n, 1);
    written_free(&w);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    enum { LENGTH = 200000 };
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    for (size_t i = 0; i + 2 < LENGTH; i += 3)
        memcpy(text + i, "\xe5\x90\x8d", 3);
    text[LENGTH - LENGTH % 3] = '\0';
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, text);
    add_span(builder, thread, add_frame(builder, text, text, 0), 0, 10);
    const struct profile_instant instant = {.thread = thread,
                                            .frame = add_frame(builder, "value", "", 0),
                                            .time_ns = 5,
                                            .type = PROFILE_VALUE_TEXT,
                                            .value.u64 = profile_add_cstring(builder, text)};
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread,
                                            .begin_ns = 1,
                                            .end_ns = 2,
                                            .to_process = profile_add_cstring(builder, text)};
    profile_add_off_cpu(builder, &off_cpu);
    const struct profile_bookmark bookmark = {.text = profile_add_text(builder, "a\0b", 3)};
    profile_add_bookmark(builder, &bookmark);
    struct written w = write_out(builder_finish(builder), "long");
    assert_int_equal(w.heard.n, 1);
    assert_string_equal(w.heard.last, "texts cut, too long or with a 0 byte inside: 6");
    const struct easyprofiler_descriptor *descriptor = &w.file->descriptors[1];
    assert_in_range(descriptor->name_length, 49000, 65535);
    assert_int_equal(descriptor->name_length % 3, 0);
    assert_int_equal(descriptor->file_length % 3, 0);
    assert_in_range(w.file->threads[0].name_length, 65531, 65534);
    assert_int_equal(w.file->threads[0].name_length % 3, 0);
    written_free(&w);
    free(text);
}

static void times_off_the_processor_do_not_overlap(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin_ns, end_ns;
    } given[] = {{50, 60}, {10, 20}, {15, 30}, {16, 18}, {40, 40}, {0, 0}};
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    add_span(builder, thread, add_frame(builder, "f", "", 0), 0, 100);
    for (size_t i = 0; i < N_ELEMENTS(given); i++) {
        const struct profile_off_cpu off_cpu = {
            .thread = thread, .begin_ns = given[i].begin_ns, .end_ns = given[i].end_ns};
        profile_add_off_cpu(builder, &off_cpu);
    }
    struct written w = write_out(builder_finish(builder), "switches");
    assert_int_equal(w.file->switches.n, 3);
    uint64_t end_ns = 0;
    for (size_t i = 0; i < w.file->switches.n; i++) {
        const struct easyprofiler_switch *item = &w.file->switches.items[i];
        assert_true(item->begin_ns >= end_ns && item->begin_ns < item->end_ns);
        end_ns = item->end_ns;
    }
    assert_int_equal(end_ns, 60);
    assert_int_equal(w.heard.n, 1);
    written_free(&w);
}

static void bookmarks_are_sorted_and_counted(void **state)
{
    (void)state;
    enum { N = 65537 };
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    add_span(builder, thread, add_frame(builder, "f", "", 0), 0, 100);
    for (uint64_t i = 0; i < N; i++) {
        const struct profile_bookmark bookmark = {.time_ns = N - i};
        profile_add_bookmark(builder, &bookmark);
    }
    struct written w = write_out(builder_finish(builder), "bookmarks");
    assert_int_equal(w.file->bookmarks.n, 65535);
    for (size_t i = 0; i < w.file->bookmarks.n; i++)
        assert_int_equal(w.file->bookmarks.items[i].position_ns, i + 1);
    assert_string_equal(w.heard.last, "bookmarks left out (at most 65535): 2");
    written_free(&w);
}

static void threads_name_their_process_when_there_are_several(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t frame = add_frame(builder, "f", "", 0);
    static const char *const names[] = {"sh", "cc", ""};
    for (uint64_t i = 0; i < N_ELEMENTS(names); i++) {
        const struct profile_process process = {.pid = 10 + i,
                                                .name = profile_add_cstring(builder, names[i])};
        uint32_t process_id = profile_add_process(builder, &process);
        add_span(builder, add_thread(builder, process_id, 10 + i, "main"), frame, 0, 10);
    }
    struct written w = write_out(builder_finish(builder), "processes");
    assert_int_equal(w.file->pid, 10);
    assert_string_equal(w.file->threads[0].name, "main (sh 10)");
    assert_string_equal(w.file->threads[1].name, "main (cc 11)");
    assert_string_equal(w.file->threads[2].name, "main (12)");
    assert_int_equal(w.heard.n, 1);
    written_free(&w);
}

static void a_module_stands_for_a_file(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    const struct profile_module module = {.path = profile_add_cstring(builder, "/usr/lib/libm.so")};
    const struct profile_function function = {.name = profile_add_cstring(builder, "sin"),
                                              .module = profile_add_module(builder, &module)};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = 3,
                                        .flags = PROFILE_FRAME_INLINED,
                                        .address = 0x1234};
    add_span(builder, thread, profile_add_frame(builder, &frame), 0, 10);
    profile_add_metadata(builder, "command", "x", 1);
    struct written w = write_out(builder_finish(builder), "lost");
    assert_int_equal(w.heard.n, 0); /* losses.h says what no writer has to */
    assert_string_equal(w.file->descriptors[0].name + w.file->descriptors[0].file_start,
                        "/usr/lib/libm.so");
    written_free(&w);
}

/* ---- faults --------------------------------------------------------------------------------- */

static void failed_allocations_of_the_writer_are_reported(void **state)
{
    (void)state;
    struct profile *profiles[] = {rich_profile(), sampled_profile(), chain_profile(300, true)};
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        for (unsigned n = 1;; n++) {
            struct err err = ERR_INIT;
            struct sink *sink;
            assert_true(sink_create_failing(1 << 20, &sink, &err));
            alloc_fault_arm(n);
            bool ok = easyprofiler_write(profiles[i], &no_options, NULL, sink, &err);
            bool fired = alloc_fault_fired();
            if (!fired)
                assert_true(ok);
            else
                /* A sort without memory for it goes on in place. */
                assert_true(ok || err.code == ERR_MEMORY);
            sink_abandon(sink);
            if (!fired)
                break;
        }
        profile_destroy(profiles[i]);
    }
}

static void a_failing_sink_is_told_by_its_close(void **state)
{
    (void)state;
    struct profile *profile = rich_profile();
    struct heard heard = {.n = 0};
    struct sink *whole = write_profile(profile, &heard);
    size_t n;
    const void *data = sink_buffer(whole, &n);
    for (uint64_t limit = 0; limit < n; limit += 37) {
        struct err err = ERR_INIT;
        struct sink *sink;
        assert_true(sink_create_failing(limit, &sink, &err));
        assert_true(easyprofiler_write(profile, &no_options, NULL, sink, &err));
        assert_false(sink_close(sink, &err));
        assert_int_equal(err.sys_errno, ENOSPC);
        struct err dump_err = ERR_INIT;
        assert_true(sink_create_failing(limit, &sink, &dump_err));
        assert_true(easyprofiler_dump(data, n, NULL, sink, &dump_err));
        assert_false(sink_close(sink, &dump_err));
    }
    sink_abandon(whole);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rich_profile_survives),
        cmocka_unit_test(samples_become_blocks),
        cmocka_unit_test(the_header_spans_all_records),
        cmocka_unit_test(samples_at_one_time_by_their_kind),
        cmocka_unit_test(an_event_comes_after_what_ends_with_it),
        cmocka_unit_test(an_empty_profile_is_refused),
        cmocka_unit_test(deep_chains_fit_in_255_levels),
        cmocka_unit_test(crossing_spans_stay_readable),
        cmocka_unit_test(every_thread_gets_an_id_of_its_own),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(times_off_the_processor_do_not_overlap),
        cmocka_unit_test(bookmarks_are_sorted_and_counted),
        cmocka_unit_test(threads_name_their_process_when_there_are_several),
        cmocka_unit_test(a_module_stands_for_a_file),
        cmocka_unit_test(failed_allocations_of_the_writer_are_reported),
        cmocka_unit_test(a_failing_sink_is_told_by_its_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
