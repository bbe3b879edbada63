/* test_names.c - the promises of symbolize/names/names.h. The full forms are what c++filt 2.40 prints,
 * and for Rust what rustfilt prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/names.h"
#include "text/short_name.h"
#include "unit.h"

static struct names_buffer *buffer;

static int buffer_make(void **state)
{
    (void)state;
    buffer = malloc(sizeof *buffer);
    return buffer == NULL;
}

static int buffer_free(void **state)
{
    (void)state;
    free(buffer);
    return 0;
}

static void names_in_all_modes(void **state)
{
    (void)state;
    const struct {
        const char *raw;
        const char *full;
        const char *brief;
    } cases[] = {
        {"main", "main", "main"},
        {"_start", "_start", "_start"},
        {"_ZN2ns3FooIiE3barEd", "ns::Foo<int>::bar(double)", "ns::Foo<...>::bar"},
        {"_Z3fooIiEvT_", "void foo<int>(int)", "foo<...>"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)",
         "std::vector<...>::push_back"},
        {"_ZNKSs4sizeEv",
         "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::size() const",
         "std::basic_string<...>::size"},
        {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()", "(anonymous namespace)::foo"},
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const",
         "main::{lambda#1}::operator()"},
        {"_ZN3FooIiEclEi", "Foo<int>::operator()(int)", "Foo<...>::operator()"},
        {"_ZN3FoolsIiEERS_T_", "Foo& Foo::operator<< <int>(int)", "Foo::operator<< <...>"},
        {"_ZN3FooltIiEEbT_", "bool Foo::operator< <int>(int)", "Foo::operator< <...>"},
        {"_ZN3FoogtIiEEbT_", "bool Foo::operator><int>(int)", "Foo::operator><...>"},
        {"_ZN3FooplIiEERS_T_", "Foo& Foo::operator+<int>(int)", "Foo::operator+<...>"},
        {"_ZN3FoopLERKS_", "Foo::operator+=(Foo const&)", "Foo::operator+="},
        {"_ZN3FooptEv", "Foo::operator->()", "Foo::operator->"},
        {"_ZN3FoocvSt6vectorIiSaIiEEEv", "Foo::operator std::vector<int, std::allocator<int> >()",
         "Foo::operator std::vector<...>"},
        {"_Z1fIXgtLi1ELi2EEEvv", "void f<((1)>(2))>()", "f<...>"},
        {"_ZThn16_N3Foo3barEv", "non-virtual thunk to Foo::bar()", "non-virtual thunk to Foo::bar"},
        {"_Z3fooB5cxx11v", "foo[abi:cxx11]()", "foo"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "core::fmt::write"},
        {"_RNvXs_C4mainNtB4_3FooNtB4_3Bar3baz", "<main::Foo as main::Bar>::baz",
         "<main::Foo as main::Bar>::baz"},
        {"_RINvMNtC5alloc3vecINtB3_3VecpE4pushlEC4main", "<alloc::vec::Vec<_>>::push::<i32>",
         "<alloc::vec::Vec<...>>::push::<...>"},
        {"_ZZ3runRSt6vectorIiSaIiEEENKUliE_clEi",
         "run(std::vector<int, std::allocator<int> >&)::{lambda(int)#1}::operator()(int) const",
         "run::{lambda#1}::operator()"},
        {"_ZZ3runiENK3$_0clIsEEDaT_", "auto run(int)::$_0::operator()<short>(short) const",
         "run::$_0::operator()<...>"},
        {"_ZN1a1bB5cxx11IiEEPFviEv", "void (*a::b[abi:cxx11]<int>())(int)", "a::b<...>"},
        {"_ZNO1a1bEv", "a::b() &&", "a::b"},
        {"_ZNK1aMUlvE_clEv", "a::{lambda()#1}::operator()() const", "a::{lambda#1}::operator()"},
        {"_D8demangle13__T4testTaTbZ4testFaZv", "demangle.test!(char, bool).test(char)",
         "demangle.test!(...).test"},
        /* plain ones, as debug information has them */
        {"run::{lambda:19}::operator()<short int>", "run::{lambda:19}::operator()<short int>",
         "run::{lambda:19}::operator()<...>"},
        {"(anonymous namespace)::f<(A)1, void (*)(int)>",
         "(anonymous namespace)::f<(A)1, void (*)(int)>", "(anonymous namespace)::f<...>"},
        {"std::sort<It, main(int, char**)::<lambda(const auto:1&)> >",
         "std::sort<It, main(int, char**)::<lambda(const auto:1&)> >", "std::sort<...>"},
        {"{impl#2}::next<alloc::vec::Vec<u8>>", "{impl#2}::next<alloc::vec::Vec<u8>>",
         "{impl#2}::next<...>"},
        {"(*Server).Serve", "(*Server).Serve", "(*Server).Serve"},
        {"main.(*T).f", "main.(*T).f", "main.(*T).f"},
        {"main.Map[go.shape.func(int) string]", "main.Map[go.shape.func(int) string]",
         "main.Map[go.shape.func(int) string]"},
        {"core::num::<impl u32>::pow", "core::num::<impl u32>::pow", "core::num::<impl u32>::pow"},
        {"alloc::slice::<impl [T]>::join::<Vec<T>>", "alloc::slice::<impl [T]>::join::<Vec<T>>",
         "alloc::slice::<impl [T]>::join::<...>"},
        {"f[1](int)", "f[1](int)", "f[1]"},
        {"[lib (old).so<1>+0x10]", "[lib (old).so<1>+0x10]", "[lib (old).so<1>+0x10]"},
        {"open<", "open<", "open<"},
        {"open(", "open(", "open("},
        {"_D8demangle4testFaZv", "demangle.test(char)", "demangle.test"},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        assert_string_equal(demangle(cases[i].raw, NAMES_FULL, buffer), cases[i].full);
        assert_string_equal(demangle(cases[i].raw, NAMES_SHORT, buffer), cases[i].brief);
        assert_ptr_equal(demangle(cases[i].raw, NAMES_RAW, buffer), cases[i].raw);
    }
}

