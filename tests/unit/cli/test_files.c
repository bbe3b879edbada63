/* test_files.c - what the commands do to the files they are given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "options/format_names.h"
#include "registry/registry.h"
#include "report/files.h"
#include "run/preload_env.h"
#include "run/reporter.h"
#include "unit.h"

/* Opened and closed by the way, a pipe has lost its reader: who writes into it dies of it, and the
 * real open waits for ever. */
static void pipes_are_not_opened_to_look_into_them(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_files.XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(watch >= 0);
    assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    char events[4096];
    assert_false(path_is_recording(path));
    assert_int_equal(read(watch, events, sizeof events), -1); /* none: EAGAIN */
    close(watch);
    unlink(path);
    rmdir(dir);
}

static void recordings_are_told_by_their_first_bytes(void **state)
{
    (void)state;
    char path[] = "/tmp/test_files.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_false(path_is_recording(path));
    assert_int_equal(write(fd, CAPTURE_MAGIC, strlen(CAPTURE_MAGIC)), strlen(CAPTURE_MAGIC));
    assert_true(path_is_recording(path));
    close(fd);
    unlink(path);
    assert_false(path_is_recording(path));
    assert_false(path_is_recording("/tmp"));
}

/* sampler-run refuses outputs by this table, as it does not load the formats. */
static void names_of_formats_are_those_of_the_table(void **state)
{
    (void)state;
    const struct format_name *name = format_names;
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        if ((*row)->write == NULL)
            continue;
        assert_non_null(name->name);
        assert_string_equal(name->name, (*row)->name);
        size_t n = 0;
        for (; (*row)->extensions[n] != NULL; n++) {
            assert_true(n < FORMAT_MAX_EXTENSIONS);
            assert_non_null(name->extensions[n]);
            assert_string_equal(name->extensions[n], (*row)->extensions[n]);
        }
        assert_null(name->extensions[n]);
        assert_int_equal(name->for_browsers, (*row)->for_browsers);
        name++;
    }
    assert_null(name->name);
}

/* What the two programs say to each other. */
static void a_run_is_reported_as_it_was(void **state)
{
    (void)state;
    struct reported_run run;
    struct err err = ERR_INIT;
    assert_true(reported_run_parse("12:3400:./a:b c", &run, &err));
    assert_int_equal(run.pid, 12);
    assert_int_equal(run.cpu_ns, 3400);
    assert_string_equal(run.command, "./a:b c");
    static const char *const bad[] = {"", "12", "12:", "12:3", "12:-3:x", ":3:x", "x:3:x", "12::x"};
    for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
        err = (struct err)ERR_INIT;
        assert_false(reported_run_parse(bad[i], &run, &err));
        assert_non_null(strstr(err.text, "--run"));
    }
}

static void preloaded(const char *before, const char *after)
{
    setenv("LD_PRELOAD", before, 1);
    assert_true(preload_env_leave());
    const char *left = getenv("LD_PRELOAD");
    assert_string_equal(left != NULL ? left : "(unset)", after);
    unsetenv("LD_PRELOAD");
}

/* The reporter is none of the program's: only our own library is kept from it. */
static void the_reporter_is_not_preloaded(void **state)
{
    (void)state;
    preloaded("/a/libsampler.so", "(unset)");
    preloaded("libsampler.so", "(unset)");
    preloaded("/a/libsampler.so:/b/libother.so", "/b/libother.so");
    preloaded("/b/libother.so /a/libsampler.so:libthird.so", "/b/libother.so:libthird.so");
    preloaded("/b/libsampler.so.bak", "/b/libsampler.so.bak");
    assert_true(preload_env_leave());
    assert_null(getenv("LD_PRELOAD"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_are_not_opened_to_look_into_them),
        cmocka_unit_test(recordings_are_told_by_their_first_bytes),
        cmocka_unit_test(names_of_formats_are_those_of_the_table),
        cmocka_unit_test(a_run_is_reported_as_it_was),
        cmocka_unit_test(the_reporter_is_not_preloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
