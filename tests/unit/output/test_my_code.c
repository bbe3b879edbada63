/* test_my_code.c - which functions are the user's own, by the places of their code and their source. */
#include "profile_help.h"
#include "select/my_code.h"
#include "unit.h"

/* Whether a function of this module and source file is own code; there is another that is. */
static void expect_name(const char *name, const char *module, const char *file, bool is_own)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    const struct profile_module module_row = {.path = profile_add_cstring(builder, module)};
    const struct profile_function rows[] = {
        {.file = profile_add_cstring(builder, "own.c")},
        {.file = profile_add_cstring(builder, file),
         .module = module[0] != '\0' ? profile_add_module(builder, &module_row) : 0,
         .name = profile_add_cstring(builder, name)},
    };
    uint32_t own = profile_add_function(builder, &rows[0]);
    uint32_t asked = profile_add_function(builder, &rows[1]);
    struct profile *profile = builder_finish(builder);
    uint8_t marks[3] = {0};
    struct err err = ERR_INIT;
    assert_true(my_code_mark_others(profile, marks, 4, &err));
    assert_int_equal(marks[own], 0);
    if ((marks[asked] == 0) != is_own)
        fail_msg("'%s' of '%s' is%s own code", file, module, is_own ? " not" : "");
    profile_destroy(profile);
}

static void expect(const char *module, const char *file, bool is_own)
{
    expect_name("f", module, file, is_own);
}

static void program_files_are_own_wherever_they_are(void **state)
{
    (void)state;
    expect("/home/me/app", "", true);
    expect("app", "src/a.c", true);
    expect("/usr/bin/redis-server", "", true);
    expect("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "../../src/gcc/tree.c", true);
    expect("/usr/bin/a.solver", "", true);
    expect("[anon]", "", true);
    expect_name("tolower@plt", "/home/me/app", "", false);
}

static void libraries_are_own_outside_the_system(void **state)
{
    (void)state;
    expect("/home/me/lib/libapp.so.1", "", true);
    expect("/opt/shop/libapp.so", "a.c", true);
    expect("/lib/x86_64-linux-gnu/libc.so.6", "", false);
    expect("/lib/x86_64-linux-gnu/libc.so.6", "./malloc/malloc.c", false);
    expect("/usr/lib/libfoo-1.2.so", "", false);
    expect("[vdso]", "", false);
    expect("", "", false);
}

static void source_of_libraries_is_not_own_even_inlined(void **state)
{
    (void)state;
    expect("/home/me/app", "/usr/include/c++/12/bits/stl_algo.h", false);
    expect("/home/me/app",
           "/rustc/90c541806f23a127002de5b4038be731ba1458ca/library/core/src/iter.rs", false);
    expect("/home/me/app", "/home/me/.cargo/registry/src/index/regex-1.0/src/lib.rs", false);
    expect("/home/me/app", "/rust/deps/hashbrown-0.16.1/src/map.rs", false);
    expect("/home/me/app", "/home/me/go/pkg/mod/x/y.go", false);
    expect("", "/srv/app/node_modules/left-pad/index.js", false);
    expect("", "/srv/app/index.js", true);
    expect("/home/me/app", "/home/me/usr/a.c", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_files_are_own_wherever_they_are),
        cmocka_unit_test(libraries_are_own_outside_the_system),
        cmocka_unit_test(source_of_libraries_is_not_own_even_inlined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
