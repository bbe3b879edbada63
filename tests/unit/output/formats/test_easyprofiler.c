/* test_easyprofiler.c - reading .prof files: what blocks become, files cut and damaged, faults.
 * That the dump of every corpus file is right is compare_easyprofiler.py's part. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "registry/registry.h"
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

struct bytes {
    uint8_t *data; /* exactly as large, so that ASan sees the first byte too far */
    size_t n;
};

static struct bytes load(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, TEST_DATA_DIR "/easyprofiler/%s.prof", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    struct bytes bytes = {.n = (size_t)ftell(file)};
    rewind(file);
    bytes.data = malloc(bytes.n);
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.n, file), bytes.n);
    (void)fclose(file);
    return bytes;
}

static struct profile *read_bytes(const void *data, size_t n)
{
    struct err err = ERR_INIT;
    struct profile *profile;
    if (!easyprofiler_read(data, n, &no_options, NULL, &profile, &err))
        fail_msg("%s at %" PRIu64, err.text, err.offset);
    return profile;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void content_is_recognised(void **state)
{
    (void)state;
    const uint8_t good[] = {0x79, 0x73, 0x61, 0x45, 0, 0, 1, 2};
    const uint8_t big_endian[] = {0x45, 0x61, 0x73, 0x79, 2, 1, 0, 0};
    assert_int_equal(format_easyprofiler.sniff(good, sizeof good), 100);
    assert_int_equal(format_easyprofiler.sniff(good, 3), 0);
    assert_in_range(format_easyprofiler.sniff(big_endian, sizeof big_endian), 1, 99);
    assert_int_equal(format_easyprofiler.sniff((const uint8_t *)"Easy going", 10), 0);
    assert_ptr_equal(format_by_name("easyprofiler"), &format_easyprofiler);
    assert_ptr_equal(format_by_path("a/b.prof"), &format_easyprofiler);
}

/* Reads `n` bytes of `data` from a block of exactly that size. True: read; *heard counts notes. */
static bool read_exact(const uint8_t *data, size_t n, struct heard *heard, struct err *err)
{
    const struct format_notes notes = {.note = hear, .context = heard};
    uint8_t *copy = malloc(n != 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, data, n);
    struct profile *profile = NULL;
    bool ok = easyprofiler_read(copy, n, &no_options, &notes, &profile, err);
    profile_destroy(profile);
    struct sink *sink;
    struct err dump_err = ERR_INIT;
    assert_true(sink_create_failing(1 << 20, &sink, &dump_err));
    assert_int_equal(easyprofiler_dump(copy, n, NULL, sink, &dump_err), ok);
    sink_abandon(sink);
    free(copy);
    return ok;
}

/* Before 2.1 a file just ends after its last thread, so nobody can tell that one without records is
 * missing: the file "hand_v*" has such a thread at its end. */
static void a_cut_file_is_not_read_in_silence(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned n_silent;
    } cases[] = {{"made/hand_v0.1.0", 1},        {"made/hand_v1.0.1", 1},
                 {"made/hand_v1.3.0", 1},        {"made/hand_v2.1.0", 0},
                 {"made/hand_bookmarks", 0},     {"made/hand_values", 0},
                 {"made/hand_random_v1.3.1", 0}, {"made/rw_context_switches", 0}};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct bytes bytes = load(cases[i].name);
        unsigned n_silent = 0;
        for (size_t n = 0; n < bytes.n; n++) {
            struct heard heard = {.n = 0};
            struct err err = ERR_INIT;
            if (read_exact(bytes.data, n, &heard, &err)) {
                n_silent += heard.n == 0;
            } else {
                assert_in_range(err.code, ERR_TRUNCATED, ERR_LIMIT);
                assert_true(err.offset <= n);
                assert_true(err.text[0] != '\0');
            }
        }
        assert_int_equal(n_silent, cases[i].n_silent);
        free(bytes.data);
    }
}

