/* test_changes.c - rows of runs before and after: numbers, names, and what is called more than chance.
 *
 * Runs are made up: a program that calls functions for known times in an order drawn anew for each run,
 * and a clock that looks at it once in a millisecond. So what differs between two runs is chance, and
 * what is not is known. The draws are the same each time the test runs. */
#include <math.h>
#include <string.h>

#include "alloc_fault.h"
#include "compare/changes.h"
#include "compare/same_name.h"
#include "compare/variance.h"
#include "profile_help.h"
#include "unit.h"

#define MS 1000000u

/* ---- a program ------------------------------------------------------------------------------- */

#define N_FUNCTIONS 12

struct function {
    double visit_ms; /* that one call takes */
    unsigned n_visits;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double random_part(void)
{
    return (double)(random_next() >> 11) / (double)(1ull << 53);
}

/* Functions of a hundredth to a third of 3 s, in short calls or long ones. */
static const struct function program[N_FUNCTIONS] = {
    {0.05, 20000}, {2.5, 300}, {10, 40},  {0.3, 800}, {0.02, 5000}, {5, 10},
    {0.1, 500},    {40, 1},    {1.5, 20}, {0.7, 50},  {0.01, 2500}, {12, 1},
};

/* The visits of all functions, in an order drawn anew. */
static size_t visits_shuffle(const struct function *functions, uint8_t *visits)
{
    size_t n = 0;
    for (uint8_t i = 0; i < N_FUNCTIONS; i++)
        for (unsigned k = 0; k < functions[i].n_visits; k++)
            visits[n++] = i;
    for (size_t i = n; i > 1; i--) {
        size_t other = random_next() % i;
        uint8_t visit = visits[i - 1];
        visits[i - 1] = visits[other];
        visits[other] = visit;
    }
    return n;
}

static void function_add(struct profile_builder *builder, unsigned function, uint64_t time_ns)
{
    const char stack[] = {'m', 'a', 'i', 'n', ';', 'f', (char)('a' + function), '\0'};
    sample_add(builder, 0, stack, time_ns, MS);
}

/* One run as a clock of 1 ms sees it, which starts anywhere in its first. */
static struct profile *run_make(const struct function *functions, bool has_times)
{
    static uint8_t visits[40000];
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    profile_builder_scalars(builder)->has_times = has_times;
    size_t n = visits_shuffle(functions, visits);
    double now = 0, tick = random_part();
    for (size_t i = 0; i < n; i++) {
        now += functions[visits[i]].visit_ms;
        for (; tick < now; tick++)
            function_add(builder, visits[i], has_times ? (uint64_t)(tick * MS) : 0);
    }
    return builder_finish(builder);
}

static void compare(struct profile *const *runs, size_t n_before, size_t n_after, bool by_total,
                    struct changes *changes)
{
    const struct profile *all[16];
    struct err err = ERR_INIT;
    for (size_t i = 0; i < n_before + n_after; i++)
        all[i] = runs[i];
    const struct changes_request request = {.before = all,
                                            .after = all + n_before,
                                            .n_before = n_before,
                                            .n_after = n_after,
                                            .scope = by_total ? ROWS_OF_STACK : ROWS_OF_LEAF};
    assert_true(changes_init(changes, &request, NULL, &err));
}

static const struct change *row_of(const struct changes *changes, const char *name)
{
    for (size_t i = 0; i < changes->n; i++)
        if (text_is(change_name(&changes->rows[i], SUMMARY_BY_FUNCTION), name))
            return &changes->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

/* ---- chance ---------------------------------------------------------------------------------- */

/* Rows called changed, in percent, over pairs of runs of the same program; *mean_interval of fc, of calls of 10 ms. */
static double called_percent(size_t n_runs, bool has_times, double *mean_interval)
{
    enum { N_PAIRS = 200 };
    size_t n_rows = 0, n_called = 0;
    *mean_interval = 0;
    for (int pair = 0; pair < N_PAIRS; pair++) {
        struct profile *runs[16];
        struct changes changes;
        for (size_t i = 0; i < 2 * n_runs; i++)
            runs[i] = run_make(program, has_times);
        compare(runs, n_runs, n_runs, false, &changes);
        for (size_t i = 0; i < changes.n; i++)
            n_called += changes.rows[i].is_beyond;
        n_rows += changes.n;
        *mean_interval += row_of(&changes, "fc")->interval / N_PAIRS;
        changes_deinit(&changes);
        for (size_t i = 0; i < 2 * n_runs; i++)
            profile_destroy(runs[i]);
    }
    return 100.0 * (double)n_called / (double)n_rows;
}

/* Not more than one row in a hundred; and by the order of samples one knows much better where long
 * calls are than by their number. */
static void chance_of_sampling(void **state)
{
    (void)state;
    double by_order, by_number, of_runs;
    assert_true(called_percent(1, true, &by_order) <= 1);
    assert_true(called_percent(1, false, &by_number) <= 1);
    assert_true(called_percent(3, true, &of_runs) <= 1);
    assert_true(by_order < 0.5 * by_number);
    assert_true(by_order > 10.0 * MS);
}

#define N_SAMPLES 700

/* The definition in variance.h, by a table of all windows. */
static double variance_by_table(const struct profile *profile, const char *name, size_t n_windows)
{
    double windows[N_SAMPLES] = {0}, squares = 0;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const struct profile_frame *frame =
            &profile->frames[profile->stacks[profile->samples[i].stack].frame];
        if (text_is(profile_text(profile, profile->functions[frame->function].name), name))
            windows[i * n_windows / N_SAMPLES] += (double)profile_value(profile, i, 0);
    }
    for (size_t i = 1; i < n_windows; i++)
        squares += (windows[i] - windows[i - 1]) * (windows[i] - windows[i - 1]);
    return squares / 2;
}

/* Rows in the first and last window, in windows next to each other and apart; weights differ. */
static void variance_of_windows(void **state)
{
    (void)state;
    for (int run = 0; run < 20; run++) {
        struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
        profile_builder_scalars(builder)->has_times = true;
        for (uint64_t i = 0; i < N_SAMPLES; i++) {
            uint64_t draw = random_next() % 100;
            const char *stack = draw < 60 ? "fa" : draw < 95 ? "fb" : draw < 99 ? "fc" : "fd";
            sample_add(builder, 0, stack, i * MS, MS + random_next() % MS);
        }
        struct profile *profile = builder_finish(builder);
        struct row_names *names = NULL;
        struct row_sets *sets = NULL;
        struct run_weights weights;
        struct err err = ERR_INIT;
        assert_true(row_names_create(&names, &err));
        assert_true(
            row_sets_create(names, profile, SUMMARY_BY_FUNCTION, ROWS_OF_STACK, &sets, &err));
        assert_true(run_weights_init(&weights, profile, sets, row_names_count(names),
                                     fold_unit_choose(profile, true), false, &err));
        assert_int_equal(weights.source, VARIANCE_ORDER);
        for (uint32_t row = 1; row < weights.n; row++) {
            struct row_origin origin = row_names_origin(names, row);
            const char *name = summary_row_name(profile, SUMMARY_BY_FUNCTION, origin.key).bytes;
            const size_t n_windows[VARIANCE_SIZES] = {N_SAMPLES, N_SAMPLES, N_SAMPLES, 256};
            for (unsigned size = 0; size < VARIANCE_SIZES; size++) {
                double wanted = variance_by_table(profile, name, n_windows[size]);
                assert_true(fabs(weights.rows[row].variances[size] - wanted) <= 1e-9 * wanted);
            }
        }
        run_weights_deinit(&weights);
        row_sets_destroy(sets);
        row_names_destroy(names);
        profile_destroy(profile);
    }
}

/* What grew is found, and nothing else is called. */
static void what_grew(void **state)
{
    (void)state;
    enum { N_PAIRS = 20 };
    struct function slower[N_FUNCTIONS];
    unsigned n_found = 0, n_others = 0;
    memcpy(slower, program, sizeof slower);
    slower[0].visit_ms *= 1.15;
    for (int pair = 0; pair < N_PAIRS; pair++) {
        struct profile *const runs[2] = {run_make(program, true), run_make(slower, true)};
        struct changes changes;
        compare(runs, 1, 1, false, &changes);
        const struct change *found = row_of(&changes, "fa");
        n_found += found->is_beyond && change_of(found) > 0;
        for (size_t i = 0; i < changes.n; i++)
            n_others += changes.rows[i].is_beyond && &changes.rows[i] != found;
        changes_deinit(&changes);
        profile_destroy(runs[0]);
        profile_destroy(runs[1]);
    }
    assert_true(n_found >= 19);
    assert_true(n_others <= 4);
}

/* A run of `main;fa` and `main;fb` with times, of so many ms each, in turns. */
static struct profile *run_of_two(unsigned a, unsigned b)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    profile_builder_scalars(builder)->has_times = true;
    for (unsigned i = 0; i < a || i < b; i++) {
        if (i < a)
            function_add(builder, 0, 2ull * i * MS);
        if (i < b)
            function_add(builder, 1, (2ull * i + 1) * MS);
    }
    return builder_finish(builder);
}

