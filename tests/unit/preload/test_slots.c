/* test_slots.c - slots for threads to come: what is reserved, given back, and left where memory is short. */
#include <string.h>

#include "state/run.h"
#include "sys/os.h"
#include "threads/slots.h"
#include "unit.h"

static struct capture_header header;

/* What the library maps passes here: each mapping is counted, the one with number `fail_at` (from 1) fails. */
static unsigned n_asked, fail_at, n_mapped;

void *__real_os_map(size_t n_bytes);
void *__wrap_os_map(size_t n_bytes);
void __real_os_unmap(void *bytes, size_t n_bytes);
void __wrap_os_unmap(void *bytes, size_t n_bytes);

static bool is_to_fail(void)
{
    return ++n_asked == fail_at;
}

void *__wrap_os_map(size_t n_bytes)
{
    void *bytes = is_to_fail() ? NULL : __real_os_map(n_bytes);
    n_mapped += bytes != NULL;
    return bytes;
}

void __wrap_os_unmap(void *bytes, size_t n_bytes)
{
    n_mapped--;
    __real_os_unmap(bytes, n_bytes);
}

/* A new slot takes n_mappings mappings. Where the n-th of them fails, for every n, nothing of it is left, and the thread
 * is counted as missed. */
static void nothing_is_left(enum settings_measure measure, unsigned n_mappings)
{
    session.settings.measure = measure;
    for (fail_at = 1; fail_at <= n_mappings; fail_at++) {
        uint64_t missed = header.n_threads_missed;
        const struct thread *before = thread_slots();
        n_asked = 0;
        n_mapped = 0;
        assert_null(thread_reserve());
        assert_int_equal(n_mapped, 0);
        assert_int_equal(header.n_threads_missed, missed + 1);
        assert_ptr_equal(thread_slots(), before);
    }
    fail_at = 0;
    n_asked = 0;
    assert_non_null(thread_reserve()); /* kept, so that the next one is new again */
    assert_int_equal(n_asked, n_mappings);
    __atomic_sub_fetch(&thread_counts.n_reserved, 1, __ATOMIC_RELAXED);
}

static void cpu_without_memory(void **state)
{
    (void)state;
    nothing_is_left(SETTINGS_CPU, 1);
}

static void wall_without_memory(void **state)
{
    (void)state;
    nothing_is_left(SETTINGS_WALL, 2);
}

static void slots_come_back(void **state)
{
    (void)state;
    session.settings.measure = SETTINGS_CPU;
    struct thread *first = thread_reserve(), *second = thread_reserve();
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(thread_counts.n_reserved, 2);
    assert_int_equal(first->state, THREAD_RESERVED);
    assert_int_not_equal(first->stream.id, second->stream.id);
    thread_unreserve(first);
    assert_int_equal(first->state, THREAD_FREE);
    assert_int_equal(thread_counts.n_reserved, 1);
    n_asked = 0;
    assert_ptr_equal(thread_reserve(), first);
    assert_int_equal(n_asked, 0);
    thread_unreserve(first);
    thread_unreserve(second);
}

static void one_holds(void **state)
{
    (void)state;
    struct thread *thread = thread_reserve();
    assert_non_null(thread);
    assert_false(thread_hold(thread)); /* not yet begun */
    thread->tid = 4711;
    thread_go_live(thread);
    assert_int_equal(thread_counts.n_known, 1);
    assert_int_equal(thread_counts.n_reserved, 0);
    assert_true(thread_hold(thread));
    thread_release(thread);
    assert_true(thread_claim(thread, THREAD_ENDING));
    assert_false(thread_hold(thread));
    thread_give_back(thread, 1);
    assert_int_equal(thread->state, THREAD_FREE);
    assert_int_equal(thread_counts.n_known, 0);
}

int main(void)
{
    session.recording.header = &header;
    session.settings.max_nodes = 1u << 20;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_without_memory),
        cmocka_unit_test(wall_without_memory),
        cmocka_unit_test(slots_come_back),
        cmocka_unit_test(one_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
