/* test_cpuprofile_rules.c - single rules of docs/formats/cpuprofile.md and chrome-trace.md that no
 * file of the corpus is about. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_help.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "profile_help.h"
#include "unit.h"

#define MS UINT64_C(1000000)

/* ---- reading ---- */

/* A file with these nodes; its samples are of nodes 2 and 2, a millisecond each. */
static struct profile *read_nodes(const char *nodes, struct err *err)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{\"nodes\":[%s],\"startTime\":1000,\"endTime\":3000,\"samples\":[2,2],\"timeDeltas\":"
             "[0,1000]}",
             nodes);
    struct profile *profile = NULL;
    const struct format_options options = {0};
    (void)!format_cpuprofile.read((const uint8_t *)text, strlen(text), &options, NULL, &profile,
                                  err);
    return profile;
}

static const struct profile_function *function_of(const struct profile *profile, uint32_t stack)
{
    return &profile->functions[profile->frames[profile->stacks[stack].frame].function];
}

static void the_last_of_two_call_frames_wins_whole(void **state)
{
    (void)state;
    static const char *const seconds[] = {"{\"functionName\":\"b\"}", "null", "7", "[]"};
    for (size_t i = 0; i < 4; i++) {
        char nodes[500];
        struct err err = ERR_INIT;
        snprintf(nodes, sizeof nodes,
                 "{\"id\":1,\"callFrame\":{},\"children\":[2]},{\"id\":2,\"callFrame\":{"
                 "\"functionName\":\"a\","
                 "\"url\":\"/x\",\"lineNumber\":5,\"columnNumber\":6},\"callFrame\":%s}",
                 seconds[i]);
        struct profile *profile = read_nodes(nodes, &err);
        assert_non_null(profile);
        const struct profile_function *function = function_of(profile, profile->samples[0].stack);
        assert_string_equal(profile_text(profile, function->name).bytes, i == 0 ? "b" : "");
        assert_int_equal(function->file, 0);
        assert_int_equal(function->line, 0);
        assert_int_equal(function->column, 0);
        profile_destroy(profile);
    }
}

static void the_last_of_two_lists_of_children_wins(void **state)
{
    (void)state;
    static const char *const seconds[] = {"[{\"id\":3,\"functionName\":\"c\",\"children\":[]}]",
                                          "[]", "null"};
    for (size_t i = 0; i < 3; i++) {
        char text[500];
        struct err err = ERR_INIT;
        struct profile *profile = NULL;
        const struct format_options options = {0};
        snprintf(text, sizeof text,
                 "{\"head\":{\"id\":1,\"functionName\":\"(root)\",\"children\":[{\"id\":3,"
                 "\"functionName\":\"a\","
                 "\"children\":[{\"id\":4}]}],\"children\":%s},\"startTime\":1,\"endTime\":2,"
                 "\"samples\":[3]}",
                 seconds[i]);
        bool ok = format_cpuprofile.read((const uint8_t *)text, strlen(text), &options, NULL,
                                         &profile, &err);
        assert_int_equal(ok,
                         i == 0); /* the first list's node 3 is gone, and so is its sample's node */
        if (ok) {
            const struct profile_function *function =
                function_of(profile, profile->samples[0].stack);
            assert_string_equal(profile_text(profile, function->name).bytes, "c");
        } else {
            assert_non_null(strstr(err.text, "which does not exist"));
        }
        profile_destroy(profile);
    }
}

static void a_parent_key_cannot_contradict_a_list_of_children(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_null(
        read_nodes("{\"id\":1,\"children\":[2,3]},{\"id\":2,\"parent\":3},{\"id\":3}", &err));
    assert_non_null(strstr(err.text, "two parents"));
    err = (struct err)ERR_INIT;
    struct profile *profile =
        read_nodes("{\"id\":1,\"children\":[2]},{\"id\":2,\"parent\":1}", &err);
    assert_non_null(profile);
    profile_destroy(profile);
}

