/* test_json_write.c - the promises of json_write.h and utf8.h. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_write.h"
#include "text/utf8.h"
#include "unit.h"

static struct sink *sink_make(void)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_buffer(&sink, &err));
    return sink;
}

static void expect(struct sink *sink, const char *expected)
{
    size_t n;
    const char *bytes = sink_buffer(sink, &n);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(bytes, expected, n);
    sink_abandon(sink);
}

static void write_some(struct json *j)
{
    json_object_begin(j);
    json_key(j, "a");
    json_array_begin(j);
    json_u64(j, UINT64_MAX);
    json_i64(j, INT64_MIN);
    json_array_begin(j);
    json_array_end(j);
    json_null(j);
    json_array_end(j);
    json_key_bytes(j, "b\0c", 3);
    json_object_begin(j);
    json_object_end(j);
    json_key(j, "d");
    json_bool(j, true);
    json_key(j, "e");
    json_raw(j, "1.50", 4);
    json_object_end(j);
}

static void commas_and_brackets(void **state)
{
    (void)state;
    struct sink *sink = sink_make();
    struct json j = json_make(sink, 0);
    write_some(&j);
    expect(sink, "{\"a\":[18446744073709551615,-9223372036854775808,[],null],"
                 "\"b\\u0000c\":{},\"d\":true,\"e\":1.50}");
    sink = sink_make();
    j = json_make(sink, 1);
    write_some(&j);
    expect(sink,
           "{\n \"a\": [\n  18446744073709551615,\n  -9223372036854775808,\n  [],\n  null\n ],"
           "\n \"b\\u0000c\": {},\n \"d\": true,\n \"e\": 1.50\n}");
}

static void string_expect(const char *bytes, size_t n, const char *expected)
{
    struct sink *sink = sink_make();
    struct json j = json_make(sink, 0);
    json_bytes(&j, bytes, n);
    expect(sink, expected);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    string_expect("", 0, "\"\"");
    string_expect("plain", 5, "\"plain\"");
    string_expect("\"\\/", 3, "\"\\\"\\\\/\"");
    string_expect("\b\f\n\r\t\x1f\x7f", 7, "\"\\b\\f\\n\\r\\t\\u001f\x7f\"");
    string_expect("h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10,
                  "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

#define R UTF8_REPLACEMENT

/* The cases of Unicode 3.9, table 3-8, and every way to be cut short. */
static void what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    const struct {
        const char *in, *out;
    } cases[] = {
        {"\xc0\xaf", "\"" R R "\""},
        {"a\xe0\x9f\x80z", "\"a" R R R "z\""},
        {"\xed\xa0\x80", "\"" R R R "\""},
        {"\xf4\x90\x80\x80", "\"" R R R R "\""},
        {"\xff\xfe", "\"" R R "\""},
        {"\xe2\x82", "\"" R "\""},
        {"\xe2\x82z", "\"" R "z\""},
        {"\xf0\x9f\x98", "\"" R "\""},
        {"\xf0\x9f\x98\xc3\xa9", "\"" R "\xc3\xa9\""},
        {"\xf0\x80\x80\x80", "\"" R R R R "\""},
        {"\xc3", "\"" R "\""},
        {"\x80", "\"" R "\""},
        {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++)
        string_expect(cases[i].in, strlen(cases[i].in), cases[i].out);
}

static void doubles_read_back(void **state)
{
    (void)state;
    const double values[] = {
        0, 1, -1.5, 0.1, 1.0 / 3, 1e300, 5e-324, DBL_MAX, -DBL_MIN, 9007199254740993.0, 123456.789};
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where it exists; else this shows less */
    for (size_t i = 0; i < N_ELEMENTS(values); i++) {
        struct sink *sink = sink_make();
        struct json j = json_make(sink, 0);
        json_f64(&j, values[i]);
        sink_write(sink, "", 1);
        size_t n;
        const char *text = sink_buffer(sink, &n);
        assert_null(strchr(text, ','));
        setlocale(LC_NUMERIC, "C");
        char *end;
        assert_true(strtod(text, &end) == values[i] && *end == '\0');
        setlocale(LC_NUMERIC, "de_DE.UTF-8");
        sink_abandon(sink);
    }
    setlocale(LC_NUMERIC, "C");
    struct sink *sink = sink_make();
    struct json j = json_make(sink, 0);
    json_array_begin(&j);
    json_f64(&j, 0.1);
    json_f64(&j, (double)NAN);
    json_f64(&j, -(double)INFINITY);
    json_u64_exact(&j, 9007199254740991);
    json_u64_exact(&j, 9007199254740992);
    json_array_end(&j);
    expect(sink, "[0.1,null,null,9007199254740991,\"9007199254740992\"]");
}

static void depth_costs_nothing(void **state)
{
    (void)state;
    struct sink *sink = sink_make();
    struct json j = json_make(sink, 2);
    for (int i = 0; i < 100000; i++)
        json_array_begin(&j);
    for (int i = 0; i < 100000; i++)
        json_array_end(&j);
    assert_true(sink_offset(sink) < (uint64_t)100000 * 2 * 70);
    sink_abandon(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_brackets),          cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(what_is_not_utf8_is_replaced), cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(depth_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
