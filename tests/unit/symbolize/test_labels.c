/* test_labels.c - what a program has told the profiler, from the recording to the profile: labels
 * of threads, and spans of time without sampling. */
#include "account/closing.h"
#include "build/build.h"
#include "recording_builder.h"
#include "unit.h"

static void put_label(struct recording_builder *b, const char *label)
{
    builder_byte(b, CAPTURE_THREAD_LABEL);
    builder_text(b, label, strlen(label));
}

static void put_pause(struct recording_builder *b, uint64_t time, unsigned stops)
{
    builder_byte(b, CAPTURE_PAUSE);
    builder_varint(b, time);
    builder_varint(b, stops);
}

static struct recording *read_back(const struct recording_builder *b)
{
    struct recording *recording = NULL;
    struct err err = ERR_INIT;
    assert_true(recording_read_memory(b->bytes, b->size_bytes, &recording, &err));
    assert_int_equal(recording->n_warnings, 0);
    return recording;
}

/* The names of a stack, root first, joined by ';'. */
static const char *folded(const struct profile *profile, uint32_t stack)
{
    static char text[512];
    if (stack == 0) {
        text[0] = '\0';
        return text;
    }
    const struct profile_stack *top = &profile->stacks[stack];
    folded(profile, top->parent);
    const struct profile_function *function =
        &profile->functions[profile->frames[top->frame].function];
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s%s", length == 0 ? "" : ";",
             profile_text(profile, function->name).bytes);
    return text;
}

/* One stream: frames in no module below each other, and one cut off. */
static void begin(struct recording_builder *b)
{
    builder_init(b);
    builder_chunk(b, 0, 0);
    builder_thread_start(b, 10, 0, 0, "worker");
    builder_clock(b, CAPTURE_CLOCK_PERF, 0);
    builder_node(b, 0, 0, 0, 0x1000);         /* 1 */
    builder_node(b, 1, 0, 1, 0x2000);         /* 2 */
    builder_node_cut(b, CAPTURE_CUT_NO_RULE); /* 3 */
    builder_node(b, 3, 0, 1, 0x3000);         /* 4 */
}

static void labels_stand_at_the_root(void **state)
{
    (void)state;
    struct recording_builder b;
    struct account account;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    const struct build_options options = {0};
    begin(&b);
    builder_sample(&b, 1, 2);
    put_label(&b, "parse");
    builder_sample(&b, 1, 2);
    builder_sample(&b, 1, 4);
    builder_sample(&b, 1, 0);
    put_label(&b, "draw");
    builder_sample(&b, 1, 1);
    put_label(&b, "parse");
    builder_sample(&b, 1, 2);
    builder_sample(&b, 1, 1);
    put_label(&b, "");
    builder_sample(&b, 1, 2);
    put_label(&b, "lost");
    builder_thread_start(&b, 11, 100, 0, "another"); /* begins without one */
    builder_sample(&b, 1, 2);
    struct recording *recording = read_back(&b);
    const struct recording *const recordings[] = {recording};
    assert_true(account_init(&account));
    assert_true(profile_build(recordings, 1, &options, &profile, &account, &err));
    const char *const expected[] = {
        "[anon];[anon]", "parse;[anon];[anon]", "parse;[truncated: no unwind rule];[anon]",
        "parse",         "draw;[anon]",         "parse;[anon];[anon]",
        "parse;[anon]",  "[anon];[anon]",       "[anon];[anon]",
    };
    assert_int_equal(profile->n_samples, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < profile->n_samples; i++)
        assert_string_equal(folded(profile, profile->samples[i].stack), expected[i]);
    /* One stack each, however often it comes. */
    assert_int_equal(profile->samples[1].stack, profile->samples[5].stack);
    assert_int_equal(account.all.n_samples, profile->n_samples);
    profile_destroy(profile);
    account_deinit(&account);
    recording_destroy(recording);
    builder_deinit(&b);
}