/* Wherever a size or a count stands, it is made as large as it can be. */
static void no_size_of_a_file_is_trusted(void **state)
{
    (void)state;
    static const char *const names[] = {"made/hand_v1.0.1", "made/hand_values",
                                        "made/hand_bookmarks", "made/hand_thread_names"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        struct bytes bytes = load(names[i]);
        for (size_t width = 1; width <= 4; width *= 2) {
            for (size_t at = 0; at + width <= bytes.n; at++) {
                uint8_t saved[4];
                struct heard heard = {.n = 0};
                struct err err = ERR_INIT;
                memcpy(saved, bytes.data + at, width);
                memset(bytes.data + at, 0xff, width);
                bool ok = read_exact(bytes.data, bytes.n, &heard, &err);
                assert_true(ok || (err.code != ERR_NONE && err.offset <= bytes.n));
                memcpy(bytes.data + at, saved, width);
            }
        }
        free(bytes.data);
    }
}

static void counts_that_cannot_fit_are_refused_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t offset;
    } cases[] = {{"bad/thread_block_count_huge", 228},
                 {"bad/thread_cswitch_count_huge", 224},
                 {"bad/descriptors_count_huge", 72}};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct bytes bytes = load(cases[i].name);
        struct heard heard = {.n = 0};
        struct err err = ERR_INIT;
        assert_false(read_exact(bytes.data, bytes.n, &heard, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_int_equal(err.offset, cases[i].offset);
        free(bytes.data);
    }
}

static void strict_reading_makes_errors_of_notes(void **state)
{
    (void)state;
    static const char *const names[] = {
        "bad/blocks_count_too_big",    "bad/block_before_begin_time", "bad/end_signature_u64",
        "bad/v1.3_with_end_signature", "bad/threads_count_too_big",   "bad/value_unknown_type",
        "bad/block_end_before_begin",  "bad/negative_frequency",      "bad/nesting_too_deep_256",
        "made/hand_v3.7.12_future",    "bad/bookmarks_count_too_big", "made/hand_descriptor_gap",
        "bad/descriptors_memory_zero",
    };
    const struct format_options strict = {.strict = true};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        struct bytes bytes = load(names[i]);
        struct profile *profile = NULL;
        struct heard heard = {.n = 0};
        const struct format_notes notes = {.note = hear, .context = &heard};
        struct err err = ERR_INIT;
        assert_false(easyprofiler_read(bytes.data, bytes.n, &strict, &notes, &profile, &err));
        assert_true(err.offset <= bytes.n);
        struct err none = ERR_INIT;
        assert_true(easyprofiler_read(bytes.data, bytes.n, &no_options, &notes, &profile, &none));
        assert_true(heard.n > 0);
        profile_destroy(profile);
        free(bytes.data);
    }
}

static void blocks_become_spans_and_instants(void **state)
{
    (void)state;
    struct bytes bytes = load("made/hand_bookmarks");
    struct profile *profile = read_bytes(bytes.data, bytes.n);
    assert_int_equal(profile->start_time_ns, 5050);
    assert_int_equal(profile->duration_ns, 750);
    assert_int_equal(profile->processes[1].pid, 4321);
    assert_int_equal(profile->n_threads, 1 + 3);
    assert_int_equal(profile->n_spans, 1 + 8);
    assert_int_equal(profile->n_instants, 2);
    assert_int_equal(profile->n_off_cpus, 2);
    assert_int_equal(profile->n_bookmarks, 5);
    assert_string_equal(profile_text(profile, profile->threads[1].name).bytes, "Main");
    /* The first block of the thread and, in it, the one with a name of its own. */
    const struct profile_span *span = &profile->spans[3];
    const struct profile_function *function =
        &profile->functions[profile->frames[span->frame].function];
    assert_int_equal(span->parent, 1);
    assert_int_equal(span->begin_ns, 170);
    assert_string_equal(profile_text(profile, function->name).bytes, "compute:second");
    assert_string_equal(profile_text(profile, function->file).bytes, "app/compute.c");
    assert_int_equal(function->line, 25);
    assert_int_equal(profile->off_cpus[0].to_tid, 77);
    assert_int_equal(profile->off_cpus[0].begin_ns, 260);
    assert_int_equal(profile->bookmarks[3].time_ns, 0); /* before all records */
    profile_destroy(profile);
    free(bytes.data);
}

