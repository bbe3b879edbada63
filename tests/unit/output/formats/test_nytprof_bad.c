/* test_nytprof_bad.c - the real NYTProf stream when something is wrong: damaged and cut files, no
 * memory, full disks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "alloc_fault.h"
#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/stream.h"
#include "nytprof_profiles.h"
#include "nytprof_support.h"
#include "unit.h"

#define DATA TEST_DATA_DIR "/nytprof/"

enum outcome { REFUSED, NOTED, READ };

struct bad_file {
    const char *name;
    enum outcome outcome;
    enum err_code code; /* NOTED: of a strict reader */
    uint64_t offset;
    bool has_expected; /* content */
};

static const struct bad_file bad_files[] = {
    {"attribute_without_equals", NOTED, ERR_FORMAT, 127, true},
    {"blank_line_after_header", REFUSED, ERR_FORMAT, 364, false},
    {"call_from_undefined_fid", NOTED, ERR_FORMAT, 446, false},
    {"chunked_cut_in_length", REFUSED, ERR_TRUNCATED, 747, false},
    {"chunked_cut_in_payload", REFUSED, ERR_TRUNCATED, 550, false},
    {"chunked_d_name_without_nul", REFUSED, ERR_FORMAT, 550, false},
    {"chunked_length_too_big", REFUSED, ERR_TRUNCATED, 630, false},
    {"chunked_p_of_12_bytes", REFUSED, ERR_FORMAT, 412, false},
    {"chunked_s_not_whole_records", REFUSED, ERR_FORMAT, 433, false},
    {"chunked_unknown_chunk", REFUSED, ERR_FORMAT, 630, false},
    {"chunked_without_end", REFUSED, ERR_TRUNCATED, 747, false},
    {"cut_between_records", NOTED, ERR_FORMAT, ERR_NO_OFFSET, true},
    {"cut_in_attribute", REFUSED, ERR_TRUNCATED, 127, false},
    {"cut_in_call_record", NOTED, ERR_TRUNCATED, 623, false},
    {"empty", REFUSED, ERR_FORMAT, 0, false},
    {"fid_4294967295", READ, ERR_NONE, 0, false},
    {"fid_defined_twice", NOTED, ERR_FORMAT, 433, true},
    {"fid_numbers_with_a_gap", READ, ERR_NONE, 0, true},
    {"header_no_newline", REFUSED, ERR_FORMAT, 0, false},
    {"header_only", READ, ERR_NONE, 0, false},
    {"header_wrong_word", REFUSED, ERR_FORMAT, 0, false},
    {"line_4294967295", READ, ERR_NONE, 0, false},
    {"no_process_end", NOTED, ERR_FORMAT, ERR_NO_OFFSET, true},
    {"no_ticks_per_sec", REFUSED, ERR_FORMAT, 380, false},
    {"nv_size_16", REFUSED, ERR_UNSUPPORTED, 86, false},
    {"process_end_of_other_pid", NOTED, ERR_FORMAT, 676, true},
    {"string_longer_than_file", NOTED, ERR_TRUNCATED, 535, false},
    {"string_without_tag", REFUSED, ERR_FORMAT, 537, false},
    {"sub_of_undefined_fid", NOTED, ERR_FORMAT, 433, false},
    {"time_of_undefined_fid", NOTED, ERR_FORMAT, 433, true},
    {"unknown_tag", REFUSED, ERR_FORMAT, 363, false},
    {"version_4_0", REFUSED, ERR_VERSION, 0, false},
    {"version_5_1", NOTED, ERR_NONE, 0, true},
    {"version_6_0", REFUSED, ERR_VERSION, 0, false},
    {"z_cut", NOTED, ERR_TRUNCATED, 464, false},
    {"z_cut_in_checksum", NOTED, ERR_TRUNCATED, 624, false},
    {"z_inside_z", REFUSED, ERR_FORMAT, 0, false},
    {"z_not_zlib", REFUSED, ERR_FORMAT, 406, false},
    {"z_wrong_checksum", REFUSED, ERR_FORMAT, 626, false},
};

/* Whatever is told otherwise is an error then, but for a newer version. */
static void check_strict(const struct bad_file *bad, struct bytes file)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    bool is_sound = bad->outcome == READ || strcmp(bad->name, "version_5_1") == 0;
    bool ok = bytes_try_read(&format_nytprof, file, true, NULL, &profile, &err);
    if (ok != is_sound || (!ok && (err.code != bad->code || err.offset != bad->offset)))
        fail_msg("%s: strict: read %d, error %d at %llu: %s", bad->name, ok, (int)err.code,
                 (unsigned long long)err.offset, err.text);
    profile_destroy(profile);
}

