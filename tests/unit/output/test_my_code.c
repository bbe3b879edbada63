/* test_my_code.c - which functions are the user's own, by the places of their code and their source. */
#include "profile_help.h"
#include "select/my_code.h"
#include "select/runtime_module.h"
#include "unit.h"

static uint32_t module_add(struct profile_builder *builder, const char *path)
{
    const struct profile_module row = {.path = profile_add_cstring(builder, path)};
    return path[0] != '\0' ? profile_add_module(builder, &row) : 0;
}

/* Whether a function of this module and source file is own code, beside one of `other`'s that is. */
static void expect_beside(const char *other, const char *name, const char *module, const char *file,
                          bool is_own)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    const struct profile_function rows[] = {
        {.file = profile_add_cstring(builder, "own.c"), .module = module_add(builder, other)},
        {.file = profile_add_cstring(builder, file),
         .module = module_add(builder, module),
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

static void expect_name(const char *name, const char *module, const char *file, bool is_own)
{
    expect_beside("", name, module, file, is_own);
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
    expect("linux-vdso.so.1", "", false);
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

static void runtimes_are_not_own_beside_the_code_they_run(void **state)
{
    (void)state;
    static const char *const RUNTIMES[] = {"/srv/py/bin/python3.12",
                                           "/srv/py/lib/libpython3.12.so.1.0",
                                           "/usr/bin/node",
                                           "/srv/jdk/lib/server/libjvm.so",
                                           "/srv/erts-13.1/bin/beam.smp",
                                           "luajit-2.1.0",
                                           "/srv/py/lib/python3.12/lib-dynload/_json.so",
                                           "/srv/venv/lib/site-packages/numpy/core/_umath.so"};
    for (size_t i = 0; i < sizeof RUNTIMES / sizeof *RUNTIMES; i++) {
        expect_beside("[jit]", "f", RUNTIMES[i], "", false);
        expect_beside("/home/me/app", "f", RUNTIMES[i], "", true);
    }
    expect_beside("[jit]", "f", "/home/me/ext/fast.cpython-312-x86_64-linux-gnu.so", "fast.c",
                  true);
    expect_beside("[jit]", "f", "/srv/py/lib/libpython3.13t.so.1.0", "Python/ceval.c", false);
    expect_beside("[jit]", "f", "/srv/venv/lib/site-packages/mine.so", "mine.c", true);
    expect_beside("[jit]", "f", "/srv/py/lib/python3.12/lib-dynload/_json.so", "_json.c", false);
    expect_beside("[jit]", "f", "/home/me/nodes", "", true);
    expect_beside("[jit]", "f", "/home/me/noded", "", true);
    expect_beside("[jit]", "f", "/home/me/javac", "", true);
    expect_beside("[jit]", "f", "postgres", "", true);
}

static void libraries_of_scripts_are_not_own(void **state)
{
    (void)state;
    expect("[jit]", "/srv/app/main.py", true);
    expect("[jit]", "<frozen importlib._bootstrap>", false);
    expect("[jit]", "/srv/py/lib/python3.12/json/decoder.py", false);
    expect("[jit]", "node:internal/modules/cjs/loader", false);
    expect("[jit]", "<string>", true);
    expect("[jit]", "/usr/src/app/index.js", true);
    expect("[jit]", "/usr/src/app/node_modules/a/index.js", false);
    expect("/home/me/app", "/usr/src/debug/glibc/malloc.c", false);
    expect_name("sun.shine", "[jit]", "/srv/app/main.py", true);
    expect_name("java.brew", "[jit]", "/srv/app/sun.js", true);
    expect_name("int shop.java.Cart.sum(java.lang.Object)", "[jit]", "", true);
    expect_name("java.lang.String java.lang.Long.toString(long)", "[jit]", "", false);
    expect_name("jdk.internal.misc.Unsafe.park(boolean, long)", "[jit]", "", false);
    expect_name("void [System.Runtime] System.GC::Collect()", "[jit]", "", false);
    expect_name("void [shop] Shop.Cart::Add(int32)", "[jit]", "", true);
    expect_name("void [shop] Shop.Cart::Add(class [System.Runtime]System.String)", "[jit]", "",
                true);
    expect_name("Ljava/util/HashMap;::get", "[jit]", "", false);
    expect_name("StubRoutines (2)", "[jit]", "", false);
    expect_name("_new_array_Java stub", "[jit]", "", false);
    expect_name("global::call_light_bif_shared", "[jit]", "", false);
    expect_name("lists:map/2", "[jit]", "", true);
    expect_name("Interpreter", "[jit]", "", true);
}

static void python_names_its_functions_from_a_version_on(void **state)
{
    (void)state;
    assert_true(is_python_with_names(text_make("/usr/bin/python3.12")));
    assert_true(is_python_with_names(text_make("/usr/lib/libpython3.13.so.1.0")));
    assert_false(is_python_with_names(text_make("/usr/bin/python3.11")));
    assert_false(is_python_with_names(text_make("/usr/lib/libpython3.9.so.1.0")));
    assert_false(is_python_with_names(text_make("/usr/bin/python3")));
    assert_false(is_python_with_names(text_make("/srv/python3.12/app")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_files_are_own_wherever_they_are),
        cmocka_unit_test(libraries_are_own_outside_the_system),
        cmocka_unit_test(source_of_libraries_is_not_own_even_inlined),
        cmocka_unit_test(runtimes_are_not_own_beside_the_code_they_run),
        cmocka_unit_test(libraries_of_scripts_are_not_own),
        cmocka_unit_test(python_names_its_functions_from_a_version_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
