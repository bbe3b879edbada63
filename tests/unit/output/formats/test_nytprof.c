/* test_nytprof.c - the real NYTProf stream: dump, reader, writer, names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/stream.h"
#include "model/convert.h"
#include "nytprof_profiles.h"
#include "nytprof_support.h"
#include "registry/losses.h"
#include "unit.h"

#define DATA TEST_DATA_DIR "/nytprof/"

/* ---- dump -------------------------------------------------------------------------------------
 */

static void dump_equals_what_perl_reads(void **state)
{
    (void)state;
    assert_int_equal(each_nytprof(DATA "made", check_dump), 9);
    const char *shared = shared_corpus("made");
    if (shared != NULL)
        assert_true(each_nytprof(shared, check_dump) >= 18);
    const char *found = shared_corpus("found");
    if (found != NULL)
        each_nytprof(found, check_dump);
}

/* ---- reader -----------------------------------------------------------------------------------
 */

static struct profile *read_made(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, DATA "%s.nytprof", name);
    struct bytes file = path_load(path);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    if (!bytes_try_read(&format_nytprof, file, false, NULL, &profile, &err))
        fail_msg("%s: %s", name, err.text);
    free(file.bytes);
    return profile;
}

static void calls_become_stacks(void **state)
{
    (void)state;
    struct profile *profile = read_made("made/native_z");
    char *text = describe_samples(profile, 0);
    assert_int_equal(profile->kinds[0].unit, PROFILE_UNIT_NS);
    /* 12 + 17 + 3 samples of 1 ms below insert, 26 in the deepest recursion. */
    assert_non_null(strstr(text,
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f"
                           "ns::parse(char const*) /home/dev/wordmill/mill.cpp:9\x1f= 26000000"));
    assert_non_null(strstr(text, "libc.so.6::malloc :0\x1f= 17000000"));
    uint64_t total = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        total += profile_value(profile, i, 0);
    assert_int_equal(total, 184000000);
    assert_int_equal(profile->start_realtime_ns / 1000000, 1750000000250);
    free(text);
    profile_destroy(profile);
}

static void lines_become_flat_samples_of_their_sub(void **state)
{
    (void)state;
    struct profile *profile = read_made("made/two_processes");
    assert_int_equal(profile->n_processes, 3);
    assert_int_equal(profile->processes[2].pid, 301);
    assert_int_equal(profile->processes[2].start_ns, 250000000);
    assert_int_equal(profile->n_samples, 3);
    char *text = describe_samples(profile, 0);
    assert_string_equal(text,
                        "300(demo)/300(): main::work /home/dev/demo/one.c:2\x1f= 500000000\n"
                        "301(demo)/301(): main::work /home/dev/demo/one.c:2\x1f= 500000000\n");
    const struct profile_sample *last = &profile->samples[2];
    assert_int_equal(profile->frames[profile->stacks[last->stack].frame].line, 4);
    free(text);
    profile_destroy(profile);
}

/* Files of ours from when comments carried threads, units, metadata and exact weights for our own reader. They are
 * comments now: the file is what its records say. */
static void comments_of_older_files_are_read_over(void **state)
{
    (void)state;
    static char bytes[] =
        "NYTProf 5 0\n#sampler names=1\n:ticks_per_sec=10000000\n:application=mill\n"
        "#sampler kind\tsamples\t1001001\tcpu\n#sampler profile\t1\t2\t3\t4\n"
        "#sampler process\t4711\t1\tmill\n#sampler thread\t1\tworker%091\n"
        "#sampler key\thost\n#sampler value\tbox\n#sampler section\t1\n"
        "P\7\1\0\0\0\0\0\0\0\0#sampler file\t/other/b.c\n"
        "@\1\0\0\x32\0\0'\3a.c#sampler name\tforeign(int)\n#sampler line\t40000\n"
        "s\1'\x0bmain::inner\5\5#sampler self\t1234\n"
        "<\1\0\0\0\0\0\0\x24\x40\0\0\0\0\0\0\x24\x40'\x0bmain::inner"
        "#sampler return\t97\t1\t50\n#sampler nothing we know\n"
        "p\7\0\0\0\0\0\0\xf0\x3f";
    struct bytes file = bytes_part((struct bytes){bytes, sizeof bytes - 1}, sizeof bytes - 1);
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *profile = bytes_read(&format_nytprof, file, &notes);
    char *text = describe_samples(profile, 0);
    assert_string_equal(log.text, "");
    assert_string_equal(text, "7(mill)/7(): inner a.c:5\x1f= 1000\n");
    assert_int_equal(profile->kinds[0].unit, PROFILE_UNIT_NS);
    assert_int_equal(profile->period, 0);
    assert_int_equal(profile->n_metadata, 1);
    free(text);
    free(file.bytes);
    profile_destroy(profile);
}

