/* test_json_read.c - events, offsets and the mending of json_read.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_read.h"
#include "unit.h"

/* The events of a text as one line; NULL (freed by nobody) when it is refused. */
static char *events(const char *text, size_t length, struct err *err)
{
    struct json_reader *reader = NULL;
    if (!json_reader_create((const uint8_t *)text, length, &reader, err))
        return NULL;
    static const char signs[] = ".{}[]k\"#b0";
    char *out = calloc(1, length * 8 + 64);
    assert_non_null(out);
    size_t used = 0;
    struct json_event event = {.kind = JSON_NULL};
    do {
        if (!json_next(reader, &event, err)) {
            free(out);
            json_reader_destroy(reader);
            return NULL;
        }
        out[used++] = signs[event.kind];
        if (event.kind == JSON_KEY || event.kind == JSON_STRING) {
            memcpy(out + used, event.bytes, event.length);
            used += event.length;
        } else if (event.kind == JSON_NUMBER) {
            used += (size_t)sprintf(out + used, event.is_integer ? "%.0f" : "%.17g", event.number);
        }
    } while (event.kind != JSON_END);
    json_reader_destroy(reader);
    return out;
}

static void assert_events(const char *text, const char *expected)
{
    struct err err = ERR_INIT;
    char *got = events(text, strlen(text), &err);
    if (got == NULL)
        fail_msg("%s: %s", text, err.text);
    else
        assert_string_equal(got, expected);
    free(got);
}

static void assert_refused(const char *text, size_t length, uint64_t offset)
{
    struct err err = ERR_INIT;
    char *got = events(text, length, &err);
    if (got != NULL)
        fail_msg("%s was taken", text);
    assert_int_equal(err.code, ERR_FORMAT);
    if (offset != ERR_NO_OFFSET)
        assert_int_equal(err.offset, offset);
}

static void events_come_in_order(void **state)
{
    (void)state;
    assert_events("{\"a\":[1,-2,3.5,1e6],\"b\":{},\"c\":[[],[{}]],\"d\":\"x\\u00e9\\n\",\"e\":null,"
                  "\"f\":true}",
                  "{ka[#1#-2#3.5#1000000]kb{}kc[[][{}]]kd\"x\xc3\xa9\nke0kfb}.");
    assert_events("  [ ] ", "[].");
    assert_events("null", "0.");
    assert_events("\xef\xbb\xbf{\"\":1}", "{k#1}.");
    assert_events("[9007199254740993, 18446744073709551615, 0.25]",
                  "[#9007199254740992#1.8446744073709552e+19#0.25].");
}

static void what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    assert_events("[\"a\xff\x62\xe2\x82\"]", "[\"a\xef\xbf\xbd\x62\xef\xbf\xbd].");
    assert_events("[\"\\ud800x\"]", "[\"\xef\xbf\xbdx].");
    assert_events("[\"\\udc00\\ud83d\\ude00\\ud83d\"]",
                  "[\"\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd].");
    assert_events("[\"\\\\ud800\"]", "[\"\\ud800].");
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    assert_refused("", 0, 0);
    assert_refused("[1] x", 5, ERR_NO_OFFSET);
    assert_refused("{} {}", 5, ERR_NO_OFFSET);
    assert_refused("[1,NaN]", 7, 3);
    assert_refused("{'a':1}", 7, ERR_NO_OFFSET);
    assert_refused("// x\n{}", 7, 0);
    assert_refused("[1,]", 4, ERR_NO_OFFSET);
    assert_refused("[1 2]", 5, ERR_NO_OFFSET);
    assert_refused("{\"a\" 1}", 7, ERR_NO_OFFSET);
    assert_refused("[\"a\x01\"]", 6, ERR_NO_OFFSET);
    assert_refused("[nul]", 5, ERR_NO_OFFSET);
    const char text[] = "{\"a\":[1,2,{\"b\":\"c\"}],\"d\":null}";
    for (size_t length = 0; length + 1 < sizeof text; length++)
        assert_refused(text, length, ERR_NO_OFFSET);
}

static void deep_nesting_costs_no_stack(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(2 * DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    struct err err = ERR_INIT;
    char *got = events(text, 2 * DEPTH, &err);
    assert_non_null(got);
    assert_int_equal(strlen(got), 2 * DEPTH + 1);
    free(got);
    free(text);
}

static void skipped_values_leave_no_events(void **state)
{
    (void)state;
    const char text[] = "{\"a\":{\"x\":[1,{}]},\"b\":[1,2,3],\"c\":[4,5.5]}";
    struct json_reader *reader = NULL;
    struct err err = ERR_INIT;
    struct json_event event;
    assert_true(json_reader_create((const uint8_t *)text, sizeof text - 1, &reader, &err));
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_OBJECT_BEGIN);
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_KEY && event.bytes[0] == 'a');
    json_skip(reader);
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_KEY && event.bytes[0] == 'b');
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_ARRAY_BEGIN);
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_NUMBER);
    json_skip(reader);
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_KEY && event.bytes[0] == 'c');
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_ARRAY_BEGIN);
    struct array numbers;
    array_init(&numbers, sizeof(double));
    assert_true(json_numbers(reader, "c", &numbers, &err));
    assert_int_equal(numbers.n, 2);
    assert_true(*(double *)array_at(&numbers, 1) == 5.5);
    array_deinit(&numbers);
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_OBJECT_END);
    assert_true(json_next(reader, &event, &err) && event.kind == JSON_END);
    json_reader_destroy(reader);
    json_reader_destroy(NULL);
}

static void numbers_must_be_numbers(void **state)
{
    (void)state;
    const char text[] = "[1,\"2\"]";
    struct json_reader *reader = NULL;
    struct err err = ERR_INIT;
    struct json_event event;
    struct array numbers;
    array_init(&numbers, sizeof(double));
    assert_true(json_reader_create((const uint8_t *)text, sizeof text - 1, &reader, &err));
    assert_true(json_next(reader, &event, &err));
    assert_false(json_numbers(reader, "a delta", &numbers, &err));
    assert_string_equal(err.text, "a delta is not a number");
    json_reader_destroy(reader);
    array_deinit(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_order),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(deep_nesting_costs_no_stack),
        cmocka_unit_test(skipped_values_leave_no_events),
        cmocka_unit_test(numbers_must_be_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
