/* test_select.c - parts of a profile: each condition by itself, several, and those that nothing
 * meets. */
#include <stdio.h>
#include <string.h>

#include "alloc_fault.h"
#include "model/convert.h"
#include "profile_help.h"
#include "select/select.h"
#include "unit.h"

/* Two processes, "app" (pid 10: threads 11 "io", 12 "calc") and "tool" (pid 20: thread 20, without
 * a name of its own), and a sample of no thread. */
static struct profile *profile_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    profile_builder_scalars(builder)->has_times = true;
    const struct profile_process app = {.name = profile_add_cstring(builder, "app"), .pid = 10};
    uint32_t process = profile_add_process(builder, &app);
    const struct profile_thread io = {
        .process = process, .name = profile_add_cstring(builder, "io"), .tid = 11};
    const struct profile_thread calc = {
        .process = process, .name = profile_add_cstring(builder, "calc"), .tid = 12};
    uint32_t io_id = profile_add_thread(builder, &io);
    uint32_t calc_id = profile_add_thread(builder, &calc);
    uint32_t tool_id = thread_add(builder, "tool", 20, "", 20);
    const struct profile_module module = {.path = profile_add_cstring(builder, "/lib/libm.so")};
    const struct profile_function sine = {.name = profile_add_cstring(builder, "sin"),
                                          .file = profile_add_cstring(builder, "src/sin.c"),
                                          .module = profile_add_module(builder, &module)};
    const struct profile_frame in_sine = {.function = profile_add_function(builder, &sine)};
    const struct profile_function request = {.name = profile_add_cstring(builder, "request")};
    const struct profile_frame label = {.function = profile_add_function(builder, &request),
                                        .flags = PROFILE_FRAME_LABEL};
    uint32_t labelled = profile_add_stack(builder, 0, profile_add_frame(builder, &label));
    const struct profile_sample samples[] = {
        {.thread = io_id, .stack = folded_stack(builder, "main;read"), .time_ns = 100},
        {.thread = io_id, .stack = folded_stack(builder, "main;file::open"), .time_ns = 200},
        {.thread = calc_id,
         .stack = profile_add_stack(builder, folded_stack(builder, "main;work"),
                                    profile_add_frame(builder, &in_sine)),
         .time_ns = 300},
        {.thread = calc_id,
         .stack = profile_add_stack(builder, labelled, profile_add_frame(builder, &in_sine)),
         .time_ns = 400},
        {.thread = tool_id, .stack = folded_stack(builder, "main;work"), .time_ns = 500},
        {.thread = 0, .stack = 0, .time_ns = 600},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        profile_add_sample(builder, &samples[i], &(uint64_t){(uint64_t)1 << i});
    return builder_finish(builder);
}

/* "a;b" */
static size_t describe_stack(const struct profile *profile, uint32_t stack, char *out, size_t room)
{
    const struct profile_stack *entry = &profile->stacks[stack];
    if (stack == 0)
        return 0;
    size_t n = describe_stack(profile, entry->parent, out, room);
    uint32_t name = profile->functions[profile->frames[entry->frame].function].name;
    return n + (size_t)snprintf(out + n, room - n, "%s%s", n > 0 ? ";" : "",
                                profile_text(profile, name).bytes);
}

/* "tid stack value" per sample, by time. */
static void expect(const struct selection *selection, const char *expected)
{
    struct profile *in = profile_make(), *out = NULL;
    struct err err = ERR_INIT;
    char text[1000] = "";
    assert_true(selection_check(selection, &err));
    if (!profile_select(in, selection, &out, &err))
        fail_msg("refused: %s", err.text);
    for (uint64_t time = 0; time < 1000; time++) {
        for (size_t i = 0; i < out->n_samples; i++) {
            const struct profile_sample *sample = &out->samples[i];
            size_t n = strlen(text);
            if (sample->time_ns != time)
                continue;
            n += (size_t)snprintf(text + n, sizeof text - n, "%d ",
                                  (int)out->threads[sample->thread].tid);
            n += describe_stack(out, sample->stack, text + n, sizeof text - n);
            snprintf(text + n, sizeof text - n, " %d\n", (int)profile_value(out, i, 0));
        }
    }
    assert_string_equal(text, expected);
    profile_destroy(in);
    profile_destroy(out);
}

