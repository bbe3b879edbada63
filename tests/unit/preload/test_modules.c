/* test_modules.c - unwind/modules.h without memory for its table. os_map is wrapped. */
#include <string.h>

#include "sys/os.h"
#include "unit.h"
#include "unwind/modules.h"
#include "unwind/unwind.h"

static bool is_refused;
static size_t most_bytes;

void *__real_os_map(size_t n_bytes);
void *__wrap_os_map(size_t n_bytes);
void *__wrap_os_map(size_t n_bytes)
{
    if (n_bytes > most_bytes)
        most_bytes = n_bytes;
    return is_refused ? NULL : __real_os_map(n_bytes);
}

/* No module is found, nothing fails; with memory all is well again, and it is mapped once. */
static void no_memory(void **state)
{
    (void)state;
    uint64_t here = (uint64_t)(uintptr_t)&no_memory;
    modules_init();
    is_refused = true;
    assert_null(modules_find(here));
    assert_string_equal(modules_main_path(), "");
    modules_unloaded();
    assert_null(modules_find(here));
    assert_int_equal(modules_count(), 0);
    is_refused = false;
    assert_non_null(strstr(modules_main_path(), "/test_modules"));
    assert_true(most_bytes >= MODULES_MAX * sizeof(struct module));
    struct module *module = modules_find(here);
    assert_non_null(module);
    assert_true(module->start <= here && here < module->end);
    is_refused = true;
    assert_ptr_equal(modules_find(here), module);
    assert_ptr_equal(modules_get(module->id), module);
    is_refused = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
