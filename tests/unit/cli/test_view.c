/* test_view.c - what tables on a terminal are made of: widths, names that fit and are told apart,
 * numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "unit.h"
#include "view/cells.h"
#include "view/name_fit.h"
#include "view/width.h"

#define DOTS "\u2026"

static struct text mark(void)
{
    return text_make(DOTS);
}

static int know_widths(void **state)
{
    (void)state;
    width_init();
    return 0;
}

static void columns_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(text_columns(text_make("")), 0);
    assert_int_equal(text_columns(text_make("main")), 4);
    assert_int_equal(text_columns(text_make("\u00e9t\u00e9")), 3);
    assert_int_equal(text_columns(text_make("\u6f22\u5b57")), 4);    /* wide */
    assert_int_equal(text_columns(text_make("e\u0301")), 1);         /* combining */
    assert_int_equal(text_columns(text_make("a\033[31m\n\xff")), 8); /* shown as '?' */
}

static void nothing_steers_the_terminal(void **state)
{
    (void)state;
    struct chars out = {0};
    static const char name[] = "a\033[2Jb\n\xc3+\xc2\x85\x7f\u6f22";
    assert_true(text_append_clean(&out, (struct text){.bytes = name, .length = sizeof name - 1}));
    assert_true(chars_append(&out, "", 1));
    assert_string_equal(out.items, "a?[2Jb?"
                                   "?+?"
                                   "?\u6f22");
    chars_deinit(&out);
}

static void fits(const char *name, size_t columns, const char *expected)
{
    struct chars out = {0};
    assert_true(name_fit(&out, text_make(name), columns, mark()));
    struct text fitted = {.bytes = out.items != NULL ? out.items : "", .length = out.n};
    if (text_columns(fitted) > columns || !text_is(fitted, expected))
        fail_msg("'%.*s' for '%s' in %zu columns", (int)out.n, fitted.bytes, expected, columns);
    chars_deinit(&out);
}

static void what_tells_least_goes_first(void **state)
{
    (void)state;
    static const char at[] =
        "int std::map<std::string, Table<int, 3> >::at<long>(std::string const&) const";
    fits(at, 200, at);
    fits(at, 70, "std::map<std::string, Table<int, 3> >::at<long>(" DOTS ") const");
    fits(at, 53, "std::map<std::string, Table<" DOTS "> >::at<long>(" DOTS ") const");
    fits(at, 32, "std::map<" DOTS ">::at<long>(" DOTS ") const");
    fits(at, 29, "std::map<" DOTS ">::at<" DOTS ">(" DOTS ") const");
    fits(at, 20, "std::map<" DOTS ">::at<" DOTS ">");
    fits(at, 12, "std:" DOTS "::at<" DOTS ">");
    fits("main", 3, DOTS "in"); /* not shorter than it must be */
    fits("x", 1, "x");
    fits("xy", 1, DOTS);
}

static void brackets_that_are_none_stay(void **state)
{
    (void)state;
    fits("app::(anonymous namespace)::run(int, int)", 31, "app::(anonymous namespace)::run");
    fits("bool operator< <Key, Value>(Key, Key)", 20, "operator< <" DOTS ">(" DOTS ")");
    fits("void f<&(A::operator()(int))>(long, int)", 7, "f<" DOTS ">(" DOTS ")");
    fits("A::operator->() const", 20, "A::oper" DOTS "or->() const");
    fits("A::operator void*(int, int)", 21, "A::operator void*(" DOTS ")");
    fits("my_operator<int, int>", 14, "my_operator<" DOTS ">");
    fits("<alloc::vec::Vec<u8> as core::ops::Drop>::drop", 45,
         "<alloc::vec::Vec<" DOTS "> as core::ops::Drop>::drop");
    fits("<alloc::vec::Vec<u8> as core::ops::Drop>::drop", 30,
         "<alloc::vec" DOTS "::ops::Drop>::drop");
    fits("non-virtual thunk to A::f(int)", 28, "non-virtual thunk to A::f(" DOTS ")");
    fits("hot(std::vector<double>&)::<lambda(double, double)>", 30,
         "hot(" DOTS ")::<lambda(" DOTS ")>");
    fits("a > b) c < d ( e", 9, "a >" DOTS "d ( e"); /* no brackets of a name */
}

static void what_is_cut_stays_whole_characters(void **state)
{
    (void)state;
    fits("\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57", 8, "\u6f22" DOTS "\u6f22\u5b57");
    fits("e\u0301e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301" DOTS "e\u0301e\u0301");
}

static void of_a_path_the_end_stays(void **state)
{
    (void)state;
    struct chars out = {0};
    assert_true(path_fit(&out, text_make("/usr/lib/x86_64/libc.so.6"), 10, mark()));
    assert_int_equal(out.n, strlen(DOTS "ibc.so.6") + 1);
    assert_memory_equal(out.items, DOTS "libc.so.6", out.n);
    chars_deinit(&out);
}

