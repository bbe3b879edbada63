/* test_folded.c - folded files: the corpus, every rule of reading and of writing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "fold/fold.h"
#include "format_help.h"
#include "formats/folded/folded.h"
#include "profile_help.h"
#include "unit.h"

/* The "plain" part of an expected file, one blank less deep: the text a dump has to be. */
static char *plain_part(const struct bytes expected)
{
    const char *start = strstr(expected.bytes, "\n \"plain\": {");
    assert_non_null(start);
    start = strchr(start, '{');
    const char *end = strstr(start, "\n }");
    assert_non_null(end);
    char *out = calloc((size_t)(end - start) + 16, 1), *to = out;
    assert_non_null(out);
    for (const char *from = start; from < end; from++) {
        *to++ = *from;
        if (*from == '\n')
            from++;
    }
    memcpy(to, "\n}\n", 3);
    return out;
}

static void corpus_dumps_equal_the_expected(void **state)
{
    (void)state;
    static const char *const names[] = {
        "big-counts",        "duplicates-prefixes-zero",
        "real-full-names",   "real-node-names-us",
        "real-perf",         "seed-example",
        "tricky-names",      "whitespace",
        "before-after.diff", "real-perf.diff",
    };
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        char path[100];
        snprintf(path, sizeof path, "folded/made/%s.folded", names[i]);
        struct bytes in = data_load(path);
        const struct format *format = format_by_path(path);
        snprintf(path, sizeof path, "folded/made/%s.expected.json", names[i]);
        struct bytes expected = data_load(path);
        char *plain = plain_part(expected);
        struct bytes dump = bytes_dump(format, in);
        assert_string_equal(dump.bytes, plain);
        free(in.bytes);
        free(expected.bytes);
        free(plain);
        free(dump.bytes);
    }
}

/* bad/README.md: how many lines are taken, how many are bad, and what is left adds up to. */
static void bad_files_give_what_is_good_in_them(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t n_records, n_bad, totals[2];
    } cases[] = {
        {"all-zero.folded", 2, 0, {0, 0}},
        {"bad-utf8.folded", 6, 0, {32, 0}},
        {"binary.folded", 0, 4, {0, 0}},
        {"comments.folded", 2, 3, {12, 0}},
        {"difffolded-junk.diff.folded", 1, 3, {3, 1}},
        {"empty.folded", 0, 0, {0, 0}},
        {"exponent-hex-comma.folded", 2, 4, {12, 0}},
        {"float.folded", 2, 3, {12, 0}},
        {"missing-count.folded", 2, 3, {12, 0}},
        {"negative.diff.folded", 1, 2, {1, 2}},
        {"negative.folded", 2, 1, {12, 0}},
        {"not-folded.folded", 0, 1, {0, 0}},
        {"nul-and-control.folded", 5, 0, {27, 0}},
        {"old-mac-newlines.folded", 1, 0, {7, 0}},
        {"one-column.diff.folded", 2, 1, {6, 8}},
        {"only-blank.folded", 0, 0, {0, 0}},
        {"only-count.folded", 2, 3, {12, 0}},
        {"overflow.folded", 3, 3, {UINT64_MAX, 0}},
        {"plus.folded", 2, 1, {12, 0}},
        {"text-after-count.folded", 2, 3, {12, 0}},
        {"three-columns.diff.folded", 2, 0, {7, 9}},
        {"unicode-digits.folded", 2, 5, {12, 0}},
        {"utf16.folded", 0, 3, {0, 0}},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        char path[100];
        snprintf(path, sizeof path, "folded/bad/%s", cases[i].name);
        struct bytes in = data_load(path);
        const struct format *format = format_by_path(path);
        uint32_t n_columns = format == &format_diff_folded ? 2 : 1;
        struct folded_content content;
        struct err err = ERR_INIT;
        assert_true(folded_parse((const uint8_t *)in.bytes, in.n, n_columns, &content, &err));
        assert_int_equal(content.n_records, cases[i].n_records);
        assert_int_equal(content.bad.n, cases[i].n_bad);
        uint64_t totals[2] = {0, 0};
        for (uint32_t v = 0; v < content.profile->n_samples * n_columns; v++) {
            uint64_t *total = &totals[v % n_columns];
            if (__builtin_add_overflow(
                    *total, profile_value(content.profile, v / n_columns, v % n_columns), total))
                *total = UINT64_MAX;
        }
        assert_int_equal(totals[0], cases[i].totals[0]);
        assert_int_equal(totals[1], cases[i].totals[1]);
        folded_content_deinit(&content);
        struct bytes dump = bytes_dump(format, in); /* a dump shows even a file all bad */
        assert_true(dump.n > 0);
        struct profile *profile = NULL;
        bool ok = format->read((const uint8_t *)in.bytes, in.n, NULL, NULL, &profile, &err);
        assert_int_equal(ok, cases[i].n_records > 0 || cases[i].n_bad == 0);
        profile_destroy(profile);
        free(dump.bytes);
        free(in.bytes);
    }
}