#define SELECTION(...) (&(const struct selection){.to_ns = UINT64_MAX, __VA_ARGS__})

#define IO_READ "11 main;read 1\n"
#define IO_OPEN "11 main;file::open 2\n"
#define CALC_WORK "12 main;work;sin 4\n"
#define CALC_REQUEST "12 request;sin 8\n"
#define TOOL "20 main;work 16\n"
#define NOBODY "0  32\n"

static void nothing_asked_is_everything(void **state)
{
    (void)state;
    assert_true(selection_is_all(&SELECTION_ALL));
    assert_false(selection_is_all(SELECTION(.from_ns = 1)));
    assert_false(selection_is_all(SELECTION(.label = "x")));
    expect(&SELECTION_ALL, IO_READ IO_OPEN CALC_WORK CALC_REQUEST TOOL NOBODY);
}

static void stacks_are_chosen_by_their_frames(void **state)
{
    (void)state;
    expect(SELECTION(.focus = "^work$"), CALC_WORK TOOL);
    expect(SELECTION(.focus = "ork"), CALC_WORK TOOL);
    expect(SELECTION(.focus = "read|sin"), IO_READ CALC_WORK CALC_REQUEST);
    expect(SELECTION(.focus = "file:sin\\.c"), CALC_WORK CALC_REQUEST);
    expect(SELECTION(.focus = "module:libm"), CALC_WORK CALC_REQUEST);
    expect(SELECTION(.focus = "file::o"), IO_OPEN);
    expect(SELECTION(.ignore = "work"), IO_READ IO_OPEN CALC_REQUEST NOBODY);
    expect(SELECTION(.focus = "main", .ignore = "module:libm"), IO_READ IO_OPEN TOOL);
    expect(SELECTION(.focus = "read", .ignore = "main"), ""); /* each is met, both are not */
}

static void hidden_frames_give_their_time_to_the_caller(void **state)
{
    (void)state;
    expect(SELECTION(.hide = "sin"), IO_READ IO_OPEN "12 main;work 4\n12 request 8\n" TOOL NOBODY);
    expect(SELECTION(.hide = "main|work"),
           "11 read 1\n11 file::open 2\n12 sin 4\n" CALC_REQUEST "20 [hidden] 16\n" NOBODY);
    expect(SELECTION(.hide = ".", .thread = "20"), "20 [hidden] 16\n");
    expect(SELECTION(.hide = "work", .focus = "work"), "12 main;sin 4\n20 main 16\n");
}

static void samples_are_chosen_by_thread_process_and_label(void **state)
{
    (void)state;
    expect(SELECTION(.thread = "12"), CALC_WORK CALC_REQUEST);
    expect(SELECTION(.thread = "^io$"), IO_READ IO_OPEN);
    expect(SELECTION(.thread = "tool"), TOOL); /* named as its process */
    expect(SELECTION(.process = "app"), IO_READ IO_OPEN CALC_WORK CALC_REQUEST);
    expect(SELECTION(.process = "20"), TOOL);
    expect(SELECTION(.label = "req"), CALC_REQUEST);
    expect(SELECTION(.process = "app", .thread = "c", .focus = "main"), CALC_WORK);
}

static void a_span_has_its_first_moment_and_not_its_last(void **state)
{
    (void)state;
    expect(SELECTION(.from_ns = 400), CALC_REQUEST TOOL NOBODY);
    expect(&(const struct selection){.from_ns = 200, .to_ns = 400}, IO_OPEN CALC_WORK);
    expect(&(const struct selection){.from_ns = 5000, .to_ns = 6000}, "");
}

static void spans_are_taken_by_their_self_times(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    uint32_t thread = thread_add(builder, "app", 1, "main", 1);
    span_add(builder, thread, "outer", 0, 100);
    span_add(builder, thread, "inner", 10, 40);
    struct profile *in = builder_finish(builder), *out = NULL;
    assert_true(profile_select(in, SELECTION(.focus = "inner"), &out, &(struct err)ERR_INIT));
    uint64_t sum = 0;
    for (size_t i = 0; i < out->n_samples; i++)
        sum += profile_value(out, i, 0);
    assert_int_equal(sum, 30);
    profile_destroy(in);
    profile_destroy(out);
}

