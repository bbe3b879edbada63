/* test_htdump.c - the promises of htdump.h: classes, byte orders, limits; truncation, want of
 * memory, failing sinks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "formats/htdump/htdump.h"
#include "htdump_fixture.h"
#include "registry/registry.h"
#include "unit.h"

/* ---- helpers ---- */

static struct htdump_parser *parser_make(const struct bytes *bytes)
{
    struct err err = ERR_INIT;
    struct htdump_parser *parser = NULL;
    assert_true(htdump_parser_create(bytes->data, bytes->n, &parser, &err));
    return parser;
}

/* Parses to the end and tells how it ended; *last is the last event (its values are gone). */
static enum err_code parse_all(const struct bytes *bytes, struct htdump_event *last,
                               struct err *err)
{
    struct htdump_parser *parser = parser_make(bytes);
    bool more = true;
    *err = (struct err)ERR_INIT;
    while (htdump_parser_next(parser, last, &more, err) && more) {
    }
    htdump_parser_destroy(parser);
    return err->code;
}

static enum err_code stream_parse(const struct stream *stream, struct err *err)
{
    struct htdump_event last;
    struct bytes bytes = stream_bytes(stream);
    enum err_code code = parse_all(&bytes, &last, err);
    free(bytes.data);
    return code;
}

/* Folders of the test data with files to harm. */
static const char *const sample_files[] = {
    "made/minimal",         "made/nested_struct", "made/concatenated_le_be", "made/legacy_0_6",
    "made/sampled_profile", "made/doubles",       "made/pointers",           "bad/klass_redefined",
};

static struct bytes sample_load(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/htdump/%s.htdump", TEST_DATA_DIR, name);
    return file_load(path);
}

/* ---- parsing ---- */

static void numbers_have_width_sign_and_byte_order(void **state)
{
    (void)state;
    static const uint64_t values[] = {0x81, 0x8182, 0x81828384, 0x8182838485868788};
    for (int is_big = 0; is_big < 2; is_big++) {
        struct stream stream = {0};
        stream_byte_order(&stream, is_big != 0);
        stream_class(&stream, 9, "Numbers", 8);
        for (unsigned i = 0; i < 8; i++) {
            char name[] = {(char)('a' + i), '\0'};
            stream_field(&stream, 9, "int", name, 1U << (i % 4),
                         i < 4 ? HTDUMP_UNSIGNED : HTDUMP_SIGNED);
        }
        stream_header(&stream, 9, 5, 6);
        for (unsigned i = 0; i < 8; i++)
            stream_number(&stream, values[i % 4], 1U << (i % 4));
        struct bytes bytes = stream_bytes(&stream);
        struct htdump_parser *parser = parser_make(&bytes);
        struct htdump_event event;
        struct err err = ERR_INIT;
        bool more;
        for (unsigned i = 0; i < 11; i++)
            assert_true(htdump_parser_next(parser, &event, &more, &err) && more);
        assert_int_equal(event.class_id, 9);
        assert_int_equal(event.timestamp_ns, 5);
        assert_int_equal(event.id, 6);
        assert_int_equal(event.n_values, 8);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(event.values[i].kind, HTDUMP_VALUE_U64);
            assert_true(event.values[i].as.u64 == values[i]);
            assert_int_equal(event.values[4 + i].kind, HTDUMP_VALUE_I64);
        }
        assert_true(event.values[4].as.i64 == -127);
        assert_true(event.values[5].as.i64 == -32382);
        assert_true(event.values[6].as.i64 == -2122153084);
        assert_true(event.values[7].as.i64 == (int64_t)0x8182838485868788);
        assert_true(htdump_parser_next(parser, &event, &more, &err) && !more);
        htdump_parser_destroy(parser);
        free(bytes.data);
        stream_deinit(&stream);
    }
}

/* Class 100 holds class 101 holds ... holds class 100 + depth, which holds a byte. */
static struct stream nested_stream(unsigned depth)
{
    struct stream stream = {0};
    stream_byte_order(&stream, false);
    for (unsigned i = 0; i <= depth; i++) {
        char name[16], inner[16];
        snprintf(name, sizeof name, "C%u", i);
        snprintf(inner, sizeof inner, "C%u", i + 1);
        stream_class(&stream, 100 + i, name, 1);
        if (i < depth)
            stream_field(&stream, 100 + i, inner, "in", 0, HTDUMP_STRUCT);
        else
            stream_field(&stream, 100 + i, "u8", "x", 1, HTDUMP_UNSIGNED);
    }
    stream_header(&stream, 100, 1, 1);
    stream_number(&stream, 42, 1);
    return stream;
}

