/* test_nytprof.c - the real NYTProf stream: dump, reader, writer, names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "alloc_fault.h"
#include "nytprof.h"
#include "nytprof_name.h"
#include "nytprof_stream.h"
#include "nytprof_support.h"
#include "unit.h"

#define DATA TEST_DATA_DIR "/nytprof/"

/* ---- dump -------------------------------------------------------------------------------------
 */

static void dump_equals_what_perl_reads(void **state)
{
    (void)state;
    assert_int_equal(each_nytprof(DATA "made", check_dump), 9);
    const char *shared = shared_corpus("made");
    if (shared != NULL)
        assert_true(each_nytprof(shared, check_dump) >= 18);
    const char *found = shared_corpus("found");
    if (found != NULL)
        each_nytprof(found, check_dump);
}

enum outcome { REFUSED, NOTED, READ };

struct bad_file {
    const char *name;
    enum outcome outcome;
    enum err_code code;
    uint64_t offset;
    bool has_expected; /* content */
};

static const struct bad_file bad_files[] = {
    {"attribute_without_equals", NOTED, ERR_NONE, 0, true},
    {"blank_line_after_header", REFUSED, ERR_FORMAT, 364, false},
    {"call_from_undefined_fid", NOTED, ERR_NONE, 0, false},
    {"chunked_cut_in_length", REFUSED, ERR_TRUNCATED, 747, false},
    {"chunked_cut_in_payload", REFUSED, ERR_TRUNCATED, 550, false},
    {"chunked_d_name_without_nul", REFUSED, ERR_FORMAT, 550, false},
    {"chunked_length_too_big", REFUSED, ERR_TRUNCATED, 630, false},
    {"chunked_p_of_12_bytes", REFUSED, ERR_FORMAT, 412, false},
    {"chunked_s_not_whole_records", REFUSED, ERR_FORMAT, 433, false},
    {"chunked_unknown_chunk", REFUSED, ERR_FORMAT, 630, false},
    {"chunked_without_end", REFUSED, ERR_TRUNCATED, 747, false},
    {"cut_between_records", NOTED, ERR_NONE, 0, true},
    {"cut_in_attribute", REFUSED, ERR_TRUNCATED, 127, false},
    {"cut_in_call_record", REFUSED, ERR_TRUNCATED, 623, false},
    {"empty", REFUSED, ERR_FORMAT, 0, false},
    {"fid_4294967295", READ, ERR_NONE, 0, false},
    {"fid_defined_twice", NOTED, ERR_NONE, 0, true},
    {"fid_numbers_with_a_gap", READ, ERR_NONE, 0, true},
    {"header_no_newline", REFUSED, ERR_FORMAT, 0, false},
    {"header_only", READ, ERR_NONE, 0, false},
    {"header_wrong_word", REFUSED, ERR_FORMAT, 0, false},
    {"line_4294967295", READ, ERR_NONE, 0, false},
    {"no_process_end", NOTED, ERR_NONE, 0, true},
    {"no_ticks_per_sec", REFUSED, ERR_FORMAT, 380, false},
    {"nv_size_16", REFUSED, ERR_UNSUPPORTED, 86, false},
    {"process_end_of_other_pid", NOTED, ERR_NONE, 0, true},
    {"string_longer_than_file", REFUSED, ERR_TRUNCATED, 535, false},
    {"string_without_tag", REFUSED, ERR_FORMAT, 537, false},
    {"sub_of_undefined_fid", NOTED, ERR_NONE, 0, false},
    {"time_of_undefined_fid", NOTED, ERR_NONE, 0, true},
    {"unknown_tag", REFUSED, ERR_FORMAT, 363, false},
    {"version_4_0", REFUSED, ERR_VERSION, 0, false},
    {"version_5_1", NOTED, ERR_NONE, 0, true},
    {"version_6_0", REFUSED, ERR_VERSION, 0, false},
    {"z_cut", REFUSED, ERR_TRUNCATED, 464, false},
    {"z_cut_in_checksum", REFUSED, ERR_TRUNCATED, 624, false},
    {"z_inside_z", REFUSED, ERR_FORMAT, 0, false},
    {"z_not_zlib", REFUSED, ERR_FORMAT, 406, false},
    {"z_wrong_checksum", REFUSED, ERR_FORMAT, 626, false},
};