/* More pairs of label and node than the first table of them holds. */
static void many_labels(void **state)
{
    (void)state;
    enum { N = 2000 };
    struct recording_builder b;
    struct account account;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    const struct build_options options = {0};
    begin(&b);
    char label[24];
    for (unsigned i = 0; i < N; i++) {
        if (i % 400 == 399)
            builder_chunk(&b, 0, i / 400 + 1);
        snprintf(label, sizeof label, "request %u", i % (N / 2));
        put_label(&b, label);
        builder_sample(&b, 1, 2);
    }
    struct recording *recording = read_back(&b);
    const struct recording *const recordings[] = {recording};
    assert_true(account_init(&account));
    assert_true(profile_build(recordings, 1, &options, &profile, &account, &err));
    assert_int_equal(profile->n_samples, N);
    for (unsigned i = 0; i < N; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "request %u;[anon];[anon]", i % (N / 2));
        assert_string_equal(folded(profile, profile->samples[i].stack), expected);
    }
    profile_destroy(profile);
    account_deinit(&account);
    recording_destroy(recording);
    builder_deinit(&b);
}

static uint64_t paused_ns(const uint64_t *times, size_t n, uint64_t length_ns)
{
    struct recording_builder b;
    begin(&b);
    /* Pairs of time and whether it stops; the later ones come first, in another thread's stream. */
    for (size_t i = n; i-- > 0;)
        put_pause(&b, times[2 * i], (unsigned)times[2 * i + 1]);
    struct recording *recording = read_back(&b);
    assert_int_equal(recording->n_pauses, n);
    uint64_t found_ns = recording_paused_ns(recording, length_ns);
    recording_destroy(recording);
    builder_deinit(&b);
    return found_ns;
}

static void pauses_add_up(void **state)
{
    (void)state;
    assert_int_equal(paused_ns(NULL, 0, 1000000), 0);
    assert_int_equal(paused_ns((const uint64_t[]){100, 1, 300, 0}, 2, 1000000), 200000);
    assert_int_equal(paused_ns((const uint64_t[]){100, 1, 300, 0, 900, 1}, 3, 1000000), 300000);
    assert_int_equal(paused_ns((const uint64_t[]){0, 1}, 1, 1000000), 1000000);
    /* Damaged ones: stops twice, goes on without a stop, beyond the end. */
    assert_int_equal(paused_ns((const uint64_t[]){100, 1, 200, 1, 300, 0}, 3, 1000000), 200000);
    assert_int_equal(paused_ns((const uint64_t[]){300, 0}, 1, 1000000), 0);
    assert_int_equal(paused_ns((const uint64_t[]){100, 1, 5000, 0}, 2, 1000000), 900000);
}

static void the_account_is_of_the_time_on(void **state)
{
    (void)state;
    struct recording_builder b;
    struct account account;
    begin(&b);
    for (unsigned i = 0; i < 20; i++)
        builder_sample(&b, 200, 2);
    put_pause(&b, 4000, 1);
    struct capture_header *header = builder_header(&b);
    header->end_time_ns = header->start_time_ns + 20000000;
    header->start_cpu_ns = 1000000;
    header->end_cpu_ns = 24000000;
    header->paused_cpu_ns = 3000000;
    header->end = CAPTURE_EXITED;
    struct recording *recording = read_back(&b);
    assert_true(account_init(&account));
    assert_true(account_add_recording(&account, recording));
    char line[500];
    account_format(&account, NULL, line, sizeof line);
    assert_string_equal(line, "accounts for 0.0200 of 0.0200 s CPU (100.0 %), 1000 Hz; sampling "
                              "was on for 0.00 of 0.02 s");
    account_deinit(&account);
    recording_destroy(recording);
    builder_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_stand_at_the_root),
        cmocka_unit_test(many_labels),
        cmocka_unit_test(pauses_add_up),
        cmocka_unit_test(the_account_is_of_the_time_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
