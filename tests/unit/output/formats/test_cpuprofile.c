/* test_cpuprofile.c - writing: the time axis, the tree, threads; reading back. What reading makes
 * of files is compared with the corpus by compare_cpuprofile.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "unit.h"

#define PERIOD_NS 1000000u

struct fixture {
    struct profile_builder *builder;
    uint32_t threads[2];
};

static struct fixture begin(void)
{
    struct fixture f = {0};
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&f.builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(f.builder);
    scalars->n_kinds = 2;
    scalars->kinds[0] =
        (struct profile_kind){profile_add_cstring(f.builder, "samples"), PROFILE_UNIT_COUNT};
    scalars->kinds[1] =
        (struct profile_kind){profile_add_cstring(f.builder, "cpu"), PROFILE_UNIT_NS};
    scalars->has_times = true;
    scalars->period = PERIOD_NS;
    scalars->start_time_ns = 5000000000;
    scalars->duration_ns = 100 * PERIOD_NS;
    const struct profile_process process = {.pid = 10};
    uint32_t process_id = profile_add_process(f.builder, &process);
    for (uint32_t i = 0; i < 2; i++) {
        const struct profile_thread thread = {.process = process_id, .tid = 10 + i};
        f.threads[i] = profile_add_thread(f.builder, &thread);
    }
    return f;
}

/* A stack from names joined by ';'. */
static uint32_t stack_of(struct fixture *f, const char *names, uint32_t line)
{
    uint32_t stack = 0;
    for (const char *at = names; *at != '\0';) {
        size_t length = strcspn(at, ";");
        const struct profile_function function = {.name = profile_add_text(f->builder, at, length),
                                                  .file =
                                                      profile_add_cstring(f->builder, "/src/a.c"),
                                                  .line = 7};
        const struct profile_frame frame = {.function = profile_add_function(f->builder, &function),
                                            .line = line};
        stack = profile_add_stack(f->builder, stack, profile_add_frame(f->builder, &frame));
        at += length + (at[length] == ';');
    }
    return stack;
}

/* The same, the leaf at a line of another file, which the format has no place for. */
static uint32_t stack_in_other_file(struct fixture *f, const char *names, uint32_t line)
{
    struct profile_frame frame = {.line = line, .file = profile_add_cstring(f->builder, "part.h")};
    const char *leaf = strrchr(names, ';') + 1;
    char callers[100];
    snprintf(callers, sizeof callers, "%.*s", (int)(leaf - 1 - names), names);
    uint32_t stack = stack_of(f, callers, line);
    const struct profile_function function = {.name = profile_add_cstring(f->builder, leaf),
                                              .file = profile_add_cstring(f->builder, "/src/a.c"),
                                              .line = 7};
    frame.function = profile_add_function(f->builder, &function);
    return profile_add_stack(f->builder, stack, profile_add_frame(f->builder, &frame));
}

static void sample(struct fixture *f, uint32_t thread, uint64_t time_ns, uint32_t stack,
                   uint64_t weight_ns)
{
    const uint64_t values[] = {1, weight_ns};
    const struct profile_sample row = {
        .thread = f->threads[thread], .stack = stack, .time_ns = time_ns};
    profile_add_sample(f->builder, &row, values);
}

static struct profile *finish(struct fixture *f)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    assert_true(profile_builder_finish(f->builder, &profile, &err));
    return profile;
}

static char *write_text(const struct profile *profile, const struct format *format, uint32_t thread)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    const struct format_options options = {.thread = thread};
    assert_true(sink_create_buffer(&sink, &err));
    assert_true(format->write(profile, &options, NULL, sink, &err));
    size_t n;
    const void *bytes = sink_buffer(sink, &n);
    char *text = strndup(bytes, n);
    assert_non_null(text);
    sink_abandon(sink);
    return text;
}

