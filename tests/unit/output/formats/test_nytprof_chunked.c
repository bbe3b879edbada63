/* test_nytprof_chunked.c - the chunked NYTProf dialect: dump, reader, writer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "formats/nytprof/chunked/chunked.h"
#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/stream.h"
#include "nytprof_profiles.h"
#include "nytprof_support.h"
#include "unit.h"

#define DATA TEST_DATA_DIR "/nytprof/"

static void dump_equals_the_expected_content(void **state)
{
    (void)state;
    assert_int_equal(each_nytprof(DATA "chunked", check_dump), 12);
    const char *shared = shared_corpus("made/chunked");
    if (shared != NULL)
        assert_true(each_nytprof(shared, check_dump) >= 12);
}

static struct profile *read_chunked(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, DATA "chunked/%s.nytprof", name);
    struct bytes file = path_load(path);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    if (!bytes_try_read(&format_nytprof_chunked, file, false, NULL, &profile, &err))
        fail_msg("%s: %s", name, err.text);
    free(file.bytes);
    return profile;
}

static void numbers_have_all_their_bits(void **state)
{
    (void)state;
    struct bytes file = path_load(DATA "chunked/big_values.nytprof");
    struct chunked_content content;
    struct err err = ERR_INIT;
    assert_true(chunked_content_parse((const uint8_t *)file.bytes, file.n, &content, &err));
    const struct chunked_row *rows = content.lines.items;
    assert_int_equal(rows[0].words[0], UINT32_MAX);
    assert_true(rows[0].inclusive_ticks == UINT64_MAX);
    assert_true(rows[0].exclusive_ticks == (uint64_t)1 << 63);
    assert_true(rows[1].inclusive_ticks == 9007199254740993);
    chunked_content_deinit(&content);
    free(file.bytes);
}

static void edges_become_samples_of_two_frames(void **state)
{
    (void)state;
    struct profile *profile = read_chunked("seed");
    char *text = describe_samples(profile, 0);
    assert_string_equal(text,
                        "4242(demo.py)/4242(): <module> :0\x1fns::parse(char const*) :0\x1f= 1000\n"
                        "4242(demo.py)/4242(): <module> :0\x1fwork :0\x1f= 900000\n"
                        "4242(demo.py)/4242(): caf\xc3\xa9 :0\x1f"
                        "caf\xc3\xa9 :0\x1f= 1000\n"
                        "4242(demo.py)/4242(): work :0\x1f"
                        "caf\xc3\xa9 :0\x1f= 480000\n");
    assert_true(profile->start_realtime_ns == 1752408000123456000);
    free(text);
    profile_destroy(profile);
}

static void statements_become_flat_samples(void **state)
{
    (void)state;
    struct profile *profile = read_chunked("statements");
    char *text = describe_samples(profile, 0);
    assert_string_equal(text,
                        "0()/0(): /home/dev/demo/sum.py /home/dev/demo/sum.py:0\x1f= 40000\n");
    free(text);
    profile_destroy(profile);
}

/* What is written is in the one plain layout, and its sums are those of the profile. */
static void a_real_profile_is_written(void **state)
{
    (void)state;
    struct profile *profile = make_real_profile();
    struct bytes file = profile_write(&format_nytprof_chunked, profile, NULL, NULL);
    struct bytes again = profile_write(&format_nytprof_chunked, profile, NULL, NULL);
    assert_int_equal(file.n, again.n);
    assert_memory_equal(file.bytes, again.bytes, file.n);
    assert_int_equal(nytprof_dialect_of((const uint8_t *)file.bytes, file.n), NYTPROF_CHUNKED);
    struct chunked_content content;
    struct err err = ERR_INIT;
    if (!chunked_content_parse((const uint8_t *)file.bytes, file.n, &content, &err))
        fail_msg("%s", err.text);
    const struct chunked_chunk *chunks = content.chunks.items;
    assert_int_equal(content.chunks.n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(chunks[i].tag, "PSDCE"[i]);
    assert_int_equal(content.process_layout, CHUNKED_TIME_FIRST);
    assert_int_equal(content.sub_layout, CHUNKED_NAMES);
    assert_true(content.has_blank_line);
    uint64_t total_ns = 0;
    uint64_t line_ticks = 0;
    uint64_t call_ticks = 0;
    uint64_t n_samples = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        total_ns += profile_value(profile, i, 1);
    for (size_t i = 0; i < content.lines.n; i++) {
        const struct chunked_row *row = array_at(&content.lines, i);
        line_ticks += row->exclusive_ticks;
        n_samples += row->words[2];
        assert_true(row->inclusive_ticks >= row->exclusive_ticks);
    }
    for (size_t i = 0; i < content.calls.n; i++)
        call_ticks += ((const struct chunked_row *)array_at(&content.calls, i))->exclusive_ticks;
    assert_int_equal(n_samples, profile->n_samples);
    /* Each line is cut off at its last whole tick, and each sub once. */
    assert_in_range(total_ns / 100 - line_ticks, 0, content.lines.n);
    assert_in_range(total_ns / 100 - call_ticks, 0, content.subs.n);
    chunked_content_deinit(&content);
    free(file.bytes);
    free(again.bytes);
    profile_destroy(profile);
}

static void what_was_read_is_written_the_same(void **state)
{
    (void)state;
    struct profile *profiles[] = {make_real_profile(), make_empty_profile(),
                                  read_chunked("seed_empty"), read_chunked("seed")};
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        struct bytes first = profile_write(&format_nytprof_chunked, profiles[i], NULL, NULL);
        struct profile *back = NULL;
        struct profile *third = NULL;
        struct err err = ERR_INIT;
        assert_true(bytes_try_read(&format_nytprof_chunked, first, false, NULL, &back, &err));
        struct bytes second = profile_write(&format_nytprof_chunked, back, NULL, NULL);
        assert_true(bytes_try_read(&format_nytprof, second, false, NULL, &third, &err));
        char *want = describe_samples(back, 0);
        char *got = describe_samples(third, 0);
        assert_string_equal(got, want);
        free(want);
        free(got);
        free(first.bytes);
        free(second.bytes);
        profile_destroy(back);
        profile_destroy(third);
        profile_destroy(profiles[i]);
    }
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"seed", "files_and_line_ranges", "pynytprof_made",
                                        "padded_and_repeated"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        char path[4096];
        snprintf(path, sizeof path, DATA "chunked/%s.nytprof", names[i]);
        struct bytes whole = path_load(path);
        for (size_t n = 0; n < whole.n; n++) {
            struct bytes part = bytes_part(whole, n);
            struct err err = ERR_INIT;
            struct chunked_content content;
            assert_false(chunked_content_parse((const uint8_t *)part.bytes, n, &content, &err));
            assert_int_not_equal(err.code, ERR_NONE);
            chunked_content_deinit(&content);
            free(part.bytes);
        }
        free(whole.bytes);
    }
}

