/* test_nytprof_name.c - names as Perl's tools take them, and texts fit for a line. */
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

/* Of which subs and files a name or path can be meant. */
static void what_a_comment_can_mean(void **state)
{
    (void)state;
    static const struct {
        const char *sub;
        const char *name;
        bool fits;
    } subs[] = {
        {"main::main", "main", true},
        {"libc.so.6::malloc [libc.so.6+0x10]", "malloc", true},
        {"ns::f(a.b) [a.c:1]", "ns::f(a::b)", true},
        {"main::a,b", "a;b", true},
        {"main::??", "", true},
        {"mill::v< K>", "v<K>", true},
        {"main::domain", "main2", false},
        {"main::remain", "main", false},
        {"main::g(int)", "f(int)", false},
    };
    static const struct {
        const char *label;
        const char *path;
        bool fits;
    } files[] = {
        {"/src/a.c", "/src/a.c", true},
        {"/src/a b.c #2", "/src/a\nb.c", true},
        {"[libc.so.6]", "/lib/libc.so.6", true},
        {"[vdso]", "[vdso]", true},
        {"/src/a.c", "/src/b.c", false},
        {"[libc.so.6]", "/lib/libm.so.6", false},
        {"", "/src/a.c", false},
    };
    for (size_t i = 0; i < N_ELEMENTS(subs); i++) {
        struct text sub = {.bytes = subs[i].sub, .length = strlen(subs[i].sub)};
        struct text name = {.bytes = subs[i].name, .length = strlen(subs[i].name)};
        bool fits = !subs[i].fits;
        assert_true(nytprof_name_fits(sub, name, &fits));
        assert_int_equal(fits, subs[i].fits);
    }
    for (size_t i = 0; i < N_ELEMENTS(files); i++) {
        struct text label = {.bytes = files[i].label, .length = strlen(files[i].label)};
        struct text path = {.bytes = files[i].path, .length = strlen(files[i].path)};
        assert_int_equal(nytprof_path_fits(label, path), files[i].fits);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_get_a_package),
        cmocka_unit_test(what_a_comment_can_mean),
        cmocka_unit_test(lines_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
