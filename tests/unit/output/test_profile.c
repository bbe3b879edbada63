/* test_profile.c - the promises of profile.h: ids, orders, containment, sticky failure. */
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "model/profile.h"
#include "profile_help.h"
#include "unit.h"

static struct profile_builder *timed_builder(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    profile_builder_scalars(builder)->has_times = true;
    return builder;
}

static void empty_profile_has_the_none_entries(void **state)
{
    (void)state;
    struct profile *profile = builder_finish(timed_builder());
    assert_int_equal(profile->n_modules, 1);
    assert_int_equal(profile->n_functions, 1);
    assert_int_equal(profile->n_frames, 1);
    assert_int_equal(profile->n_stacks, 1);
    assert_int_equal(profile->n_processes, 1);
    assert_int_equal(profile->n_threads, 1);
    assert_int_equal(profile->n_spans, 1);
    assert_int_equal(profile->n_samples, 0);
    assert_int_equal(profile->frames[0].function, 0);
    assert_int_equal(profile->functions[0].name, 0);
    assert_int_equal(profile->stacks[0].frame, 0);
    assert_int_equal(profile->threads[0].tid, 0);
    assert_int_equal(profile_text(profile, 0).length, 0);
    profile_destroy(profile);
    profile_destroy(NULL);
    profile_builder_destroy(NULL);
}

static void equal_rows_get_equal_ids(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    uint32_t stacks[3000];
    for (int round = 0; round < 2; round++) {
        uint32_t parent = 0;
        for (uint32_t i = 0; i < 3000; i++) {
            char name[16];
            int n = snprintf(name, sizeof name, "f%u", i % 1000);
            uint32_t frame = profile_add_named_frame(builder, name, (size_t)n);
            assert_int_equal(frame, i % 1000 + 1);
            uint32_t stack = profile_add_stack(builder, parent, frame);
            assert_true(stack > parent);
            if (round == 0)
                stacks[i] = stack;
            assert_int_equal(stack, stacks[i]);
            parent = stack;
        }
    }
    const struct profile_module module = {.path = profile_add_cstring(builder, "/lib/a.so")};
    assert_int_equal(profile_add_module(builder, &module), 1);
    assert_int_equal(profile_add_module(builder, &module), 1);
    struct profile *profile = builder_finish(builder);
    assert_int_equal(profile->n_functions, 1001);
    assert_int_equal(profile->n_frames, 1001);
    assert_int_equal(profile->n_stacks, 3001);
    for (uint32_t id = 1; id < profile->n_stacks; id++)
        assert_true(profile->stacks[id].parent < id);
    profile_destroy(profile);
}

/* An empty name is a real frame, and a stack of it is not the empty stack. */
static void all_zero_rows_are_not_the_none_entry(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    uint32_t frame = profile_add_named_frame(builder, "", 0);
    assert_int_equal(frame, 1);
    assert_int_equal(profile_add_named_frame(builder, "", 0), 1);
    assert_int_equal(profile_add_stack(builder, 0, frame), 1);
    assert_int_equal(profile_add_stack(builder, 0, 0), 2);
    profile_destroy(builder_finish(builder));
}

static void value_add(struct profile_builder *builder, uint32_t thread, uint64_t time_ns,
                      uint64_t value)
{
    const struct profile_sample sample = {.thread = thread, .time_ns = time_ns};
    profile_add_sample(builder, &sample, &value);
}

static void samples_are_in_order_and_ties_stay(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    const struct profile_thread thread = {.tid = 1};
    for (int i = 0; i < 3; i++)
        profile_add_thread(builder, &thread);
    unsigned random = 1;
    for (uint32_t i = 0; i < 5000; i++) {
        random = random * 1103515245 + 12345;
        uint64_t time_ns = (random >> 16) % 50 == 0 ? UINT64_MAX - 1 : (random >> 20) % 300;
        value_add(builder, (random >> 16) % 4, time_ns, i);
    }
    struct profile *profile = builder_finish(builder);
    assert_int_equal(profile->n_samples, 5000);
    uint64_t sum = profile_value(profile, 0, 0);
    for (size_t i = 1; i < profile->n_samples; i++) {
        const struct profile_sample *a = &profile->samples[i - 1], *b = a + 1;
        assert_true(a->thread <= b->thread);
        if (a->thread == b->thread) {
            assert_true(a->time_ns <= b->time_ns);
            if (a->time_ns == b->time_ns)
                assert_true(profile_value(profile, i - 1, 0) < profile_value(profile, i, 0));
        }
        sum += profile_value(profile, i, 0);
    }
    assert_int_equal(sum, 4999 * 5000 / 2);
    profile_destroy(profile);
}