static void structs_nest_to_the_limit(void **state)
{
    (void)state;
    struct err err;
    struct stream stream = nested_stream(32);
    assert_int_equal(stream_parse(&stream, &err), ERR_NONE);
    stream_deinit(&stream);
    stream = nested_stream(33);
    assert_int_equal(stream_parse(&stream, &err), ERR_LIMIT);
    assert_int_equal(err.offset, stream.n - 21);
    stream_deinit(&stream);
}

/* `n` fields of one byte in a class, and in an event that holds the class `times` times. */
static enum err_code wide_parse(unsigned n, unsigned times, struct err *err)
{
    struct stream stream = {0};
    stream_byte_order(&stream, false);
    stream_class(&stream, 100, "Wide", 0);
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        stream_field(&stream, 100, "u8", name, 1, HTDUMP_UNSIGNED);
    }
    stream_class(&stream, 101, "Wider", 0);
    for (unsigned i = 0; i < times; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        stream_field(&stream, 101, "Wide", name, 0, HTDUMP_STRUCT);
    }
    stream_header(&stream, 101, 1, 1);
    for (unsigned i = 0; i < n * times; i++)
        stream_number(&stream, i, 1);
    enum err_code code = stream_parse(&stream, err);
    stream_deinit(&stream);
    return code;
}

static void fields_are_limited(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(wide_parse(1024, 1, &err), ERR_NONE);
    assert_int_equal(wide_parse(1025, 1, &err), ERR_LIMIT);
    assert_int_equal(wide_parse(1023, 4, &err), ERR_NONE); /* 4 + 4 * 1023 = 4096 steps */
    assert_int_equal(wide_parse(1024, 4, &err), ERR_LIMIT);
}

static void field_larger_than_the_stream_is_refused(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {3, UINT64_C(1) << 20, UINT64_C(1) << 30,
                                     (UINT64_C(1) << 30) + 1, UINT64_MAX};
    static const enum err_code codes[] = {ERR_TRUNCATED, ERR_LIMIT, ERR_LIMIT, ERR_LIMIT,
                                          ERR_LIMIT};
    for (size_t i = 0; i < N_ELEMENTS(sizes); i++) {
        struct stream stream = {0};
        struct err err;
        stream_byte_order(&stream, false);
        stream_class(&stream, 9, "Big", 1);
        stream_field(&stream, 9, "u8", "x", sizes[i], HTDUMP_UNSIGNED);
        stream_header(&stream, 9, 1, 1);
        stream_number(&stream, 0, 2);
        assert_int_equal(stream_parse(&stream, &err), codes[i]);
        stream_deinit(&stream);
    }
}

static void size_without_event_is_no_fault(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct err err;
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "NeverSeen", 1);
    stream_field(&stream, 9, "char", "buffer", 65536, HTDUMP_UNSIGNED);
    assert_int_equal(stream_parse(&stream, &err), ERR_NONE);
    stream_deinit(&stream);
}

static void own_fields_hide_the_header(void **state)
{
    (void)state;
    struct stream stream = {0};
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "Odd", 4);
    stream_field(&stream, 9, "HT_Event", "again", 24, HTDUMP_STRUCT); /* not the base: 20 bytes */
    stream_field(&stream, 9, "u8", "timestamp", 1, HTDUMP_UNSIGNED);  /* second of that name */
    stream_header(&stream, 9, 5, 6);
    stream_header(&stream, 50, 51, 52);
    stream_number(&stream, 7, 1);
    struct bytes bytes = stream_bytes(&stream);
    struct bytes dump = dump_bytes(&bytes, NULL);
    static const char last[] =
        "{\"klass\": \"Odd\", \"fields\": {\"klass_id\": 50, \"timestamp\": 51, \"id\": 52}}\n";
    assert_true(dump.n > strlen(last));
    assert_memory_equal(dump.data + dump.n - strlen(last), last, strlen(last));
    free(bytes.data);
    free(dump.data);
    stream_deinit(&stream);
}

