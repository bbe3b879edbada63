/* test_nytprof_name.c - names as Perl's tools take them, and back. */
#include <string.h>

#include "formats/nytprof/name.h"
#include "unit.h"

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
        struct chars out = {0};
        struct chars back = {0};
        nytprof_name_encode(text_make(cases[i].name), text_make(cases[i].object), &out);
        assert_false(out.no_memory);
        assert_int_equal(out.n, strlen(cases[i].sub));
        assert_memory_equal(out.items, cases[i].sub, out.n);
        nytprof_name_decode((struct text){.bytes = out.items, .length = out.n}, &back);
        assert_false(back.no_memory);
        assert_int_equal(
            text_is((struct text){.bytes = back.items, .length = back.n}, cases[i].name),
            cases[i].comes_back);
        chars_deinit(&out);
        chars_deinit(&back);
    }
}

/* What tells namesakes apart is no part of the name; what only looks like it is. */
static void labels_are_bared(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        const char *bare;
    } cases[] = {
        {"main::main", "main::main"},
        {"main::f [a.c:12]", "main::f"},
        {"main::f [odd name.c:12]", "main::f"},
        {"libc.so.6::malloc [libc.so.6+0x1f]", "libc.so.6::malloc"},
        {"main::f #2", "main::f"},
        {"main::f [a.c:12] #13", "main::f"},
        {"main::f [a.c:]", "main::f [a.c:]"},
        {"main::f [libc.so.6+0x]", "main::f [libc.so.6+0x]"},
        {"main::f[a.c:12]", "main::f[a.c:12]"},
        {"main::f [abi]", "main::f [abi]"},
        {"main::f#2", "main::f#2"},
        {"main::f #", "main::f #"},
        {"#2", "#2"},
        {"", ""},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct text bare = nytprof_name_bare(text_make(cases[i].label));
        if (!text_is(bare, cases[i].bare))
            fail_msg("%s: %.*s", cases[i].label, (int)bare.length, bare.bytes);
    }
}

static void plain_texts_have_no_control_characters(void **state)
{
    (void)state;
    static const char raw[] = "a\tb\n;100% \xc3\xa9 \xe9 \0 \x7f end";
    static const char want[] = "a b ;100% \xc3\xa9 \xe9     end";
    struct chars out = {0};
    nytprof_append_plain(&out, (struct text){.bytes = raw, .length = sizeof raw - 1});
    assert_int_equal(out.n, sizeof want - 1);
    assert_memory_equal(out.items, want, out.n);
    chars_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_get_a_package),
        cmocka_unit_test(labels_are_bared),
        cmocka_unit_test(plain_texts_have_no_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