/* Threads taking turns, each in time order: gathered without sorting by time. */
static void interleaved_threads_are_gathered(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    const struct profile_thread thread = {.tid = 1};
    profile_add_thread(builder, &thread);
    for (uint64_t i = 0; i < 1000; i++) {
        const struct profile_sample sample = {.thread = (uint32_t)(i % 2), .time_ns = i};
        const uint64_t values[2] = {i, i * 2};
        profile_add_sample(builder, &sample, values);
    }
    struct profile *profile = builder_finish(builder);
    for (size_t i = 0; i < 1000; i++) {
        uint64_t expected = i < 500 ? i * 2 : (i - 500) * 2 + 1;
        assert_int_equal(profile->samples[i].time_ns, expected);
        assert_int_equal(profile_value(profile, i, 0), expected);
        assert_int_equal(profile_value(profile, i, 1), expected * 2);
    }
    profile_destroy(profile);
}

/* Numbers are kept as narrow as they are: none, 32 bits, 64 bits, whatever comes when. */
static void values_of_any_width_survive(void **state)
{
    (void)state;
    static const struct {
        uint64_t values[5];
        unsigned number_bytes;
    } cases[] = {
        {{7, 7, 7, 7, 7}, 0},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, 0},
        {{0, 0, 1, PROFILE_LARGE_VALUE - 1, 0}, 4},
        {{1, 2, UINT32_MAX, UINT32_MAX + 1ull, PROFILE_LARGE_VALUE}, 4},
        {{5, 5, UINT64_MAX, 5, 6}, 4},
        {{UINT64_MAX, 1, 2, UINT64_MAX, 4}, 4},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct profile_builder *builder = timed_builder();
        for (uint32_t i = 0; i < 5; i++)
            value_add(builder, 0, 5 - i, cases[c].values[i]); /* sorted back to front */
        struct profile *profile = builder_finish(builder);
        assert_int_equal(profile->columns[0].number_bytes, cases[c].number_bytes);
        for (uint32_t i = 0; i < 5; i++)
            assert_true(profile_value(profile, 4 - i, 0) == cases[c].values[i]);
        profile_destroy(profile);
    }
}

/* A few large numbers have a place of their own; when they are many, all get 64 bits. */
static void many_large_values_survive(void **state)
{
    (void)state;
    for (uint32_t every = 1; every <= 16; every *= 4) {
        struct profile_builder *builder = timed_builder();
        for (uint64_t i = 0; i < 20000; i++)
            value_add(builder, 0, i, i % every == 0 ? i << 40 : i);
        struct profile *profile = builder_finish(builder);
        assert_int_equal(profile->columns[0].number_bytes, every < 8 ? 8 : 4);
        for (uint64_t i = 0; i < 20000; i++)
            assert_true(profile_value(profile, i, 0) == (i % every == 0 ? i << 40 : i));
        profile_destroy(profile);
    }
}

static void frame_span_add(struct profile_builder *builder, uint32_t thread, uint64_t begin_ns,
                           uint64_t end_ns, uint32_t frame)
{
    const struct profile_span span = {
        .thread = thread, .begin_ns = begin_ns, .end_ns = end_ns, .frame = frame, .parent = 77};
    profile_add_span(builder, &span);
}