/* Such a file as it was written: two threads, `a;b` in line 40000 of a file, a call at depth 100, a sample without a
 * stack. */
static void older_files_are_read(void **state)
{
    (void)state;
    struct bytes file = path_load(DATA "old/private_comments.nytprof");
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct profile *profile = bytes_read(&format_nytprof, file, &notes);
    assert_string_equal(log.text, "");
    char *text = describe_samples(profile, 0);
    static const char first[] = "4711(mill --words)/4711(): main /src/mill.c:6\x1f= 1001000\n"
                                "4711(mill --words)/4711(): main /src/mill.c:6\x1f"
                                "a,b /src/odd.c:0\x1f= 2002000\n"
                                "4711(mill --words)/4711(): main /src/mill.c:6\x1f"
                                "malloc :0\x1f= 1001000\n"
                                "4711(mill --words)/4711(): main /src/mill.c:6\x1f"
                                "ns::v<a::b>::f(c::d) /src/mill.c:30\x1f= 1001000\n"
                                "4712(mill --words)/4712(): main /src/mill.c:6\x1f"
                                "down /src/mill.c:50\x1f";
    static const char last[] = "down /src/mill.c:50\x1f= 1001000\n"
                               "4712(mill --words)/4712(): main /src/mill.c:6\x1f"
                               "malloc :0\x1f= 2002000\n"
                               "4712(mill --words)/4712(): main /src/mill.c:6\x1f"
                               "work /src/mill.c:20\x1f= 1001000\n";
    size_t n = strlen(text);
    assert_true(n > sizeof first + sizeof last);
    assert_memory_equal(text, first, sizeof first - 1);
    assert_string_equal(text + n - (sizeof last - 1), last);
    assert_int_equal(profile->n_samples, 7);
    free(text);
    free(file.bytes);
    profile_destroy(profile);
}

/* Code outside of subs has no calls of its own: its time is that of its lines, without what the
 * operators called there have already. */
static void time_outside_of_subs_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double total_ns; /* of all statements, as Perl has it, who counts calls a little shorter */
    } files[] = {{"made/fork_merged_z", 1791700},
                 {"made/evals_blocks_calls2_z", 113200},
                 {"made/fib_calls2", 81400}};
    for (size_t i = 0; i < N_ELEMENTS(files); i++) {
        struct profile *profile = read_made(files[i].name);
        double total_ns = 0;
        for (size_t k = 0; k < profile->n_samples; k++)
            total_ns += (double)profile_value(profile, k, 0);
        if (total_ns < 0.9 * files[i].total_ns || total_ns > 1.05 * files[i].total_ns)
            fail_msg("%s: %g ns of %g", files[i].name, total_ns, files[i].total_ns);
        profile_destroy(profile);
    }
    /* A call of an operator at file level is there once: as itself. */
    struct profile *profile = read_made("made/fork_merged_z");
    char *text = describe_samples(profile, 0);
    assert_non_null(strstr(text, "main::CORE:wait"));
    assert_non_null(strstr(text, ".pl "));
    free(text);
    profile_destroy(profile);
}

static void names_are_utf8_or_latin1(void **state)
{
    (void)state;
    struct profile *profile = read_made("made/names");
    char *text = describe_samples(profile, 0);
    assert_non_null(strstr(text, "\xe4\xb8\x96\xe7\x95\x8c::"));
    assert_non_null(strstr(text, "Gr\xc3\xb6\xc3\x9f"));
    free(text);
    profile_destroy(profile);
}

/* ---- writer -----------------------------------------------------------------------------------
 */

/* Written again from what was read: the same file but for what was lost the first time. */
static void check_second_trip(const struct profile *back, const struct format_options *options)
{
    struct err err = ERR_INIT;
    struct profile *third = NULL;
    struct bytes second = profile_write(&format_nytprof, back, options, NULL);
    assert_true(bytes_try_read(&format_nytprof, second, false, NULL, &third, &err));
    struct bytes fourth = profile_write(&format_nytprof, third, options, NULL);
    assert_int_equal(second.n, fourth.n);
    assert_memory_equal(second.bytes, fourth.bytes, second.n);
    profile_destroy(third);
    free(second.bytes);
    free(fourth.bytes);
}