static void failures_are_reported(void **state)
{
    (void)state;
    static const char *const names[] = {"seed", "files_and_line_ranges", "pynytprof_made"};
    struct profile *real = make_real_profile();
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        char path[4096];
        snprintf(path, sizeof path, DATA "chunked/%s.nytprof", names[i]);
        struct bytes file = path_load(path);
        bool fired = true;
        unsigned n_failed = 0;
        for (unsigned n = 1; fired; n++) {
            struct err err = ERR_INIT;
            struct profile *profile = NULL;
            alloc_fault_arm(n);
            bool ok = bytes_try_read(&format_nytprof_chunked, file, false, NULL, &profile, &err);
            fired = alloc_fault_fired();
            assert_true(ok || (fired && err.code == ERR_MEMORY));
            n_failed += ok ? 0 : 1;
            profile_destroy(profile);
        }
        assert_true(n_failed > 20);
        free(file.bytes);
    }
    bool fired = true;
    for (unsigned n = 1; fired; n++) {
        struct err err = ERR_INIT;
        struct sink *out = NULL;
        assert_true(sink_create_failing(UINT64_MAX, &out, &err));
        alloc_fault_arm(n);
        bool ok = format_nytprof_chunked.write(real, NULL, NULL, out, &err);
        fired = alloc_fault_fired();
        assert_true(ok || (fired && err.code == ERR_MEMORY));
        sink_abandon(out);
    }
    profile_destroy(real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dump_equals_the_expected_content),
        cmocka_unit_test(numbers_have_all_their_bits),
        cmocka_unit_test(edges_become_samples_of_two_frames),
        cmocka_unit_test(statements_become_flat_samples),
        cmocka_unit_test(a_real_profile_is_written),
        cmocka_unit_test(what_was_read_is_written_the_same),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
