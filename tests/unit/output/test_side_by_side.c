/* test_side_by_side.c - two runs as one profile: its numbers are those of the runs, its intervals those of changes.h,
 * and functions are matched as there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "compare/side_by_side.h"
#include "fold/diff.h"
#include "profile_help.h"
#include "unit.h"

#define MS UINT64_C(1000000)
#define MOST_RUNS 4

struct runs {
    struct profile *profiles[MOST_RUNS];
    const struct profile *borrowed[MOST_RUNS];
    struct changes_request request;
};

static void runs_make(struct runs *runs, size_t n_before, size_t n_after, const char *const *folded)
{
    for (size_t i = 0; i < n_before + n_after; i++)
        runs->borrowed[i] = runs->profiles[i] = run_of_folded(folded[i]);
    runs->request = (struct changes_request){.before = runs->borrowed,
                                             .after = runs->borrowed + n_before,
                                             .n_before = n_before,
                                             .n_after = n_after,
                                             .scope = ROWS_OF_TREE};
}

static void runs_free(struct runs *runs)
{
    for (size_t i = 0; i < runs->request.n_before + runs->request.n_after; i++)
        profile_destroy(runs->profiles[i]);
}

static struct profile *side_by_side(const struct runs *runs, const char *const *paths)
{
    struct err err = ERR_INIT;
    struct profile *made = NULL;
    assert_true(profile_side_by_side(&runs->request, paths, NULL, &made, &err));
    assert_true(profile_is_diff(made) && profile_is_side_by_side(made));
    return made;
}

/* ---- what is in it --------------------------------------------------------------------------- */

static const char *function_name(const struct profile *profile, uint32_t function)
{
    return profile_text(profile, profile->functions[function].name).bytes;
}

/* The sample of "a;b;c"; it has one for each stack. */
static size_t sample_of(const struct profile *profile, const char *folded)
{
    for (size_t i = 0; i < profile->n_samples; i++) {
        char path[256] = "", longer[256];
        for (uint32_t stack = profile->samples[i].stack; stack != 0;
             stack = profile->stacks[stack].parent) {
            uint32_t frame = profile->stacks[stack].frame;
            snprintf(longer, sizeof longer, "%s%s%s",
                     function_name(profile, profile->frames[frame].function),
                     path[0] == '\0' ? "" : ";", path);
            memcpy(path, longer, sizeof path);
        }
        if (strcmp(path, folded) == 0)
            return i;
    }
    fail_msg("no stack %s", folded);
    return 0;
}

static void expect_self(const struct profile *profile, const char *folded, double before_ms,
                        double after_ms)
{
    size_t sample = sample_of(profile, folded);
    uint64_t before = profile_value(profile, sample, 0), after = profile_value(profile, sample, 1);
    if (before != (uint64_t)llround(before_ms * (double)MS) ||
        after != (uint64_t)llround(after_ms * (double)MS))
        fail_msg("%s: %llu before, %llu after", folded, (unsigned long long)before,
                 (unsigned long long)after);
}

static const char *metadata_of(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->n_metadata; i++)
        if (text_is(profile_text(profile, profile->metadata[i].key), key))
            return profile_text(profile, profile->metadata[i].value).bytes;
    return "";
}

/* Number `id` (from 1) of one of the arrays; NAN: null. */
static double interval_in(const struct profile *profile, const char *array, uint32_t id)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":[", array);
    const char *at = strstr(metadata_of(profile, "changes"), key);
    assert_non_null(at);
    at += strlen(key);
    for (uint32_t i = 1; i < id; i++) {
        at += strcspn(at, ",]");
        assert_true(*at == ',');
        at++;
    }
    return strncmp(at, "null", 4) == 0 ? (double)NAN : strtod(at, NULL);
}

/* Of each function, by self and total. */
static void expect_intervals(const struct profile *profile, const struct runs *runs,
                             enum row_scope scope)
{
    struct changes changes;
    struct changes_request request = runs->request;
    struct err err = ERR_INIT;
    request.scope = scope;
    assert_true(changes_init(&changes, &request, NULL, &err));
    assert_true(changes.n >= 2);
    for (size_t i = 0; i < changes.n; i++) {
        struct text name = change_name(&changes.rows[i], SUMMARY_BY_FUNCTION);
        uint32_t function = 1;
        while (function < profile->n_functions && !text_is(name, function_name(profile, function)))
            function++;
        double found = interval_in(profile, scope == ROWS_OF_LEAF ? "self" : "total", function);
        assert_true(fabs(found - changes.rows[i].interval) <= 1e-5 * found);
    }
    changes_deinit(&changes);
}

