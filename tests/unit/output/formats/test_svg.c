/* test_svg.c - flame graphs: where boxes lie, what colour, label and title they have, and that any name gives a well-formed
 * picture. What programs make of it is tested by tests/e2e/tools/test_svg.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "compare/side_by_side.h"
#include "format_help.h"
#include "formats/svg/boxes.h"
#include "formats/svg/colors.h"
#include "formats/svg/label.h"
#include "formats/svg/script.h"
#include "formats/svg/svg.h"
#include "profile_help.h"
#include "text/xml_write.h"
#include "unit.h"

#define MS UINT64_C(1000000)

/* ---- boxes ----------------------------------------------------------------------------------- */

static const char *name_of(const struct profile *profile, const struct svg_box *box)
{
    return profile_text(profile, profile->functions[box->function].name).bytes;
}

/* The first of that name. */
static const struct svg_box *box_of(const struct svg_boxes *boxes, const struct profile *profile,
                                    const char *name)
{
    for (size_t i = 0; i < boxes->list.n; i++)
        if (strcmp(name_of(profile, &boxes->list.items[i]), name) == 0)
            return &boxes->list.items[i];
    return NULL;
}

static void expect_box(const struct svg_boxes *boxes, const struct profile *profile,
                       const char *name, uint32_t level, double start, double width)
{
    const struct svg_box *box = box_of(boxes, profile, name);
    assert_non_null(box);
    if (box->level != level || fabs(box->start - start) > 1e-9 || fabs(box->width - width) > 1e-9)
        fail_msg("%s: level %u, from %g, wide %g", name, box->level, box->start, box->width);
}

static void children_lie_over_their_caller(void **state)
{
    (void)state;
    struct profile *profile = run_of_folded("main;f;g 10 other 20 main;h 50 main;f 5 main;f;g 15");
    struct svg_boxes boxes;
    struct err err = ERR_INIT;
    assert_true(svg_boxes_init(&boxes, profile, &err));
    assert_int_equal(boxes.list.n, 6);
    assert_int_equal(boxes.n_levels, 4);
    assert_int_equal(boxes.n_left_out, 0);
    assert_int_equal(boxes.list.items[0].level, 0);
    assert_true(boxes.list.items[0].width == 1);
    expect_box(&boxes, profile, "main", 1, 0, 0.8);
    expect_box(&boxes, profile, "other", 1, 0.8, 0.2);
    expect_box(&boxes, profile, "h", 2, 0, 0.5);
    expect_box(&boxes, profile, "f", 2, 0.5, 0.3);
    expect_box(&boxes, profile, "g", 3, 0.5, 0.25);
    const struct svg_box *f = box_of(&boxes, profile, "f");
    assert_int_equal(f->total, 30 * MS);
    assert_int_equal(f->self, 5 * MS);
    assert_int_equal(boxes.self[f->function], 5 * MS);
    svg_boxes_deinit(&boxes);
    profile_destroy(profile);
}

/* 0.1 of 1200 pixels are 1/12000. */
static void what_is_too_narrow_is_left_out(void **state)
{
    (void)state;
    struct profile *profile = run_of_folded("main 11990 main;seen 2 main;unseen;above 1");
    struct svg_boxes boxes;
    struct err err = ERR_INIT;
    assert_true(svg_boxes_init(&boxes, profile, &err));
    assert_non_null(box_of(&boxes, profile, "seen"));
    assert_non_null(box_of(&boxes, profile, "unseen")); /* just wide enough */
    svg_boxes_deinit(&boxes);
    profile_destroy(profile);
    profile = run_of_folded("main 12010 main;seen 2 main;unseen;above 1");
    assert_true(svg_boxes_init(&boxes, profile, &err));
    assert_null(box_of(&boxes, profile, "unseen"));
    assert_null(box_of(&boxes, profile, "above"));
    assert_int_equal(boxes.n_left_out, 2);
    assert_true(fabs(boxes.share_left_out - 1 / 12013.0) <
                1e-9); /* and not twice what lies above */
    assert_false(boxes.is_cut);
    svg_boxes_deinit(&boxes);
    profile_destroy(profile);
}

