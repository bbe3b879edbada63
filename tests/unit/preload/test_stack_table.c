/* test_stack_table.c - the promises of stack_table.h. */
#include "record/stack_table.h"
#include "sys/os.h"
#include "unit.h"

/* The mapping with number `refused` (from 1) fails. */
static unsigned n_mapped, refused;

void *__real_os_map(size_t n_bytes);
void *__wrap_os_map(size_t n_bytes);
void *__wrap_os_map(size_t n_bytes)
{
    return ++n_mapped == refused ? NULL : __real_os_map(n_bytes);
}

static uint32_t add(struct stack_table *table, uint32_t parent, uint32_t place, uint64_t offset)
{
    assert_int_equal(stack_table_find(table, parent, place, offset), 0);
    assert_true(stack_table_reserve(table));
    return stack_table_add(table, parent, place, offset);
}

static void nodes_are_numbered_and_found(void **state)
{
    (void)state;
    struct stack_table table;
    stack_table_init(&table, 100);
    assert_int_equal(add(&table, 0, 2, 0x1000), 1);
    assert_int_equal(add(&table, 1, 2, 0x1000), 2); /* another parent */
    assert_int_equal(add(&table, 0, 3, 0x1000), 3); /* exact          */
    assert_int_equal(add(&table, 0, 4, 0x1000), 4); /* another module */
    assert_int_equal(add(&table, 0, 2, 0x1001), 5); /* another place  */
    assert_int_equal(add(&table, 0, 2, UINT64_MAX), 6);
    assert_int_equal(add(&table, 0, STACK_PLACE_CUT, 3), 7);
    assert_int_equal(stack_table_find(&table, 0, 2, 0x1000), 1);
    assert_int_equal(stack_table_find(&table, 1, 2, 0x1000), 2);
    assert_int_equal(stack_table_find(&table, 0, STACK_PLACE_CUT, 3), 7);
    stack_table_deinit(&table);
}

/* Across many splits of buckets and several segments: every node is found, and by its own number.
 */
static void growing_loses_nothing(void **state)
{
    (void)state;
    enum { N = 70000 };
    struct stack_table table;
    stack_table_init(&table, N);
    for (uint32_t i = 1; i <= N; i++)
        assert_int_equal(add(&table, i / 3, i % 7 << 1, (uint64_t)i * 16), i);
    for (uint32_t i = 1; i <= N; i++)
        assert_int_equal(stack_table_find(&table, i / 3, i % 7 << 1, (uint64_t)i * 16), i);
    assert_int_equal(stack_table_find(&table, 1, 0, 1), 0);
    stack_table_deinit(&table);
}

/* A full table goes on counting. What comes again is new, whether its parent is still known or not,
 * and across many rounds every node is found by the number it was given last. */
static void full_forgets(void **state)
{
    (void)state;
    enum { MAX = 5000, N_ROUNDS = 4 };
    struct stack_table table;
    stack_table_init(&table, MAX);
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        uint32_t first = round * MAX + 1;
        for (uint32_t i = 0; i < MAX; i++)
            assert_int_equal(add(&table, first - 1, i % 5 << 1, (uint64_t)i * 16), first + i);
        for (uint32_t i = 0; i < MAX; i++)
            assert_int_equal(stack_table_find(&table, first - 1, i % 5 << 1, (uint64_t)i * 16),
                             first + i);
    }
    assert_int_equal(stack_table_find(&table, 0, 0, 0), 0);
    assert_true(stack_table_reserve(&table));
    assert_int_equal(stack_table_find(&table, (N_ROUNDS - 1) * MAX, 0, 0), 0);
    stack_table_deinit(&table);
}

static void no_number_is_given_twice(void **state)
{
    (void)state;
    struct stack_table table;
    stack_table_init(&table, 20);
    table.last_number = 50;
    for (uint32_t i = 1; i <= 50; i++)
        assert_int_equal(add(&table, 0, 0, i), i);
    assert_false(stack_table_reserve(&table));
    assert_int_equal(stack_table_find(&table, 0, 0, 50), 50);
    table.last_number++; /* for the root of a stack that is cut */
    assert_int_equal(add(&table, 0, STACK_PLACE_CUT, 5), 51);
    stack_table_deinit(&table);
}

/* The first node takes two mappings. Without the one or the other there is no number for it; with memory again
 * there is. */
static void first_without_memory(void **state)
{
    (void)state;
    for (refused = 1; refused <= 2; refused++) {
        struct stack_table table;
        n_mapped = 0;
        stack_table_init(&table, 100);
        assert_int_equal(n_mapped, 0);
        assert_int_equal(stack_table_find(&table, 0, 2, 0x1000), 0);
        assert_false(stack_table_reserve(&table));
        assert_int_equal(stack_table_find(&table, 0, 2, 0x1000), 0);
        assert_int_equal(add(&table, 0, 2, 0x1000), 1);
        assert_int_equal(stack_table_find(&table, 0, 2, 0x1000), 1);
        stack_table_deinit(&table);
    }
    refused = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_numbered_and_found),
        cmocka_unit_test(growing_loses_nothing),
        cmocka_unit_test(full_forgets),
        cmocka_unit_test(no_number_is_given_twice),
        cmocka_unit_test(first_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