/* What runs differ by is part of the interval as soon as several show it. */
static void spread_of_runs(void **state)
{
    (void)state;
    struct profile *const runs[6] = {run_of_two(9000, 1000),  run_of_two(10000, 1000),
                                     run_of_two(11000, 1000), run_of_two(10000, 2000),
                                     run_of_two(11000, 2000), run_of_two(12000, 2000)};
    struct changes changes;
    compare(runs + 1, 1, 2, false, &changes);
    assert_true(changes.knows_runs);
    changes_deinit(&changes);

    compare(runs, 3, 3, false, &changes);
    assert_true(changes.knows_runs && changes.knows_chance);
    const struct change *a = row_of(&changes, "fa"), *b = row_of(&changes, "fb");
    assert_true(a->before == 10000.0 * MS && a->after == 11000.0 * MS);
    assert_false(a->is_beyond);
    /* Deviation 1 s on both sides: t(4) * sqrt(1/3 + 1/3), and a third of a sample. */
    assert_true(fabs(a->interval - (4.604 * sqrt(2.0 / 3) * 1e9 + MS / 3.0)) < 1e3);
    assert_true(b->is_beyond);
    assert_false(changes.whole.is_beyond);
    assert_true(fabs(changes.whole.interval - 4.604 * sqrt(2.0 / 3) * 1e9) < 1e3);
    changes_deinit(&changes);

    compare((struct profile *[]){runs[0], runs[5]}, 1, 1, false, &changes);
    assert_false(changes.knows_runs);
    assert_true(changes.whole.is_beyond && row_of(&changes, "fa")->is_beyond);
    changes_deinit(&changes);

    /* All of it 4 % slower: machines do that to two runs. */
    struct profile *slower = run_of_two(9400, 1000);
    compare((struct profile *[]){runs[0], slower}, 1, 1, false, &changes);
    assert_false(changes.whole.is_beyond);
    assert_true(fabs(changes.whole.interval - 2.5758 * 0.015 * hypot(1e10, 1.04e10)) < 1e6);
    changes_deinit(&changes);
    profile_destroy(slower);
    for (size_t i = 0; i < 6; i++)
        profile_destroy(runs[i]);
}

