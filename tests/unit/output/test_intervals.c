/* test_intervals.c - what side_by_side.h says of chance, read back; and of files that say it wrongly, or not at all. */
#include <math.h>
#include <string.h>

#include "alloc_fault.h"
#include "compare/intervals.h"
#include "compare/side_by_side.h"
#include "profile_help.h"
#include "unit.h"

/* Of two kinds, with that metadata. */
static struct profile *profile_make(const char *changes, bool is_of_two)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    scalars->kinds[0].name = profile_add_cstring(builder, is_of_two ? "before" : "cpu");
    scalars->kinds[1] =
        (struct profile_kind){profile_add_cstring(builder, "after"), PROFILE_UNIT_NS};
    profile_add_metadata(builder, "command", "app", 3);
    if (changes != NULL)
        profile_add_metadata(builder, "changes", changes, strlen(changes));
    return builder_finish(builder);
}

#define KNOWN "{\"schema\":\"sampler-changes-1\","

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct profile *profile = profile_make(
        KNOWN "\"before\":[\"x/a.sprofile\",\"b\"],\"after\":[\"c\"],\"measure\":\"wall\","
              "\"is_normalized\":true,\"whole\":12,\"stacks\":[5,null,7],\"total\":[1],"
              "\"self\":[2]}",
        true);
    struct intervals intervals;
    assert_true(profile_is_side_by_side(profile));
    assert_true(intervals_init(&intervals, profile));
    assert_true(intervals.whole == 12);
    assert_true(isinf(intervals_of_stack(&intervals, 0)));
    assert_true(intervals_of_stack(&intervals, 1) == 5);
    assert_true(isinf(intervals_of_stack(&intervals, 2)));
    assert_true(intervals_of_stack(&intervals, 3) == 7);
    assert_true(isinf(intervals_of_stack(&intervals, 4)));
    assert_true(text_is(chars_text(&intervals.before), "a.sprofile, b"));
    assert_true(text_is(chars_text(&intervals.after), "c"));
    assert_true(text_is(chars_text(&intervals.measure), "wall"));
    intervals_deinit(&intervals);
    profile_destroy(profile);
}

static void all_else_is_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *changes;
        bool is_of_two;
    } cases[] = {
        {NULL, true},
        {"", true},
        {KNOWN "\"whole\":12,\"stacks\":[5]}", false},
        {KNOWN "\"whole\":12,\"stacks\":[5", true},
        {"{\"schema\":\"sampler-changes-2\",\"whole\":12,\"stacks\":[5]}", true},
        {KNOWN "\"other\":{\"whole\":12,\"stacks\":[5],\"measure\":\"m\"}}", true},
        {KNOWN "\"whole\":\"12\",\"stacks\":true}", true},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile *profile = profile_make(cases[i].changes, cases[i].is_of_two);
        struct intervals intervals;
        assert_true(intervals_init(&intervals, profile));
        assert_true(isinf(intervals.whole));
        assert_true(isinf(intervals_of_stack(&intervals, 1)));
        assert_int_equal(intervals.measure.n, 0);
        intervals_deinit(&intervals);
        profile_destroy(profile);
    }
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct profile *profile = profile_make(
        KNOWN "\"before\":[\"a\"],\"after\":[\"b\"],\"measure\":\"cpu\",\"stacks\":[5]}", true);
    unsigned n_failed = 0;
    bool fired = true;
    for (unsigned n = 1; fired; n++) {
        struct intervals intervals;
        alloc_fault_arm(n);
        bool ok = intervals_init(&intervals, profile);
        fired = alloc_fault_fired();
        assert_true(ok || fired);
        n_failed += !ok;
        intervals_deinit(&intervals);
    }
    assert_true(n_failed >= 4);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(all_else_is_unknown),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