static void only_made_up_idle_nodes_are_idle(void **state)
{
    (void)state;
    for (int is_real = 0; is_real < 2; is_real++) {
        char nodes[300];
        struct err err = ERR_INIT;
        snprintf(nodes, sizeof nodes,
                 "{\"id\":1,\"children\":[2]},{\"id\":2,\"callFrame\":{\"functionName\":\"(idle)\","
                 "\"url\":\"%s\"}}",
                 is_real ? "/x.js" : "");
        struct profile *profile = read_nodes(nodes, &err);
        assert_non_null(profile);
        const struct profile_frame *frame =
            &profile->frames[profile->stacks[profile->samples[0].stack].frame];
        assert_int_equal((frame->flags & PROFILE_FRAME_IDLE) != 0, !is_real);
        profile_destroy(profile);
    }
}

static void quoted_times_replaced_by_numbers_are_none(void **state)
{
    (void)state;
    static const char text[] =
        "{\"nodes\":[{\"id\":1}],\"startTime\":\"5\",\"startTime\":5,\"endTime\":9,"
        "\"samples\":[1],\"timeDeltas\":[1]}";
    struct bytes in = {.n = sizeof text - 1};
    in.bytes = strdup(text);
    profile_destroy(bytes_read(&format_cpuprofile, in, NULL));
    free(in.bytes);
}

static void a_file_without_samples_is_told(void **state)
{
    (void)state;
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *profile =
        text_read(&format_cpuprofile,
                  "{\"nodes\":[{\"id\":1,\"hitCount\":3}],\"startTime\":5,\"endTime\":9}", &notes);
    assert_int_equal(profile->n_samples, 0);
    assert_string_equal(log.text, "no samples in the file; hit counts alone are not read\n");
    profile_destroy(profile);
}

/* ---- writing ---- */

static char *write_all(const struct profile *profile, const struct format *format)
{
    const struct format_options options = {.merge_threads = true};
    struct bytes out = profile_write(format, profile, &options, NULL);
    return out.bytes;
}

/* Weights that fill 64 bits, in several threads: times stay in order and below 2^53. */
static void endless_times_stay_in_order(void **state)
{
    (void)state;
    for (unsigned has_times = 0; has_times < 2; has_times++) {
        struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, has_times ? MS : 0);
        struct profile_scalars *scalars = profile_builder_scalars(builder);
        scalars->has_times = has_times;
        scalars->start_time_ns = UINT64_MAX - 5;
        scalars->duration_ns = UINT64_MAX - 5;
        for (uint64_t tid = 1; tid < 4; tid++) {
            uint32_t thread = thread_add(builder, "p", 1, "t", tid);
            sample_add(builder, thread, "a", 7, UINT64_MAX - 100);
            sample_add(builder, thread, "b", UINT64_MAX - 9, UINT64_MAX);
            sample_add(builder, thread, "a", UINT64_MAX - 8, 50);
        }
        struct profile *profile = builder_finish(builder);
        char *text = write_all(profile, &format_cpuprofile);
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        struct profile *back = text_read(&format_cpuprofile, text, &notes);
        assert_string_equal(log.text, ""); /* "not in order of time: sorted" */
        profile_destroy(back);
        free(text);
        text = write_all(profile, &format_chrome_trace);
        for (const char *at = text; (at = strpbrk(at, "0123456789")) != NULL;) {
            char *end;
            assert_true(strtod(at, &end) <= CPUPROFILE_MAX_EXACT);
            at = end;
        }
        free(text);
        profile_destroy(profile);
    }
}