static void bad_lines_are_told_by_number(void **state)
{
    (void)state;
    static const char text[] =
        "a 1\nb +5\n\nc 1.5\nd\n 7\ne 99999999999999999999\n\x1b[2J x\nf 2\n";
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *profile = text_read(&format_folded, text, &notes);
    assert_int_equal(profile->n_samples, 2);
    profile_destroy(profile);
    assert_string_equal(log.text, "line 2: \"+5\" is not a count\n"
                                  "line 4: \"1.5\" is not a count\n"
                                  "line 5: \"d\" is not a count\n"
                                  "line 6: no stack\n"
                                  "line 7: count over 2^64-1\n"
                                  "6 of 9 lines could not be taken as they are\n");
    const struct format_options strict = {.strict = true};
    struct err err = ERR_INIT;
    assert_false(format_folded.read((const uint8_t *)text, sizeof text - 1, &strict, &notes,
                                    &profile, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.text, "\"+5\" is not a count");
    err = (struct err)ERR_INIT;
    assert_false(format_folded.read((const uint8_t *)"\x1b[2J", 4, NULL, &notes, &profile, &err));
    assert_string_equal(
        err.text, "\"?[2J\" is not a count, and no other line is a stack with its count either");
}

/* What one line shares with the last must be found again as the same stack, whatever follows. */
static void shared_beginnings_give_the_same_stacks(void **state)
{
    (void)state;
    struct profile *profile = text_read(&format_folded,
                                        "a;b;c 1\na;b;c 2\na;b;cc 4\na;b 8\na;b;c;d 16\n"
                                        "  a;b;c;d 32\na ; b;c 64\nab;c 128\n;a 1\n; 2\na; 3\n"
                                        "12345678;12345678;x 5\n12345678;12345679;x 6\n"
                                        "12345678;12345678 ;x 7\n",
                                        NULL);
    expect_written(&format_folded, profile, NULL,
                   "12345678;12345678;x 12\n12345678;12345679;x 6\n"
                   "[unknown];[unknown] 2\n[unknown];a 1\n"
                   "a;[unknown] 3\na;b 8\na;b;c 67\na;b;c;d 48\na;b;cc 4\nab;c 128\n");
    profile_destroy(profile);
}

static void byte_order_mark_and_last_line(void **state)
{
    (void)state;
    struct profile *profile = text_read(&format_folded,
                                        "\xef\xbb\xbf"
                                        "a 1\r\nb 2",
                                        NULL);
    expect_written(&format_folded, profile, NULL, "a 1\nb 2\n");
    profile_destroy(profile);
}

/* A line of 1 MB, 100 000 frames: read, and cut when written. */
static void long_and_deep_lines(void **state)
{
    (void)state;
    size_t n = 1000000;
    char *text = malloc(n + 200100);
    assert_non_null(text);
    memset(text, 'x', n);
    char *at = text + n;
    at += sprintf(at, " 5\n");
    for (int i = 0; i < 99999; i++)
        at += sprintf(at, "%c;", 'a' + i % 26);
    sprintf(at, "leaf 7\n");
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *profile = text_read(&format_folded, text, &notes);
    assert_int_equal(profile->n_stacks, 100002);
    struct bytes out = profile_write(&format_folded, profile, NULL, &notes);
    assert_non_null(strstr(log.text, "1 stacks were cut to the 4000 frames next to the leaf"));
    assert_memory_equal(out.bytes, "[truncated];", 12);
    size_t n_separators = 0;
    for (const char *c = out.bytes; *c != '\n'; c++)
        n_separators += *c == ';';
    assert_int_equal(n_separators, FOLD_MAX_DEPTH - 1);
    assert_non_null(strstr(out.bytes, ";leaf 7\nxxx"));
    free(out.bytes);
    free(text);
    profile_destroy(profile);
}

/* Depth at the limit is not touched. */
static void stacks_at_the_limit_stay(void **state)
{
    (void)state;
    char *text = calloc(FOLD_MAX_DEPTH + 2, 2), *at = text;
    assert_non_null(text);
    for (size_t i = 0; i < FOLD_MAX_DEPTH; i++) {
        *at++ = 'f';
        *at++ = i + 1 < FOLD_MAX_DEPTH ? ';' : ' ';
    }
    *at++ = '1';
    *at = '\n';
    struct profile *profile = text_read(&format_folded, text, NULL);
    expect_written(&format_folded, profile, NULL, text);
    profile_destroy(profile);
    free(text);
}

/* A sample of a stack given as names, NULL at the end. */
static void add(struct profile_builder *builder, uint32_t thread, const char *const *names,
                uint64_t value)
{
    uint32_t stack = 0;
    for (; *names != NULL; names++)
        stack = profile_add_stack(builder, stack,
                                  profile_add_named_frame(builder, *names, strlen(*names)));
    const struct profile_sample sample = {.thread = thread, .stack = stack};
    profile_add_sample(builder, &sample, &value);
}

#define STACK(...) ((const char *const[]){__VA_ARGS__, NULL})

static void names_become_what_a_line_can_hold(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    add(builder, 0, STACK("a;b", " c\n\td "), 1);
    add(builder, 0, STACK("a:b", "c  d"), 2); /* the same after cleaning: added */
    add(builder, 0, STACK("", "  "), 4);
    add(builder, 0, STACK("cut\xe2\x82", "\xff"), 8);
    add(builder, 0, STACK("c1\xc2\x85z", "h\xc3\xa9;\x7f"), 16);
    add(builder, 0, STACK("pool worker 3"), 32);
    add(builder, 0, STACK("pool worker_3"), 64);
    add(builder, 0, STACK("pool worker 3", "x"), 128); /* inside a line it harms nobody */
    add(builder, 0, STACK("v 1.5"), 256);
    add(builder, 0, STACK("v 1."), 512);
    add(builder, 0, STACK("v .5"), 1024);
    add(builder, 0, STACK("7"), 2048);
    add(builder, 0, STACK("v1.2.3"), 4096);
    add(builder, 0, STACK(" \xef\xbb\xbf \xef\xbb\xbfmark\xef\xbb\xbf"), 1);
    add(builder, 0, STACK("zero"), 0);
    const struct profile_sample empty = {.stack = 0};
    const uint64_t value = 3;
    profile_add_sample(builder, &empty, &value);
    struct profile *profile = builder_finish(builder);
    expect_written(&format_folded, profile, NULL,
                   "7 2048\n"
                   "[unknown] 3\n"
                   "[unknown];[unknown] 4\n"
                   "a:b;c  d 3\n"
                   "c1 z;h\xc3\xa9: 16\n"
                   "cut\xef\xbf\xbd;\xef\xbf\xbd 8\n"
                   "mark\xef\xbb\xbf 1\n"
                   "pool worker 3;x 128\n"
                   "pool worker_3 96\n"
                   "v .5 1024\n"
                   "v1.2.3 4096\n"
                   "v_1. 512\n"
                   "v_1.5 256\n");
    profile_destroy(profile);
}

/* "a b" and "a(x)" sort between the line "a" and the branch "a;...". */
static void lines_are_sorted_by_bytes(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    add(builder, 0, STACK("a", "z"), 1);
    add(builder, 0, STACK("a b", "x"), 1);
    add(builder, 0, STACK("a(x)"), 1);
    add(builder, 0, STACK("aa"), 1);
    add(builder, 0, STACK("a"), 1);
    add(builder, 0, STACK("a b"), 1);
    add(builder, 0, STACK("a", "b"), 1);
    struct profile *profile = builder_finish(builder);
    expect_written(&format_folded, profile, NULL,
                   "a 1\na b 1\na b;x 1\na(x) 1\na;b 1\na;z 1\naa 1\n");
    profile_destroy(profile);
}

static void numbers_are_periods_that_add_up(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 1000);
    for (unsigned i = 0; i < 26; i++) {
        char name[] = {(char)('a' + i), '\0'};
        add(builder, 0, STACK(name), 400); /* 26 times 0.4 periods */
    }
    add(builder, 0, STACK("z", "whole"), 7000);
    struct profile *profile = builder_finish(builder);
    struct bytes out = profile_write(&format_folded, profile, NULL, NULL);
    unsigned long total = 0;
    for (const char *line = out.bytes; *line != '\0'; line = strchr(line, '\n') + 1) {
        unsigned long count = strtoul(strchr(line, ' '), NULL, 10);
        assert_true(count > 0);
        total += count;
    }
    assert_int_equal(total, 17); /* 17.4 */
    assert_non_null(strstr(out.bytes, "z;whole 7\n"));
    free(out.bytes);
    const struct format_options count_ns = {.count_ns = true};
    out = profile_write(&format_folded, profile, &count_ns, NULL);
    assert_non_null(strstr(out.bytes, "y 400\nz 400\nz;whole 7000\n"));
    free(out.bytes);
    profile_destroy(profile);
}