static void check_bad(const struct bad_file *bad)
{
    char path[4096];
    snprintf(path, sizeof path, DATA "bad/%s.nytprof", bad->name);
    struct file_bytes file = file_load(path);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    struct note_log log = {.n = 0};
    struct format_notes notes = note_log_notes(&log);
    bool ok = read_bytes(&format_nytprof, &file, &notes, &profile, &err);
    struct err dump_err = ERR_INIT;
    bool dump_ok = dump_bytes(&format_nytprof, &file, &dump_err);
    if (ok != (bad->outcome != REFUSED) || dump_ok != ok || (log.n != 0) != (bad->outcome == NOTED))
        fail_msg("%s: read %d, dumped %d, %u notes: %s", bad->name, ok, dump_ok, log.n, err.text);
    if (!ok && (err.code != bad->code || err.offset != bad->offset || dump_err.code != err.code ||
                dump_err.offset != err.offset || err.text[0] == '\0'))
        fail_msg("%s: error %d at %llu: %s", bad->name, (int)err.code,
                 (unsigned long long)err.offset, err.text);
    profile_destroy(profile);
    file_free(&file);
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

/* What a killed program leaves. */
static void killed_files_are_refused_with_the_place(void **state)
{
    (void)state;
    static const char *const names[] = {"bad/killed.nytprof", "bad/killed_z.nytprof"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        const char *path = shared_corpus(names[i]);
        if (path == NULL)
            skip();
        struct file_bytes file = file_load(path);
        struct err err = ERR_INIT;
        struct profile *profile = NULL;
        assert_false(read_bytes(&format_nytprof, &file, NULL, &profile, &err));
        assert_int_equal(err.code, ERR_TRUNCATED);
        assert_true(err.offset > file.size_bytes / 2 && err.offset <= file.size_bytes);
        file_free(&file);
    }
}

static void every_truncation_is_survived(void **state)
{
    (void)state;
    static const char *const names[] = {"made/two_processes", "made/tokens", "made/native_z"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        char path[4096];
        snprintf(path, sizeof path, DATA "%s.nytprof", names[i]);
        struct file_bytes whole = file_load(path);
        unsigned n_refused = 0;
        for (size_t n = 0; n < whole.size_bytes; n++) {
            struct file_bytes part = file_part(&whole, n);
            struct err err = ERR_INIT;
            struct profile *profile = NULL;
            bool ok = read_bytes(&format_nytprof, &part, NULL, &profile, &err);
            struct err dump_err = ERR_INIT;
            if (i == 0 || n % 8 == 0)
                assert_int_equal(dump_bytes(&format_nytprof, &part, &dump_err), ok);
            assert_int_equal(err.code == ERR_NONE, ok);
            n_refused += ok ? 0 : 1;
            profile_destroy(profile);
            file_free(&part);
        }
        assert_true(n_refused > whole.size_bytes / 3);
        file_free(&whole);
    }
}

/* ---- compressed data --------------------------------------------------------------------------
 */

/* A compressed stream of `n` times `piece`. */
static struct file_bytes make_compressed(const char *piece, size_t n)
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
    struct file_bytes file = {.data = malloc(sizeof head - 1 + n_packed)};
    assert_non_null(file.data);
    memcpy(file.data, head, sizeof head - 1);
    assert_int_equal(
        compress(file.data + sizeof head - 1, &n_packed, (const Bytef *)data, n * n_piece), Z_OK);
    file.size_bytes = sizeof head - 1 + n_packed;
    free(data);
    return file;
}

