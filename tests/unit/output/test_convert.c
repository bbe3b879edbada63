/* test_convert.c - samples as a time line, as spans, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "model/convert.h"
#include "profile_help.h"
#include "unit.h"

/* With one thread. */
static struct profile_builder *timed_builder(enum profile_unit unit, bool has_times,
                                             uint64_t period)
{
    struct profile_builder *builder = builder_make(unit, period);
    profile_builder_scalars(builder)->has_times = has_times;
    thread_add(builder, "", 1, "", 1);
    return builder;
}

/* "a;b" as a stack; a digit after a name is a line: "a1;b" and "a2;b" differ in frames only. */
static uint32_t stack_of(struct profile_builder *builder, const char *folded)
{
    uint32_t stack = 0;
    for (const char *at = folded; *at != '\0'; at++) {
        if (*at == ';')
            continue;
        const struct profile_function function = {.name = profile_add_text(builder, at, 1)};
        struct profile_frame frame = {.function = profile_add_function(builder, &function)};
        if (at[1] >= '1' && at[1] <= '9')
            frame.line = (uint32_t)(*++at - '0');
        stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
    }
    return stack;
}

static void sample(struct profile_builder *builder, uint32_t thread, const char *folded,
                   uint64_t time_ns, uint64_t value)
{
    const struct profile_sample added = {
        .thread = thread, .stack = stack_of(builder, folded), .time_ns = time_ns};
    profile_add_sample(builder, &added, &value);
}

static const char *name_of(const struct profile *profile, uint32_t frame)
{
    return profile_text(profile, profile->functions[profile->frames[frame].function].name).bytes;
}

/* "thread name begin end parent" for each span, one per line. */
static void expect_spans(const struct profile *profile, const char *expected)
{
    char text[2000] = "";
    for (uint32_t id = 1; id < profile->n_spans; id++) {
        const struct profile_span *span = &profile->spans[id];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%u %s %llu %llu %u\n", span->thread,
                 name_of(profile, span->frame), (unsigned long long)span->begin_ns,
                 (unsigned long long)span->end_ns, span->parent);
        assert_int_equal(profile->frames[span->frame].line, 0);
    }
    assert_string_equal(text, expected);
}

static void expect_spans_of(struct profile *profile, const char *expected)
{
    struct err err = ERR_INIT;
    struct profile *spans = NULL;
    assert_true(profile_samples_to_spans(profile, &spans, &err));
    assert_int_equal(spans->n_samples, 0);
    expect_spans(spans, expected);
    profile_destroy(spans);
    profile_destroy(profile);
}

static void neighbours_share_spans(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_NS, true, 10);
    sample(builder, 1, "a1;b1", 100, 10);
    sample(builder, 1, "a2;b2;c", 112, 10); /* late, but not by more than half a period */
    sample(builder, 1, "a2;d", 130, 20);
    sample(builder, 1, "a1;b", 140, 10); /* not the b of before: d was in between */
    sample(builder, 1, "e", 150, 10);
    sample(builder, 1, "e", 200, 10); /* the thread slept */
    sample(builder, 0, "e", 160, 10); /* another thread */
    expect_spans_of(builder_finish(builder), "0 e 150 160 0\n"
                                             "1 a 90 140 0\n"
                                             "1 b 90 110 2\n"
                                             "1 c 100 110 3\n"
                                             "1 d 110 130 2\n"
                                             "1 b 130 140 2\n"
                                             "1 e 140 150 0\n"
                                             "1 e 190 200 0\n");
}

/* Half a period of lateness is bridged, a nanosecond more is a gap. */
static void half_a_period_is_bridged(void **state)
{
    (void)state;
    for (uint64_t late = 5; late <= 6; late++) {
        struct profile_builder *builder = timed_builder(PROFILE_UNIT_NS, true, 10);
        sample(builder, 1, "a", 10, 10);
        sample(builder, 1, "a", 20 + late, 10);
        expect_spans_of(builder_finish(builder),
                        late == 5 ? "1 a 0 20 0\n" : "1 a 0 10 0\n1 a 16 26 0\n");
    }
}

/* However samples come, bunched or late, the line of each thread is as long as its weights, and
 * bridged lateness does not add up. */