static void units_follow_what_the_profile_knows(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
        uint64_t period;
        enum profile_unit unit;
        bool count_ns;
    } cases[] = {
        {"f 5\n", "", 0, PROFILE_UNIT_COUNT, false},
        {"f 5\n", "", 10, PROFILE_UNIT_COUNT, false},
        {"f 50\n", "", 10, PROFILE_UNIT_COUNT, true},
        {"f 5\n", "counts are samples: the profile does not know their time\n", 0,
         PROFILE_UNIT_COUNT, true},
        {"f 5\n", "counts are nanoseconds: the profile knows no sampling period\n", 0,
         PROFILE_UNIT_NS, false},
        {"f 5\n", "", 2, PROFILE_UNIT_NS, true},
        {"f 5\n", "", 2, PROFILE_UNIT_BYTES, false},
        {"f 5\n", "", 2, PROFILE_UNIT_EVENTS, true},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile_builder *builder = builder_make(cases[i].unit, cases[i].period);
        add(builder, 0, STACK("f"), 5);
        struct profile *profile = builder_finish(builder);
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        const struct format_options options = {.count_ns = cases[i].count_ns};
        struct bytes out = profile_write(&format_folded, profile, &options, &notes);
        assert_string_equal(out.bytes, cases[i].text);
        assert_string_equal(log.text, cases[i].note);
        free(out.bytes);
        profile_destroy(profile);
    }
}