static void dump_changes_no_byte_of_a_text(void **state)
{
    (void)state;
    static const char last[] =
        "{\"klass\": \"N\\udcff\", \"fields\": {\"klass_id\": 9, \"timestamp\": 5, \"id\": 6, "
        "\"t\": \"\\\"\\\\\\u0001\\u0009\303\244\\udcc3 \\udc80\"}}\n";
    struct stream stream = {0};
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "N\377", 1);
    stream_field(&stream, 9, "char*", "t", 8, HTDUMP_STRING);
    stream_header(&stream, 9, 5, 6);
    stream_text(&stream, "\"\\\001\t\303\244\303 \200");
    struct bytes bytes = stream_bytes(&stream);
    struct bytes dump = dump_bytes(&bytes, NULL);
    assert_true(dump.n > strlen(last));
    assert_memory_equal(dump.data + dump.n - strlen(last), last, strlen(last));
    free(bytes.data);
    free(dump.data);
    stream_deinit(&stream);
}

static void fields_may_come_after_the_first_event(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct htdump_event event;
    struct err err;
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "Inner", 1);
    stream_class(&stream, 10, "Outer", 1);
    stream_field(&stream, 10, "Inner", "in", 0, HTDUMP_STRUCT);
    stream_header(&stream, 10, 1, 1);
    stream_field(&stream, 9, "u8", "x", 1, HTDUMP_UNSIGNED);
    stream_header(&stream, 10, 1, 1);
    stream_number(&stream, 3, 1);
    struct bytes bytes = stream_bytes(&stream);
    assert_int_equal(parse_all(&bytes, &event, &err), ERR_NONE);
    assert_int_equal(event.n_values, 1);
    assert_int_equal(event.layout, 2);
    free(bytes.data);
    stream_deinit(&stream);
}

/* Each event asks for its large layout to be made again: refused before it takes long. */
static void layouts_are_made_within_a_budget(void **state)
{
    (void)state;
    struct stream stream = {0};
    struct err err;
    stream_byte_order(&stream, false);
    stream_class(&stream, 9, "Empty", 0);
    stream_class(&stream, 10, "Many", 0);
    for (unsigned i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        stream_field(&stream, 10, "Empty", name, 0, HTDUMP_STRUCT);
    }
    for (unsigned i = 0; i < 2000; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        stream_class(&stream, 100 + i, name, 0);
        stream_field(&stream, 100 + i, "Many", "m", 0, HTDUMP_STRUCT);
        stream_field(&stream, 100 + i, "Many", "n", 0, HTDUMP_STRUCT);
        stream_field(&stream, 100 + i, "Many", "o", 0, HTDUMP_STRUCT);
        stream_header(&stream, 100 + i, 1, 1);
    }
    assert_int_equal(stream_parse(&stream, &err), ERR_LIMIT);
    stream_deinit(&stream);
}

static void streams_are_recognised(void **state)
{
    (void)state;
    static const char *const others[] = {"bad/text", "bad/empty", "bad/seed_literal",
                                         "bad/endianness_2", "bad/big_endian_unannounced"};
    for (size_t i = 0; i < N_ELEMENTS(sample_files); i++) {
        struct bytes bytes = sample_load(sample_files[i]);
        assert_true(htdump_sniff(bytes.data, 64) >= 90);
        for (size_t n = 0; n < 27; n++) {
            struct bytes cut = bytes_cut(&bytes, n);
            assert_true(htdump_sniff(cut.data, cut.n) == 0 || n >= 25);
            free(cut.data);
        }
        free(bytes.data);
    }
    for (size_t i = 0; i < N_ELEMENTS(others); i++) {
        struct bytes bytes = sample_load(others[i]);
        assert_int_equal(htdump_sniff(bytes.data, bytes.n), 0);
        free(bytes.data);
    }
    assert_ptr_equal(format_by_name("htdump"), &format_htdump);
    assert_ptr_equal(format_by_path("a/b.htdump"), &format_htdump);
}

/* ---- harm ---- */

static bool code_is_of_input(enum err_code code)
{
    return code == ERR_TRUNCATED || code == ERR_FORMAT || code == ERR_LIMIT;
}