static void clone_suffixes_are_dropped(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"_Z3foov.constprop.0.cold", "foo()"},
        {"foo.isra.0", "foo"},
        {"foo.part.12.cold.3", "foo"},
        {"foo.llvm.1234567890", "foo"},
        {"foo.lto_priv.0.cold", "foo"},
        {"foo.localalias.1", "foo"},
        {"foo.avx2", "foo.avx2"},
        {"main.part", "main.part"}, /* functions of Go */
        {"org.lto_priv.isra", "org.lto_priv.isra"},
        {"db.cleanup", "db.cleanup"},
        {"_Z7numbersl.resume", "numbers(long)"},
        {"_Z7numbersPZ7numberslE17_Z7numbersl.Frame.actor", "numbers(long)"},
        {"_Z7numbersPZ7numberslE17_Z7numbersl.Frame.actor.cold", "numbers(long)"},
        {"_ZN12_GLOBAL__N_16hiddenEPZNS_6hiddenElNS_1KEE38_ZN12_GLOBAL__N_16hiddenElNS_1KE.Frame."
         "destroy",
         "(anonymous namespace)::hidden(long, (anonymous namespace)::K)"},
        {"_Z3fooi.Frame", "_Z3fooi.Frame"},
        {"foo.cold.avx2", "foo.cold.avx2"},
        {"foo.0", "foo.0"},
        {"foo.", "foo."},
        {".cold", ".cold"},
        {"memcpy@plt", "memcpy@plt"},
        {"_Z3fooi@plt", "foo(int)@plt"},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++)
        assert_string_equal(demangle(cases[i][0], NAMES_FULL, buffer), cases[i][1]);
    assert_string_equal(demangle("foo.isra.0", NAMES_RAW, buffer), "foo.isra.0");
}