static void spans_find_their_parents(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    const struct profile_thread thread = {.tid = 1};
    profile_add_thread(builder, &thread);
    uint32_t frames[8];
    for (int i = 0; i < 8; i++)
        frames[i] = profile_add_named_frame(builder, &"abcdefgh"[i], 1);
    frame_span_add(builder, 1, 30, 33, frames[2]); /* shorter than the next, added before it */
    frame_span_add(builder, 1, 30, 40, frames[3]);
    frame_span_add(builder, 1, 10, 90, frames[1]); /* equal to the next: the earlier is the outer */
    frame_span_add(builder, 1, 10, 90, frames[2]);
    frame_span_add(builder, 1, 0, UINT64_MAX, frames[0]);
    frame_span_add(builder, 1, 35, 60, frames[4]); /* crosses the end of 30..40: not its child */
    frame_span_add(builder, 1, 36, 38, frames[5]);
    frame_span_add(builder, 1, 90, 90, frames[6]); /* nothing long, at the end of its parent */
    frame_span_add(builder, 0, 5, 6, frames[7]);
    const struct profile_instant instants[] = {
        {.thread = 1, .time_ns = 37, .span = 99},
        {.thread = 1, .time_ns = 70},
        {.thread = 0, .time_ns = 4},
        {.thread = 0, .time_ns = 5},
        {.thread = 0, .time_ns = 7},
    };
    for (size_t i = 0; i < N_ELEMENTS(instants); i++)
        profile_add_instant(builder, &instants[i]);
    struct profile *profile = builder_finish(builder);
    const struct {
        uint32_t frame, parent;
    } expected[] = {{7, 0}, {0, 0}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {4, 4}, {5, 7}, {6, 4}};
    assert_int_equal(profile->n_spans, 10);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(profile->spans[i + 1].frame, frames[expected[i].frame]);
        assert_int_equal(profile->spans[i + 1].parent, expected[i].parent);
    }
    const uint32_t in[] = {8, 4, 0, 1, 0};
    for (size_t i = 0; i < N_ELEMENTS(in); i++)
        assert_int_equal(profile->instants[i].span, in[i]);
    profile_destroy(profile);
}

/* 200 000 spans one in the other: neither recursion nor quadratic time. */
static void deep_spans_are_no_problem(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    const uint64_t n = 200000;
    for (uint64_t i = n; i > 0; i--)
        frame_span_add(builder, 0, i, 2 * n - i, 0);
    struct profile *profile = builder_finish(builder);
    for (uint32_t id = 1; id < profile->n_spans; id++)
        assert_int_equal(profile->spans[id].parent, id - 1);
    profile_destroy(profile);
}

static void instant_add(struct profile_builder *builder, uint32_t thread, uint64_t time_ns)
{
    const struct profile_instant instant = {.thread = thread, .time_ns = time_ns};
    profile_add_instant(builder, &instant);
}

/* A deep chain, then as many instants behind it (and as many within): looking from the innermost
 * span outwards for each would take minutes. */
static void instants_behind_deep_spans_are_no_problem(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    const uint64_t n = 200000;
    for (uint64_t i = 0; i < n; i++)
        frame_span_add(builder, 0, i, 2 * n - i, 0);
    for (uint64_t i = 0; i < n; i++) {
        instant_add(builder, 0, 2 * n - i); /* in no order: the last first */
        instant_add(builder, 0, 3 * n + i);
    }
    struct profile *profile = builder_finish(builder);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(profile->instants[2 * i].span, i + 1);
        assert_int_equal(profile->instants[2 * i + 1].span, 0);
    }
    profile_destroy(profile);
}

/* Of the spans begun before an instant, the last one or the nearest of its parents that reaches it.
 */
static uint32_t span_around(const struct profile *profile, const struct profile_instant *instant)
{
    uint32_t span = 0;
    for (uint32_t id = 1; id < profile->n_spans; id++) {
        if (profile->spans[id].thread == instant->thread &&
            profile->spans[id].begin_ns <= instant->time_ns)
            span = id;
    }
    while (span != 0 && profile->spans[span].end_ns < instant->time_ns)
        span = profile->spans[span].parent;
    return span;
}

static void instants_find_their_spans(void **state)
{
    (void)state;
    uint64_t chance = 7;
    for (unsigned round = 0; round < 50; round++) {
        struct profile_builder *builder = timed_builder();
        const struct profile_thread second = {.tid = 2};
        (void)profile_add_thread(builder, &second);
        for (unsigned i = 0; i < 60; i++) {
            chance = chance * UINT64_C(6364136223846793005) + 1;
            uint64_t begin_ns = (chance >> 40) % 100;
            uint32_t thread = (chance >> 33) % 2;
            frame_span_add(builder, thread, begin_ns, begin_ns + (chance >> 50) % 40, 0);
            instant_add(builder, 1 - thread, (chance >> 20) % 140);
        }
        struct profile *profile = builder_finish(builder);
        for (size_t i = 0; i < profile->n_instants; i++)
            assert_int_equal(profile->instants[i].span,
                             span_around(profile, &profile->instants[i]));
        profile_destroy(profile);
    }
}