static void towers_are_cut(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    uint32_t stack = 0;
    for (unsigned level = 1; level <= SVG_MOST_LEVELS + 1; level++) {
        const struct profile_function function = {.line = level};
        const struct profile_frame frame = {.function = profile_add_function(builder, &function)};
        stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
    }
    const struct profile_sample sample = {.stack = stack};
    const uint64_t value = MS;
    profile_add_sample(builder, &sample, &value);
    struct profile *profile = builder_finish(builder);
    struct note_log log;
    const struct format_notes notes = note_log_make(&log);
    struct bytes picture = profile_write(&format_svg, profile, NULL, &notes);
    assert_non_null(strstr(log.text, "stacks were cut: frames above the first 4000"));
    assert_non_null(strstr(picture.bytes, "2 boxes"));
    free(picture.bytes);
    profile_destroy(profile);
}

/* Two profiles as one, with what is chance. */
static struct profile *change_make(const char *before, const char *after)
{
    struct profile *sides[] = {run_of_folded(before), run_of_folded(after)};
    const struct profile *const borrowed[] = {sides[0], sides[1]};
    const struct changes_request request = {.before = borrowed,
                                            .after = borrowed + 1,
                                            .n_before = 1,
                                            .n_after = 1,
                                            .scope = ROWS_OF_TREE};
    static const char *const paths[] = {"old/a.sprofile", "new/b <2>.sprofile"};
    struct err err = ERR_INIT;
    struct profile *made = NULL;
    assert_true(profile_side_by_side(&request, paths, NULL, &made, &err));
    profile_destroy(sides[0]);
    profile_destroy(sides[1]);
    return made;
}

static void two_runs_are_as_wide_as_both(void **state)
{
    (void)state;
    struct profile *change = change_make("main;f 300 main;old 100 main 100", "main;f 100 main 400");
    struct svg_boxes boxes;
    struct err err = ERR_INIT;
    assert_true(svg_boxes_init(&boxes, change, &err));
    assert_true(boxes.is_of_two);
    expect_box(&boxes, change, "main", 1, 0, 1);
    expect_box(&boxes, change, "f", 2, 0, 0.4);
    expect_box(&boxes, change, "old", 2, 0.4, 0.1);
    const struct svg_box *f = box_of(&boxes, change, "f");
    assert_int_equal(f->before, 300 * MS);
    assert_int_equal(f->total, 100 * MS);
    assert_true(f->interval > 0 && f->interval < 200.0 * MS);
    const struct svg_box *all = &boxes.list.items[0];
    assert_true(all->before == 500 * MS && all->total == 500 * MS && all->interval > 0);
    svg_boxes_deinit(&boxes);
    struct bytes picture = profile_write(&format_svg, change, NULL, NULL);
    assert_non_null(strstr(picture.bytes, "<title>a.sprofile \u2192 b &lt;2&gt;.sprofile</title>"));
    assert_non_null(
        strstr(picture.bytes,
               "<title>f\n300.0 ms (60.0%) \u2192 100.0 ms (20.0%), -200.0 ms, chance \u00b1 "));
    assert_non_null(strstr(picture.bytes, "data-mark=\"-67%\""));
    assert_non_null(strstr(picture.bytes, "data-mark=\"gone\""));
    free(picture.bytes);
    profile_destroy(change);
}

/* ---- what is drawn --------------------------------------------------------------------------- */

static void names_in_little_room(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t columns;
        const char *label;
    } cases[] = {
        {"main", 4, "main"},
        {"main", 3, "ma\u2026"},
        {"main", 2, ""},
        {"std::map<int, A<3>>::at(int const&)", 40, "std::map<\u2026>::at"},
        {"std::map<int, A<3>>::at(int const&)", 15, "std::map<\u2026>::at"},
        {"std::map<int, A<3>>::at(int const&)", 14, "\u2026::map<\u2026>::at"},
        {"std::map<int, A<3>>::at(int const&)", 6, "\u2026::at"},
        {"a::b::a_long_name(int)", 9, "\u2026::a_lon\u2026"},
        {"a::b::a_long_name(int)", 5, "a::b\u2026"},
        {"gr\u00f6\u00dfer_als", 6, "gr\u00f6\u00dfe\u2026"},
        {"a<>b<>", 20, "a<\u2026>b<\u2026>"},
    };
    struct chars label = {.items = NULL};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        assert_true(svg_label_fit(&label, text_make(cases[i].name), cases[i].columns));
        struct text found = chars_text(&label);
        if (!text_is(found, cases[i].label))
            fail_msg("%s in %zu: %.*s", cases[i].name, cases[i].columns, (int)found.length,
                     found.bytes);
    }
    chars_deinit(&label);
}

