/* test_process_name.c - what processes are called, by their file and their first argument. */
#include "recording/process_name.h"
#include "unit.h"

static void expect(const char *exe, const char *first_word, const char *name)
{
    struct text found = process_name(text_make(exe), text_make(first_word));
    if (!text_is(found, name))
        fail_msg("%s called as '%s': is '%.*s' instead of '%s'", exe, first_word, (int)found.length,
                 found.bytes, name);
}

static void test_called_as(void **state)
{
    (void)state;
    expect("/usr/bin/gcc-12", "gcc", "gcc");
    expect("/usr/bin/python3.11", "/usr/bin/python3", "python3");
    expect("/usr/bin/redis-check-rdb", "redis-server", "redis-server");
    expect("/opt/My App/my app", "/opt/My App/my app", "my app");
    expect("/opt/My App/app", "/opt/My App/other", "other");
    expect("/usr/bin/dash", "-sh", "sh");
}

static void test_titles(void **state)
{
    (void)state;
    expect("/usr/bin/redis-check-rdb", "redis-server *:6379", "redis-server");
    expect("/usr/sbin/nginx", "nginx: worker process", "nginx");
    expect("/usr/sbin/sshd", "sshd: root@pts/0", "sshd");
    expect("/usr/sbin/apache2", "/usr/sbin/apache2 -k start", "apache2");
    expect("/usr/lib/postgresql/15/bin/postgres", "postgres: me db 127.0.0.1(1) idle", "postgres");
}

static void test_one_is_missing(void **state)
{
    (void)state;
    expect("/usr/bin/dash", "", "dash");
    expect("/usr/bin/dash", "-", "dash");
    expect("/usr/bin/dash", " x", "dash");
    expect("", "sh", "sh");
    expect("", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_called_as),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_one_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
