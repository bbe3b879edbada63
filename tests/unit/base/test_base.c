/* test_base.c - the promises of base/: cursor, intern, arena, sink. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "array.h"
#include "cursor.h"
#include "intern.h"
#include "sink.h"
#include "unit.h"

static void cursor_failure_is_sticky(void **state)
{
    (void)state;
    const uint8_t bytes[] = {1, 2, 3};
    struct cursor c = cursor_make(bytes, sizeof bytes);
    assert_int_equal(cursor_u8(&c), 1);
    assert_int_equal(cursor_u32le(&c), 0);
    assert_true(c.failed);
    assert_int_equal(c.fail_offset, 1);
    assert_int_equal(cursor_u8(&c), 0);
    assert_int_equal(c.fail_offset, 1);
}

static void cursor_reads_both_byte_orders(void **state)
{
    (void)state;
    const uint8_t bytes[] = {1, 2, 3, 4, 1, 2, 3, 4};
    struct cursor c = cursor_make(bytes, sizeof bytes);
    assert_int_equal(cursor_u32le(&c), 0x04030201);
    assert_int_equal(cursor_u32be(&c), 0x01020304);
    assert_true(cursor_at_end(&c) && !c.failed);
}

static void cursor_leb128(void **state)
{
    (void)state;
    const struct {
        uint8_t bytes[11];
        size_t n;
        bool ok;
        uint64_t value;
    } cases[] = {
        {{0x00}, 1, true, 0},
        {{0xe5, 0x8e, 0x26}, 3, true, 624485},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 10, true, UINT64_MAX},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10, false, 0},
        {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 11, false, 0},
        {{0x80}, 1, false, 0},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct cursor c = cursor_make(cases[i].bytes, cases[i].n);
        assert_int_equal(cursor_uleb128(&c), cases[i].value);
        assert_int_equal(!c.failed, cases[i].ok);
    }
    const uint8_t minus[] = {0x7f, 0x80, 0x7f, 0xc0, 0xbb, 0x78};
    struct cursor c = cursor_make(minus, sizeof minus);
    assert_int_equal(cursor_sleb128(&c), -1);
    assert_int_equal(cursor_sleb128(&c), -128);
    assert_int_equal(cursor_sleb128(&c), -123456);
    assert_false(c.failed);
}

static void cursor_text_needs_its_nul(void **state)
{
    (void)state;
    const char bytes[] = {'a', 'b', 0, 'c'};
    struct cursor c = cursor_make(bytes, sizeof bytes);
    size_t length;
    assert_string_equal(cursor_text(&c, &length), "ab");
    assert_int_equal(length, 2);
    assert_null(cursor_text(&c, &length));
    assert_true(c.failed);
}

static void intern_gives_equal_ids_to_equal_texts(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct intern *intern = intern_create(arena);
    uint32_t ids[5000];
    char text[32];
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(text, sizeof text, "text %u", i);
        assert_true(intern_add(intern, text, (size_t)n, &ids[i]));
        assert_int_equal(ids[i], i + 1);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(text, sizeof text, "text %u", i);
        uint32_t id;
        assert_true(intern_add(intern, text, (size_t)n, &id));
        assert_int_equal(id, ids[i]);
        assert_string_equal(intern_text(intern, id).bytes, text);
    }
    uint32_t empty, nul;
    assert_true(intern_add(intern, "", 0, &empty));
    assert_true(intern_add(intern, "\0", 1, &nul));
    assert_int_equal(empty, 0);
    assert_int_equal(nul, 5001);
    intern_destroy(intern);
    arena_destroy(arena);
}

static void arena_zeroes_and_checks(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        unsigned char *bytes = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, size);
    }
    assert_null(arena_array(arena, SIZE_MAX / 2, 4));
    arena_fail_after(2);
    assert_non_null(arena_alloc(arena, 1));
    assert_null(arena_alloc(arena, 1));
    assert_non_null(arena_alloc(arena, 1));
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void array_keeps_what_was_pushed(void **state)
{
    (void)state;
    struct array array;
    array_init(&array, sizeof(int));
    for (int i = 0; i < 1000; i++) {
        int *item = array_push(&array);
        assert_int_equal(*item, 0);
        *item = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(*(int *)array_at(&array, (size_t)i), i);
    array_deinit(&array);
}

/* A fresh folder for one test; the caller removes it. */
static char *folder_make(char *template)
{
    char *folder = mkdtemp(template);
    assert_non_null(folder);
    return folder;
}

static void sink_file_appears_whole(void **state)
{
    (void)state;
    char template[] = "/tmp/sampler-test-XXXXXX";
    char *folder = folder_make(template);
    char path[64], other[128];
    snprintf(path, sizeof path, "%s/out", folder);
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_file(path, &sink, &err));
    char block[1000];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 200; i++)
        assert_true(sink_write(sink, block, sizeof block));
    assert_int_equal(access(path, F_OK), -1); /* not under its final name before it is whole */
    assert_int_equal(sink_offset(sink), 200000);
    assert_true(sink_close(sink, &err));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftell(file), 200000);
    fclose(file);
    assert_true(sink_create_file(path, &sink, &err));
    sink_text(sink, "half");
    sink_abandon(sink);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
    snprintf(other, sizeof other, "%s/none/out", folder);
    assert_false(sink_create_file(other, &sink, &err));
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.file, other);
}