/* Rows "name|detail" to the wanted looks. */
static void tells_apart(size_t columns, size_t n, const char *const *rows, const char *const *looks)
{
    struct name_cell cells[8] = {{.name = {.bytes = ""}}};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(rows[i], "|");
        cells[i].name = (struct text){.bytes = rows[i], .length = length};
        cells[i].detail = text_make(rows[i] + length + (rows[i][length] == '|'));
    }
    assert_true(names_fit(cells, n, columns, mark(), arena));
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(cells[i].fitted.bytes, looks[i]);
        assert_true(text_columns(cells[i].fitted) <= columns);
    }
    arena_destroy(arena);
}

#define TELLS_APART(columns, n, rows, ...)                                                         \
    tells_apart(columns, n, rows, ((const char *const[]){__VA_ARGS__}))

static void rows_that_look_the_same_show_the_difference(void **state)
{
    (void)state;
    static const char *const templates[] = {
        "void sort<Iterator<std::vector<int>::value> >(Iterator<std::vector<int>::value>)",
        "main",
        "void sort<Iterator<std::vector<integer>::value> >(Iterator<std::vector<integer>::value>)",
    };
    TELLS_APART(24, 3, templates, "sort<" DOTS ">(" DOTS ") [int]", "main",
                "sort<" DOTS ">(" DOTS ") [integer]");
}

static void of_many_rows_each_has_its_own_word(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "Table<long, std::less>::insert(Key)", "Table<int, std::less>::insert(Key)",
        "Table<int, std::greater>::insert(Key)", "Table<int, std::less>::insert(Key*)",
        "Table<int, std::less>::insert(K)"};
    TELLS_APART(30, 5, rows, "Table<" DOTS ">::insert(" DOTS ") [long]",
                "Table<" DOTS ">::insert(" DOTS ") [Key)]", "Table" DOTS ">::insert [std::greater]",
                "Table<" DOTS ">::insert(" DOTS ") [Key*]", "Table<" DOTS ">::insert(K)");
}

static void rows_of_one_name_show_the_detail(void **state)
{
    (void)state;
    static const char *const statics[] = {"init|a.c:10", "init|b.c:7", "init_all|a.c:20"};
    TELLS_APART(20, 3, statics, "init [a.c:10]", "init [b.c:7]", "init_all");
    static const char *const unknown[] = {"[unknown]", "[unknown]"};
    TELLS_APART(20, 2, unknown, "[unknown]", "[unknown]");
    static const char *const narrow[] = {"initialize|source.c:10", "initialize|source.c:11"};
    TELLS_APART(12, 2, narrow, "in" DOTS "ize [" DOTS "10]", "in" DOTS "ize [" DOTS "11]");
}

static void numbers_have_one_unit_and_one_width(void **state)
{
    (void)state;
    static const struct {
        enum profile_unit unit;
        uint64_t largest, weight;
        const char *text;
    } cases[] = {
        {PROFILE_UNIT_NS, 1881000000, 519499999, "0.519 s"},
        {PROFILE_UNIT_NS, 123456000000, 519499999, "  0.519 s"},
        {PROFILE_UNIT_NS, 643000000, 1001001, "  1.0 ms"},
        {PROFILE_UNIT_NS, 0, 0, "0.0 ms"},
        {PROFILE_UNIT_COUNT, 12345, 7, "    7"},
        {PROFILE_UNIT_EVENTS, UINT64_MAX, UINT64_MAX, "18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        weight_print(out, weight_style_for(cases[i].unit, cases[i].largest), cases[i].weight);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
    assert_true(text_is(measure_words(PROFILE_UNIT_NS, text_make("cpu")), "CPU time"));
    assert_true(text_is(measure_words(PROFILE_UNIT_NS, text_make("wall")), "wall time"));
    assert_true(text_is(measure_words(PROFILE_UNIT_EVENTS, text_make("cycles")), "cycles"));
    assert_true(text_is(measure_words(PROFILE_UNIT_COUNT, text_make("n")), "samples"));
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct name_cell cells[] = {{.name = text_make("void f<A<int>, 1>(int, int)")},
                                {.name = text_make("void f<A<int>, 2>(int, int)")}};
    for (unsigned n = 1;; n++) {
        struct arena *arena = arena_create();
        alloc_fault_arm(n);
        bool ok = names_fit(cells, 2, 12, mark(), arena);
        bool fired = alloc_fault_fired();
        assert_int_equal(ok, !fired);
        arena_destroy(arena);
        if (!fired)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_a_terminal),
        cmocka_unit_test(nothing_steers_the_terminal),
        cmocka_unit_test(what_tells_least_goes_first),
        cmocka_unit_test(brackets_that_are_none_stay),
        cmocka_unit_test(what_is_cut_stays_whole_characters),
        cmocka_unit_test(of_a_path_the_end_stays),
        cmocka_unit_test(rows_that_look_the_same_show_the_difference),
        cmocka_unit_test(of_many_rows_each_has_its_own_word),
        cmocka_unit_test(rows_of_one_name_show_the_detail),
        cmocka_unit_test(numbers_have_one_unit_and_one_width),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, know_widths, NULL);
}