static void any_length_is_survived(void **state)
{
    (void)state;
    const struct format_options options = {0};
    for (size_t i = 0; i < N_ELEMENTS(sample_files); i++) {
        struct bytes whole = sample_load(sample_files[i]);
        size_t step = whole.n < 2300 ? 1 : 31; /* all lengths of three files */
        for (size_t n = 0; n < whole.n; n += step) {
            struct bytes cut = bytes_cut(&whole, n);
            struct profile *profile = NULL;
            struct heard heard;
            struct format_notes notes = notes_into(&heard);
            struct err err = ERR_INIT, dump_err = ERR_INIT;
            struct sink *sink;
            bool ok = format_htdump.read(cut.data, cut.n, &options, &notes, &profile, &err);
            assert_true(ok || code_is_of_input(err.code));
            assert_true(ok || err.offset <= n);
            assert_true(sink_create_buffer(&sink, &dump_err));
            assert_int_equal(format_htdump.dump(cut.data, cut.n, &notes, sink, &dump_err), ok);
            sink_abandon(sink);
            profile_destroy(profile);
            free(cut.data);
        }
        free(whole.data);
    }
}

static void any_byte_is_survived(void **state)
{
    (void)state;
    const struct format_options options = {0};
    for (size_t i = 0; i < N_ELEMENTS(sample_files); i++) {
        struct bytes bytes = sample_load(sample_files[i]);
        size_t step = bytes.n < 1000 ? 1 : 23;
        for (size_t n = 0; n < bytes.n; n += step) {
            uint8_t before = bytes.data[n];
            struct profile *profile = NULL;
            struct err err = ERR_INIT;
            bytes.data[n] = (uint8_t)(before ^ (n % 2 == 0 ? 0xff : 0x01));
            bool ok = format_htdump.read(bytes.data, bytes.n, &options, NULL, &profile, &err);
            assert_true(ok || code_is_of_input(err.code));
            profile_destroy(profile);
            bytes.data[n] = before;
        }
        free(bytes.data);
    }
}

static void want_of_memory_is_told(void **state)
{
    (void)state;
    const struct format_options options = {0};
    for (size_t i = 0; i < N_ELEMENTS(sample_files); i++) {
        struct bytes bytes = sample_load(sample_files[i]);
        struct sink *sink;
        struct err err = ERR_INIT;
        bool fired = true;
        for (unsigned n = 1; fired; n++) {
            struct profile *profile = NULL;
            struct err read_err = ERR_INIT;
            alloc_fault_arm(n);
            bool ok = format_htdump.read(bytes.data, bytes.n, &options, NULL, &profile, &read_err);
            fired = alloc_fault_fired();
            assert_true(ok || (fired && read_err.code == ERR_MEMORY));
            profile_destroy(profile);
        }
        fired = true;
        for (unsigned n = 1; fired; n++) {
            struct err dump_err = ERR_INIT;
            assert_true(sink_create_buffer(&sink, &err));
            alloc_fault_arm(n);
            bool ok = format_htdump.dump(bytes.data, bytes.n, NULL, sink, &dump_err);
            fired = alloc_fault_fired();
            assert_true(ok || (fired && dump_err.code == ERR_MEMORY));
            sink_abandon(sink);
        }
        free(bytes.data);
    }
}

static void dump_into_failing_sink(void **state)
{
    (void)state;
    struct bytes bytes = sample_load("made/sampled_profile");
    for (uint64_t limit = 0; limit < 100000; limit += 9973) {
        struct sink *sink;
        struct err err = ERR_INIT;
        assert_true(sink_create_failing(limit, &sink, &err));
        bool ok = format_htdump.dump(bytes.data, bytes.n, NULL, sink, &err);
        assert_true(ok); /* the sink tells */
        assert_int_equal(sink_close(sink, &err), limit > 66000);
    }
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_width_sign_and_byte_order),
        cmocka_unit_test(structs_nest_to_the_limit),
        cmocka_unit_test(fields_are_limited),
        cmocka_unit_test(field_larger_than_the_stream_is_refused),
        cmocka_unit_test(size_without_event_is_no_fault),
        cmocka_unit_test(own_fields_hide_the_header),
        cmocka_unit_test(dump_changes_no_byte_of_a_text),
        cmocka_unit_test(fields_may_come_after_the_first_event),
        cmocka_unit_test(layouts_are_made_within_a_budget),
        cmocka_unit_test(streams_are_recognised),
        cmocka_unit_test(any_length_is_survived),
        cmocka_unit_test(any_byte_is_survived),
        cmocka_unit_test(want_of_memory_is_told),
        cmocka_unit_test(dump_into_failing_sink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