static void sampled_time_is_kept_to_the_unit(void **state)
{
    (void)state;
    enum { N = 2000, PERIOD = 1000 };
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_NS, true, PERIOD);
    thread_add(builder, "", 1, "", 2);
    uint64_t time_ns = 0, chance = 1, sums[3] = {0}, shown[3] = {0};
    for (size_t i = 0; i < N; i++) {
        chance = chance * UINT64_C(6364136223846793005) + 1;
        uint64_t weight = (chance >> 60) % 4 * PERIOD; /* 0: merged into another sample's */
        time_ns += weight + (chance >> 33) % 700;
        sample(builder, 1 + (i >= N / 2), i % 3 == 0 ? "a;b" : "a", time_ns, weight);
        sums[1 + (i >= N / 2)] += weight;
    }
    struct profile *profile = builder_finish(builder);
    struct profile_timeline line = profile_timeline_make(profile);
    struct profile_slice slice;
    uint64_t cursor_ns[3] = {0};
    while (profile_timeline_next(&line, &slice)) {
        const struct profile_sample *sample = &profile->samples[slice.sample];
        assert_true(slice.begin_ns >= cursor_ns[slice.thread]);
        assert_int_equal(slice.end_ns - slice.begin_ns, profile_sample_ns(profile, slice.sample));
        assert_true(slice.end_ns <= sample->time_ns &&
                    sample->time_ns - slice.end_ns <= PERIOD / 2);
        cursor_ns[slice.thread] = slice.end_ns;
        shown[slice.thread] += slice.end_ns - slice.begin_ns;
    }
    assert_memory_equal(shown, sums, sizeof sums);
    profile_destroy(profile);
}

static void one_thread_is_laid_as_among_all(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_NS, true, 10);
    sample(builder, 0, "z", 40, 10);
    sample(builder, 1, "a", 100, 10);
    sample(builder, 1, "b", 110, 10);
    struct profile *profile = builder_finish(builder);
    struct profile_timeline line = profile_timeline_make_thread(profile, 1);
    struct profile_slice slice;
    for (uint64_t i = 0; i < 2; i++) {
        assert_true(profile_timeline_next(&line, &slice));
        assert_int_equal(slice.thread, 1);
        assert_int_equal(slice.begin_ns, 90 + i * 10);
        assert_int_equal(slice.end_ns, 100 + i * 10);
    }
    assert_false(profile_timeline_next(&line, &slice));
    line = profile_timeline_make_thread(profile, UINT32_MAX);
    assert_false(profile_timeline_next(&line, &slice));
    profile_destroy(profile);
}

/* The weight of a late sample tells that the thread ran before it. */
static void missed_ticks_are_no_gap(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_COUNT, true, 10);
    sample(builder, 1, "a", 10, 1);
    sample(builder, 1, "a", 50, 4);
    sample(builder, 1, "a", 76, 1); /* ran the last 10 of 26 */
    expect_spans_of(builder_finish(builder), "1 a 0 50 0\n1 a 66 76 0\n");
}

static void measured_intervals_are_exact(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_NS, true, 0);
    sample(builder, 1, "a", 0, 10);
    sample(builder, 1, "a", 11, 9);
    sample(builder, 1, "b", 15, UINT64_MAX); /* cuts the one before, and overflows nothing */
    expect_spans_of(builder_finish(builder),
                    "1 a 0 10 0\n1 a 11 15 0\n1 b 15 18446744073709551615 0\n");
}

static void without_weights_samples_last_until_the_next(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_BYTES, true, 0);
    profile_builder_scalars(builder)->duration_ns = 50;
    sample(builder, 1, "a", 0, 1);
    sample(builder, 1, "b", 20, 1);
    expect_spans_of(builder_finish(builder), "1 a 0 20 0\n1 b 20 50 0\n");
}

static void without_times_samples_are_laid_end_to_end(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_COUNT, false, 0);
    sample(builder, 0, "a;b", 7, 3);
    sample(builder, 0, "a", 0, 1);
    sample(builder, 1, "c", 0, 2);
    expect_spans_of(builder_finish(builder), "0 a 0 4000000 0\n0 b 0 3000000 1\n1 c 0 2000000 0\n");
}