/* What comes back is what was written, as far as the format keeps it. To be destroyed. */
static struct profile *check_round_trip(const struct profile *profile, const struct profile *kept,
                                        uint64_t tick_ns, const struct format_options *options)
{
    struct bytes file = profile_write(&format_nytprof, profile, options, NULL);
    struct bytes again = profile_write(&format_nytprof, profile, options, NULL);
    assert_int_equal(file.n, again.n);
    assert_memory_equal(file.bytes, again.bytes, file.n);
    struct err err = ERR_INIT;
    struct profile *back = NULL;
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    assert_int_equal(nytprof_dialect_of((const uint8_t *)file.bytes, file.n), NYTPROF_REAL);
    if (!bytes_try_read(&format_nytprof, file, true, &notes, &back, &err))
        fail_msg("%s", err.text);
    assert_string_equal(log.text, "");
    check_same_samples(back, kept, tick_ns);
    assert_int_equal(back->n_kinds, 1);
    assert_int_equal(back->kinds[0].unit, PROFILE_UNIT_NS);
    if (tick_ns == 100) /* sums of centuries have more bits than the doubles of the file */
        check_second_trip(back, options);
    free(file.bytes);
    free(again.bytes);
    return back;
}

static const struct format_options plain = {.no_compression = true};

/* Threads are processes of the profile's command, by their ids; of metadata only that command is kept. */
static void real_profile_comes_back(void **state)
{
    (void)state;
    static const char command[] = "mill --words \"a=b\"";
    struct profile *profile = make_real_profile();
    struct profile *kept = make_kept(profile, 1, 1, command);
    const struct format_options *const options[] = {NULL, &plain};
    for (size_t i = 0; i < N_ELEMENTS(options); i++) {
        struct profile *back = check_round_trip(profile, kept, 100, options[i]);
        assert_int_equal(back->n_processes, profile->n_threads);
        assert_int_equal(back->n_threads, profile->n_threads);
        for (uint32_t k = 1; k < profile->n_threads; k++) {
            const struct profile_thread *thread = &profile->threads[k];
            const struct profile_process *process = &profile->processes[thread->process];
            const struct profile_process *got = &back->processes[back->threads[k].process];
            assert_int_equal(got->pid, thread->tid);
            assert_int_equal(got->ppid, thread->tid == process->pid ? process->ppid : process->pid);
            assert_in_range(got->end_ns + 1000 - thread->end_ns, 0, 2000);
        }
        assert_int_equal(back->n_metadata, 1);
        assert_string_equal(profile_text(back, back->metadata[0].key).bytes, "command");
        assert_string_equal(profile_text(back, back->metadata[0].value).bytes, command);
        assert_in_range(back->start_realtime_ns + 1000 - profile->start_realtime_ns, 0, 2000);
        profile_destroy(back);
    }
    profile_destroy(kept);
    profile_destroy(profile);
}

/* A command that nobody knows is not made up. */
static void empty_profile_comes_back(void **state)
{
    (void)state;
    struct profile *profile = make_empty_profile();
    struct profile *back = check_round_trip(profile, profile, 100, NULL);
    assert_int_equal(back->n_samples, 0);
    assert_int_equal(back->n_metadata, 0);
    assert_string_equal(profile_text(back, back->processes[1].name).bytes, "");
    profile_destroy(back);
    profile_destroy(profile);
}

