/* test_embed.c - the profile that --embed-source makes is the one it had and the text; which files it takes is in
 * e2e.test_html_source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "alloc_fault.h"
#include "formats/format.h"
#include "model/sources.h"
#include "options/options.h"
#include "profile_help.h"
#include "profile_text.h"
#include "source/embed.h"
#include "unit.h"

#define TEXT "int main(void)\n{\n}\n"

static char path[] = "/tmp/test_embed.XXXXXX.c";

static int file_make(void **state)
{
    (void)state;
    int fd = mkstemps(path, 2);
    return fd < 0 || write(fd, TEXT, sizeof TEXT - 1) != sizeof TEXT - 1 || close(fd) != 0;
}

static int file_remove(void **state)
{
    (void)state;
    return unlink(path);
}

/* Samples or spans of a function of that file, and whatever else a profile has. */
static struct profile *profile_make(bool has_spans)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    uint32_t thread = thread_add(builder, "app", 7, "worker", 8);
    const struct profile_function function = {.name = profile_add_cstring(builder, "main"),
                                              .file = profile_add_cstring(builder, path),
                                              .line = 1};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = 2};
    const struct profile_sample sample = {
        .thread = thread,
        .stack = profile_add_stack(builder, 0, profile_add_frame(builder, &frame))};
    const struct profile_bookmark bookmark = {.text = profile_add_cstring(builder, "here"),
                                              .time_ns = 3};
    struct utsname here;
    assert_int_equal(uname(&here), 0);
    profile_add_metadata(builder, "command", "app", 3);
    profile_add_metadata(builder, "host", here.nodename, strlen(here.nodename));
    profile_add_bookmark(builder, &bookmark);
    if (has_spans) {
        span_add(builder, thread, "outer", 10, 90);
        span_add(builder, thread, "inner", 20, 30);
    } else {
        const uint64_t values[] = {5};
        profile_add_sample(builder, &sample, values);
        sample_add(builder, thread, "a;b", 0, 7);
    }
    return builder_finish(builder);
}

static struct options options_of(const char *word)
{
    struct options options;
    struct err err = ERR_INIT;
    char own_name[] = "convert", quiet[] = "-q", given[32], input[] = "x";
    char *argv[] = {own_name, quiet, given, input, NULL};
    snprintf(given, sizeof given, "%s", word);
    assert_true(options_parse(COMMAND_CONVERT, 4, argv, &options, &err));
    return options;
}

static void expect_same(const struct profile *found, const struct profile *expected)
{
    char why[PROFILE_TEXT_WHY];
    const uint32_t keeps =
        expected->n_spans > 1 ? ~(uint32_t)KEEPS_SAMPLES : ~(uint32_t)KEEPS_SPANS;
    const struct profile_text_rules rules = {.keeps = keeps & ~(uint32_t)KEEPS_METADATA,
                                             .format_keeps = keeps};
    struct profile_text lines = profile_text_make(found, &rules);
    struct profile_text wanted = profile_text_make(expected, &rules);
    assert_true(wanted.lines.n >= 3);
    profile_text_differ(&lines, &wanted, 0, why);
    assert_string_equal(why, "");
    profile_text_free(&lines);
    profile_text_free(&wanted);
}

static void the_rest_stays(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct options options = options_of("--embed-source");
    for (int has_spans = 0; has_spans <= 1; has_spans++) {
        struct profile *before = profile_make(has_spans), *profile = profile_make(has_spans);
        struct text text;
        assert_false(profile_source(profile, text_make(path), &text));
        assert_true(embed_sources(&profile, &options, &err));
        expect_same(profile, before);
        assert_int_equal(profile_source(profile, text_make(path), &text), !has_spans);
        if (!has_spans)
            assert_true(text_is(text, TEXT));
        assert_int_equal(profile->n_metadata, before->n_metadata + !has_spans);
        profile_destroy(before);
        profile_destroy(profile);
    }
}

static void only_when_asked(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct options options = options_of("-q");
    struct profile *profile = profile_make(false), *before = profile;
    assert_true(embed_sources_if_asked(&profile, &options, &err));
    assert_ptr_equal(profile, before);
    profile_destroy(profile);
}

static void memory_runs_out(void **state)
{
    (void)state;
    bool fired = true;
    struct options options = options_of("--embed-source");
    struct profile *profile = profile_make(false);
    for (unsigned n = 1; fired; n++) {
        struct err err = ERR_INIT;
        struct profile *before = profile;
        alloc_fault_arm(n);
        bool ok = embed_sources(&profile, &options, &err);
        fired = alloc_fault_fired();
        assert_true(ok || (fired && err.code == ERR_MEMORY && profile == before));
    }
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_stays),
        cmocka_unit_test(only_when_asked),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, file_make, file_remove);
}