/* `words`: what the one line must tell. */
static void refuse(const struct selection *selection, enum err_code code, const char *words)
{
    struct profile *in = profile_make(), *out = NULL;
    struct err err = ERR_INIT;
    assert_false(profile_select(in, selection, &out, &err));
    assert_null(out);
    if (err.code != code || strstr(err.text, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, err.text);
    struct err early = ERR_INIT;
    assert_int_equal(selection_check(selection, &early), code != ERR_USAGE);
    profile_destroy(in);
}

static void what_nothing_meets_is_refused_with_what_there_is(void **state)
{
    (void)state;
    refuse(SELECTION(.focus = "("), ERR_USAGE, "--focus '(': no regular expression");
    refuse(SELECTION(.thread = "["), ERR_USAGE, "--thread");
    refuse(&(const struct selection){.from_ns = 7, .to_ns = 7}, ERR_USAGE, "--from");
    refuse(SELECTION(.focus = "reed"), ERR_UNSUPPORTED, "no function matches");
    refuse(SELECTION(.hide = "module:libc"), ERR_UNSUPPORTED, "--hide 'module:libc': no module");
    refuse(SELECTION(.ignore = "file:x"), ERR_UNSUPPORTED, "no source file matches");
    refuse(SELECTION(.thread = "13"), ERR_UNSUPPORTED, "are io (11), calc (12), tool (20)");
    refuse(SELECTION(.process = "ap$"), ERR_UNSUPPORTED, "are app (10), tool (20)");
    refuse(SELECTION(.label = "x"), ERR_UNSUPPORTED, "no label matches; there is request");
}

static void of_many_names_each_is_told_once(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"make", "as", "cc", "as", "d", "e", "f", "g", "as"};
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    for (uint32_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        sample_add(builder, thread_add(builder, NAMES[i], 10 + i, "main", 10 + i), "main", 0, 1);
    struct profile *in = builder_finish(builder), *out = NULL;
    struct err err = ERR_INIT;
    assert_false(profile_select(in, SELECTION(.process = "x"), &out, &err));
    assert_string_equal(err.text,
                        "--process 'x': no process matches; there are make (10), as (11 and 2 "
                        "more), cc (12), d (14), e (15), f (16), ...");
    profile_destroy(in);
}

static void what_the_profile_does_not_hold_is_refused(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, 0, "main;f", 0, 1);
    struct profile *in = builder_finish(builder), *out = NULL;
    static const struct {
        struct selection selection;
        const char *words;
    } cases[] = {
        {{.to_ns = 5}, "has no times"},
        {{.thread = "f", .to_ns = UINT64_MAX}, "has no threads"},
        {{.process = "1", .to_ns = UINT64_MAX}, "has no processes"},
        {{.label = "f", .to_ns = UINT64_MAX}, "has no labels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = ERR_INIT;
        assert_false(profile_select(in, &cases[i].selection, &out, &err));
        assert_int_equal(err.code, ERR_UNSUPPORTED);
        if (strstr(err.text, cases[i].words) == NULL)
            fail_msg("'%s' is not in '%s'", cases[i].words, err.text);
    }
    profile_destroy(in);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct profile *in = profile_make();
    for (unsigned n = 1;; n++) {
        struct err err = ERR_INIT;
        struct profile *out = NULL;
        alloc_fault_arm(n);
        bool ok = profile_select(in, SELECTION(.hide = "work", .label = "."), &out, &err);
        bool fired = alloc_fault_fired();
        assert_true(ok || fired);
        assert_int_equal(ok, out != NULL);
        assert_true(ok || err.code == ERR_MEMORY);
        profile_destroy(out);
        if (!fired)
            break;
    }
    profile_destroy(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_is_everything),
        cmocka_unit_test(stacks_are_chosen_by_their_frames),
        cmocka_unit_test(hidden_frames_give_their_time_to_the_caller),
        cmocka_unit_test(samples_are_chosen_by_thread_process_and_label),
        cmocka_unit_test(a_span_has_its_first_moment_and_not_its_last),
        cmocka_unit_test(spans_are_taken_by_their_self_times),
        cmocka_unit_test(what_nothing_meets_is_refused_with_what_there_is),
        cmocka_unit_test(of_many_names_each_is_told_once),
        cmocka_unit_test(what_the_profile_does_not_hold_is_refused),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