static void a_runtime_name_keeps_its_own_place(void **state)
{
    (void)state;
    struct bytes bytes = load("made/hand_runtime_name_collision");
    struct profile *profile = read_bytes(bytes.data, bytes.n);
    unsigned n_files = 0;
    for (uint32_t i = 1; i < profile->n_functions; i++) {
        const struct profile_function *function = &profile->functions[i];
        n_files += strcmp(profile_text(profile, function->name).bytes, "same") == 0;
    }
    assert_true(n_files > 1); /* EasyProfiler shows all of them at the place of the first */
    profile_destroy(profile);
    free(bytes.data);
}

static void values_keep_type_and_content(void **state)
{
    (void)state;
    static const enum profile_value_type types[] = {
        PROFILE_VALUE_BOOL, PROFILE_VALUE_U64,  PROFILE_VALUE_F64,
        PROFILE_VALUE_TEXT, PROFILE_VALUE_TEXT, PROFILE_VALUE_TEXT,
        PROFILE_VALUE_U64,  PROFILE_VALUE_I64,  PROFILE_VALUE_TEXT};
    struct bytes bytes = load("made/hand_values");
    struct profile *profile = read_bytes(bytes.data, bytes.n);
    const struct profile_instant *instants = profile->instants;
    assert_int_equal(profile->n_instants, N_ELEMENTS(types));
    for (size_t i = 0; i < N_ELEMENTS(types); i++)
        assert_int_equal(instants[i].type, types[i]);
    assert_int_equal(instants[0].value.u64, 1);
    assert_int_equal(instants[1].value.u64, 4000000000);
    assert_true(instants[2].value.f64 == 2.5);
    assert_string_equal(profile_text(profile, (uint32_t)instants[3].value.u64).bytes, "[1, -2, 3]");
    assert_string_equal(profile_text(profile, (uint32_t)instants[4].value.u64).bytes, "text");
    assert_string_equal(profile_text(profile, (uint32_t)instants[5].value.u64).bytes, "noNUL");
    assert_true(instants[6].value.u64 == UINT64_MAX);
    assert_true(instants[7].value.i64 == INT64_MIN);
    assert_string_equal(profile_text(profile, (uint32_t)instants[8].value.u64).bytes, "[]");
    profile_destroy(profile);
    free(bytes.data);
}

/* ---- faults --------------------------------------------------------------------------------- */

static bool read_rich(const struct bytes *bytes, struct err *err)
{
    struct profile *profile = NULL;
    bool ok = easyprofiler_read(bytes->data, bytes->n, &no_options, NULL, &profile, err);
    profile_destroy(profile);
    return ok;
}

static bool dump_rich(const struct bytes *bytes, struct err *err)
{
    struct sink *sink;
    if (!sink_create_failing(1 << 20, &sink, err))
        return false;
    bool ok = easyprofiler_dump(bytes->data, bytes->n, NULL, sink, err);
    sink_abandon(sink);
    return ok;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    struct bytes bytes = load("made/rw_context_switches");
    bool (*const runs[])(const struct bytes *, struct err *) = {read_rich, dump_rich};
    for (size_t i = 0; i < N_ELEMENTS(runs); i++) {
        unsigned n = 1;
        for (;; n++) {
            struct err err = ERR_INIT;
            alloc_fault_arm(n);
            bool ok = runs[i](&bytes, &err);
            if (!alloc_fault_fired()) {
                assert_true(ok);
                break;
            }
            /* Giving back reserve may fail without harm. */
            assert_true(ok || err.code == ERR_MEMORY);
        }
        assert_true(n > 5);
    }
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_recognised),
        cmocka_unit_test(a_cut_file_is_not_read_in_silence),
        cmocka_unit_test(no_size_of_a_file_is_trusted),
        cmocka_unit_test(counts_that_cannot_fit_are_refused_at_once),
        cmocka_unit_test(strict_reading_makes_errors_of_notes),
        cmocka_unit_test(blocks_become_spans_and_instants),
        cmocka_unit_test(a_runtime_name_keeps_its_own_place),
        cmocka_unit_test(values_keep_type_and_content),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