static struct profile *read_text(const char *text)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    const struct format_options options = {0};
    if (!format_cpuprofile.read((const uint8_t *)text, strlen(text), &options, NULL, &profile,
                                &err))
        fail_msg("%s", err.text);
    return profile;
}

/* Nanoseconds of samples whose leaf has this name ("" = no frame). */
static uint64_t self_ns(const struct profile *profile, const char *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        uint32_t stack = profile->samples[i].stack;
        uint32_t function = profile->frames[profile->stacks[stack].frame].function;
        if (strcmp(profile_text(profile, profile->functions[function].name).bytes, name) == 0)
            sum += profile_value(profile, i, 1);
    }
    return sum;
}

/* Ticks that come a little early and late, a merged one, a gap: every sample keeps exactly its
 * weight. */
static void weights_survive(void **state)
{
    (void)state;
    struct fixture f = begin();
    uint32_t a = stack_of(&f, "main;a", 11), b = stack_of(&f, "main;b", 12);
    uint64_t time_ns = 3 * PERIOD_NS;
    uint64_t expected_a = 0, expected_b = 0;
    for (unsigned i = 0; i < 30; i++) {
        uint64_t weight_ns = i % 7 == 0 ? 3 * PERIOD_NS : PERIOD_NS;
        time_ns += weight_ns + (i % 5 == 0 ? 200000 : 0) - (i % 5 == 1 ? 150000 : 0);
        sample(&f, 0, time_ns, i % 3 == 0 ? a : b, weight_ns);
        *(i % 3 == 0 ? &expected_a : &expected_b) += weight_ns;
    }
    sample(&f, 0, time_ns + 20 * PERIOD_NS, a, PERIOD_NS); /* after a sleep */
    expected_a += PERIOD_NS;
    struct profile *profile = finish(&f);
    char *text = write_text(profile, &format_cpuprofile, 0);
    struct profile *back = read_text(text);
    assert_int_equal(self_ns(back, "a"), expected_a);
    assert_int_equal(self_ns(back, "b"), expected_b);
    assert_true(self_ns(back, "(idle)") >= 18 * PERIOD_NS);
    assert_int_equal(back->start_time_ns, profile->start_time_ns);
    /* No sample is shown more than a period away from where it was. */
    for (size_t i = 0; i < back->n_samples; i++)
        assert_true(back->samples[i].time_ns <= time_ns + 21 * PERIOD_NS);
    profile_destroy(back);
    profile_destroy(profile);
    free(text);
}

static void lines_do_not_split_functions(void **state)
{
    (void)state;
    struct fixture f = begin();
    sample(&f, 0, 1 * PERIOD_NS, stack_of(&f, "main;a", 11), PERIOD_NS);
    sample(&f, 0, 2 * PERIOD_NS, stack_of(&f, "main;a", 12), PERIOD_NS);
    sample(&f, 0, 3 * PERIOD_NS, stack_of(&f, "main;a", 12), PERIOD_NS);
    sample(&f, 0, 4 * PERIOD_NS, stack_in_other_file(&f, "main;a", 12), PERIOD_NS);
    struct profile *profile = finish(&f);
    char *text = write_text(profile, &format_cpuprofile, 0);
    const char *first = strstr(text, "\"functionName\":\"a\"");
    assert_non_null(first);
    assert_null(strstr(first + 1, "\"functionName\":\"a\""));
    assert_non_null(
        strstr(text, "\"positionTicks\":[{\"line\":12,\"ticks\":2},{\"line\":11,\"ticks\":1}]"));
    assert_non_null(strstr(text, "\"hitCount\":4"));
    assert_non_null(strstr(text, "\"lineNumber\":6"));
    free(text);
    profile_destroy(profile);
}

