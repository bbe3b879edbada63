/* test_json_read.c - events, offsets and the mending of json_read.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_read.h"
#include "unit.h"

struct log {
    char *text;
    size_t length;
};

static bool log_event(void *context, struct json_walk *walk, const struct json_event *event,
                      struct err *err)
{
    static const char signs[] = "{}[]k\"#b0";
    struct log *log = context;
    (void)walk;
    (void)err;
    log->text[log->length++] = signs[event->kind];
    if (event->kind == JSON_KEY || event->kind == JSON_STRING) {
        memcpy(log->text + log->length, event->bytes, event->length);
        log->length += event->length;
    } else if (event->kind == JSON_NUMBER) {
        log->length += (size_t)sprintf(log->text + log->length,
                                       event->is_integer ? "%.0f" : "%.17g", event->number);
    }
    return true;
}

/* The events of a text as one line, which the caller frees; NULL when it is refused. The bytes
 * stand at the end of a block, so that reading on is seen. */
static char *events(const char *text, size_t length, struct err *err)
{
    uint8_t *data = malloc(length + (length == 0));
    struct log log = {.text = calloc(1, length * 8 + 64)};
    const struct json_visitor visitor = {.event = log_event, .context = &log};
    assert_non_null(data);
    assert_non_null(log.text);
    memcpy(data, text, length);
    bool ok = json_read(data, length, &visitor, err);
    free(data);
    if (ok)
        return log.text;
    free(log.text);
    return NULL;
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
                  "{ka[#1#-2#3.5#1000000]kb{}kc[[][{}]]kd\"x\xc3\xa9\nke0kfb}");
    assert_events("  [ ] ", "[]");
    assert_events("null", "0");
    assert_events("\xef\xbb\xbf{\"\":1}", "{k#1}");
    assert_events("[9007199254740993, 18446744073709551615, 0.25]",
                  "[#9007199254740992#1.8446744073709552e+19#0.25]");
}

static void what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    assert_events("[\"a\xff\x62\xe2\x82\"]", "[\"a\xef\xbf\xbd\x62\xef\xbf\xbd]");
    assert_events("[\"\\ud800x\"]", "[\"\xef\xbf\xbdx]");
    assert_events("[\"\\udc00\\ud83d\\ude00\\ud83d\"]",
                  "[\"\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd]");
    assert_events("[\"\\\\ud800\"]", "[\"\\ud800]");
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    assert_refused("", 0, 0);
    assert_refused("[1]\0", 4, 3);
    assert_refused("[1,\0 2]", 7, 3);
    assert_refused("\xff\xfe[\0]\0", 6, 0);
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
    assert_int_equal(strlen(got), 2 * DEPTH);
    free(got);
    free(text);
}

/* Skips the value of "a", the inside of "b"'s list; "c" and "d" are lists of numbers. */
struct picking {
    struct log log;
    struct number_list numbers;
    char key;
};

static bool pick_event(void *context, struct json_walk *walk, const struct json_event *event,
                       struct err *err)
{
    struct picking *picking = context;
    if (event->kind == JSON_KEY) {
        picking->key = event->bytes[0];
        if (picking->key == 'a')
            json_skip(walk);
    }
    if (event->kind == JSON_ARRAY_BEGIN && picking->key == 'b')
        json_skip(walk);
    else if (event->kind == JSON_ARRAY_BEGIN)
        json_numbers(walk, "a delta", &picking->numbers);
    return log_event(&picking->log, walk, event, err);
}

static bool pick(struct picking *picking, const char *text, struct err *err)
{
    const struct json_visitor visitor = {.event = pick_event, .context = picking};
    *picking = (struct picking){.log.text = calloc(1, strlen(text) * 8 + 64)};
    assert_non_null(picking->log.text);
    return json_read((const uint8_t *)text, strlen(text), &visitor, err);
}

static void picking_deinit(struct picking *picking)
{
    free(picking->log.text);
    number_list_deinit(&picking->numbers);
}