/* Few samples: as draws, whatever their order. */
static void few_samples(void **state)
{
    (void)state;
    struct profile *const runs[2] = {run_of_two(1000, 0), run_of_two(1000, 6)};
    struct profile *const others[2] = {run_of_two(1000, 0), run_of_two(1000, 12)};
    struct changes changes;
    compare(runs, 1, 1, false, &changes);
    assert_false(row_of(&changes, "fb")->is_beyond);
    changes_deinit(&changes);
    compare(others, 1, 1, false, &changes);
    assert_true(row_of(&changes, "fb")->is_beyond);
    changes_deinit(&changes);
    for (int i = 0; i < 2; i++) {
        profile_destroy(runs[i]);
        profile_destroy(others[i]);
    }
}

static void student(void **state)
{
    (void)state;
    assert_true(fabs(student_t_99(1) - 63.657) < 1e-9);
    assert_true(fabs(student_t_99(20) - 2.845) < 1e-9);
    assert_true(fabs(student_t_99(30) - 2.750) < 0.015); /* tables: 2.750, 2.617 */
    assert_true(fabs(student_t_99(120) - 2.617) < 0.002);
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct line {
    const char *stack; /* "a;b;c" */
    uint64_t weight;
};

static struct profile *profile_of(enum profile_unit unit, uint64_t period, const struct line *lines,
                                  size_t n)
{
    struct profile_builder *builder = builder_make(unit, period);
    for (size_t i = 0; i < n; i++)
        sample_add(builder, 0, lines[i].stack, 0, lines[i].weight);
    return builder_finish(builder);
}

#define PROFILE(unit, period, ...)                                                                 \
    profile_of(unit, period, (const struct line[]){__VA_ARGS__},                                   \
               sizeof((const struct line[]){__VA_ARGS__}) / sizeof(struct line))

static void expect_rows(const struct changes *changes, const char *expected)
{
    char text[1000] = "";
    size_t n = 0;
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *row = &changes->rows[i];
        struct text name = change_name(row, SUMMARY_BY_FUNCTION);
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s %g %g %+.1f\n", (int)name.length,
                              name.bytes, row->before, row->after, change_points(changes, row));
    }
    assert_string_equal(text, expected);
}