static struct profile *processes_make(unsigned n_processes)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    uint32_t threads[3];
    for (unsigned i = 0; i < 3; i++) {
        const struct profile_process process = {
            .name = profile_add_cstring(builder, i == 0 ? "sh" : "cc 1"), .pid = 100 + i};
        uint32_t of = i < n_processes ? profile_add_process(builder, &process) : 1;
        const struct profile_thread thread = {
            .process = of,
            .tid = 200 + i,
            .name = profile_add_cstring(builder, i == 1 ? "w;2" : "")};
        threads[i] = profile_add_thread(builder, &thread);
    }
    add(builder, threads[0], STACK("main", "a"), 1);
    add(builder, threads[1], STACK("main", "a"), 2);
    add(builder, threads[2], STACK("main"), 4);
    return builder_finish(builder);
}

static void threads_and_processes_become_roots(void **state)
{
    (void)state;
    const struct format_options split = {.split_threads = true};
    struct profile *profile = processes_make(1);
    expect_written(&format_folded, profile, NULL, "main 4\nmain;a 3\n");
    expect_written(&format_folded, profile, &split,
                   "sh-100/200;main;a 1\nsh-100/202;main 4\nw:2-100/201;main;a 2\n");
    profile_destroy(profile);
    profile = processes_make(3);
    expect_written(&format_folded, profile, NULL, "cc 1;main 4\ncc 1;main;a 2\nsh;main;a 1\n");
    expect_written(&format_folded, profile, &split,
                   "cc 1;cc 1-102/202;main 4\ncc 1;w:2-101/201;main;a 2\nsh;sh-100/200;main;a 1\n");
    profile_destroy(profile);
}