static void odd_profiles_come_back(void **state)
{
    (void)state;
    static const uint64_t one[] = {1};
    static const uint64_t odd_ns[] = {1, 99, 149, 1001001, 3};
    static const uint64_t long_ns[] = {214748364800, 999999999999, 214748364700};
    static const uint64_t huge[] = {(uint64_t)1 << 63, 12345};
    static const uint64_t zero[] = {0};
    const struct {
        const uint64_t *weights;
        size_t n_weights;
        uint64_t period;
        enum profile_unit unit;
        uint32_t depth;
        uint64_t unit_ns; /* as which a unit of weight is shown */
        uint64_t tick_ns;
    } cases[] = {
        {one, 1, 0, PROFILE_UNIT_NS, 1, 1, 100},
        {odd_ns, 5, 1001001, PROFILE_UNIT_NS, 3, 1, 100},
        {long_ns, 3, 0, PROFILE_UNIT_NS, 2, 1, 100},
        {huge, 2, 0, PROFILE_UNIT_NS, 2, 1, 100000},
        {zero, 1, 0, PROFILE_UNIT_NS, 2, 1, 100},
        {odd_ns, 5, 0, PROFILE_UNIT_NS, 0, 1, 100},
        {one, 1, 0, PROFILE_UNIT_NS, 96, 1, 100},
        {odd_ns, 5, 0, PROFILE_UNIT_NS, 97, 1, 100},
        {odd_ns, 5, 0, PROFILE_UNIT_NS, 5000, 1, 100},
        {odd_ns, 5, 0, PROFILE_UNIT_COUNT, 3, 1000000, 100},
        {odd_ns, 5, 1001001, PROFILE_UNIT_COUNT, 3, 1001001, 100},
        {huge, 2, 1001001, PROFILE_UNIT_COUNT, 3, 10011, 1000000000},
        {long_ns, 3, 524288, PROFILE_UNIT_BYTES, 3, 1000, 100},
        {odd_ns, 5, 0, PROFILE_UNIT_EVENTS, 3, 1000, 100},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile *profile = make_profile(cases[i].unit, cases[i].period, cases[i].depth,
                                               cases[i].weights, cases[i].n_weights);
        struct profile *kept = make_kept(profile, 0, cases[i].unit_ns, "");
        struct profile *back = check_round_trip(profile, kept, cases[i].tick_ns, NULL);
        profile_destroy(back);
        profile_destroy(kept);
        profile_destroy(profile);
    }
}

/* Names that look as if a package had been put in front of them, as those of a Perl program do. */
static void names_with_a_package_are_kept(void **state)
{
    (void)state;
    static const char *const names[] = {"main::work", "libc.so.6::malloc", "[vdso]::f", "work",
                                        "malloc",     "ns::work",          "f(a::b)",   "a.b",
                                        "g [12]",     "main::h(x.y)"};
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    profile_builder_scalars(builder)->n_kinds = 1;
    profile_builder_scalars(builder)->kinds[0].unit = PROFILE_UNIT_NS;
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        const struct profile_sample sample = {
            .stack = profile_add_stack(
                builder, 0, profile_add_named_frame(builder, names[i], strlen(names[i])))};
        profile_add_sample(builder, &sample, &(uint64_t){1000 * (i + 1)});
    }
    assert_true(profile_builder_finish(builder, &profile, &err));
    struct profile *kept = make_kept(profile, 0, 1, "");
    profile_destroy(check_round_trip(profile, kept, 100, NULL));
    profile_destroy(kept);
    profile_destroy(profile);
}

static void spans_are_written_as_samples(void **state)
{
    (void)state;
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_span outer = {
        .frame = profile_add_named_frame(builder, "outer", 5), .begin_ns = 1000, .end_ns = 101000};
    struct profile_span inner = {
        .frame = profile_add_named_frame(builder, "inner", 5), .begin_ns = 31000, .end_ns = 61000};
    profile_add_span(builder, &outer);
    profile_add_span(builder, &inner);
    assert_true(profile_builder_finish(builder, &profile, &err));
    struct bytes file = profile_write(&format_nytprof, profile, NULL, NULL);
    struct profile *back = NULL;
    assert_true(bytes_try_read(&format_nytprof, file, false, NULL, &back, &err));
    char *text = describe_samples(back, 0);
    assert_string_equal(text, "1()/1(): outer :0\x1f= 70000\n"
                              "1()/1(): outer :0\x1finner :0\x1f= 30000\n");
    free(text);
    profile_destroy(back);
    profile_destroy(profile);
    free(file.bytes);
}

/* The records that Perl's tools show, by way of our own dump: one time per sample, at its leaf; a
 * long one in several records of which only the first counts. */
static void times_add_up(void **state)
{
    (void)state;
    static const uint64_t weights[] = {30000000050, 49, 51, 214748365799};
    struct profile *profile = make_profile(PROFILE_UNIT_NS, 0, 2, weights, 4);
    struct bytes file = profile_write(&format_nytprof, profile, &plain, NULL);
    struct err err = ERR_INIT;
    struct nytprof_stream *stream = NULL;
    struct nytprof_record record = {.tag = NYTPROF_COMMENT};
    int64_t ticks = 0;
    unsigned n_times = 0;
    unsigned n_discounts = 0;
    assert_true(nytprof_stream_open((const uint8_t *)file.bytes, file.n, &stream, &err));
    while (record.tag != NYTPROF_END) {
        assert_true(nytprof_stream_next(stream, &record, &err));
        n_discounts += record.tag == NYTPROF_DISCOUNT ? 1 : 0;
        if (record.tag == NYTPROF_LINE_TIME) {
            assert_true(record.ticks >= 0);
            ticks += record.ticks;
            n_times++;
        }
    }
    assert_int_equal(n_times - n_discounts, 4);
    assert_int_equal(n_discounts, 1);
    assert_int_equal(ticks, 2447483659);
    nytprof_stream_destroy(stream);
    free(file.bytes);
    profile_destroy(profile);
}