/* Recursion and copies of one function count once; what only one side has is 0 on the other. */
static void self_and_total(void **state)
{
    (void)state;
    struct profile *const runs[2] = {
        PROFILE(PROFILE_UNIT_COUNT, 0, {"main;f;f.part.0", 50}, {"main;g", 50}),
        PROFILE(PROFILE_UNIT_COUNT, 0, {"main;f.constprop.1;f", 80}, {"main", 20}),
    };
    struct changes changes;
    compare(runs, 1, 1, false, &changes);
    expect_rows(&changes, "g 50 0 -50.0\n"
                          "f 50 80 +30.0\n"
                          "main 0 20 +20.0\n");
    assert_true(changes.knows_chance && changes.unit == PROFILE_UNIT_COUNT);
    /* 130 draws of 100 and 100; the guess for runs; a sample. */
    double variance = 50 * 0.5 + 80 * 0.2 + 1e-5 * 100 * 130;
    assert_true(fabs(row_of(&changes, "f")->interval - 2.5758293 * sqrt(variance) - 1) < 0.001);
    changes_deinit(&changes);
    compare(runs, 1, 1, true, &changes);
    expect_rows(&changes, "g 50 0 -50.0\n"
                          "f 50 80 +30.0\n"
                          "main 100 100 +0.0\n");
    changes_deinit(&changes);
    profile_destroy(runs[0]);
    profile_destroy(runs[1]);
}

static void normalized(void **state)
{
    (void)state;
    struct profile *const runs[3] = {
        PROFILE(PROFILE_UNIT_COUNT, 0, {"f", 60}, {"g", 40}),
        PROFILE(PROFILE_UNIT_COUNT, 0, {"f", 120}, {"g", 180}),
        PROFILE(PROFILE_UNIT_COUNT, 0, {"f", 50}, {"g", 50}),
    };
    const struct changes_request request = {.before = (const struct profile *const *)runs,
                                            .after = (const struct profile *const *)runs + 2,
                                            .n_before = 2,
                                            .n_after = 1,
                                            .is_normalized = true};
    struct changes changes;
    assert_true(changes_init(&changes, &request, NULL, &(struct err)ERR_INIT));
    assert_true(fabs(changes.whole.before - 200) < 1e-9 && fabs(changes.whole.after - 200) < 1e-9);
    assert_true(fabs(row_of(&changes, "f")->before - 100) < 1e-9); /* 60 and 40 % of 200 */
    assert_true(fabs(row_of(&changes, "f")->after - 100) < 1e-9);
    changes_deinit(&changes);
    /* A run of 100 as if it were one of 300: so is the chance of its draws. */
    const struct changes_request longer = {.before = request.before + 1,
                                           .after = request.after,
                                           .n_before = 1,
                                           .n_after = 1,
                                           .is_normalized = true};
    assert_true(changes_init(&changes, &longer, NULL, &(struct err)ERR_INIT));
    double variance = 120 * 0.6 + 9 * 50 * 0.5 + 1e-5 * 300 * (120 + 150);
    const struct change *row = row_of(&changes, "f");
    assert_true(row->before == 120 && row->after == 150);
    assert_true(fabs(row->interval - 2.5758293 * sqrt(variance) - 3) < 0.001);
    changes_deinit(&changes);
    for (int i = 0; i < 3; i++)
        profile_destroy(runs[i]);
}

static bool can_compare(struct profile *before, struct profile *after, enum profile_unit unit,
                        bool knows_chance)
{
    const struct changes_request request = {.before = (const struct profile *const *)&before,
                                            .after = (const struct profile *const *)&after,
                                            .n_before = 1,
                                            .n_after = 1};
    struct changes changes;
    struct err err = ERR_INIT;
    bool ok = changes_init(&changes, &request, NULL, &err);
    assert_int_equal(err.code, ok ? ERR_NONE : ERR_UNSUPPORTED);
    if (ok) {
        assert_int_equal(changes.unit, unit);
        assert_int_equal(changes.knows_chance, knows_chance);
        assert_int_equal(isinf(changes.rows[0].interval), !knows_chance);
        assert_true(changes.whole.interval < INFINITY); /* it is measured */
    }
    changes_deinit(&changes);
    profile_destroy(before);
    profile_destroy(after);
    return ok;
}