static void changes_have_colours(void **state)
{
    (void)state;
    static const struct {
        double before, after, interval;
        const char *class;
    } cases[] = {
        {5, 5, INFINITY, "n0"}, {5, 6, 2, "p0"},           {6, 5, 1, "m0"},    {0, 5, 1, "g7"},
        {5, 0, 1, "s7"},        {99, 100, INFINITY, "g0"}, {50, 100, 1, "g5"}, {100, 50, 1, "s5"},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        char class[SVG_CLASS_BYTES];
        svg_class_of_change(cases[i].before, cases[i].after, cases[i].interval, class);
        assert_string_equal(class, cases[i].class);
    }
}

/* The heaviest first, by self time. */
static void libraries_have_hues(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    static const char *const stacks[] = {"app/main;b/f", "app/main;a/g", "app/main;b/f"};
    for (size_t i = 0; i < N_ELEMENTS(stacks); i++) {
        const struct profile_sample sample = {.stack = module_stack(builder, stacks[i])};
        const uint64_t value = MS;
        profile_add_sample(builder, &sample, &value);
    }
    struct profile *profile = builder_finish(builder);
    struct svg_boxes boxes;
    struct svg_colors colors;
    struct err err = ERR_INIT;
    assert_true(svg_boxes_init(&boxes, profile, &err));
    assert_true(svg_colors_init(&colors, &boxes, profile, &err));
    assert_int_equal(colors.n_hues, 2);
    assert_int_equal(colors.hues[0].self, 2 * MS);
    static const struct {
        const char *name;
        char hue;
    } expected[] = {{"f", 'a'}, {"g", 'b'}, {"main", 'i'}};
    for (size_t i = 0; i < N_ELEMENTS(expected); i++) {
        char class[SVG_CLASS_BYTES];
        svg_class_of(&colors, &boxes, profile, box_of(&boxes, profile, expected[i].name), class);
        assert_int_equal(class[0], expected[i].hue);
    }
    svg_colors_deinit(&colors);
    svg_boxes_deinit(&boxes);
    profile_destroy(profile);
}

/* The picture of 3 s that are under main. */
static struct bytes picture_with(const char *const *accounts, size_t n)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    const struct profile_sample sample = {.stack = module_stack(builder, "m/main:1")};
    profile_add_sample(builder, &sample, &(const uint64_t){3000 * MS});
    for (size_t i = 0; i < n; i++) {
        char command[] = {'a', (char)('0' + i), '\0'};
        profile_add_metadata(builder, "account", accounts[i], strlen(accounts[i]));
        profile_add_metadata(builder, "command", command, 2);
    }
    struct profile *profile = builder_finish(builder);
    struct bytes picture = profile_write(&format_svg, profile, NULL, NULL);
    profile_destroy(profile);
    return picture;
}

#define ACCOUNT(explained, cpu)                                                                    \
    "{\"schema\":\"sampler-account-1\",\"total\":{\"cpu_ns\":" cpu ",\"explained_ns\":" explained  \
    ",\"paused_ns\":100000000,\"own_ns\":\"100000000\",\"lost\":{\"tail\":{\"cpu_ns\":7}}},"       \
    "\"processes\":[{\"cpu_ns\":1}]}"