/* ---- dialect ----------------------------------------------------------------------------------
 */

static void expect_real(const char *base)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.nytprof", base);
    struct bytes file = path_load(path);
    assert_int_equal(nytprof_dialect_of((const uint8_t *)file.bytes, file.n), NYTPROF_REAL);
    assert_int_equal(format_nytprof.sniff((const uint8_t *)file.bytes, file.n), 100);
    free(file.bytes);
}

static void expect_chunked(const char *base)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.nytprof", base);
    struct bytes file = path_load(path);
    assert_int_equal(nytprof_dialect_of((const uint8_t *)file.bytes, file.n), NYTPROF_CHUNKED);
    assert_int_equal(format_nytprof_chunked.sniff((const uint8_t *)file.bytes, file.n), 100);
    free(file.bytes);
}

static void dialects_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(each_nytprof(DATA "made", expect_real), 9);
    assert_int_equal(each_nytprof(DATA "chunked", expect_chunked), 12);
    assert_int_equal(nytprof_dialect_of((const uint8_t *)"{}", 2), NYTPROF_NONE);
}

/* Real headers with every size of pid and ppid are none of the chunked ones. */
static void process_numbers_do_not_make_a_dialect(void **state)
{
    (void)state;
    static const uint32_t pids[] = {1, 127, 128, 16383, 16384, 2097151, 4194303, 268435456};
    for (size_t i = 0; i < N_ELEMENTS(pids) * N_ELEMENTS(pids); i++) {
        struct profile_builder *builder = NULL;
        struct profile *profile = NULL;
        struct err err = ERR_INIT;
        assert_true(profile_builder_create(&builder, &err));
        profile_builder_scalars(builder)->n_kinds = 1;
        profile_builder_scalars(builder)->start_realtime_ns = 1750000000000000000;
        struct profile_process process = {.pid = pids[i % N_ELEMENTS(pids)],
                                          .ppid = pids[i / N_ELEMENTS(pids)]};
        struct profile_thread thread = {.process = profile_add_process(builder, &process),
                                        .tid = process.pid};
        struct profile_sample sample = {.thread = profile_add_thread(builder, &thread)};
        uint64_t weight = 1;
        profile_add_sample(builder, &sample, &weight);
        assert_true(profile_builder_finish(builder, &profile, &err));
        struct bytes file = profile_write(&format_nytprof, profile, &plain, NULL);
        assert_int_equal(nytprof_dialect_of((const uint8_t *)file.bytes, file.n), NYTPROF_REAL);
        free(file.bytes);
        profile_destroy(profile);
    }
}

/* Idle time is no CPU time: nothing of it is in the file, and that is said. */
/* main calls work from a line of `file`, in which work has a line, too. */
static struct profile *of_file(const char *file, uint32_t line)
{
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    profile_builder_scalars(builder)->n_kinds = 1;
    profile_builder_scalars(builder)->kinds[0].unit = PROFILE_UNIT_NS;
    uint32_t stack = 0;
    static const char *const names[] = {"main", "work"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        const struct profile_function function = {.name = profile_add_cstring(builder, names[i]),
                                                  .file = profile_add_cstring(builder, "a.c")};
        const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                            .line = line,
                                            .file = profile_add_cstring(builder, file)};
        stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
    }
    profile_add_sample(builder, &(struct profile_sample){.stack = stack}, &(uint64_t){1000000});
    assert_true(profile_builder_finish(builder, &profile, &err));
    return profile;
}

/* A sub has one file: of lines in another one it has none, rather than wrong ones. */
static void lines_of_other_files_are_unknown(void **state)
{
    (void)state;
    static const struct format *const formats[] = {&format_nytprof, &format_nytprof_chunked};
    for (size_t i = 0; i < N_ELEMENTS(formats); i++) {
        struct profile *other = of_file("part.h", 900), *none = of_file("a.c", 0);
        struct bytes got = profile_write(formats[i], other, &plain, NULL);
        struct bytes want = profile_write(formats[i], none, &plain, NULL);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.bytes, want.bytes, want.n);
        free(got.bytes);
        free(want.bytes);
        profile_destroy(other);
        profile_destroy(none);
    }
}