static void units(void **state)
{
    (void)state;
    enum profile_unit ns = PROFILE_UNIT_NS, count = PROFILE_UNIT_COUNT;
    /* Sums of times say nothing about the number of samples; with a period they do. */
    assert_true(can_compare(PROFILE(ns, 0, {"f", 5}), PROFILE(ns, 0, {"f", 6}), ns, false));
    assert_true(can_compare(PROFILE(ns, MS, {"f", 5}), PROFILE(ns, MS, {"f", 6}), ns, true));
    assert_true(can_compare(PROFILE(count, 0, {"f", 5}), PROFILE(ns, MS, {"f", MS}), count, true));
    assert_false(can_compare(PROFILE(count, 0, {"f", 5}), PROFILE(PROFILE_UNIT_BYTES, 0, {"f", 6}),
                             ns, true));
    /* Nothing can be compared with anything. */
    assert_true(can_compare(profile_of(count, 0, NULL, 0), PROFILE(PROFILE_UNIT_BYTES, 0, {"f", 6}),
                            PROFILE_UNIT_BYTES, false));
}

static struct profile *profile_of_spans(uint64_t f_ns)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    span_add(builder, 0, "f", 0, f_ns);
    return builder_finish(builder);
}

/* What was measured has no error of sampling. */
static void spans(void **state)
{
    (void)state;
    struct profile *const runs[2] = {profile_of_spans(1000 * MS), profile_of_spans(1100 * MS)};
    struct changes changes;
    compare(runs, 1, 1, false, &changes);
    expect_rows(&changes, "f 1e+09 1.1e+09 +0.0\n");
    assert_true(changes.rows[0].is_beyond);
    assert_true(fabs(changes.rows[0].interval - 2.5758293 * sqrt(1e-5 * (1e18 + 1.21e18))) < 1e3);
    changes_deinit(&changes);
    profile_destroy(runs[0]);
    profile_destroy(runs[1]);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names_of_copies(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"f", "f"},
        {"f.part.0", "f"},
        {"f.isra.0.part.12", "f"},
        {"f.constprop.0.cold", "f"},
        {"f.llvm.1234567890123", "f"},
        {"f(int) [clone .constprop.0] [clone .cold]", "f(int)"},
        {"f(int) [clone", "f(int) [clone"},
        {"a::f::h0123456789abcdef", "a::f"},
        {"a::f::h0123456789abcdeg", "a::f::h0123456789abcdeg"},
        {"main.func1", "main.func1"},
        {"f.12", "f.12"},
        {".part.0", ".part.0"},
        {"::h0123456789abcdef", "::h0123456789abcdef"},
        {"x.cold]", "x.cold]"},
        {"[unknown]", "[unknown]"},
        {"]", "]"},
        {".7", ".7"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct text same = same_name_of_function(text_make(names[i][0]));
        char copy[64];
        snprintf(copy, sizeof copy, "%.*s", (int)same.length, same.bytes);
        assert_string_equal(copy, names[i][1]);
    }
}

static void no_memory(void **state)
{
    (void)state;
    struct profile *runs[2] = {run_of_two(40, 3), run_of_two(30, 5)};
    const struct changes_request request = {.before = (const struct profile *const *)runs,
                                            .after = (const struct profile *const *)runs + 1,
                                            .n_before = 1,
                                            .n_after = 1,
                                            .is_normalized = true};
    bool is_armed = true;
    for (unsigned n = 1; is_armed; n++) {
        struct changes changes;
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = changes_init(&changes, &request, NULL, &err);
        is_armed = alloc_fault_fired();
        assert_int_equal(err.code, ok ? ERR_NONE : ERR_MEMORY);
        assert_int_equal(ok, !is_armed);
        changes_deinit(&changes);
    }
    profile_destroy(runs[0]);
    profile_destroy(runs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_of_sampling),
        cmocka_unit_test(what_grew),
        cmocka_unit_test(variance_of_windows),
        cmocka_unit_test(spread_of_runs),
        cmocka_unit_test(few_samples),
        cmocka_unit_test(student),
        cmocka_unit_test(self_and_total),
        cmocka_unit_test(normalized),
        cmocka_unit_test(units),
        cmocka_unit_test(spans),
        cmocka_unit_test(names_of_copies),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
