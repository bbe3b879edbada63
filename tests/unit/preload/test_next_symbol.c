/* test_next_symbol.c - sys/next_symbol.h finds what dlsym(RTLD_NEXT) finds, and leaves dlerror() alone. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "sys/libc_real.h"
#include "sys/next_symbol.h"
#include "unit.h"

static int value_of(const char *name)
{
    int (*function)(void);
    void *found = next_symbol(name);
    assert_non_null(found);
    memcpy(&function, &found, sizeof function);
    return function();
}

static void both_kinds_of_tables(void **state)
{
    (void)state;
    static const char *const names[] = {
        "next_symbol_sysv_plain", "next_symbol_sysv_versioned", "next_symbol_sysv_chosen",
        "next_symbol_sysv_old",   "next_symbol_gnu_plain",      "next_symbol_gnu_versioned",
        "next_symbol_gnu_chosen", "next_symbol_gnu_new",        "next_symbol_in_both"};
    static const int values[] = {1, 3, 4, 2, 1, 3, 4, 3, 5};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(value_of(names[i]), values[i]);
        assert_ptr_equal(next_symbol(names[i]), dlsym(RTLD_NEXT, names[i]));
    }
}

static void only_functions(void **state)
{
    (void)state;
    assert_null(next_symbol("next_symbol_gnu_data"));
    assert_null(next_symbol("next_symbol_gnu_absent"));
    assert_null(next_symbol("next_symbol_sysv_absent"));
    assert_null(next_symbol(""));
    assert_null(next_symbol("both_kinds_of_tables")); /* in our own module alone */
}

/* Those of libc, with versions, and with variants for processors. */
static void libc_functions(void **state)
{
    (void)state;
    static const char *const names[] = {"close",
                                        "read",
                                        "sigaction",
                                        "pthread_create",
                                        "posix_spawn",
                                        "execve",
                                        "realpath",
                                        "memcpy",
                                        "strlen",
                                        "time",
                                        "fork",
                                        "regexec",
                                        "dlsym",
                                        "_exit",
                                        "getrandom",
                                        "__poll_chk",
                                        "pthread_cond_wait"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *expected = dlsym(RTLD_NEXT, names[i]);
        assert_non_null(expected);
        assert_ptr_equal(next_symbol(names[i]), expected);
    }
}

/* Each function that a hook stands in front of, by the name it has in the table. */
static void each_of_ours(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIBC_REAL_MAX; i++) {
        void *found = NULL;
        libc_function *function = libc_real_find(i);
        Dl_info info;
        memcpy(&found, &function, sizeof found);
        assert_non_null(found);
        assert_int_not_equal(dladdr(found, &info), 0);
        /* Where the test runs under a sanitizer, that stands in front of libc, too. */
        assert_true(strstr(info.dli_fname, "libc.so") != NULL ||
                    strstr(info.dli_fname, "san") != NULL);
        assert_ptr_equal(libc_real_get(i), function);
    }
    assert_ptr_equal(LIBC_REAL(close), dlsym(RTLD_NEXT, "close"));
    assert_ptr_equal(LIBC_REAL(setrlimit64), dlsym(RTLD_NEXT, "setrlimit64"));
}

static void errors_stay(void **state)
{
    (void)state;
    assert_null(dlopen("/srv/no/such/library.so", RTLD_NOW));
    errno = 4242;
    assert_non_null(next_symbol("close"));
    assert_null(next_symbol("no_such_function"));
    assert_int_equal(errno, 4242);
    const char *why = dlerror();
    assert_non_null(why);
    assert_non_null(strstr(why, "/srv/no/such/library.so"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kinds_of_tables), cmocka_unit_test(only_functions),
        cmocka_unit_test(libc_functions),       cmocka_unit_test(each_of_ours),
        cmocka_unit_test(errors_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