/* "thread a;b time value" for each sample, one per line. */
static void expect_samples(const struct profile *profile, const char *expected)
{
    char text[2000] = "";
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *at = &profile->samples[i];
        char folded[100] = "";
        for (uint32_t stack = at->stack; stack != 0; stack = profile->stacks[stack].parent) {
            char more[100];
            snprintf(more, sizeof more, "%.2s%s%.80s",
                     name_of(profile, profile->stacks[stack].frame), folded[0] == '\0' ? "" : ";",
                     folded);
            memcpy(folded, more, sizeof more);
        }
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%u %s %llu %llu\n", at->thread, folded,
                 (unsigned long long)at->time_ns, (unsigned long long)profile_value(profile, i, 0));
    }
    assert_string_equal(text, expected);
}

static struct profile *spans_make(void)
{
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_COUNT, true, 7);
    span_add(builder, 1, "a", 0, 100);
    span_add(builder, 1, "b", 10, 30);
    span_add(builder, 1, "c", 30, 40);
    span_add(builder, 1, "d", 35, 60); /* crosses c: the later begun one is the inner */
    span_add(builder, 1, "e", 50, 50);
    span_add(builder, 1, "f", 200, 210);
    span_add(builder, 0, "g", 5, 6);
    return builder_finish(builder);
}

static void self_time_becomes_samples(void **state)
{
    (void)state;
    struct profile *spans = spans_make(), *samples = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_spans_to_samples(spans, &samples, &err));
    assert_int_equal(samples->n_spans, 1);
    assert_int_equal(samples->period, 0);
    assert_int_equal(samples->kinds[0].unit, PROFILE_UNIT_NS);
    expect_samples(samples, "0 g 5 1\n"
                            "1 a 0 10\n"
                            "1 a;b 10 20\n"
                            "1 a;c 30 5\n"
                            "1 a;d 35 15\n"
                            "1 a;d 50 10\n"
                            "1 a 60 40\n"
                            "1 f 200 10\n");
    profile_destroy(samples);
    profile_destroy(spans);
}

/* Spans that nest and last: there and back again is the same. */
static void spans_survive_the_round_trip(void **state)
{
    (void)state;
    struct profile_builder *builder = timed_builder(PROFILE_UNIT_COUNT, true, 7);
    span_add(builder, 1, "a", 0, 100);
    span_add(builder, 1, "b", 0, 100);
    span_add(builder, 1, "c", 30, 40);
    span_add(builder, 1, "c", 50, 60);
    span_add(builder, 1, "a", 101, 110);
    struct profile *first = builder_finish(builder), *samples = NULL, *again = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_spans_to_samples(first, &samples, &err));
    assert_true(profile_samples_to_spans(samples, &again, &err));
    assert_int_equal(first->n_spans, again->n_spans);
    for (uint32_t id = 1; id < first->n_spans; id++) {
        assert_int_equal(first->spans[id].begin_ns, again->spans[id].begin_ns);
        assert_int_equal(first->spans[id].end_ns, again->spans[id].end_ns);
        assert_int_equal(first->spans[id].parent, again->spans[id].parent);
        assert_string_equal(name_of(first, first->spans[id].frame),
                            name_of(again, again->spans[id].frame));
    }
    profile_destroy(first);
    profile_destroy(samples);
    profile_destroy(again);
}

static bool convert_both_ways(const struct profile *spans, struct err *err)
{
    struct profile *samples = NULL, *again = NULL;
    bool ok = profile_spans_to_samples(spans, &samples, err) &&
              profile_samples_to_spans(samples, &again, err);
    profile_destroy(samples);
    profile_destroy(again);
    return ok;
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct profile *spans = spans_make();
    unsigned n = 1;
    for (;; n++) {
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = convert_both_ways(spans, &err);
        if (!alloc_fault_fired())
            break;
        if (!ok)
            assert_int_equal(err.code, ERR_MEMORY);
    }
    assert_true(n > 50);
    profile_destroy(spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_share_spans),
        cmocka_unit_test(half_a_period_is_bridged),
        cmocka_unit_test(sampled_time_is_kept_to_the_unit),
        cmocka_unit_test(one_thread_is_laid_as_among_all),
        cmocka_unit_test(missed_ticks_are_no_gap),
        cmocka_unit_test(measured_intervals_are_exact),
        cmocka_unit_test(without_weights_samples_last_until_the_next),
        cmocka_unit_test(without_times_samples_are_laid_end_to_end),
        cmocka_unit_test(self_time_becomes_samples),
        cmocka_unit_test(spans_survive_the_round_trip),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