/* Ids are 1, 2, 3 ... whichever made-up nodes the file needs. */
static void ids_are_dense(void **state)
{
    (void)state;
    for (unsigned is_idle = 0; is_idle < 2; is_idle++) {
        for (unsigned is_deep = 0; is_deep < 2; is_deep++) {
            struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
            profile_builder_scalars(builder)->has_times = true;
            uint32_t thread = thread_add(builder, "p", 1, "t", 1);
            sample_add(builder, thread, "main;a", MS, MS);
            sample_add(builder, thread, "main;b", is_idle ? 9 * MS : 2 * MS, MS);
            uint32_t stack = 0;
            for (unsigned i = 0; is_deep && i < CPUPROFILE_MAX_DEPTH + 5; i++)
                stack = profile_add_stack(builder, stack, profile_add_named_frame(builder, "r", 1));
            const struct profile_sample sample = {
                .thread = thread, .stack = stack, .time_ns = 10 * MS};
            profile_add_sample(builder, &sample, &(uint64_t){MS});
            struct profile *profile = builder_finish(builder);
            const struct format *const formats[] = {&format_cpuprofile, &format_chrome_trace};
            for (size_t f = 0; f < 2; f++) {
                char *text = write_all(profile, formats[f]);
                unsigned n = 0;
                for (const char *at = text; (at = strstr(at, "{\"id\":")) != NULL; at++)
                    assert_int_equal(strtoul(at + 6, NULL, 10), ++n);
                assert_true(n >= 4);
                free(text);
            }
            char *text = write_all(profile, &format_cpuprofile);
            struct profile *back = text_read(&format_cpuprofile, text, NULL);
            assert_string_equal(
                profile_text(back, function_of(back, back->samples[0].stack)->name).bytes, "a");
            profile_destroy(back);
            free(text);
            profile_destroy(profile);
        }
    }
}

/* Viewers find a thread by pid and tid: no two may have the same. */
static void threads_of_a_trace_are_told_apart(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    profile_builder_scalars(builder)->has_times = true;
    static const uint64_t ids[][2] = {{7, 7}, {7, 7}, {7, 0}, {8, 7},
                                      {0, 0}, {0, 0}, {7, 7}, {7, 3}};
    enum { N = sizeof ids / sizeof ids[0] };
    for (size_t i = 0; i < N; i++)
        sample_add(builder, thread_add(builder, "p", ids[i][0], "t", ids[i][1]), "main", MS, MS);
    struct profile *profile = builder_finish(builder);
    char *text = write_all(profile, &format_chrome_trace);
    uint64_t seen[N][2];
    size_t n = 0;
    static const char begin[] = "{\"name\":\"Profile\",";
    for (const char *at = text; (at = strstr(at, begin)) != NULL; at++) {
        assert_true(n < N);
        assert_int_equal(sscanf(strstr(at, "\"pid\":"), "\"pid\":%" SCNu64 ",\"tid\":%" SCNu64,
                                &seen[n][0], &seen[n][1]),
                         2);
        for (size_t k = 0; k < n; k++)
            assert_false(seen[k][0] == seen[n][0] && seen[k][1] == seen[n][1]);
        n++;
    }
    assert_int_equal(n, N);
    assert_int_equal(seen[0][1], 7);
    assert_int_equal(seen[3][0], 8);
    assert_int_equal(seen[3][1], 7);
    free(text);
    profile_destroy(profile);
}

/* What a writer says of a profile. */
static void check_said(const struct profile *profile, const char *want)
{
    const struct format *const formats[] = {&format_cpuprofile, &format_chrome_trace};
    for (size_t f = 0; f < 2; f++) {
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        const struct format_options options = {.merge_threads = true};
        free(profile_write(formats[f], profile, &options, &notes).bytes);
        assert_string_equal(log.text, want);
    }
}

static struct profile *profile_of_one(bool has_times, uint64_t value)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    profile_builder_scalars(builder)->has_times = has_times;
    uint32_t thread = thread_add(builder, "p", 1, "t", 1);
    for (uint64_t i = 1; i < 4; i++)
        sample_add(builder, thread, "main;a", i * MS, value);
    return builder_finish(builder);
}

/* A time line that is not what happened is said to be none. */
static void invented_and_cut_times_are_said(void **state)
{
    (void)state;
    static const char invented[] = "the profile has no times: samples are laid end to end, in no "
                                   "order in which they happened\n";
    static const char cut[] = "times beyond 2^53 microseconds are cut: weights are missing\n";
    char both[300];
    snprintf(both, sizeof both, "%s%s", invented, cut);
    for (unsigned i = 0; i < 4; i++) {
        struct profile *profile = profile_of_one(i % 2 != 0, i / 2 != 0 ? UINT64_MAX / 2 : MS);
        check_said(profile, i == 0 ? invented : i == 1 ? "" : i == 2 ? both : cut);
        profile_destroy(profile);
    }
}

