/* test_thread_find.c - who a thread is, without thread-local storage; and a block in its place. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "sys/os.h"
#include "sys/tls.h"
#include "threads/find.h"
#include "unit.h"

/* Slots are only compared here, never looked into. */
static uint64_t places[2];

static struct thread *slot(unsigned i)
{
    return (struct thread *)(void *)&places[i];
}

static void ids_are_found(void **state)
{
    (void)state;
    const pid_t ids[] = {1, 1023, 1024, 77777, 4194303};
    for (unsigned i = 0; i < 5; i++) {
        assert_null(thread_of_tid(ids[i]));
        assert_true(thread_note_tid(ids[i], slot(i % 2), THREAD_NOT_GONE));
    }
    for (unsigned i = 0; i < 5; i++) {
        assert_ptr_equal(thread_of_tid(ids[i]), slot(i % 2));
        assert_int_equal(thread_gone_cpu_ns(ids[i]), THREAD_NOT_GONE);
        assert_true(thread_note_tid(ids[i], NULL, 500));
    }
    assert_null(thread_of_tid(77777));
    assert_int_equal(thread_gone_cpu_ns(77777), 500);
    assert_true(thread_note_tid(77777, NULL, THREAD_NOT_GONE));
    assert_int_equal(thread_gone_cpu_ns(77777), THREAD_NOT_GONE);
    /* An id no kernel gives. */
    assert_false(thread_note_tid(4194304, slot(0), THREAD_NOT_GONE));
    assert_null(thread_of_tid(4194304));
}

/* What a forked child does: nothing is left of the first thread, and the next one is as good. */
static void a_child_begins_anew(void **state)
{
    (void)state;
    assert_true(thread_note_tid(4711, slot(0), THREAD_NOT_GONE));
    assert_true(thread_note_tid(4712, slot(1), THREAD_NOT_GONE));
    assert_true(thread_note_tid(4711, NULL, THREAD_NOT_GONE));
    assert_true(thread_note_tid(4712, NULL, THREAD_NOT_GONE));
    thread_note_none();
    assert_null(thread_of_tid(4711));
    assert_null(thread_of_tid(0));
    assert_true(thread_note_tid(4712, NULL, THREAD_NOT_GONE)); /* what is not there need not go */
    assert_true(thread_note_tid(4712, slot(1), THREAD_NOT_GONE));
    assert_true(thread_note_tid(4711, slot(0), THREAD_NOT_GONE));
    assert_ptr_equal(thread_of_tid(4711), slot(0));
    assert_ptr_equal(thread_of_tid(4712), slot(1));
}

static void pointers_are_noted(void **state)
{
    (void)state;
    assert_null(thread_of_pointer(0x7f0000001000));
    thread_note_pointer(0x7f0000001000, slot(0));
    assert_ptr_equal(thread_of_pointer(0x7f0000001000), slot(0));
    thread_note_pointer(0x7f0000001000, slot(1));
    assert_ptr_equal(thread_of_pointer(0x7f0000001000), slot(1));
}

static void *pointer_of_thread(void *out)
{
    *(uint64_t *)out = tls_pointer();
    return tls_gettid() == gettid() ? out : NULL;
}

static void each_thread_has_its_pointer(void **state)
{
    (void)state;
    uint64_t of_other = 0;
    void *result = NULL;
    pthread_t other;
    assert_int_equal(tls_pointer(), (uint64_t)pthread_self()); /* what libc has there */
    assert_int_equal(tls_gettid(), gettid());
    assert_int_equal(pthread_create(&other, NULL, pointer_of_thread, &of_other), 0);
    assert_int_equal(pthread_join(other, &result), 0);
    assert_non_null(result);
    assert_int_not_equal(of_other, tls_pointer());
}

/* What fails on the block sets errno there. Nothing but bare calls, and not inlined: the compiler
 * must not look up errno before. No sanitizer: it has thread-local storage of its own. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static int fail_on(uint64_t block)
{
    uint64_t own = tls_pointer();
    tls_pointer_set(block);
    long result = os_close(-1);
    tls_pointer_set(own);
    return (int)result;
}

static void a_block_takes_what_libc_writes(void **state)
{
    (void)state;
    uint64_t block = tls_block_make();
    assert_int_not_equal(block, 0);
    errno = 4242;
    assert_int_equal(fail_on(block), -1);
    assert_int_equal(errno, 4242);
    tls_block_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_found),
        cmocka_unit_test(a_child_begins_anew),
        cmocka_unit_test(pointers_are_noted),
        cmocka_unit_test(each_thread_has_its_pointer),
        cmocka_unit_test(a_block_takes_what_libc_writes),
    };
    tls_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
