/* test_files.c - what the commands do to the files they are given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "files.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_are_not_opened_to_look_into_them),
        cmocka_unit_test(recordings_are_told_by_their_first_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
