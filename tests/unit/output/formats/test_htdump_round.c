/* test_htdump_round.c - what the htdump writer writes, the reader takes back whole; same profile,
 * same bytes; want of memory and failing sinks. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "formats/htdump/htdump.h"
#include "htdump_fixture.h"
#include "htdump_profiles.h"
#include "unit.h"

/* Writes, reads, writes: equal bytes each time, equal content; returns the notes of the first. */
static unsigned round_trip(const struct profile *profile)
{
    struct heard heard;
    struct format_notes notes = notes_into(&heard);
    struct bytes first = write_bytes(profile, &notes);
    unsigned n_notes = heard.n;
    struct bytes second = write_bytes(profile, &notes);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.data, second.data, first.n);
    notes = notes_into(&heard);
    struct profile *back = read_profile(&first, &notes);
    assert_int_equal(heard.n, 0);
    char *expected = profile_describe(profile);
    char *found = profile_describe(back);
    assert_string_equal(found, expected);
    struct bytes third = write_bytes(back, &notes);
    assert_int_equal(first.n, third.n);
    assert_memory_equal(first.data, third.data, first.n);
    profile_destroy(back);
    free(expected);
    free(found);
    free(first.data);
    free(second.data);
    free(third.data);
    return n_notes;
}

static void round_trip_of_made_profiles(void **state)
{
    (void)state;
    struct profile *const profiles[] = {
        profile_of_everything(), profile_of_chance(1, 1000000), profile_of_chance(2, 0),
        profile_of_spans(),      profile_of_nothing(),          profile_of_depth(1),
        profile_of_depth(5000),
    };
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        assert_int_equal(round_trip(profiles[i]), 0);
        profile_destroy(profiles[i]);
    }
}

static void invented_times_are_told_once(void **state)
{
    (void)state;
    struct profile *profile = profile_of_counts();
    assert_int_equal(round_trip(profile), 1);
    profile_destroy(profile);
}

static void round_trip_of_files(void **state)
{
    (void)state;
    DIR *dir = opendir(TEST_DATA_DIR "/htdump/made");
    const struct dirent *entry;
    unsigned n = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        const char *extension = strrchr(entry->d_name, '.');
        char path[512];
        if (extension == NULL || strcmp(extension, ".htdump") != 0)
            continue;
        snprintf(path, sizeof path, "%s/htdump/made/%s", TEST_DATA_DIR, entry->d_name);
        struct bytes bytes = file_load(path);
        struct profile *profile = read_profile(&bytes, NULL);
        round_trip(profile);
        profile_destroy(profile);
        free(bytes.data);
        n++;
    }
    closedir(dir);
    assert_int_equal(n, 15);
}

static void times_at_the_end_of_the_range(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].unit = PROFILE_UNIT_NS;
    scalars->has_times = true;
    scalars->start_time_ns = UINT64_MAX - 3; /* together with the times beyond 2^64 */
    const uint64_t weight_ns = UINT64_MAX;
    uint32_t stack = 0;
    for (unsigned i = 0; i < 5; i++)
        stack = profile_add_stack(builder, stack, profile_add_named_frame(builder, "f", 1));
    for (uint64_t i = 0; i < 3; i++) {
        const struct profile_sample sample = {.stack = stack, .time_ns = UINT64_MAX - 2 + i};
        profile_add_sample(builder, &sample, &weight_ns);
    }
    struct profile *profile = profile_done(builder);
    assert_int_equal(round_trip(profile), 0);
    profile_destroy(profile);
}

/* NUL and bytes that are not UTF-8 have no place in the format. */
static void names_that_cannot_be_kept_are_told_once(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct heard heard;
    struct format_notes notes = notes_into(&heard);
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    static const char name[] = "a\0b\xff\xc3(";
    const struct profile_span span = {
        .frame = profile_add_named_frame(builder, name, sizeof name - 1), .end_ns = 9};
    profile_add_span(builder, &span);
    profile_add_metadata(builder, "k", "\xf0\x9f", 2);
    struct profile *profile = profile_done(builder);
    struct bytes bytes = write_bytes(profile, &notes);
    assert_int_equal(heard.n, 1);
    assert_non_null(strstr(heard.last, "UTF-8"));
    struct profile *back = read_profile(&bytes, &notes);
    const struct profile_frame *frame = &back->frames[back->spans[1].frame];
    assert_string_equal(profile_text(back, back->functions[frame->function].name).bytes,
                        "a\xef\xbf\xbd"
                        "b\xef\xbf\xbd\xef\xbf\xbd(");
    assert_string_equal(profile_text(back, back->metadata[0].value).bytes, "\xef\xbf\xbd");
    profile_destroy(profile);
    profile_destroy(back);
    free(bytes.data);
}

static void want_of_memory_is_told(void **state)
{
    (void)state;
    struct profile *profile = profile_of_everything();
    bool fired = true;
    unsigned n = 1;
    for (; fired; n++) {
        struct err err = ERR_INIT, sink_err = ERR_INIT;
        struct sink *sink;
        assert_true(sink_create_failing(UINT64_MAX, &sink, &sink_err));
        alloc_fault_arm(n);
        bool ok = format_htdump.write(profile, NULL, NULL, sink, &err);
        fired = alloc_fault_fired();
        assert_true(ok != fired);
        assert_true(ok || err.code == ERR_MEMORY);
        sink_abandon(sink);
    }
    assert_true(n > 10);
    profile_destroy(profile);
}

static void want_of_memory_while_reading_back(void **state)
{
    (void)state;
    struct profile *profile = profile_of_everything();
    struct bytes bytes = write_bytes(profile, NULL);
    bool fired = true;
    for (unsigned n = 1; fired; n++) {
        struct err err = ERR_INIT;
        struct profile *back = NULL;
        alloc_fault_arm(n);
        bool ok = format_htdump.read(bytes.data, bytes.n, NULL, NULL, &back, &err);
        fired = alloc_fault_fired();
        assert_true(ok || (fired && err.code == ERR_MEMORY));
        profile_destroy(back);
    }
    profile_destroy(profile);
    free(bytes.data);
}

static void failing_sink_is_left_to_tell(void **state)
{
    (void)state;
    struct profile *profile = profile_of_everything();
    struct bytes whole = write_bytes(profile, NULL);
    for (uint64_t limit = 0; limit < whole.n + 2000; limit += 1999) {
        struct err err = ERR_INIT;
        struct sink *sink;
        assert_true(sink_create_failing(limit, &sink, &err));
        assert_true(format_htdump.write(profile, NULL, NULL, sink, &err));
        assert_int_equal(sink_close(sink, &err), limit >= whole.n);
    }
    free(whole.data);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_of_made_profiles),
        cmocka_unit_test(invented_times_are_told_once),
        cmocka_unit_test(round_trip_of_files),
        cmocka_unit_test(times_at_the_end_of_the_range),
        cmocka_unit_test(names_that_cannot_be_kept_are_told_once),
        cmocka_unit_test(want_of_memory_is_told),
        cmocka_unit_test(want_of_memory_while_reading_back),
        cmocka_unit_test(failing_sink_is_left_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