/* The number of `text`s in `in`; no strstr, which looks for the end of `in` each time under ASan.
 */
static size_t count_of(const char *in, const char *text)
{
    size_t n = 0, length = strlen(text);
    for (; *in != '\0'; in++)
        n += *in == text[0] && memcmp(in, text, strnlen(in, length)) == 0;
    return n;
}

/* Viewers fail on more children than that: the last stands for the rest, and nothing is lost. */
static void no_node_has_too_many_children(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        const uint32_t n = CPUPROFILE_MAX_CHILDREN - 1 + more * 3;
        struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
        profile_builder_scalars(builder)->has_times = true;
        uint32_t thread = thread_add(builder, "p", 1, "t", 1);
        for (uint32_t i = 0; i < n; i++) {
            char stack[40];
            snprintf(stack, sizeof stack, "m;f%u;leaf", i);
            sample_add(builder, thread, stack, (i + 1) * MS, MS);
        }
        struct profile *profile = builder_finish(builder);
        char *text = write_all(profile, &format_cpuprofile);
        const char *list = strstr(strstr(text, "\"m\""), "\"children\":[");
        size_t n_children = 1;
        for (; *list != ']'; list++)
            n_children += *list == ',';
        assert_int_equal(n_children, more ? CPUPROFILE_MAX_CHILDREN : n);
        assert_int_equal(count_of(text, "\"[others]\""), more);
        assert_int_equal(count_of(text, "\"leaf\""), n_children);
        struct profile *back = text_read(&format_cpuprofile, text, NULL);
        uint64_t total = 0;
        for (size_t i = 0; i < back->n_samples; i++)
            total += profile_value(back, i, profile_kind_find(back, PROFILE_UNIT_NS));
        assert_int_equal(total, n * MS);
        check_said(profile, more ? "of more than 100000 functions called from one place the last "
                                   "are [others]\n"
                                 : "");
        profile_destroy(back);
        free(text);
        profile_destroy(profile);
    }
}

/* A thread that waits is no block: the self times of blocks are those of the samples. */
static void idle_times_become_gaps_between_spans(void **state)
{
    (void)state;
    struct profile *profile = text_read(
        &format_cpuprofile,
        "{\"nodes\":[{\"id\":1,\"children\":[2,3]},{\"id\":2,\"callFrame\":{\"functionName\":"
        "\"(idle)\",\"url\":\"\"}},{\"id\":3,\"callFrame\":{\"functionName\":\"a\"}}],"
        "\"startTime\":1,\"endTime\":51,\"samples\":[3,2,3],\"timeDeltas\":[0,10,30]}",
        NULL);
    struct profile *spans = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_samples_to_spans(profile, &spans, &err));
    assert_int_equal(spans->n_spans, 3); /* row 0 is none */
    for (uint32_t id = 1; id < 3; id++)
        assert_int_equal(spans->spans[id].end_ns - spans->spans[id].begin_ns, 10000);
    profile_destroy(spans);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_two_call_frames_wins_whole),
        cmocka_unit_test(the_last_of_two_lists_of_children_wins),
        cmocka_unit_test(a_parent_key_cannot_contradict_a_list_of_children),
        cmocka_unit_test(only_made_up_idle_nodes_are_idle),
        cmocka_unit_test(quoted_times_replaced_by_numbers_are_none),
        cmocka_unit_test(a_file_without_samples_is_told),
        cmocka_unit_test(endless_times_stay_in_order),
        cmocka_unit_test(ids_are_dense),
        cmocka_unit_test(threads_of_a_trace_are_told_apart),
        cmocka_unit_test(invented_and_cut_times_are_said),
        cmocka_unit_test(idle_times_become_gaps_between_spans),
        cmocka_unit_test(no_node_has_too_many_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
