/* test_source.c - source files as lines; where they are looked for is in e2e.test_list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc_fault.h"
#include "source/source.h"
#include "unit.h"

static char path[] = "/tmp/test_source.XXXXXX";

static int file_make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int file_remove(void **state)
{
    (void)state;
    return unlink(path);
}

static void file_write(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static struct source open_it(void)
{
    struct source source;
    struct err err = ERR_INIT;
    assert_true(source_init(&source, NULL, text_make(path), NULL, &err));
    return source;
}

static void expect_line(const struct source *source, uint32_t number, const char *expected)
{
    struct text line = source_line(source, number);
    if (!text_is(line, expected))
        fail_msg("line %u is '%.*s'", number, (int)line.length, line.bytes);
}

static void lines_end_in_any_way(void **state)
{
    (void)state;
    static const char bytes[] = "one\r\n\n\rthree\nfour\0five";
    file_write(bytes, sizeof bytes - 1);
    struct source source = open_it();
    assert_string_equal(source.path, path);
    assert_int_equal(source.lines.n, 4);
    expect_line(&source, 1, "one");
    expect_line(&source, 2, "");
    expect_line(&source, 3, "\rthree");
    assert_int_equal(source_line(&source, 4).length, 9);
    expect_line(&source, 5, "");
    expect_line(&source, 0, "");
    expect_line(&source, UINT32_MAX, "");
    source_deinit(&source);
    file_write("", 0);
    source = open_it();
    assert_string_equal(source.path, path);
    assert_int_equal(source.lines.n, 0);
    source_deinit(&source);
}

static void odd_paths_are_not_found(void **state)
{
    (void)state;
    static char long_path[2 * PATH_MAX];
    memset(long_path, 'x', sizeof long_path - 1);
    const struct text paths[] = {text_make(""),          text_make("/"),
                                 text_make("/dev/zero"), text_make("/tmp"),
                                 text_make(long_path),   {.bytes = "/etc/passwd\0", .length = 12}};
    for (size_t i = 0; i < N_ELEMENTS(paths); i++) {
        struct source source;
        struct err err = ERR_INIT;
        assert_true(source_init(&source, NULL, paths[i], i % 2 == 0 ? NULL : "/:::/tmp:", &err));
        assert_string_equal(source.path, "");
        source_deinit(&source);
    }
}

static void too_large_ones_are_left_alone(void **state)
{
    (void)state;
    assert_int_equal(truncate(path, (off_t)256 << 20), 0);
    struct source source = open_it();
    assert_string_equal(source.path, "");
    source_deinit(&source);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    file_write("a\nb\nc\n", 6);
    bool fired = true;
    for (unsigned n = 1; fired; n++) {
        struct source source;
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = source_init(&source, NULL, text_make(path), "/nowhere", &err);
        fired = alloc_fault_fired();
        assert_int_equal(ok, !fired);
        assert_true(ok || err.code == ERR_MEMORY);
        source_deinit(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_any_way),
        cmocka_unit_test(odd_paths_are_not_found),
        cmocka_unit_test(too_large_ones_are_left_alone),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, file_make, file_remove);
}
