/* test_base_tables.c - the promises of base/vector.h, base/map.h and base/text.h. */
#include <stdlib.h>

#include "alloc_fault.h"
#include "map.h"
#include "text.h"
#include "unit.h"
#include "vector.h"

struct point {
    uint64_t x;
    char name;
};

VECTOR_DEFINE(points, struct point)

static void vector_keeps_what_was_pushed(void **state)
{
    (void)state;
    struct points points = {0};
    for (unsigned i = 0; i < 1000; i++)
        assert_true(points_push(&points, (struct point){.x = i, .name = (char)('a' + i % 26)}));
    assert_int_equal(points.n, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(points.items[i].x, i);
        assert_int_equal(points.items[i].name, 'a' + i % 26);
    }
    assert_false(points.no_memory);
    points_deinit(&points);
    assert_true(points.items == NULL && points.n == 0 && points.n_reserved == 0);
    points_deinit(&points); /* an empty one, too */
}

static void vector_with_room_cannot_fail(void **state)
{
    (void)state;
    struct points points = {0};
    assert_true(points_reserve(&points, 100));
    alloc_fault_arm(1);
    for (unsigned i = 0; i < 100; i++)
        assert_true(points_push(&points, (struct point){.x = i}));
    assert_false(alloc_fault_fired());
    points_deinit(&points);
}

static void vector_failure_is_sticky(void **state)
{
    (void)state;
    struct points points = {0};
    while (points.n < 16)
        points_push(&points, (struct point){.x = points.n});
    alloc_fault_arm(1);
    assert_false(points_push(&points, (struct point){.x = 77}));
    assert_true(alloc_fault_fired());
    assert_true(points.no_memory);
    assert_int_equal(points.n, 16);
    assert_int_equal(points.items[15].x, 15);
    assert_true(points_push(&points, (struct point){.x = 16})); /* room again, but one is missing */
    assert_int_equal(points.items[16].x, 16);
    assert_true(points.no_memory);
    points_deinit(&points);
}

static void vector_is_extended_by_zeros(void **state)
{
    (void)state;
    struct ids ids = {0};
    assert_true(ids_push(&ids, 7));
    assert_true(ids_extend(&ids, 100));
    assert_int_equal(ids.n, 100);
    assert_int_equal(ids.items[0], 7);
    for (size_t i = 1; i < ids.n; i++)
        assert_int_equal(ids.items[i], 0);
    ids.items[50] = 50;
    ids.n = 10;
    assert_true(ids_extend(&ids, 5)); /* never fewer */
    assert_int_equal(ids.n, 10);
    assert_true(ids_extend(&ids, 51));
    assert_int_equal(ids.items[50], 0);
    assert_false(ids_extend(&ids, SIZE_MAX));
    assert_int_equal(ids.n, 51);
    assert_true(ids.no_memory);
    ids_deinit(&ids);
}

static void vector_refuses_more_than_memory_has(void **state)
{
    (void)state;
    struct points points = {0};
    assert_false(points_reserve(&points, SIZE_MAX));
    assert_false(points_reserve(&points, SIZE_MAX / sizeof(struct point) + 1));
    assert_true(points.no_memory);
    points_push(&points, (struct point){.x = 1});
    assert_false(points_reserve(&points, SIZE_MAX)); /* the sum overflows */
    points_deinit(&points);
}

static void bytes_are_appended(void **state)
{
    (void)state;
    struct chars chars = {0};
    assert_true(chars_append(&chars, "", 0));
    assert_true(chars_append(&chars, "abc", 3));
    assert_true(chars_append(&chars, "0123456789012345678901234567890123456789", 40));
    assert_int_equal(chars.n, 43);
    assert_memory_equal(chars.items, "abc0123", 7);
    alloc_fault_arm(1);
    assert_false(chars_append(&chars, "0123456789012345678901234567890123456789", 40));
    assert_true(alloc_fault_fired());
    assert_true(chars.no_memory);
    assert_int_equal(chars.n, 43);
    chars_deinit(&chars);
}

static void map_finds_what_was_set(void **state)
{
    (void)state;
    struct map map = {0};
    assert_int_equal(map_find(&map, 1, 2), MAP_NONE);
    for (uint32_t i = 0; i < 5000; i++)
        assert_true(map_set(&map, i / 7, (uint64_t)i << 40 | (i % 7), i));
    assert_int_equal(map.n, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(map_find(&map, i / 7, (uint64_t)i << 40 | (i % 7)), i);
    assert_int_equal(map_find(&map, 5000, 0), MAP_NONE);
    assert_true(map_set(&map, 0, 0, 99));
    assert_int_equal(map_find(&map, 0, 0), 99);
    assert_int_equal(map.n, 5000);
    map_deinit(&map);
    assert_int_equal(map_find(&map, 1, 1), MAP_NONE);
}

static void map_tells_old_keys_from_new(void **state)
{
    (void)state;
    struct map map = {0};
    assert_int_equal(map_add(&map, 3, 0, 0), 0);
    assert_int_equal(map_add(&map, 4, 0, 1), 1);
    assert_int_equal(map_add(&map, 3, 0, 2), 0);
    assert_int_equal(map_add(&map, 0, 3, 2), 2); /* the two words are not one */
    assert_int_equal(map.n, 3);
    map_deinit(&map);
}

static void map_failure_is_sticky(void **state)
{
    (void)state;
    struct map map = {0};
    alloc_fault_arm(1);
    assert_int_equal(map_add(&map, 1, 0, 0), MAP_NONE);
    assert_true(alloc_fault_fired());
    assert_true(map.no_memory);
    assert_int_equal(map_add(&map, 1, 0, 0), 0);
    for (uint32_t i = 0; i < 24; i++)
        assert_true(map_set(&map, i, 0, i));
    alloc_fault_arm(1);
    assert_false(map_set(&map, 24, 0, 24));
    assert_true(alloc_fault_fired());
    for (uint32_t i = 0; i < 24; i++)
        assert_int_equal(map_find(&map, i, 0), i);
    assert_int_equal(map_find(&map, 24, 0), MAP_NONE);
    assert_true(map.no_memory);
    map_deinit(&map);
}

/* The place a key had in the map of the NYTProf reader when that had no seed. */
static uint64_t unseeded_hash(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 32) ^ b) * 0xbf58476d1ce4e5b9U;
    return hash ^ (hash >> 29);
}