static const char *const one_each[] = {
    "main;f;g 100 main;f 20 main;h;g 30 main;old 40 other 5",
    "main;f;g 150 main;f 25 main;h;g 30 main;new 60 main 10",
};

static void numbers_are_those_of_the_runs(void **state)
{
    (void)state;
    struct runs runs;
    static const char *const paths[] = {"a.sprofile", "b \"x\".sprofile"};
    runs_make(&runs, 1, 1, one_each);
    struct profile *made = side_by_side(&runs, paths);
    assert_int_equal(made->n_samples, 8); /* and main;h */
    expect_self(made, "main", 0, 10);
    expect_self(made, "main;f", 20, 25);
    expect_self(made, "main;f;g", 100, 150);
    expect_self(made, "main;h", 0, 0);
    expect_self(made, "main;h;g", 30, 30);
    expect_self(made, "main;old", 40, 0);
    expect_self(made, "main;new", 0, 60);
    expect_self(made, "other", 5, 0);
    expect_intervals(made, &runs, ROWS_OF_LEAF);
    expect_intervals(made, &runs, ROWS_OF_STACK);
    const char *changes = metadata_of(made, "changes");
    assert_non_null(
        strstr(changes, "\"before\":[\"a.sprofile\"],\"after\":[\"b \\\"x\\\".sprofile\"]"));
    assert_string_equal(metadata_of(made, "command"), one_each[1]);

    /* A path that has all of its function is as uncertain as that, another by its own samples. */
    uint32_t stack = made->samples[sample_of(made, "main;f")].stack;
    uint32_t function = made->frames[made->stacks[stack].frame].function;
    assert_string_equal(function_name(made, function), "f");
    assert_true(interval_in(made, "stacks", stack) == interval_in(made, "total", function));
    stack = made->samples[sample_of(made, "main;f;g")].stack;
    function = made->frames[made->stacks[stack].frame].function;
    assert_true(interval_in(made, "stacks", stack) != interval_in(made, "total", function));
    profile_destroy(made);
    runs_free(&runs);
}

static void several_runs_are_their_mean(void **state)
{
    (void)state;
    struct runs runs;
    static const char *const folded[] = {"main;f 100 main;g 7", "main;f 104 main;g 8",
                                         "main;f 200 main;g 7"};
    runs_make(&runs, 2, 1, folded);
    struct profile *made = side_by_side(&runs, NULL);
    expect_self(made, "main;f", 102, 200);
    expect_self(made, "main;g", 7.5, 7);
    expect_intervals(made, &runs, ROWS_OF_LEAF);
    profile_destroy(made);
    runs.request.is_normalized = true;
    made = side_by_side(&runs, NULL);
    expect_self(made, "main;f", (100 / 107.0 + 104 / 112.0) / 2 * 109.5, 200 * 109.5 / 207);
    profile_destroy(made);
    runs_free(&runs);
}

/* Paths of which a side has a part of a unit each: rounded one by one, two hundred halves were 200. */
static void parts_of_a_unit_add_up(void **state)
{
    (void)state;
    enum { N = 100, N_RUNS = 3 };
    struct profile *profiles[N_RUNS];
    for (int run = 0; run < N_RUNS; run++) {
        struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
        for (int i = 0; i < N; i++) {
            char stack[32];
            snprintf(stack, sizeof stack, "m/main:1;m/f%d:1", run < 2 ? i + N * run : i);
            const struct profile_sample sample = {.stack = module_stack(builder, stack)};
            profile_add_sample(builder, &sample, &(const uint64_t){1});
        }
        profiles[run] = builder_finish(builder);
    }
    const struct profile *const borrowed[] = {profiles[0], profiles[1], profiles[2]};
    const struct runs runs = {.request = {.before = borrowed,
                                          .after = borrowed + 2,
                                          .n_before = 2,
                                          .n_after = 1,
                                          .scope = ROWS_OF_TREE}};
    struct profile *made = side_by_side(&runs, NULL);
    uint64_t sums[2] = {0};
    for (size_t i = 0; i < made->n_samples; i++)
        for (uint32_t side = 0; side < 2; side++) {
            assert_in_range(profile_value(made, i, side), 0, 1);
            sums[side] += profile_value(made, i, side);
        }
    assert_int_equal(sums[0], N);
    assert_int_equal(sums[1], N);
    /* Half a sample more or less decides what is chance, so an interval is no whole number. */
    double interval = interval_in(made, "stacks", 2);
    assert_true(interval != round(interval));
    profile_destroy(made);
    for (int run = 0; run < N_RUNS; run++)
        profile_destroy(profiles[run]);
}