static void many_small_records_need_no_memory(void **state)
{
    (void)state;
    struct file_bytes file = make_compressed("#0123456789012345678901234567\n", 1 << 20);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    assert_true(read_bytes(&format_nytprof, &file, NULL, &profile, &err));
    assert_int_equal(profile->n_samples, 0);
    profile_destroy(profile);
    file_free(&file);
}

static void a_record_of_any_size_is_refused(void **state)
{
    (void)state;
    struct file_bytes file = make_compressed("#0123456789012345678901234567890", 1 << 20);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    assert_false(read_bytes(&format_nytprof, &file, NULL, &profile, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    file_free(&file);
}

/* ---- reader -----------------------------------------------------------------------------------
 */

static struct profile *read_made(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, DATA "%s.nytprof", name);
    struct file_bytes file = file_load(path);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    if (!read_bytes(&format_nytprof, &file, NULL, &profile, &err))
        fail_msg("%s: %s", name, err.text);
    file_free(&file);
    return profile;
}

static void calls_become_stacks(void **state)
{
    (void)state;
    struct profile *profile = read_made("made/native_z");
    char *text = describe_samples(profile, 0);
    assert_int_equal(profile->kinds[0].unit, PROFILE_UNIT_NS);
    /* 12 + 17 + 3 samples of 1 ms below insert, 26 in the deepest recursion. */
    assert_non_null(strstr(text,
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f= 26000000"));
    assert_non_null(strstr(text, "libc.so.6::malloc :0\x1f= 17000000"));
    uint64_t total = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        total += profile_value(profile, i, 0);
    assert_int_equal(total, 184000000);
    assert_int_equal(profile->start_realtime_ns / 1000000, 1750000000250);
    free(text);
    profile_destroy(profile);
}

static void lines_become_flat_samples_of_their_sub(void **state)
{
    (void)state;
    struct profile *profile = read_made("made/two_processes");
    assert_int_equal(profile->n_processes, 3);
    assert_int_equal(profile->processes[2].pid, 301);
    assert_int_equal(profile->processes[2].start_ns, 250000000);
    assert_int_equal(profile->n_samples, 3);
    char *text = describe_samples(profile, 0);
    assert_string_equal(text,
                        "300(demo)/300(): main::work /home/dev/demo/one.c:2\x1f= 500000000\n"
                        "301(demo)/301(): main::work /home/dev/demo/one.c:2\x1f= 500000000\n");
    const struct profile_sample *last = &profile->samples[2];
    assert_int_equal(profile->frames[profile->stacks[last->stack].frame].line, 4);
    free(text);
    profile_destroy(profile);
}

static void names_are_utf8_or_latin1(void **state)
{
    (void)state;
    struct profile *profile = read_made("made/names");
    char *text = describe_samples(profile, 0);
    assert_non_null(strstr(text, "\xe4\xb8\x96\xe7\x95\x8c::"));
    assert_non_null(strstr(text, "Gr\xc3\xb6\xc3\x9f"));
    free(text);
    profile_destroy(profile);
}

/* ---- writer -----------------------------------------------------------------------------------
 */

/* What comes back is what was written, as far as the format keeps it. */
static void check_round_trip(const struct profile *profile, uint32_t kind,
                             const struct format_options *options)
{
    struct file_bytes file = write_bytes(&format_nytprof, profile, options);
    struct file_bytes again = write_bytes(&format_nytprof, profile, options);
    assert_int_equal(file.size_bytes, again.size_bytes);
    assert_memory_equal(file.data, again.data, file.size_bytes);
    struct err err = ERR_INIT;
    struct profile *back = NULL;
    struct note_log log = {.n = 0};
    struct format_notes notes = note_log_notes(&log);
    assert_int_equal(nytprof_dialect_of(file.data, file.size_bytes), NYTPROF_REAL);
    if (!read_bytes(&format_nytprof, &file, &notes, &back, &err))
        fail_msg("%s", err.text);
    if (log.n != 0)
        fail_msg("%s", log.last);
    char *want = describe_samples(profile, kind);
    char *got = describe_samples(back, 0);
    assert_string_equal(got, want);
    assert_int_equal(back->n_processes, profile->n_processes);
    assert_int_equal(back->n_threads, profile->n_threads);
    for (uint32_t i = 1; i < profile->n_threads; i++) {
        assert_int_equal(back->threads[i].cpu_ns, profile->threads[i].cpu_ns);
        assert_int_equal(back->threads[i].end_ns, profile->threads[i].end_ns);
    }
    assert_int_equal(back->n_metadata, profile->n_metadata);
    for (size_t i = 0; i < profile->n_metadata; i++) {
        assert_string_equal(profile_text(back, back->metadata[i].key).bytes,
                            profile_text(profile, profile->metadata[i].key).bytes);
        assert_string_equal(profile_text(back, back->metadata[i].value).bytes,
                            profile_text(profile, profile->metadata[i].value).bytes);
    }
    assert_int_equal(back->start_realtime_ns, profile->start_realtime_ns);
    assert_int_equal(back->period, profile->period);
    /* Written once more it is the same file but for what was lost the first time. */
    struct file_bytes second = write_bytes(&format_nytprof, back, options);
    struct profile *third = NULL;
    assert_true(read_bytes(&format_nytprof, &second, NULL, &third, &err));
    struct file_bytes fourth = write_bytes(&format_nytprof, third, options);
    assert_int_equal(second.size_bytes, fourth.size_bytes);
    assert_memory_equal(second.data, fourth.data, second.size_bytes);
    free(want);
    free(got);
    profile_destroy(back);
    profile_destroy(third);
    file_free(&file);
    file_free(&again);
    file_free(&second);
    file_free(&fourth);
}

static const struct format_options plain = {.no_compression = true};

static void real_profile_comes_back(void **state)
{
    (void)state;
    struct profile *profile = make_real_profile();
    check_round_trip(profile, 1, NULL);
    check_round_trip(profile, 1, &plain);
    profile_destroy(profile);
}

static void empty_profile_comes_back(void **state)
{
    (void)state;
    struct profile *profile = make_empty_profile();
    check_round_trip(profile, 0, NULL);
    profile_destroy(profile);
}

static void odd_profiles_come_back(void **state)
{
    (void)state;
    static const uint64_t one[] = {1};
    static const uint64_t odd_ns[] = {1, 99, 149, 1001001, 3};
    static const uint64_t long_ns[] = {214748364800, 999999999999, 214748364700};
    static const uint64_t huge[] = {(uint64_t)1 << 63, 12345};
    static const uint64_t zero[] = {0};
    const struct {
        const uint64_t *weights;
        size_t n_weights;
        uint64_t period;
        enum profile_unit unit;
        uint32_t depth;
    } cases[] = {
        {one, 1, 0, PROFILE_UNIT_NS, 1},           {odd_ns, 5, 1001001, PROFILE_UNIT_NS, 3},
        {long_ns, 3, 0, PROFILE_UNIT_NS, 2},       {huge, 2, 0, PROFILE_UNIT_NS, 2},
        {zero, 1, 0, PROFILE_UNIT_NS, 2},          {odd_ns, 5, 0, PROFILE_UNIT_NS, 0},
        {one, 1, 0, PROFILE_UNIT_NS, 96},          {odd_ns, 5, 0, PROFILE_UNIT_NS, 97},
        {odd_ns, 5, 0, PROFILE_UNIT_NS, 5000},     {odd_ns, 5, 0, PROFILE_UNIT_COUNT, 3},
        {huge, 2, 1001001, PROFILE_UNIT_COUNT, 3}, {long_ns, 3, 524288, PROFILE_UNIT_BYTES, 3},
        {odd_ns, 5, 0, PROFILE_UNIT_EVENTS, 3},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile *profile = make_profile(cases[i].unit, cases[i].period, cases[i].depth,
                                               cases[i].weights, cases[i].n_weights);
        check_round_trip(profile, 0, NULL);
        profile_destroy(profile);
    }
}

static void spans_are_written_as_samples(void **state)
{
    (void)state;
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_span outer = {
        .frame = profile_add_named_frame(builder, "outer", 5), .begin_ns = 1000, .end_ns = 101000};
    struct profile_span inner = {
        .frame = profile_add_named_frame(builder, "inner", 5), .begin_ns = 31000, .end_ns = 61000};
    profile_add_span(builder, &outer);
    profile_add_span(builder, &inner);
    assert_true(profile_builder_finish(builder, &profile, &err));
    struct file_bytes file = write_bytes(&format_nytprof, profile, NULL);
    struct profile *back = NULL;
    assert_true(read_bytes(&format_nytprof, &file, NULL, &back, &err));
    char *text = describe_samples(back, 0);
    assert_string_equal(text, "0()/0(): outer :0\x1f= 70000\n"
                              "0()/0(): outer :0\x1finner :0\x1f= 30000\n");
    free(text);
    profile_destroy(back);
    profile_destroy(profile);
    file_free(&file);
}

/* The records that Perl's tools show, by way of our own dump: one time per sample, at its leaf; a
 * long one in several records of which only the first counts. */
static void times_add_up(void **state)
{
    (void)state;
    static const uint64_t weights[] = {30000000050, 49, 51, 214748365799};
    struct profile *profile = make_profile(PROFILE_UNIT_NS, 0, 2, weights, 4);
    struct file_bytes file = write_bytes(&format_nytprof, profile, &plain);
    struct err err = ERR_INIT;
    struct nytprof_stream *stream = NULL;
    struct nytprof_record record = {.tag = NYTPROF_COMMENT};
    int64_t ticks = 0;
    unsigned n_times = 0;
    unsigned n_discounts = 0;
    assert_true(nytprof_stream_open(file.data, file.size_bytes, &stream, &err));
    while (record.tag != NYTPROF_END) {
        assert_true(nytprof_stream_next(stream, &record, &err));
        n_discounts += record.tag == NYTPROF_DISCOUNT ? 1 : 0;
        if (record.tag == NYTPROF_LINE_TIME) {
            assert_true(record.ticks >= 0);
            ticks += record.ticks;
            n_times++;
        }
    }
    assert_int_equal(n_times - n_discounts, 4);
    assert_int_equal(n_discounts, 1);
    assert_int_equal(ticks, 2447483659);
    nytprof_stream_destroy(stream);
    file_free(&file);
    profile_destroy(profile);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void names_get_a_package(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *object;
        const char *sub;
        bool comes_back;
    } cases[] = {
        {"main", "", "main::main", true},
        {"malloc", "libc.so.6", "libc.so.6::malloc", true},
        {"clock_gettime", "[vdso]", "[vdso]::clock_gettime", true},
        {"ns::f(a::b)", "", "ns::f(a.b)", true},
        {"f(a::b)", "", "main::f(a.b)", true},
        {"operator<<", "", "main::operator<<", true},
        {"std::operator< <int>(a::b<c::d> const&)", "", "std::operator< < int>(a.b< c.d> const&)",
         true},
        {"a;b", "", "main::a,b", false},
        {"", "", "main::??", false},
        {"a\nb", "", "main::a b", false},
        {"::global", "", "main::global", false},
        {"x::", "", "x::??", false},
        {"<a::B as c::D>::e", "", "< a.B as c.D>::e", true},
        {"v<1.5>", "", "main::v<1.5>", true},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct array out;
        array_init(&out, 1);
        struct text name = {.bytes = cases[i].name, .length = strlen(cases[i].name)};
        struct text object = {.bytes = cases[i].object, .length = strlen(cases[i].object)};
        assert_true(nytprof_name_encode(name, object, &out));
        assert_int_equal(out.n, strlen(cases[i].sub));
        assert_memory_equal(out.items, cases[i].sub, out.n);
        struct array back;
        array_init(&back, 1);
        struct text sub = {.bytes = out.items, .length = out.n};
        assert_true(nytprof_name_decode(sub, &back));
        bool comes_back = back.n == name.length && memcmp(back.items, name.bytes, name.length) == 0;
        assert_int_equal(comes_back, cases[i].comes_back);
        array_deinit(&out);
        array_deinit(&back);
    }
}

static void lines_are_escaped(void **state)
{
    (void)state;
    static const char raw[] = "a\tb\n100% \xc3\xa9 \xe9 \0 end";
    struct text text = {.bytes = raw, .length = sizeof raw - 1};
    struct array out;
    struct array back;
    array_init(&out, 1);
    array_init(&back, 1);
    assert_true(nytprof_line_encode(text, &out));
    static const char want[] = "a%09b%0A100%25 \xc3\xa9 %E9 %00 end";
    assert_int_equal(out.n, sizeof want - 1);
    assert_memory_equal(out.items, want, out.n);
    assert_true(nytprof_line_decode((struct text){.bytes = out.items, .length = out.n}, &back));
    assert_int_equal(back.n, text.length);
    assert_memory_equal(back.items, raw, back.n);
    array_deinit(&out);
    array_deinit(&back);
}

/* ---- dialect, faults --------------------------------------------------------------------------
 */

static void expect_real(const char *base)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.nytprof", base);
    struct file_bytes file = file_load(path);
    assert_int_equal(nytprof_dialect_of(file.data, file.size_bytes), NYTPROF_REAL);
    assert_int_equal(format_nytprof.sniff(file.data, file.size_bytes), 100);
    file_free(&file);
}

static void expect_chunked(const char *base)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.nytprof", base);
    struct file_bytes file = file_load(path);
    assert_int_equal(nytprof_dialect_of(file.data, file.size_bytes), NYTPROF_CHUNKED);
    assert_int_equal(format_nytprof_chunked.sniff(file.data, file.size_bytes), 100);
    file_free(&file);
}

static void dialects_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(each_nytprof(DATA "made", expect_real), 9);
    assert_int_equal(each_nytprof(DATA "chunked", expect_chunked), 12);
    assert_int_equal(nytprof_dialect_of((const uint8_t *)"{}", 2), NYTPROF_NONE);
}