/* Processes without a name are none that a frame could tell apart, and one process in several rows
 * (of files of a thread each) is one. */
static void only_named_processes_become_roots(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, 0, "main", 0, 1);
    sample_add(builder, thread_add(builder, "", 0, "", 0), "main", 0, 2);
    sample_add(builder, thread_add(builder, "", 7, "", 7), "main", 0, 4);
    sample_add(builder, thread_add(builder, "app", 8, "", 8), "main", 0, 8);
    sample_add(builder, thread_add(builder, "app", 8, "", 9), "main", 0, 16);
    struct profile *profile = builder_finish(builder);
    expect_written(&format_folded, profile, NULL, "main 31\n");
    profile_destroy(profile);
    builder = builder_make(PROFILE_UNIT_COUNT, 0);
    sample_add(builder, 0, "main", 0, 1);
    sample_add(builder, thread_add(builder, "", 7, "", 7), "main", 0, 2);
    sample_add(builder, thread_add(builder, "app", 8, "", 8), "main", 0, 4);
    sample_add(builder, thread_add(builder, "app", 9, "", 9), "main", 0, 8);
    profile = builder_finish(builder);
    expect_written(&format_folded, profile, NULL, "app;main 12\nmain 3\n");
    profile_destroy(profile);
}

static void idle_samples_are_left_out(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    const struct profile_function function = {.name = profile_add_cstring(builder, "(idle)")};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .flags = PROFILE_FRAME_IDLE};
    const struct profile_sample sample = {
        .stack = profile_add_stack(builder, 0, profile_add_frame(builder, &frame))};
    const uint64_t value = 9;
    profile_add_sample(builder, &sample, &value);
    add(builder, 0, STACK("busy"), 1);
    struct profile *profile = builder_finish(builder);
    expect_written(&format_folded, profile, NULL, "busy 1\n");
    profile_destroy(profile);
}

static void spans_are_written_by_self_time(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    struct profile_span span = {
        .begin_ns = 0, .end_ns = 10, .frame = profile_add_named_frame(builder, "a", 1)};
    profile_add_span(builder, &span);
    span = (struct profile_span){
        .begin_ns = 2, .end_ns = 5, .frame = profile_add_named_frame(builder, "b", 1)};
    profile_add_span(builder, &span);
    struct profile *profile = builder_finish(builder);
    expect_written(&format_folded, profile, NULL, "a 7\na;b 3\n");
    profile_destroy(profile);
}

static void the_empty_profile_is_an_empty_file(void **state)
{
    (void)state;
    struct profile *profile = text_read(&format_folded, "", NULL);
    assert_int_equal(profile->n_samples, 0);
    expect_written(&format_folded, profile, NULL, "");
    profile_destroy(profile);
}