static void threads_go_apart_or_one_after_another(void **state)
{
    (void)state;
    struct fixture f = begin();
    uint32_t a = stack_of(&f, "main;a", 1), b = stack_of(&f, "run;b", 1);
    for (unsigned i = 1; i <= 10; i++) {
        sample(&f, 0, i * PERIOD_NS, a, PERIOD_NS);
        sample(&f, 1, i * PERIOD_NS + 300000, b, PERIOD_NS);
    }
    struct profile *profile = finish(&f);
    char *one = write_text(profile, &format_cpuprofile, f.threads[1]);
    struct profile *back = read_text(one);
    assert_int_equal(self_ns(back, "a"), 0);
    assert_int_equal(self_ns(back, "b"), 10 * PERIOD_NS);
    profile_destroy(back);
    free(one);
    char *both = write_text(profile, &format_cpuprofile, 0);
    back = read_text(both);
    assert_int_equal(self_ns(back, "a"), 10 * PERIOD_NS);
    assert_int_equal(self_ns(back, "b"), 10 * PERIOD_NS);
    profile_destroy(back);
    free(both);
    char *trace = write_text(profile, &format_chrome_trace, 0);
    assert_non_null(strstr(trace, "\"tid\":10"));
    assert_non_null(strstr(trace, "\"tid\":11"));
    free(trace);
    profile_destroy(profile);
}

static void deep_stacks_keep_their_inner_end(void **state)
{
    (void)state;
    struct fixture f = begin();
    uint32_t stack = 0;
    for (unsigned i = 0; i < 9000; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "f%u", i);
        stack = profile_add_stack(f.builder, stack,
                                  profile_add_named_frame(f.builder, name, (size_t)length));
    }
    sample(&f, 0, PERIOD_NS, stack, PERIOD_NS);
    struct profile *profile = finish(&f);
    char *text = write_text(profile, &format_cpuprofile, 0);
    assert_non_null(strstr(text, "\"functionName\":\"[truncated]\""));
    assert_non_null(strstr(text, "\"functionName\":\"f8999\""));
    struct profile *back = read_text(text);
    assert_int_equal(self_ns(back, "f8999"), PERIOD_NS);
    uint32_t depth = 0;
    for (uint32_t i = back->samples[0].stack; i != 0; i = back->stacks[i].parent)
        depth++;
    assert_in_range(depth, CPUPROFILE_MAX_DEPTH - 1000, CPUPROFILE_MAX_DEPTH);
    profile_destroy(back);
    profile_destroy(profile);
    free(text);
}

static void an_empty_profile_can_be_written(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct profile *profile = finish(&f);
    char *text = write_text(profile, &format_cpuprofile, 0);
    assert_non_null(strstr(text, "\"samples\":[1]")); /* an empty list makes VS Code fail */
    struct profile *back = read_text(text);
    assert_int_equal(self_ns(back, "(idle)"), 0);
    profile_destroy(back);
    free(text);
    text = write_text(profile, &format_chrome_trace, 0);
    assert_string_equal(text, "{\"traceEvents\":[]}\n");
    free(text);
    profile_destroy(profile);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    static const char text[] =
        "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":7},\"children\":[2,9]},{\"id\":2,"
        "\"callFrame\":{}}],"
        "\"startTime\":5,\"endTime\":9,\"samples\":[2,1,2],\"timeDeltas\":[3,-1,1]}";
    const struct format_options options = {0};
    bool is_fired = true;
    for (unsigned n = 1; is_fired; n++) {
        struct err err = ERR_INIT;
        struct profile *profile = NULL;
        alloc_fault_arm(n);
        bool ok = format_cpuprofile.read((const uint8_t *)text, sizeof text - 1, &options, NULL,
                                         &profile, &err);
        is_fired = alloc_fault_fired();
        if (!ok)
            assert_int_equal(err.code, ERR_MEMORY);
        else
            profile_destroy(profile);
        assert_true(ok || is_fired);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_survive),
        cmocka_unit_test(lines_do_not_split_functions),
        cmocka_unit_test(threads_go_apart_or_one_after_another),
        cmocka_unit_test(deep_stacks_keep_their_inner_end),
        cmocka_unit_test(an_empty_profile_can_be_written),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