static void skipped_values_leave_no_events(void **state)
{
    (void)state;
    struct picking picking;
    struct err err = ERR_INIT;
    assert_true(pick(
        &picking, "{\"a\":{\"x\":[1,{}]},\"a\":7,\"b\":[1,[2,{\"k\":3}],3],\"e\":1,\"c\":[4,5.5]}",
        &err));
    assert_string_equal(picking.log.text, "{kakakb[ke#1kc[]}");
    assert_int_equal(picking.numbers.n, 2);
    assert_true(number_list_at(&picking.numbers, 1) == 5.5);
    picking_deinit(&picking);
    /* What is left out is JSON all the same. */
    assert_false(pick(&picking, "{\"a\":{\"x\":[1,]}}", &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_int_equal(err.offset, 13);
    picking_deinit(&picking);
}

static void numbers_must_be_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"c\":[1,\"2\"]}", "{\"c\":[1,2,3,4,5,6,7,8,null,10,11]}",
                                        "{\"c\":[1,[2]]}", "{\"c\":[{}]}",
                                        "{\"c\":[1,2,true,4,5]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct picking picking;
        struct err err = ERR_INIT;
        assert_false(pick(&picking, texts[i], &err));
        assert_string_equal(err.text, "a delta is not a number");
        picking_deinit(&picking);
    }
}

/* Runs of integers take a way of their own: what it takes and where it stops. */
static void runs_of_numbers_are_as_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *numbers; /* NULL = refused */
        uint64_t offset;
    } cases[] = {
        {"[]", "", 0},
        {"[0,0,-0,-1,10,999999999,-999999999,1000000000,0,0,0,0]",
         "0 0 0 -1 10 999999999 -999999999 1000000000 0 0 0 0 ", 0},
        {"[1,2147483647,2147483648,-2147483648,-2147483649,3,4,5,6,7,8]",
         "1 2147483647 2147483648 -2147483648 -2147483649 3 4 5 6 7 8 ", 0},
        {"[1, 2 ,3\n,\t4,5,6,7,8,9,10,11,12 ]", "1 2 3 4 5 6 7 8 9 10 11 12 ", 0},
        {"[1,2.5,3,1e3,5,0.25,7,8,9,10,11,12]", "1 2.5 3 1000 5 0.25 7 8 9 10 11 12 ", 0},
        {"[1,2,3,]                    ", NULL, 7},
        {"[1,,3,4,5,6,7,8,9,10,11]", NULL, 3},
        {"[1,2,03,4,5,6,7,8,9,10,11]", NULL, 6},
        {"[1,2,-03,4,5,6,7,8,9,10,11]", NULL, 7},
        {"[1,2,-,4,5,6,7,8,9,10,11]", NULL, 6},
        {"[1,2,+3,4,5,6,7,8,9,10,11]", NULL, 5},
        {"[1,2,3.,4,5,6,7,8,9,10,11]", NULL, 7},
        {"[1,2 3,4,5,6,7,8,9,10,11]", NULL, 5},
        {"[1,2,3}                     ", NULL, 6},
        {"[1,2,3,4,5,6,7,8,9,10,11,12,13", NULL, 30},
        {"[1,2,3,4,5,6,7,8,9,10,11,12,", NULL, 28},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct picking picking;
        struct err err = ERR_INIT;
        bool ok = pick(&picking, cases[i].text, &err);
        char text[256] = "";
        for (size_t n = 0, used = 0; n < picking.numbers.n; n++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%.10g ",
                                     number_list_at(&picking.numbers, n));
        if (ok != (cases[i].numbers != NULL) || (!ok && err.offset != cases[i].offset))
            fail_msg("%s: %s %s at %llu", cases[i].text, ok ? "taken" : "refused", err.text,
                     (unsigned long long)err.offset);
        if (ok)
            assert_string_equal(text, cases[i].numbers);
        picking_deinit(&picking);
    }
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
        cmocka_unit_test(runs_of_numbers_are_as_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