static void broken_names_come_back(void **state)
{
    (void)state;
    const char *const cases[] = {"_Z", "_ZN", "_ZN3fo", "_R", "_RNv", "_D", "_Z999999999999f", ""};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++)
        assert_string_equal(demangle(cases[i], NAMES_FULL, buffer), cases[i]);
}

/* "f<A<int>, f<A, A>, ...>": each argument names the one before twice, so n steps stand for about
 * 2^(n/2) characters. */
static void exploding_name(unsigned n_steps, char *name, size_t name_bytes)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t length = (size_t)snprintf(name, name_bytes, "_Z1fI1AIiE");
    for (unsigned i = 0; i < n_steps; i++) {
        char before[8]; /* the text of the step before, as a substitution */
        if (i < 36)
            snprintf(before, sizeof before, "S%c_", digits[i]);
        else
            snprintf(before, sizeof before, "S1%c_", digits[i - 36]);
        length += (size_t)snprintf(name + length, name_bytes - length, "S_I%s%sE", before, before);
    }
    snprintf(name + length, name_bytes - length, "Evv");
}

static void exploding_names_come_back_at_once(void **state)
{
    (void)state;
    char name[2000];
    exploding_name(14, name, sizeof name);
    assert_int_equal(strlen(demangle(name, NAMES_FULL, buffer)), 4660);
    exploding_name(22, name, sizeof name);
    assert_ptr_equal(demangle(name, NAMES_FULL, buffer), name);
    exploding_name(60, name, sizeof name);
    assert_ptr_equal(demangle(name, NAMES_FULL, buffer), name);

    char *huge = malloc(100001);
    assert_non_null(huge);
    memset(huge, 'x', 100000);
    huge[100000] = '\0';
    assert_ptr_equal(demangle(huge, NAMES_FULL, buffer), huge);
    free(huge);
}

/* "Tuple!(Tuple!(int, int), Tuple!(int, int))" and so on, each by a reference to the one before. */
static void exploding_name_of_d(unsigned n_steps, char *name, size_t name_bytes)
{
    char type[1000] = "i", next[1000];
    for (unsigned i = 0; i < n_steps; i++) {
        size_t n = strlen(type);
        char distance[3] = {(char)('A' + n / 26), (char)('a' + n % 26), '\0'};
        snprintf(next, sizeof next, "B2%.900sQ%s", type, n < 26 ? distance + 1 : distance);
        memcpy(type, next, sizeof type);
    }
    snprintf(name, name_bytes, "_D1a%.900s", type);
}

static void exploding_names_of_d(void **state)
{
    (void)state;
    char name[1000];
    exploding_name_of_d(5, name, sizeof name);
    assert_string_equal(demangle(name, NAMES_FULL, buffer),
                        "a"); /* a variable's type is not said */
    exploding_name_of_d(60, name, sizeof name);
    assert_ptr_equal(demangle(name, NAMES_FULL, buffer), name);
    const char *good = "_D8demangle4testFaZv"; /* the next one would cost as much */
    assert_ptr_equal(demangle(good, NAMES_FULL, buffer), good);
}

/* Each is looked for up to the name's end, so not at each of half a million places. */
static void brackets_that_nothing_closes(void **state)
{
    (void)state;
    const size_t n = 1000000;
    char *name = calloc(n + 1, 1), *out = malloc(n + 1);
    assert_true(name != NULL && out != NULL);
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < n; i++)
            name[i] = i % 2 == 0 ? 'a' : "<("[kind];
        assert_true(short_name_make(name, out, n + 1));
        assert_string_equal(out, name);
    }
    free(name);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_all_modes),
        cmocka_unit_test(clone_suffixes_are_dropped),
        cmocka_unit_test(broken_names_come_back),
        cmocka_unit_test(exploding_names_come_back_at_once),
        cmocka_unit_test(exploding_names_of_d),
        cmocka_unit_test(brackets_that_nothing_closes),
    };
    return cmocka_run_group_tests(tests, buffer_make, buffer_free);
}
