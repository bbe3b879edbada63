/* test_losses.c - what writing a profile in each format of the table says is lost (losses.h). */
#include <stdio.h>
#include <string.h>

#include "profile_help.h"
#include "registry/losses.h"
#include "registry/registry.h"
#include "unit.h"

#define MS UINT64_C(1000000)

static const char *said(const struct profile *profile, const struct format *format)
{
    static char text[LOSSES_BYTES];
    return losses_describe(profile, format, text);
}

static uint32_t native_frame(struct profile_builder *builder, uint32_t flags)
{
    const struct profile_module module = {.path = profile_add_cstring(builder, "/bin/app")};
    const struct profile_function function = {.name = profile_add_cstring(builder, "work"),
                                              .module = profile_add_module(builder, &module)};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = 7,
                                        .flags = flags,
                                        .address = 0x1234};
    return profile_add_frame(builder, &frame);
}

/* Two processes with a named thread each, and one of everything else. */
static struct profile *everything_make(bool with_samples)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, MS);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    scalars->kinds[1] =
        (struct profile_kind){profile_add_cstring(builder, "bytes"), PROFILE_UNIT_BYTES};
    uint32_t thread = thread_add(builder, "app", 1, "main", 1);
    (void)thread_add(builder, "child", 2, "worker", 2);
    uint32_t frame = native_frame(builder, PROFILE_FRAME_INLINED);
    const struct profile_sample sample = {.thread = thread,
                                          .stack = profile_add_stack(builder, 0, frame)};
    const uint64_t values[] = {MS, 4096};
    if (with_samples)
        profile_add_sample(builder, &sample, values);
    const struct profile_span span = {.thread = thread, .frame = frame, .end_ns = MS};
    profile_add_span(builder, &span);
    const struct profile_instant instant = {.thread = thread, .frame = frame};
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread, .end_ns = 5};
    profile_add_off_cpu(builder, &off_cpu);
    const struct profile_bookmark bookmark = {.time_ns = 3};
    profile_add_bookmark(builder, &bookmark);
    profile_add_metadata(builder, "command", "app", 3);
    return builder_finish(builder);
}

/* A flag of the format, or the words for what it stands for: one of the two, in every format. */
static void every_format_says_what_it_lacks(void **state)
{
    (void)state;
    static const struct {
        uint32_t keeps;
        bool is_of_functions_or_threads;
        const char *words;
    } things[] = {
        {KEEPS_INLINED, true, "which frames are inlined"},
        {KEEPS_MODULES, true, "modules"},
        {KEEPS_ADDRESSES, true, "addresses"},
        {KEEPS_THREADS, true, "names of threads"},
        {KEEPS_PROCESSES | KEEPS_THREADS, true, "processes"},
        {KEEPS_ALL_KINDS, false, "more than one number"},
        {KEEPS_SPANS, false, "spans besides the samples"},
        {KEEPS_INSTANTS, false, "events and values"},
        {KEEPS_OFF_CPU, false, "times off the processor"},
        {KEEPS_BOOKMARKS, false, "bookmarks"},
    };
    struct profile *profile = everything_make(true);
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        const struct format *format = *row;
        const char *text = said(profile, format);
        bool is_stack_counts = (format->keeps & (KEEPS_TIMES | KEEPS_FILES | KEEPS_SPANS)) == 0;
        char begin[100];
        snprintf(begin, sizeof begin, "%s does not keep: ", format->name);
        if (text[0] != '\0')
            assert_memory_equal(text, begin, strlen(begin));
        for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
            bool expected = (format->keeps & things[i].keeps) == 0 &&
                            !(is_stack_counts && things[i].is_of_functions_or_threads);
            if ((strstr(text, things[i].words) != NULL) != expected)
                fail_msg("%s: \"%s\": %s", format->name, text, things[i].words);
        }
    }
    profile_destroy(profile);
}

static void the_words_of_some_formats(void **state)
{
    (void)state;
    struct profile *profile = everything_make(true);
    assert_string_equal(
        said(profile, format_by_name("cpuprofile")),
        "cpuprofile does not keep: which frames are inlined, modules, addresses, "
        "names of threads, processes, more than one number of each sample, spans "
        "besides the samples, events and values, times off the processor, bookmarks");
    assert_string_equal(said(profile, format_by_name("folded")),
                        "folded does not keep: more than one number of each sample, spans besides "
                        "the samples, events and values, times off the processor, bookmarks");
    assert_string_equal(said(profile, format_by_name("htdump")), "");
    profile_destroy(profile);
    profile = everything_make(false);
    assert_string_equal(said(profile, format_by_name("diff-folded")),
                        "diff-folded does not keep: single spans (samples of their self times "
                        "stand for them), events and values, times off the processor, bookmarks");
    profile_destroy(profile);
}

/* What every recording has is no news in a flame graph; nothing at all is none anywhere. */
static void plain_profiles_lose_nothing(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, MS);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    scalars->has_times = true;
    scalars->kinds[1] = (struct profile_kind){profile_add_cstring(builder, "cpu"), PROFILE_UNIT_NS};
    const uint64_t values[] = {1, MS};
    for (uint64_t tid = 1; tid < 3; tid++) {
        const struct profile_sample sample = {
            .thread = thread_add(builder, "app", tid, "worker", tid),
            .stack = profile_add_stack(builder, 0, native_frame(builder, PROFILE_FRAME_INLINED))};
        profile_add_sample(builder, &sample, values);
    }
    struct profile *profile = builder_finish(builder);
    assert_string_equal(said(profile, format_by_name("folded")), "");
    assert_string_equal(said(profile, format_by_name("chrome-trace")),
                        "chrome-trace does not keep: which frames are inlined, modules, addresses");
    profile_destroy(profile);

    builder = builder_make(PROFILE_UNIT_COUNT, MS);
    sample_add(builder, thread_add(builder, "app", 1, "main", 1), "main;work", 5, 1);
    struct profile *plain = builder_finish(builder);
    struct profile *empty = builder_finish(builder_make(PROFILE_UNIT_COUNT, MS));
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        assert_string_equal(said(plain, *row), "");
        assert_string_equal(said(empty, *row), "");
    }
    profile_destroy(plain);
    profile_destroy(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_says_what_it_lacks),
        cmocka_unit_test(the_words_of_some_formats),
        cmocka_unit_test(plain_profiles_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