#define N_HOSTILE 1024U

/* How many slots without a gap are taken, at most: what a search may have to look at. */
static size_t longest_run(const struct map *map)
{
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < 2 * map->n_slots; i++) { /* twice, as runs go round */
        run = map->slots[i % map->n_slots].value_plus_one != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* File and line numbers such as a file may hold, chosen so that all fall on one slot of a map without a seed; about
 * three million tries find them. */
static void map_scatters_chosen_keys(void **state)
{
    (void)state;
    struct map map = {0};
    uint32_t n = 0;
    for (uint64_t line = 1; n < N_HOSTILE; line++) {
        if ((unseeded_hash(7, line) & (4 * N_HOSTILE - 1)) == 0)
            assert_true(map_set(&map, 7, line, n++));
    }
    assert_true(map.n_slots <= 4 * N_HOSTILE);
    assert_true(longest_run(&map) < N_HOSTILE / 8);
    map_deinit(&map);
}

/* An empty map with the seed that another process could have drawn. */
static struct map map_of_process(uint64_t process)
{
    struct map map = {0};
    assert_true(map_set(&map, 0, 0, 0));
    memset(map.slots, 0, map.n_slots * sizeof *map.slots);
    map.n = 0;
    for (size_t i = 0; i < 2; i++)
        map.seed[i] = unseeded_hash(process, i + 1) | 1;
    return map;
}

/* Rows of numbers, and numbers that differ in their high bits only, are what honest files have. The seed of this
 * process is one of many: every one has to do. */
static void map_scatters_rows_of_numbers(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 100 * 8; n++) {
        unsigned shift = n % 8 * 8;
        struct map by_a = map_of_process(n / 8);
        struct map by_b = map_of_process(n / 8);
        for (uint32_t i = 0; i < (shift == 56 ? 256 : N_HOSTILE); i++) {
            assert_true(map_set(&by_a, (uint64_t)i << shift, 0, i));
            assert_true(map_set(&by_b, 1, (uint64_t)i << shift, i));
        }
        assert_true(longest_run(&by_a) < N_HOSTILE / 8);
        assert_true(longest_run(&by_b) < N_HOSTILE / 8);
        map_deinit(&by_a);
        map_deinit(&by_b);
    }
}

static void texts_are_compared(void **state)
{
    (void)state;
    const struct text with_nul = {.bytes = "a\0b", .length = 3};
    assert_true(text_equal(with_nul, (struct text){.bytes = "a\0b", .length = 3}));
    assert_false(text_equal(with_nul, text_make("a")));
    assert_true(text_is(text_make("main"), "main"));
    assert_false(text_is(text_make("main2"), "main"));
    assert_true(text_starts(text_make("main.c"), "main") && !text_starts(text_make("mai"), "main"));
    assert_true(text_ends(text_make("main.c"), ".c") && !text_ends(text_make("c"), ".c"));
    assert_true(text_compare(text_make("ab"), text_make("abc")) < 0);
    assert_true(text_compare(text_make("b"), text_make("abc")) > 0);
    assert_int_equal(text_compare(text_make("b"), text_make("b")), 0);
    assert_true(text_is(text_base_name(text_make("/usr/lib/libc.so.6")), "libc.so.6"));
    assert_true(text_is(text_base_name(text_make("libc.so.6")), "libc.so.6"));
    assert_true(text_is(text_base_name(text_make("/usr/")), ""));
    assert_true(text_is(text_from(text_make("abc"), 3), ""));
}

static void characters_are_of_ascii(void **state)
{
    (void)state;
    assert_true(char_is_digit('0') && char_is_digit('9') && !char_is_digit('/') &&
                !char_is_digit(':'));
    assert_true(char_is_letter('a') && char_is_letter('Z') && !char_is_letter('@') &&
                !char_is_letter((char)0xe4));
    assert_true(char_is_control('\n') && char_is_control(0x7f) && !char_is_control(' ') &&
                !char_is_control((char)0x80));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_keeps_what_was_pushed),
        cmocka_unit_test(vector_with_room_cannot_fail),
        cmocka_unit_test(vector_failure_is_sticky),
        cmocka_unit_test(vector_is_extended_by_zeros),
        cmocka_unit_test(vector_refuses_more_than_memory_has),
        cmocka_unit_test(bytes_are_appended),
        cmocka_unit_test(map_finds_what_was_set),
        cmocka_unit_test(map_tells_old_keys_from_new),
        cmocka_unit_test(map_failure_is_sticky),
        cmocka_unit_test(map_scatters_chosen_keys),
        cmocka_unit_test(map_scatters_rows_of_numbers),
        cmocka_unit_test(texts_are_compared),
        cmocka_unit_test(characters_are_of_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