static void idle_samples_are_left_out(void **state)
{
    (void)state;
    static const struct format *const formats[] = {&format_nytprof, &format_nytprof_chunked};
    for (size_t i = 0; i < N_ELEMENTS(formats); i++) {
        struct profile_builder *builder = NULL;
        struct profile *profile = NULL;
        struct err err = ERR_INIT;
        assert_true(profile_builder_create(&builder, &err));
        profile_builder_scalars(builder)->n_kinds = 1;
        profile_builder_scalars(builder)->kinds[0].unit = PROFILE_UNIT_NS;
        uint32_t busy = profile_add_stack(builder, 0, profile_add_named_frame(builder, "busy", 4));
        const struct profile_frame idle_frame = {
            .function = profile_add_function(
                builder,
                &(struct profile_function){.name = profile_add_cstring(builder, "(idle)")}),
            .flags = PROFILE_FRAME_IDLE};
        uint32_t idle = profile_add_stack(builder, 0, profile_add_frame(builder, &idle_frame));
        profile_add_sample(builder, &(struct profile_sample){.stack = busy}, &(uint64_t){10000000});
        profile_add_sample(builder, &(struct profile_sample){.stack = idle}, &(uint64_t){90000000});
        assert_true(profile_builder_finish(builder, &profile, &err));
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        struct bytes file = profile_write(formats[i], profile, &plain, &notes);
        assert_non_null(strstr(log.text, ": 1 idle samples are left out"));
        assert_null(memmem(file.bytes, file.n, "(idle)", 6));
        struct profile *again = bytes_read(formats[i], file, NULL);
        uint64_t total = 0;
        for (size_t k = 0; k < again->n_samples; k++)
            total += profile_value(again, k, profile_kind_find(again, PROFILE_UNIT_NS));
        assert_int_equal(total, 10000000);
        profile_destroy(again);
        free(file.bytes);
        profile_destroy(profile);
    }
}

static void losses_are_said(void **state)
{
    (void)state;
    struct profile *profile = make_real_profile();
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct err err = ERR_INIT;
    struct sink *out = NULL;
    assert_true(sink_create_buffer(&out, &err));
    assert_true(format_nytprof.write(profile, NULL, &notes, out, &err));
    assert_int_equal(log.n, 0); /* what all writers lose is said for them */
    char losses[LOSSES_BYTES];
    assert_string_equal(losses_describe(profile, &format_nytprof, losses),
                        "nytprof does not keep: which frames are inlined, modules, "
                        "addresses, names of threads, processes");
    sink_abandon(out);
    profile_destroy(profile);
    assert_true(sink_create_buffer(&out, &err));
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    profile_builder_scalars(builder)->n_kinds = 1;
    profile_builder_scalars(builder)->kinds[0].unit = PROFILE_UNIT_BYTES;
    const struct profile_sample sample = {
        .stack = profile_add_stack(builder, 0, profile_add_named_frame(builder, "f", 1))};
    profile_add_sample(builder, &sample, &(uint64_t){4096});
    assert_true(profile_builder_finish(builder, &profile, &err));
    assert_true(format_nytprof.write(profile, NULL, &notes, out, &err));
    assert_int_equal(log.n, 1);
    assert_non_null(strstr(log.text, "its tools show times only"));
    sink_abandon(out);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dump_equals_what_perl_reads),
        cmocka_unit_test(calls_become_stacks),
        cmocka_unit_test(lines_become_flat_samples_of_their_sub),
        cmocka_unit_test(time_outside_of_subs_is_kept),
        cmocka_unit_test(comments_of_older_files_are_read_over),
        cmocka_unit_test(older_files_are_read),
        cmocka_unit_test(names_are_utf8_or_latin1),
        cmocka_unit_test(real_profile_comes_back),
        cmocka_unit_test(empty_profile_comes_back),
        cmocka_unit_test(odd_profiles_come_back),
        cmocka_unit_test(names_with_a_package_are_kept),
        cmocka_unit_test(spans_are_written_as_samples),
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(dialects_are_told_apart),
        cmocka_unit_test(process_numbers_do_not_make_a_dialect),
        cmocka_unit_test(lines_of_other_files_are_unknown),
        cmocka_unit_test(idle_samples_are_left_out),
        cmocka_unit_test(losses_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