/* Real headers with every size of pid and ppid are none of the chunked ones. */
static void process_numbers_do_not_make_a_dialect(void **state)
{
    (void)state;
    static const uint32_t pids[] = {1, 127, 128, 16383, 16384, 2097151, 4194303, 268435456};
    for (size_t i = 0; i < N_ELEMENTS(pids) * N_ELEMENTS(pids); i++) {
        struct profile_builder *builder = NULL;
        struct profile *profile = NULL;
        struct err err = ERR_INIT;
        assert_true(profile_builder_create(&builder, &err));
        profile_builder_scalars(builder)->n_kinds = 1;
        profile_builder_scalars(builder)->start_realtime_ns = 1750000000000000000;
        struct profile_process process = {.pid = pids[i % N_ELEMENTS(pids)],
                                          .ppid = pids[i / N_ELEMENTS(pids)]};
        struct profile_thread thread = {.process = profile_add_process(builder, &process),
                                        .tid = process.pid};
        struct profile_sample sample = {.thread = profile_add_thread(builder, &thread)};
        uint64_t weight = 1;
        profile_add_sample(builder, &sample, &weight);
        assert_true(profile_builder_finish(builder, &profile, &err));
        struct file_bytes file = write_bytes(&format_nytprof, profile, &plain);
        assert_int_equal(nytprof_dialect_of(file.data, file.size_bytes), NYTPROF_REAL);
        file_free(&file);
        profile_destroy(profile);
    }
}

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
        struct file_bytes file = file_load(path);
        bool fired = true;
        unsigned n_failed = 0;
        for (unsigned n = 1; fired; n++) {
            struct err err = ERR_INIT;
            struct profile *profile = NULL;
            alloc_fault_arm(n);
            bool ok = read_bytes(&format_nytprof, &file, NULL, &profile, &err);
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
            bool ok = format_nytprof.dump(file.data, file.size_bytes, NULL, out, &err);
            fired = alloc_fault_fired();
            n_failed += check_fault(ok, fired, &err);
            sink_abandon(out);
        }
        assert_true(n_failed > 40);
        file_free(&file);
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
    struct file_bytes file = write_bytes(&format_nytprof, profile, NULL);
    for (size_t n = 0; n < file.size_bytes; n += 1 + file.size_bytes / 12) {
        struct err err = ERR_INIT;
        struct sink *out = NULL;
        assert_true(sink_create_failing(n, &out, &err));
        (void)!format_nytprof.write(profile, NULL, NULL, out, &err);
        assert_false(sink_close(out, &err));
        struct err dump_err = ERR_INIT;
        assert_true(sink_create_failing(n, &out, &dump_err));
        (void)!format_nytprof.dump(file.data, file.size_bytes, NULL, out, &dump_err);
        assert_false(sink_close(out, &dump_err));
    }
    file_free(&file);
    profile_destroy(profile);
}