static bool is_proc_hidden;

/* In place of libc's, also for the library that is tested. */
int access(const char *path, int mode)
{
    if (is_proc_hidden && strncmp(path, "/proc/", 6) == 0)
        errno = ENOENT;
    return is_proc_hidden && strncmp(path, "/proc/", 6) == 0 ? -1
                                                             : faccessat(AT_FDCWD, path, mode, 0);
}

static void write_file(const char *path, bool is_closed)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_file(path, &sink, &err));
    assert_true(sink_text(sink, "text"));
    if (is_closed)
        assert_true(sink_close(sink, &err));
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

/* Also where files without a name cannot be had. */
static void sink_file_replaces(void **state)
{
    (void)state;
    char template[] = "/tmp/sampler-test-XXXXXX";
    char *folder = folder_make(template);
    char path[64], link[64];
    mode_t mask = umask(0022);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    for (int round = 0; round < 2; round++) {
        is_proc_hidden = round == 1;
        write_file(path, true);
        assert_int_equal(mode_of(path), S_IFREG | 0644);
        assert_int_equal(chmod(path, 0600), 0);
        assert_int_equal(symlink("out", link), 0);
        write_file(path, true);
        assert_int_equal(mode_of(path), S_IFREG | 0600);
        write_file(link, true);
        assert_int_equal(mode_of(link), S_IFREG | 0644);
        assert_int_equal(unlink(path) | unlink(link), 0);
    }
    is_proc_hidden = false;
    umask(mask);
    assert_int_equal(rmdir(folder), 0);
}

static void sink_of_who_is_killed_leaves_nothing(void **state)
{
    (void)state;
    char template[] = "/tmp/sampler-test-XXXXXX";
    char *folder = folder_make(template);
    char path[64];
    snprintf(path, sizeof path, "%s/out", folder);
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    bool has_nameless = fd >= 0;
    if (has_nameless)
        close(fd);
    pid_t child = has_nameless ? fork() : 0;
    if (has_nameless && child == 0) {
        write_file(path, false);
        _exit(0);
    }
    if (has_nameless)
        assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rmdir(folder), 0);
    if (!has_nameless)
        skip();
}

static void sink_failure_is_sticky(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_failing(100, &sink, &err));
    for (int i = 0; i < 100000; i++)
        sink_text(sink, "0123456789");
    assert_true(sink_failed(sink));
    assert_false(sink_text(sink, "x"));
    assert_false(sink_close(sink, &err));
    assert_int_equal(err.sys_errno, ENOSPC);
}

static void sink_buffer_grows(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_buffer(&sink, &err));
    for (unsigned i = 0; i < 100000; i++)
        assert_true(sink_u64(sink, i % 10));
    sink_u64(sink, UINT64_MAX);
    size_t n;
    const char *bytes = sink_buffer(sink, &n);
    assert_int_equal(n, 100020);
    assert_memory_equal(bytes + 99990, "012345678918446744073709551615", 30);
    assert_true(sink_close(sink, &err));
}

static void err_keeps_the_first_story(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char out[200];
    assert_false(err_fail(&err, ERR_FORMAT, 12, "bad tag %d", 7));
    assert_false(err_fail_memory(&err));
    err_name_file(&err, "a.prof");
    err_name_file(&err, "b.prof");
    assert_string_equal(err_describe(&err, out, sizeof out), "a.prof: offset 12: bad tag 7");
}

/* There is an arena per module of a recording, which can name thousands of them. */
static void arena_of_little_is_small(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    assert_non_null(arena_text(arena, "name", 4));
    assert_true(arena_size_bytes(arena) <= 8192);
    for (unsigned i = 0; i < 100000; i++)
        assert_non_null(arena_alloc(arena, 16));
    assert_true(arena_size_bytes(arena) <= 1600000 + 600000);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursor_failure_is_sticky),
        cmocka_unit_test(cursor_reads_both_byte_orders),
        cmocka_unit_test(cursor_leb128),
        cmocka_unit_test(cursor_text_needs_its_nul),
        cmocka_unit_test(intern_gives_equal_ids_to_equal_texts),
        cmocka_unit_test(arena_zeroes_and_checks),
        cmocka_unit_test(arena_of_little_is_small),
        cmocka_unit_test(array_keeps_what_was_pushed),
        cmocka_unit_test(sink_file_appears_whole),
        cmocka_unit_test(sink_file_replaces),
        cmocka_unit_test(sink_of_who_is_killed_leaves_nothing),
        cmocka_unit_test(sink_failure_is_sticky),
        cmocka_unit_test(sink_buffer_grows),
        cmocka_unit_test(err_keeps_the_first_story),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