static void samples_need_kinds(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder();
    profile_builder_scalars(builder)->n_kinds = 0;
    value_add(builder, 0, 0, 1);
    assert_int_equal(profile_add_cstring(builder, "x"), 0);
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_false(profile_builder_finish(builder, &profile, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_null(profile);
}

static void wrong_ids_are_refused(void **state)
{
    (void)state;
    for (int what = 0; what < 8; what++) {
        struct profile_builder *builder = timed_builder();
        const struct profile_function function = {.module = 1};
        const struct profile_frame frame = {.function = 1};
        const struct profile_thread thread = {.process = 1};
        const struct profile_instant instant = {.frame = 1};
        const struct profile_off_cpu off_cpu = {.begin_ns = 2, .end_ns = 1};
        if (what == 0)
            profile_add_function(builder, &function);
        else if (what == 1)
            profile_add_frame(builder, &frame);
        else if (what == 2)
            profile_add_stack(builder, 1, 0);
        else if (what == 3)
            profile_add_thread(builder, &thread);
        else if (what == 4)
            value_add(builder, 1, 0, 1);
        else if (what == 5)
            frame_span_add(builder, 0, 2, 1, 0);
        else if (what == 6)
            profile_add_instant(builder, &instant);
        else
            profile_add_off_cpu(builder, &off_cpu);
        struct profile *profile = NULL;
        struct err err = ERR_INIT;
        assert_false(profile_builder_finish(builder, &profile, &err));
        assert_int_equal(err.code, ERR_FORMAT);
    }
}

static bool profile_make(struct err *err)
{
    struct profile_builder *builder = NULL;
    if (!profile_builder_create(&builder, err))
        return false;
    profile_builder_scalars(builder)->n_kinds = 1;
    const struct profile_process process = {.pid = 1};
    struct profile_thread thread = {.tid = 1};
    thread.process = profile_add_process(builder, &process);
    uint32_t threads[2];
    threads[0] = profile_add_thread(builder, &thread);
    threads[1] = profile_add_thread(builder, &thread);
    profile_add_metadata(builder, "command", "x", 1);
    for (uint32_t i = 0; i < 300; i++) {
        char name[16];
        int n = snprintf(name, sizeof name, "f%u", i);
        uint32_t frame = profile_add_named_frame(builder, name, (size_t)n);
        uint32_t stack = profile_add_stack(builder, 0, frame);
        const struct profile_sample sample = {
            .thread = threads[i % 2], .stack = stack, .time_ns = 300 - i};
        const uint64_t value = i;
        profile_add_sample(builder, &sample, &value);
        frame_span_add(builder, threads[i % 2], 300 - i, 300 - i, frame);
        const struct profile_instant instant = {.thread = threads[0], .time_ns = 300 - i};
        profile_add_instant(builder, &instant);
        const struct profile_off_cpu off_cpu = {.thread = threads[0]};
        profile_add_off_cpu(builder, &off_cpu);
        const struct profile_bookmark bookmark = {.time_ns = i};
        profile_add_bookmark(builder, &bookmark);
    }
    struct profile *profile = NULL;
    if (!profile_builder_finish(builder, &profile, err)) {
        assert_null(profile);
        return false;
    }
    assert_int_equal(profile->n_samples, 300);
    assert_int_equal(profile->n_spans, 301);
    profile_destroy(profile);
    return true;
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    unsigned n = 1;
    for (;; n++) {
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = profile_make(&err);
        if (!alloc_fault_fired()) {
            assert_true(ok);
            break;
        }
        /* Giving back reserve may fail unseen; everything else must be told. */
        if (!ok)
            assert_int_equal(err.code, ERR_MEMORY);
    }
    assert_true(n > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_profile_has_the_none_entries),
        cmocka_unit_test(equal_rows_get_equal_ids),
        cmocka_unit_test(all_zero_rows_are_not_the_none_entry),
        cmocka_unit_test(samples_are_in_order_and_ties_stay),
        cmocka_unit_test(interleaved_threads_are_gathered),
        cmocka_unit_test(values_of_any_width_survive),
        cmocka_unit_test(many_large_values_survive),
        cmocka_unit_test(spans_find_their_parents),
        cmocka_unit_test(deep_spans_are_no_problem),
        cmocka_unit_test(instants_behind_deep_spans_are_no_problem),
        cmocka_unit_test(instants_find_their_spans),
        cmocka_unit_test(samples_need_kinds),
        cmocka_unit_test(wrong_ids_are_refused),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