static void accounts_add_up(void **state)
{
    (void)state;
    static const struct {
        const char *accounts[2];
        const char *words;
    } cases[] = {
        {{ACCOUNT("3000000000", "4200000000")}, " \u00b7 75.0% of the 4.000 s used \u00b7"},
        {{ACCOUNT("1000000000", "2200000000"), ACCOUNT("2000000000", "\"3200000000\"")},
         " \u00b7 60.0% of the 5.000 s used \u00b7"},
        {{ACCOUNT("9000000000", "9200000000")}, " \u00b7 part of the 9.000 s used \u00b7"},
        {{ACCOUNT("3000000000", "null"), ACCOUNT("1", "2200000000")}, NULL},
        {{"{\"schema\":\"sampler-account-2\",\"total\":{\"cpu_ns\":9,\"explained_ns\":9}}"}, NULL},
        {{"{"}, NULL},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        size_t n = cases[i].accounts[1] == NULL ? 1 : 2;
        struct bytes picture = picture_with(cases[i].accounts, n);
        if (cases[i].words == NULL)
            assert_null(strstr(picture.bytes, " used"));
        else
            assert_non_null(strstr(picture.bytes, cases[i].words));
        assert_non_null(strstr(picture.bytes, n == 1 ? ">a0<" : ">a0, a1<"));
        free(picture.bytes);
    }
}

static void no_name_is_markup(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *xml;
    } cases[] = {
        {"a<b>&\"c'", 8, "a&lt;b&gt;&amp;&quot;c'"},
        {"a\0b\n\x1b", 5, "a\ufffdb\ufffd\ufffd"},
        {"\xffz\xc3", 3, "\ufffdz\ufffd"},
        {"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", 9, "\ufffd\ufffd\ufffd"},
        {"\xed\xa0\x80", 3, "\ufffd\ufffd\ufffd"},
        {"", 0, ""},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct err err = ERR_INIT;
        struct sink *sink = NULL;
        size_t n;
        assert_true(sink_create_buffer(&sink, &err));
        xml_text(sink, (struct text){cases[i].bytes, cases[i].length});
        const char *found = sink_buffer(sink, &n);
        assert_true(text_is((struct text){n == 0 ? "" : found, n}, cases[i].xml));
        sink_abandon(sink);
    }
}

/* It stands in a CDATA section. */
static void the_script_is_well_formed(void **state)
{
    (void)state;
    struct text script = svg_script();
    assert_true(script.length > 1000 && script.length < 20000);
    assert_null(memmem(script.bytes, script.length, "]]>", 3));
    for (size_t i = 0; i < script.length; i++)
        assert_true(script.bytes[i] == '\n' || (script.bytes[i] >= ' ' && script.bytes[i] <= '~'));
}

static bool picture_try(const struct profile *profile, struct err *err)
{
    struct sink *sink = NULL;
    bool ok = sink_create_buffer(&sink, err) && format_svg.write(profile, NULL, NULL, sink, err) &&
              !sink_failed(sink);
    sink_abandon(sink);
    return ok;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct profile *profiles[] = {
        run_of_folded("main;std::map<int>::at(int) 10 main;f 20"),
        change_make("main;f 300 main;old 100", "main;f 100 main 400"),
    };
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        unsigned n_failed = 0;
        bool fired = true;
        for (unsigned n = 1; fired; n++) {
            struct err err = ERR_INIT;
            alloc_fault_arm(n);
            bool ok = picture_try(profiles[i], &err);
            fired = alloc_fault_fired();
            assert_true(ok || (fired && err.code == ERR_MEMORY) || (fired && err.code == ERR_NONE));
            n_failed += !ok;
        }
        assert_true(n_failed > 10);
        profile_destroy(profiles[i]);
    }
}

static void pictures_of_nothing(void **state)
{
    (void)state;
    struct profile *profile = builder_finish(builder_make(PROFILE_UNIT_NS, MS));
    struct bytes picture = profile_write(&format_svg, profile, NULL, NULL);
    assert_non_null(strstr(picture.bytes, "0.0 ms of time"));
    assert_non_null(strstr(picture.bytes, "<title>all\n0.0%, 0.0 ms</title>"));
    free(picture.bytes);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_lie_over_their_caller),
        cmocka_unit_test(what_is_too_narrow_is_left_out),
        cmocka_unit_test(towers_are_cut),
        cmocka_unit_test(two_runs_are_as_wide_as_both),
        cmocka_unit_test(names_in_little_room),
        cmocka_unit_test(changes_have_colours),
        cmocka_unit_test(libraries_have_hues),
        cmocka_unit_test(accounts_add_up),
        cmocka_unit_test(no_name_is_markup),
        cmocka_unit_test(the_script_is_well_formed),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(pictures_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