static void check_bad(const struct bad_file *bad)
{
    char path[4096];
    snprintf(path, sizeof path, DATA "bad/%s.nytprof", bad->name);
    struct bytes file = path_load(path);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    bool ok = bytes_try_read(&format_nytprof, file, false, &notes, &profile, &err);
    struct err dump_err = ERR_INIT;
    struct note_log dump_log;
    struct format_notes dump_notes = note_log_make(&dump_log);
    bool dump_ok = bytes_try_dump(&format_nytprof, file, &dump_notes, &dump_err);
    if (ok != (bad->outcome != REFUSED) || dump_ok != ok ||
        (log.n != 0) != (bad->outcome == NOTED) || strcmp(log.text, dump_log.text) != 0)
        fail_msg("%s: read %d, dumped %d, notes %s: %s", bad->name, ok, dump_ok, log.text,
                 err.text);
    if (!ok && (err.code != bad->code || err.offset != bad->offset || dump_err.code != err.code ||
                dump_err.offset != err.offset || err.text[0] == '\0'))
        fail_msg("%s: error %d at %llu: %s", bad->name, (int)err.code,
                 (unsigned long long)err.offset, err.text);
    check_strict(bad, file);
    profile_destroy(profile);
    free(file.bytes);
    if (!bad->has_expected)
        return;
    snprintf(path, sizeof path, DATA "bad/%s", bad->name);
    check_dump(path);
}

static void bad_files_give_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ELEMENTS(bad_files); i++)
        check_bad(&bad_files[i]);
}

/* ---- cut files --------------------------------------------------------------------------------
 */

static uint64_t total_weight(const struct profile *profile, uint32_t kind)
{
    uint64_t total = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        total += profile_value(profile, i, kind);
    return total;
}

/* What a killed program leaves. */
static void killed_files_give_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t total_ns; /* of all lines: more than of the calls that had returned */
    } files[] = {{"bad/killed.nytprof", 770100}, {"bad/killed_z.nytprof", 76705900}};
    for (size_t i = 0; i < N_ELEMENTS(files); i++) {
        const char *path = shared_corpus(files[i].name);
        if (path == NULL)
            skip();
        struct bytes file = path_load(path);
        struct err err = ERR_INIT;
        struct profile *profile = NULL;
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        assert_true(bytes_try_read(&format_nytprof, file, false, &notes, &profile, &err));
        assert_int_equal(log.n, 1);
        assert_non_null(strstr(log.text, "what stands before it was read"));
        assert_int_equal(total_weight(profile, 0), files[i].total_ns);
        profile_destroy(profile);
        profile = NULL;
        assert_false(bytes_try_read(&format_nytprof, file, true, NULL, &profile, &err));
        assert_int_equal(err.code, ERR_TRUNCATED);
        assert_true(err.offset > file.n / 2 && err.offset <= file.n);
        free(file.bytes);
    }
}

struct cuts {
    unsigned n_refused;
    unsigned n_told;
    unsigned n_silent; /* between two records of a plain file, or behind the compressed part */
};

static void count_cut(struct bytes part, bool dumps, struct cuts *cuts)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    bool ok = bytes_try_read(&format_nytprof, part, false, &notes, &profile, &err);
    struct err dump_err = ERR_INIT;
    if (dumps)
        assert_int_equal(bytes_try_dump(&format_nytprof, part, NULL, &dump_err), ok);
    assert_int_equal(err.code == ERR_NONE, ok);
    cuts->n_refused += ok ? 0 : 1;
    cuts->n_told += ok && strstr(log.text, "what stands before it was read") != NULL ? 1 : 0;
    cuts->n_silent += ok && log.n == 0 ? 1 : 0;
    profile_destroy(profile);
}

static void every_cut_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned n_silent; /* at most */
    } files[] = {{"made/two_processes", 102}, {"made/tokens", 60}, {"made/native_z", 105}};
    for (size_t i = 0; i < N_ELEMENTS(files); i++) {
        char path[4096];
        snprintf(path, sizeof path, DATA "%s.nytprof", files[i].name);
        struct bytes whole = path_load(path);
        struct cuts cuts = {0};
        for (size_t n = 0; n < whole.n; n++) {
            struct bytes part = bytes_part(whole, n);
            count_cut(part, n % 8 == 0, &cuts);
            free(part.bytes);
        }
        if (cuts.n_silent > files[i].n_silent || cuts.n_refused == 0 || cuts.n_told == 0)
            fail_msg("%s: %u refused, %u told, %u silent", path, cuts.n_refused, cuts.n_told,
                     cuts.n_silent);
        free(whole.bytes);
    }
}