static void only_folded_looking_heads_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        bool is_folded;
    } cases[] = {
        {"main;a 5\nmain 3\nma", true},
        {"main;a 5\n\n", true},
        {"{\"nodes\":[]}\n", false},
        {"main;a 5\nnote\n", false},
        {"", false},
        {"\n\n", false},
        {"a 5", false},
        {"NYTProf 5 0", false},
        {"NYTProf 5 0\n#x\n", false},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        int score = format_folded.sniff((const uint8_t *)cases[i].head, strlen(cases[i].head));
        assert_int_equal(score > 0, cases[i].is_folded);
    }
    /* The beginning decides, so that a large file is not read twice; a first line may be long. */
    size_t n = 300000;
    char *large = malloc(n);
    assert_non_null(large);
    for (size_t i = 0; i < n; i++)
        large[i] = "a;b 7\n"[i % 6];
    memcpy(large + n - 6, "a;b x\n", 6);
    assert_true(format_folded.sniff((const uint8_t *)large, n) > 0);
    memset(large, 'a', n);
    memcpy(large + n - 100000, " 3\nb x\n", 7);
    assert_true(format_folded.sniff((const uint8_t *)large, n) > 0);
    free(large);
}

static bool read_and_write(struct err *err)
{
    static const char text[] = "main;run;step 3 5\nmain;run 2\nx\nmain;run;step 3 1\nmain 9\n";
    struct profile *profile = NULL;
    struct sink *sink = NULL;
    if (!format_folded.read((const uint8_t *)text, sizeof text - 1, NULL, NULL, &profile, err))
        return false;
    const struct format_options options = {.split_threads = true};
    bool ok = sink_create_buffer(&sink, err) &&
              format_folded.write(profile, &options, NULL, sink, err) &&
              format_folded.dump((const uint8_t *)text, sizeof text - 1, NULL, sink, err);
    sink_abandon(sink);
    profile_destroy(profile);
    return ok;
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    unsigned n = 1;
    for (;; n++) {
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = read_and_write(&err);
        if (!alloc_fault_fired()) {
            assert_true(ok);
            break;
        }
        if (!ok)
            assert_int_equal(err.code, ERR_MEMORY);
    }
    assert_true(n > 100);
}

static void failing_sinks_are_survived(void **state)
{
    (void)state;
    struct profile *profile = text_read(&format_folded, "main;a 5\nmain;b 6\n", NULL);
    for (uint64_t limit = 0; limit < 19; limit++) {
        struct err err = ERR_INIT;
        struct sink *sink = NULL;
        assert_true(sink_create_failing(limit, &sink, &err));
        assert_true(format_folded.write(profile, NULL, NULL, sink, &err));
        assert_int_equal(sink_close(sink, &err), limit == 18);
    }
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus_dumps_equal_the_expected),
        cmocka_unit_test(bad_files_give_what_is_good_in_them),
        cmocka_unit_test(bad_lines_are_told_by_number),
        cmocka_unit_test(shared_beginnings_give_the_same_stacks),
        cmocka_unit_test(byte_order_mark_and_last_line),
        cmocka_unit_test(long_and_deep_lines),
        cmocka_unit_test(stacks_at_the_limit_stay),
        cmocka_unit_test(names_become_what_a_line_can_hold),
        cmocka_unit_test(lines_are_sorted_by_bytes),
        cmocka_unit_test(numbers_are_periods_that_add_up),
        cmocka_unit_test(units_follow_what_the_profile_knows),
        cmocka_unit_test(threads_and_processes_become_roots),
        cmocka_unit_test(only_named_processes_become_roots),
        cmocka_unit_test(idle_samples_are_left_out),
        cmocka_unit_test(spans_are_written_by_self_time),
        cmocka_unit_test(the_empty_profile_is_an_empty_file),
        cmocka_unit_test(only_folded_looking_heads_are_recognised),
        cmocka_unit_test(failing_allocations_are_reported),
        cmocka_unit_test(failing_sinks_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