static void losses_are_said(void **state)
{
    (void)state;
    struct profile *profile = make_real_profile();
    struct note_log log = {.n = 0};
    struct format_notes notes = note_log_notes(&log);
    struct err err = ERR_INIT;
    struct sink *out = NULL;
    assert_true(sink_create_buffer(&out, &err));
    assert_true(format_nytprof.write(profile, NULL, &notes, out, &err));
    assert_int_equal(log.n, 0); /* what all writers lose is said for them: losses.h */
    sink_abandon(out);
    profile_destroy(profile);
    assert_true(sink_create_buffer(&out, &err));
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    profile_builder_scalars(builder)->n_kinds = 1;
    profile_builder_scalars(builder)->kinds[0].unit = PROFILE_UNIT_BYTES;
    const struct profile_sample sample = {
        .stack = profile_add_stack(builder, 0, profile_add_named_frame(builder, "f", 1))};
    profile_add_sample(builder, &sample, &(uint64_t){4096});
    assert_true(profile_builder_finish(builder, &profile, &err));
    assert_true(format_nytprof.write(profile, NULL, &notes, out, &err));
    assert_int_equal(log.n, 1);
    assert_non_null(strstr(log.last, "its tools show times only"));
    sink_abandon(out);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dump_equals_what_perl_reads),
        cmocka_unit_test(bad_files_give_what_they_should),
        cmocka_unit_test(killed_files_are_refused_with_the_place),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(many_small_records_need_no_memory),
        cmocka_unit_test(a_record_of_any_size_is_refused),
        cmocka_unit_test(calls_become_stacks),
        cmocka_unit_test(lines_become_flat_samples_of_their_sub),
        cmocka_unit_test(names_are_utf8_or_latin1),
        cmocka_unit_test(real_profile_comes_back),
        cmocka_unit_test(empty_profile_comes_back),
        cmocka_unit_test(odd_profiles_come_back),
        cmocka_unit_test(spans_are_written_as_samples),
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(names_get_a_package),
        cmocka_unit_test(lines_are_escaped),
        cmocka_unit_test(dialects_are_told_apart),
        cmocka_unit_test(process_numbers_do_not_make_a_dialect),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(failed_allocations_of_the_writer_are_reported),
        cmocka_unit_test(a_full_disk_is_survived),
        cmocka_unit_test(losses_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