/* Only the check sum is missing: nothing is lost. */
static void without_its_check_sum_all_is_read(void **state)
{
    (void)state;
    struct bytes whole = path_load(DATA "made/native_z.nytprof");
    struct profile *want = bytes_read(&format_nytprof, whole, NULL);
    const char *z = memmem(whole.bytes, whole.n, "#\n# Compressed", 14);
    assert_non_null(z);
    struct bytes part = bytes_part(whole, (size_t)(z - whole.bytes) - sizeof(uint32_t));
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *got = bytes_read(&format_nytprof, part, &notes);
    assert_int_equal(log.n, 1);
    char *want_text = describe_samples(want, 0);
    char *got_text = describe_samples(got, 0);
    assert_string_equal(got_text, want_text);
    free(want_text);
    free(got_text);
    profile_destroy(want);
    profile_destroy(got);
    free(part.bytes);
    free(whole.bytes);
}

/* Offset of the first `<` behind the last `P`: where the calls of the last thread begin. */
static size_t last_calls(struct bytes file)
{
    struct nytprof_stream *stream = NULL;
    struct nytprof_record record = {.tag = NYTPROF_COMMENT};
    struct err err = ERR_INIT;
    size_t found = 0;
    assert_true(nytprof_stream_open((const uint8_t *)file.bytes, file.n, &stream, &err));
    while (record.tag != NYTPROF_END) {
        assert_true(nytprof_stream_next(stream, &record, &err));
        if (record.tag == NYTPROF_PROCESS_START)
            found = 0;
        if (record.tag == NYTPROF_RETURN && found == 0)
            found = record.offset;
    }
    nytprof_stream_destroy(stream);
    return found;
}

/* A file of ours, cut in front of the calls of its last thread: that one's samples are of lines. */
static void a_cut_thread_is_read_by_its_lines(void **state)
{
    (void)state;
    static const struct format_options plain = {.no_compression = true};
    struct profile *profile = make_real_profile();
    struct bytes file = profile_write(&format_nytprof, profile, &plain, NULL);
    struct bytes part = bytes_part(file, last_calls(file) + 1);
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *back = bytes_read(&format_nytprof, part, &notes);
    uint64_t want = total_weight(profile, 1);
    uint64_t got = total_weight(back, 0);
    assert_int_equal(log.n, 1);
    assert_int_equal(back->n_threads, profile->n_threads);
    assert_in_range(want - got, 0, 100 * profile->n_samples / 3);
    unsigned n_without_stack = 0;
    for (size_t i = 0; i < back->n_samples; i++) {
        const struct profile_sample *sample = &back->samples[i];
        bool is_flat = back->stacks[sample->stack].parent == 0;
        assert_int_equal(is_flat && sample->thread == 3, sample->thread == 3);
        n_without_stack += is_flat && sample->thread == 3 ? 1 : 0;
    }
    assert_true(n_without_stack > 10);
    profile_destroy(profile);
    profile_destroy(back);
    free(part.bytes);
    free(file.bytes);
}

/* ---- compressed data --------------------------------------------------------------------------
 */

/* A compressed stream of `n` times `piece`. */
static struct bytes make_compressed(const char *piece, size_t n)
{
    static const char head[] = "NYTProf 5 0\n:ticks_per_sec=10000000\nz";
    size_t n_piece = strlen(piece);
    char *data = malloc(n * n_piece);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, no text */
        memcpy(data + i * n_piece, piece, n_piece);
    }
    uLongf n_packed = compressBound(n * n_piece);
    struct bytes file = {.bytes = malloc(sizeof head - 1 + n_packed)};
    assert_non_null(file.bytes);
    memcpy(file.bytes, head, sizeof head - 1);
    assert_int_equal(compress((Bytef *)file.bytes + sizeof head - 1, &n_packed, (const Bytef *)data,
                              n * n_piece),
                     Z_OK);
    file.n = sizeof head - 1 + n_packed;
    free(data);
    return file;
}

static void many_small_records_need_no_memory(void **state)
{
    (void)state;
    struct bytes file = make_compressed("#0123456789012345678901234567\n", 1 << 20);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    assert_true(bytes_try_read(&format_nytprof, file, false, NULL, &profile, &err));
    assert_int_equal(profile->n_samples, 0);
    profile_destroy(profile);
    free(file.bytes);
}

