/* test_messages.c - lines on stderr: a status gives way, and nothing in a text steers the terminal. */
#include <stdio.h>
#include <unistd.h>

#include "options/messages.h"
#include "unit.h"

static void a_message_takes_the_place_of_a_status(void **state)
{
    (void)state;
    char said[256] = "";
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(kept >= 0);
    fflush(stderr);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    status_show("");
    tell("a", "no status was shown");
    status_show("reading \033[2J");
    status_show("reading on");
    tell("a", "text\n\033[1m");
    tell("a", "more");
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    rewind(file);
    assert_true(fread(said, 1, sizeof said - 1, file) > 0);
    assert_string_equal(said, "a: no status was shown\n\rreading ?[2J\033[K\rreading on\033[K"
                              "\r\033[Ka: text??[1m\na: more\n");
    close(kept);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_message_takes_the_place_of_a_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