static struct profile *run_of_modules(const char *stack, const char *file)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    const struct profile_sample sample = {.stack = module_stack(builder, stack)};
    const struct profile_function placed = {.name = profile_add_cstring(builder, "placed"),
                                            .file = profile_add_cstring(builder, file),
                                            .line = 7};
    const struct profile_frame frame = {.function = profile_add_function(builder, &placed),
                                        .flags = PROFILE_FRAME_INLINED,
                                        .address = 99};
    const struct profile_sample below = {
        .stack = profile_add_stack(builder, sample.stack, profile_add_frame(builder, &frame))};
    const uint64_t values[] = {MS};
    profile_add_sample(builder, &sample, values);
    profile_add_sample(builder, &below, values);
    return builder_finish(builder);
}

/* Copies and folders of another build are the same function, as it is after. */
static void functions_are_matched(void **state)
{
    (void)state;
    struct runs runs = {
        .profiles = {run_of_modules("old_app/main:3;old_app/f.constprop.0:4", "old/a.c"),
                     run_of_modules("new_app/main:5;new_app/f.part.1:6", "new/a.c")}};
    runs.borrowed[0] = runs.profiles[0];
    runs.borrowed[1] = runs.profiles[1];
    runs.request = (struct changes_request){.before = runs.borrowed,
                                            .after = runs.borrowed + 1,
                                            .n_before = 1,
                                            .n_after = 1,
                                            .scope = ROWS_OF_TREE};
    struct profile *made = side_by_side(&runs, NULL);
    assert_int_equal(made->n_functions, 4);
    expect_self(made, "main;f", 1, 1);
    expect_self(made, "main;f;placed", 1, 1);
    uint32_t frame = made->stacks[made->samples[sample_of(made, "main;f;placed")].stack].frame;
    const struct profile_function *placed = &made->functions[made->frames[frame].function];
    assert_true(text_is(profile_text(made, placed->file), "new/a.c"));
    assert_int_equal(placed->line, 7);
    assert_int_equal(made->frames[frame].flags, PROFILE_FRAME_INLINED);
    assert_true(made->frames[frame].address == 0 && made->frames[frame].line == 0);
    for (uint32_t i = 1; i < made->n_functions; i++) {
        struct text module = profile_text(made, made->modules[made->functions[i].module].path);
        assert_true(module.length == 0 || text_is(module, "new_app"));
    }
    profile_destroy(made);
    runs_free(&runs);
}

/* What has but two numbers of each stack, such as a .diff.folded file. */
static void numbers_alone(void **state)
{
    (void)state;
    struct runs runs;
    struct err err = ERR_INIT;
    struct profile *diff = NULL, *made = NULL;
    runs_make(&runs, 1, 1, one_each);
    assert_true(profile_diff(runs.profiles[0], runs.profiles[1], false, NULL, &diff, &err));
    assert_false(profile_is_side_by_side(diff));
    assert_true(profile_diff_side_by_side(diff, NULL, &made, &err));
    assert_true(profile_is_side_by_side(made));
    assert_int_equal(made->kinds[0].unit, PROFILE_UNIT_COUNT);
    expect_self(made, "main;f;g", 100.0 / MS, 150.0 / MS);
    expect_self(made, "main;new", 0, 60.0 / MS);
    assert_true(interval_in(made, "total", 1) > 0); /* counts are samples */
    profile_destroy(made);
    profile_destroy(diff);
    runs_free(&runs);
}

static void memory_runs_out(void **state)
{
    (void)state;
    struct runs runs;
    bool fired = true;
    runs_make(&runs, 1, 1, one_each);
    for (unsigned n = 1; fired; n++) {
        struct err err = ERR_INIT;
        struct profile *made = NULL;
        alloc_fault_arm(n);
        bool ok = profile_side_by_side(&runs.request, NULL, NULL, &made, &err);
        fired = alloc_fault_fired();
        assert_true(ok ? made != NULL : fired && err.code == ERR_MEMORY);
        if (ok)
            profile_destroy(made);
    }
    runs_free(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_runs),
        cmocka_unit_test(several_runs_are_their_mean),
        cmocka_unit_test(parts_of_a_unit_add_up),
        cmocka_unit_test(functions_are_matched),
        cmocka_unit_test(numbers_alone),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