static void a_record_of_any_size_is_refused(void **state)
{
    (void)state;
    struct bytes file = make_compressed("#0123456789012345678901234567890", 1 << 20);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    assert_false(bytes_try_read(&format_nytprof, file, false, NULL, &profile, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    free(file.bytes);
}

/* ---- failures of the machine ------------------------------------------------------------------
 */

/* A table of texts that could not grow goes on fuller, so that not every failure shows. */
static unsigned check_fault(bool ok, bool fired, const struct err *err)
{
    assert_true(ok || fired);
    assert_int_equal(err->code, ok ? ERR_NONE : ERR_MEMORY);
    return ok ? 0 : 1;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    static const char *const names[] = {"made/tokens", "made/native_z", "made/two_processes",
                                        "made/fork_merged_z"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        char path[4096];
        snprintf(path, sizeof path, DATA "%s.nytprof", names[i]);
        struct bytes file = path_load(path);
        bool fired = true;
        unsigned n_failed = 0;
        for (unsigned n = 1; fired; n++) {
            struct err err = ERR_INIT;
            struct profile *profile = NULL;
            alloc_fault_arm(n);
            bool ok = bytes_try_read(&format_nytprof, file, false, NULL, &profile, &err);
            fired = alloc_fault_fired();
            n_failed += check_fault(ok, fired, &err);
            profile_destroy(profile);
        }
        assert_true(n_failed > 20);
        struct sink *out = NULL;
        fired = true;
        for (unsigned n = 1; fired; n++) {
            struct err err = ERR_INIT;
            assert_true(sink_create_failing(UINT64_MAX, &out, &err));
            alloc_fault_arm(n);
            bool ok = format_nytprof.dump((const uint8_t *)file.bytes, file.n, NULL, out, &err);
            fired = alloc_fault_fired();
            n_failed += check_fault(ok, fired, &err);
            sink_abandon(out);
        }
        assert_true(n_failed > 40);
        free(file.bytes);
    }
}

static void failed_allocations_of_the_writer_are_reported(void **state)
{
    (void)state;
    static const struct format_options none = {.strict = false};
    struct profile *profile = make_real_profile();
    bool fired = true;
    unsigned n_failed = 0;
    for (unsigned n = 1; fired; n++) {
        struct err err = ERR_INIT;
        struct sink *out = NULL;
        assert_true(sink_create_failing(UINT64_MAX, &out, &err));
        alloc_fault_arm(n);
        bool ok = format_nytprof.write(profile, &none, NULL, out, &err);
        fired = alloc_fault_fired();
        n_failed += check_fault(ok, fired, &err);
        sink_abandon(out);
    }
    assert_true(n_failed > 40);
    profile_destroy(profile);
}

static void a_full_disk_is_survived(void **state)
{
    (void)state;
    struct profile *profile = make_real_profile();
    struct bytes file = profile_write(&format_nytprof, profile, NULL, NULL);
    for (size_t n = 0; n < file.n; n += 1 + file.n / 12) {
        struct err err = ERR_INIT;
        struct sink *out = NULL;
        assert_true(sink_create_failing(n, &out, &err));
        (void)!format_nytprof.write(profile, NULL, NULL, out, &err);
        assert_false(sink_close(out, &err));
        struct err dump_err = ERR_INIT;
        assert_true(sink_create_failing(n, &out, &dump_err));
        (void)!format_nytprof.dump((const uint8_t *)file.bytes, file.n, NULL, out, &dump_err);
        assert_false(sink_close(out, &dump_err));
    }
    free(file.bytes);
    profile_destroy(profile);
}

/* Offsets in the decompressed data, over several windows, of times too, which are read quicker. */
static void records_of_compressed_data_have_their_offsets(void **state)
{
    (void)state;
    enum { N = 40000 };
    struct bytes file = make_compressed("+\1\1\1#ab\n", N);
    struct nytprof_stream *stream = NULL;
    struct nytprof_record record;
    struct err err = ERR_INIT;
    assert_true(nytprof_stream_open((const uint8_t *)file.bytes, file.n, &stream, &err));
    do {
        assert_true(nytprof_stream_next(stream, &record, &err));
    } while (record.tag != NYTPROF_COMPRESSED);
    for (uint64_t i = 0; i < N; i++) {
        assert_true(nytprof_stream_next(stream, &record, &err));
        assert_int_equal(record.tag, NYTPROF_LINE_TIME);
        assert_true(record.inflated);
        assert_int_equal(record.offset, i * 8);
        assert_true(nytprof_stream_next(stream, &record, &err));
        assert_int_equal(record.tag, NYTPROF_COMMENT);
        assert_int_equal(record.offset, i * 8 + 4);
    }
    nytprof_stream_destroy(stream);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files_give_what_they_should),
        cmocka_unit_test(killed_files_give_what_is_there),
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(without_its_check_sum_all_is_read),
        cmocka_unit_test(a_cut_thread_is_read_by_its_lines),
        cmocka_unit_test(many_small_records_need_no_memory),
        cmocka_unit_test(a_record_of_any_size_is_refused),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(failed_allocations_of_the_writer_are_reported),
        cmocka_unit_test(a_full_disk_is_survived),
        cmocka_unit_test(records_of_compressed_data_have_their_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
