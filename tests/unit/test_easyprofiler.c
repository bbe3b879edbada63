/* test_easyprofiler.c - the .prof format: files cut and damaged, faults, round trips, and the
 * writer's rules. That the dump of every corpus file is right is compare_easyprofiler.py's part.
 *
 * With SAMPLER_TEST_OUT set to a folder the files the writer made are left there, for a checker. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "easyprofiler.h"
#include "sink.h"
#include "unit.h"

static const struct format_options no_options = {.strict = false};

struct heard {
    unsigned n;
    char last[512];
};

static void hear(void *context, const char *text)
{
    struct heard *heard = context;
    heard->n++;
    (void)snprintf(heard->last, sizeof heard->last, "%s", text);
}

struct bytes {
    uint8_t *data; /* exactly as large, so that ASan sees the first byte too far */
    size_t n;
};

static struct bytes load(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, TEST_DATA_DIR "/easyprofiler/%s.prof", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    struct bytes bytes = {.n = (size_t)ftell(file)};
    rewind(file);
    bytes.data = malloc(bytes.n);
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.n, file), bytes.n);
    (void)fclose(file);
    return bytes;
}

/* ---- profiles to write --------------------------------------------------------------------- */

static struct profile_builder *builder_make(uint64_t start_ns, uint64_t duration_ns)
{
    struct profile_builder *builder;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->start_time_ns = start_ns;
    scalars->duration_ns = duration_ns;
    return builder;
}

static struct profile *finish(struct profile_builder *builder)
{
    struct profile *profile;
    struct err err = ERR_INIT;
    assert_true(profile_builder_finish(builder, &profile, &err));
    return profile;
}

static uint32_t add_thread(struct profile_builder *builder, uint32_t process, uint64_t tid,
                           const char *name)
{
    const struct profile_thread thread = {
        .process = process, .tid = tid, .name = profile_add_cstring(builder, name)};
    return profile_add_thread(builder, &thread);
}

static uint32_t add_frame(struct profile_builder *builder, const char *name, const char *file,
                          uint32_t line)
{
    const struct profile_function function = {.name = profile_add_cstring(builder, name),
                                              .file = profile_add_cstring(builder, file),
                                              .line = line};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function)};
    return profile_add_frame(builder, &frame);
}

static void add_span(struct profile_builder *builder, uint32_t thread, uint32_t frame,
                     uint64_t begin_ns, uint64_t end_ns)
{
    const struct profile_span span = {
        .thread = thread, .frame = frame, .begin_ns = begin_ns, .end_ns = end_ns};
    profile_add_span(builder, &span);
}

static const char *const odd_names[] = {
    "std::vector<std::pair<int, char>>::operator[](unsigned long) const",
    "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef",
    "main;with;semicolons",
    "\"quoted\" 'name' \\back",
    "\xd0\xb8\xd0\xbc\xd1\x8f \xe5\x90\x8d\xe5\x89\x8d \xf0\x9f\x94\xa5",
    "latin-1: caf\xe9",
    "line\nbreak\ttab",
    "operator new(unsigned long)@plt",
    "",
    " leading and trailing blanks ",
};

/* Several threads, all kinds of records, odd names. */
static struct profile *rich_profile(void)
{
    struct profile_builder *builder = builder_make(1000000, 100000);
    const struct profile_process process = {.pid = 4242};
    uint32_t process_id = profile_add_process(builder, &process);
    for (uint64_t t = 1; t <= 3; t++) {
        uint32_t thread = add_thread(builder, process_id, 4240 + t, odd_names[t + 2]);
        for (uint32_t i = 0; i < N_ELEMENTS(odd_names); i++) {
            uint32_t frame = add_frame(builder, odd_names[i], i % 2 != 0 ? "src/a b.cpp" : "", i);
            uint32_t inner =
                add_frame(builder, odd_names[(i + 1) % N_ELEMENTS(odd_names)], "src/inner.c", 7);
            uint64_t begin = 1000 * (uint64_t)i + t;
            add_span(builder, thread, frame, begin, begin + 900);
            add_span(builder, thread, inner, begin + 100, begin + 500);
            add_span(builder, thread, inner, begin + 500, begin + 600);
            struct profile_instant instant = {.thread = thread,
                                              .frame = frame,
                                              .time_ns = begin + 150,
                                              .type = (enum profile_value_type)(i % 6)};
            instant.value.u64 = UINT64_MAX - i;
            if (instant.type == PROFILE_VALUE_F64)
                instant.value.f64 = -0.1;
            if (instant.type == PROFILE_VALUE_BOOL || instant.type == PROFILE_VALUE_NONE)
                instant.value.u64 = instant.type == PROFILE_VALUE_BOOL;
            if (instant.type == PROFILE_VALUE_TEXT)
                instant.value.u64 = profile_add_cstring(builder, odd_names[i]);
            profile_add_instant(builder, &instant);
            const struct profile_off_cpu off_cpu = {.thread = thread,
                                                    .to_process =
                                                        profile_add_cstring(builder, odd_names[i]),
                                                    .to_tid = 77 + i,
                                                    .begin_ns = begin + 200,
                                                    .end_ns = begin + 300};
            profile_add_off_cpu(builder, &off_cpu);
        }
    }
    add_thread(builder, process_id, 9, "no records");
    for (uint32_t i = 0; i < 3; i++) {
        const struct profile_bookmark bookmark = {
            .text = profile_add_cstring(builder, odd_names[i + 3]),
            .color = 0xff000000U + i,
            .time_ns = (uint64_t)i * 100};
        profile_add_bookmark(builder, &bookmark);
    }
    return finish(builder);
}

/* A chain of `n` spans, each in the one before, and an event in the innermost. */
static struct profile *chain_profile(uint32_t n, bool with_event)
{
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "deep");
    char name[32];
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "level %u", i);
        add_span(builder, thread, add_frame(builder, name, "", 0), i, 10000000 - i);
    }
    const struct profile_instant instant = {
        .thread = thread, .frame = add_frame(builder, "event", "", 0), .time_ns = 5000000};
    if (with_event)
        profile_add_instant(builder, &instant);
    return finish(builder);
}

/* Two threads, 1000 Hz; the stack of each sample in letters, outermost first, '.' = none. */
static struct profile *sampled_profile(void)
{
    static const char *const lines[] = {"ab ab abc ac ac . . . . a", "x xx xxx xx"};
    struct profile_builder *builder = builder_make(500, 0);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0] = (struct profile_kind){profile_add_cstring(builder, "cpu"), PROFILE_UNIT_NS};
    scalars->has_times = true;
    scalars->period = 1000000;
    for (uint32_t t = 0; t < N_ELEMENTS(lines); t++) {
        uint32_t thread = add_thread(builder, 0, 100 + t, "sampled");
        struct profile_sample sample = {.thread = thread};
        const uint64_t value = 1000000;
        for (const char *c = lines[t];; c++) {
            if (*c >= 'a') {
                uint32_t frame = profile_add_named_frame(builder, c, 1);
                sample.stack = profile_add_stack(builder, sample.stack, frame);
                continue;
            }
            if (*c == '.')
                continue;
            if (sample.stack != 0)
                profile_add_sample(builder, &sample, &value);
            sample.stack = 0;
            sample.time_ns += 1000000;
            if (*c == '\0')
                break;
        }
    }
    return finish(builder);
}

/* ---- writing and looking at it ----------------------------------------------------------------
 */

static struct sink *write_profile(const struct profile *profile, struct heard *heard)
{
    const struct format_notes notes = {.note = hear, .context = heard};
    struct err err = ERR_INIT;
    struct sink *sink;
    assert_true(sink_create_buffer(&sink, &err));
    if (!easyprofiler_write(profile, &no_options, &notes, sink, &err))
        fail_msg("write: %s", err.text);
    return sink;
}

static void keep_for_checker(const char *name, const void *data, size_t n)
{
    const char *folder = getenv("SAMPLER_TEST_OUT");
    if (folder == NULL)
        return;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s.prof", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Writes, and parses strictly: our own files give no cause for a remark. */
static struct easyprofiler_file *rewrite(const struct profile *profile, const char *name,
                                         struct heard *heard, struct sink **sink)
{
    *sink = write_profile(profile, heard);
    size_t n;
    const void *data = sink_buffer(*sink, &n);
    keep_for_checker(name, data, n);
    struct err err = ERR_INIT;
    struct easyprofiler_file *file;
    if (!easyprofiler_parse(data, n, true, NULL, &file, &err))
        fail_msg("%s at %" PRIu64, err.text, err.offset);
    return file;
}

static struct profile *read_bytes(const void *data, size_t n)
{
    struct err err = ERR_INIT;
    struct profile *profile;
    if (!easyprofiler_read(data, n, &no_options, NULL, &profile, &err))
        fail_msg("%s at %" PRIu64, err.text, err.offset);
    return profile;
}

static void assert_text(const struct profile *a, uint32_t id_a, const struct profile *b,
                        uint32_t id_b)
{
    struct text left = profile_text(a, id_a), right = profile_text(b, id_b);
    assert_int_equal(left.length, right.length);
    assert_memory_equal(left.bytes, right.bytes, left.length);
}

static void assert_frame(const struct profile *a, uint32_t frame_a, const struct profile *b,
                         uint32_t frame_b)
{
    const struct profile_function *left = &a->functions[a->frames[frame_a].function];
    const struct profile_function *right = &b->functions[b->frames[frame_b].function];
    assert_text(a, left->name, b, right->name);
    assert_text(a, left->file, b, right->file);
    assert_int_equal(left->line, right->line);
}

static void assert_same_instants(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->n_instants, b->n_instants);
    for (size_t i = 0; i < a->n_instants; i++) {
        const struct profile_instant *left = &a->instants[i], *right = &b->instants[i];
        assert_int_equal(left->thread, right->thread);
        assert_int_equal(left->time_ns, right->time_ns);
        assert_int_equal(left->span, right->span);
        assert_int_equal(left->type, right->type);
        assert_frame(a, left->frame, b, right->frame);
        if (left->type == PROFILE_VALUE_TEXT)
            assert_text(a, (uint32_t)left->value.u64, b, (uint32_t)right->value.u64);
        else if (left->type != PROFILE_VALUE_NONE)
            assert_int_equal(left->value.u64, right->value.u64);
    }
}

static void assert_same_times_off(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->n_off_cpus, b->n_off_cpus);
    for (size_t i = 0; i < a->n_off_cpus; i++) {
        const struct profile_off_cpu *left = &a->off_cpus[i], *right = &b->off_cpus[i];
        assert_int_equal(left->thread, right->thread);
        assert_int_equal(left->to_tid, right->to_tid);
        assert_int_equal(left->begin_ns, right->begin_ns);
        assert_int_equal(left->end_ns, right->end_ns);
        assert_text(a, left->to_process, b, right->to_process);
    }
}

/* All that `keeps` says. */
static void assert_same(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->start_time_ns, b->start_time_ns);
    assert_int_equal(a->duration_ns, b->duration_ns);
    assert_int_equal(a->n_threads, b->n_threads);
    for (uint32_t i = 1; i < a->n_threads; i++) {
        assert_int_equal(a->threads[i].tid, b->threads[i].tid);
        assert_text(a, a->threads[i].name, b, b->threads[i].name);
    }
    assert_int_equal(a->n_spans, b->n_spans);
    for (uint32_t i = 1; i < a->n_spans; i++) {
        const struct profile_span *left = &a->spans[i], *right = &b->spans[i];
        assert_int_equal(left->thread, right->thread);
        assert_int_equal(left->parent, right->parent);
        assert_int_equal(left->begin_ns, right->begin_ns);
        assert_int_equal(left->end_ns, right->end_ns);
        assert_frame(a, left->frame, b, right->frame);
    }
    assert_same_instants(a, b);
    assert_same_times_off(a, b);
    assert_int_equal(a->n_bookmarks, b->n_bookmarks);
    for (size_t i = 0; i < a->n_bookmarks; i++) {
        assert_int_equal(a->bookmarks[i].time_ns, b->bookmarks[i].time_ns);
        assert_int_equal(a->bookmarks[i].color, b->bookmarks[i].color);
        assert_text(a, a->bookmarks[i].text, b, b->bookmarks[i].text);
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

static void content_is_recognised(void **state)
{
    (void)state;
    const uint8_t good[] = {0x79, 0x73, 0x61, 0x45, 0, 0, 1, 2};
    const uint8_t big_endian[] = {0x45, 0x61, 0x73, 0x79, 2, 1, 0, 0};
    assert_int_equal(format_easyprofiler.sniff(good, sizeof good), 100);
    assert_int_equal(format_easyprofiler.sniff(good, 3), 0);
    assert_in_range(format_easyprofiler.sniff(big_endian, sizeof big_endian), 1, 99);
    assert_int_equal(format_easyprofiler.sniff((const uint8_t *)"Easy going", 10), 0);
    assert_ptr_equal(format_by_name("easyprofiler"), &format_easyprofiler);
    assert_ptr_equal(format_by_path("a/b.prof"), &format_easyprofiler);
}

/* Reads `n` bytes of `data` from a block of exactly that size. True: read; *heard counts notes. */
static bool read_exact(const uint8_t *data, size_t n, struct heard *heard, struct err *err)
{
    const struct format_notes notes = {.note = hear, .context = heard};
    uint8_t *copy = malloc(n != 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, data, n);
    struct profile *profile = NULL;
    bool ok = easyprofiler_read(copy, n, &no_options, &notes, &profile, err);
    profile_destroy(profile);
    struct sink *sink;
    struct err dump_err = ERR_INIT;
    assert_true(sink_create_failing(1 << 20, &sink, &dump_err));
    assert_int_equal(easyprofiler_dump(copy, n, NULL, sink, &dump_err), ok);
    sink_abandon(sink);
    free(copy);
    return ok;
}

/* Before 2.1 a file just ends after its last thread, so nobody can tell that one without records is
 * missing: the file "hand_v*" has such a thread at its end. */
static void a_cut_file_is_not_read_in_silence(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned n_silent;
    } cases[] = {{"made/hand_v0.1.0", 1},        {"made/hand_v1.0.1", 1},
                 {"made/hand_v1.3.0", 1},        {"made/hand_v2.1.0", 0},
                 {"made/hand_bookmarks", 0},     {"made/hand_values", 0},
                 {"made/hand_random_v1.3.1", 0}, {"made/rw_context_switches", 0}};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct bytes bytes = load(cases[i].name);
        unsigned n_silent = 0;
        for (size_t n = 0; n < bytes.n; n++) {
            struct heard heard = {.n = 0};
            struct err err = ERR_INIT;
            if (read_exact(bytes.data, n, &heard, &err)) {
                n_silent += heard.n == 0;
            } else {
                assert_in_range(err.code, ERR_TRUNCATED, ERR_LIMIT);
                assert_true(err.offset <= n);
                assert_true(err.text[0] != '\0');
            }
        }
        assert_int_equal(n_silent, cases[i].n_silent);
        free(bytes.data);
    }
}

/* Wherever a size or a count stands, it is made as large as it can be. */
static void no_size_of_a_file_is_trusted(void **state)
{
    (void)state;
    static const char *const names[] = {"made/hand_v1.0.1", "made/hand_values",
                                        "made/hand_bookmarks", "made/hand_thread_names"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        struct bytes bytes = load(names[i]);
        for (size_t width = 1; width <= 4; width *= 2) {
            for (size_t at = 0; at + width <= bytes.n; at++) {
                uint8_t saved[4];
                struct heard heard = {.n = 0};
                struct err err = ERR_INIT;
                memcpy(saved, bytes.data + at, width);
                memset(bytes.data + at, 0xff, width);
                bool ok = read_exact(bytes.data, bytes.n, &heard, &err);
                assert_true(ok || (err.code != ERR_NONE && err.offset <= bytes.n));
                memcpy(bytes.data + at, saved, width);
            }
        }
        free(bytes.data);
    }
}

static void counts_that_cannot_fit_are_refused_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t offset;
    } cases[] = {{"bad/thread_block_count_huge", 228},
                 {"bad/thread_cswitch_count_huge", 224},
                 {"bad/descriptors_count_huge", 72}};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct bytes bytes = load(cases[i].name);
        struct heard heard = {.n = 0};
        struct err err = ERR_INIT;
        assert_false(read_exact(bytes.data, bytes.n, &heard, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_int_equal(err.offset, cases[i].offset);
        free(bytes.data);
    }
}

static void strict_reading_makes_errors_of_notes(void **state)
{
    (void)state;
    static const char *const names[] = {
        "bad/blocks_count_too_big",    "bad/block_before_begin_time", "bad/end_signature_u64",
        "bad/v1.3_with_end_signature", "bad/threads_count_too_big",   "bad/value_unknown_type",
        "bad/block_end_before_begin",  "bad/negative_frequency",      "bad/nesting_too_deep_256",
        "made/hand_v3.7.12_future",    "bad/bookmarks_count_too_big", "made/hand_descriptor_gap",
        "bad/descriptors_memory_zero",
    };
    const struct format_options strict = {.strict = true};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        struct bytes bytes = load(names[i]);
        struct profile *profile = NULL;
        struct heard heard = {.n = 0};
        const struct format_notes notes = {.note = hear, .context = &heard};
        struct err err = ERR_INIT;
        assert_false(easyprofiler_read(bytes.data, bytes.n, &strict, &notes, &profile, &err));
        assert_true(err.offset <= bytes.n);
        struct err none = ERR_INIT;
        assert_true(easyprofiler_read(bytes.data, bytes.n, &no_options, &notes, &profile, &none));
        assert_true(heard.n > 0);
        profile_destroy(profile);
        free(bytes.data);
    }
}

static void blocks_become_spans_and_instants(void **state)
{
    (void)state;
    struct bytes bytes = load("made/hand_bookmarks");
    struct profile *profile = read_bytes(bytes.data, bytes.n);
    assert_int_equal(profile->start_time_ns, 5050);
    assert_int_equal(profile->duration_ns, 750);
    assert_int_equal(profile->processes[1].pid, 4321);
    assert_int_equal(profile->n_threads, 1 + 3);
    assert_int_equal(profile->n_spans, 1 + 8);
    assert_int_equal(profile->n_instants, 2);
    assert_int_equal(profile->n_off_cpus, 2);
    assert_int_equal(profile->n_bookmarks, 5);
    assert_string_equal(profile_text(profile, profile->threads[1].name).bytes, "Main");
    /* The first block of the thread and, in it, the one with a name of its own. */
    const struct profile_span *span = &profile->spans[3];
    const struct profile_function *function =
        &profile->functions[profile->frames[span->frame].function];
    assert_int_equal(span->parent, 1);
    assert_int_equal(span->begin_ns, 170);
    assert_string_equal(profile_text(profile, function->name).bytes, "compute:second");
    assert_string_equal(profile_text(profile, function->file).bytes, "app/compute.c");
    assert_int_equal(function->line, 25);
    assert_int_equal(profile->off_cpus[0].to_tid, 77);
    assert_int_equal(profile->off_cpus[0].begin_ns, 260);
    assert_int_equal(profile->bookmarks[3].time_ns, 0); /* before all records */
    profile_destroy(profile);
    free(bytes.data);
}

static void a_runtime_name_keeps_its_own_place(void **state)
{
    (void)state;
    struct bytes bytes = load("made/hand_runtime_name_collision");
    struct profile *profile = read_bytes(bytes.data, bytes.n);
    unsigned n_files = 0;
    for (uint32_t i = 1; i < profile->n_functions; i++) {
        const struct profile_function *function = &profile->functions[i];
        n_files += strcmp(profile_text(profile, function->name).bytes, "same") == 0;
    }
    assert_true(n_files > 1); /* EasyProfiler shows all of them at the place of the first */
    profile_destroy(profile);
    free(bytes.data);
}

static void values_keep_type_and_content(void **state)
{
    (void)state;
    static const enum profile_value_type types[] = {
        PROFILE_VALUE_BOOL, PROFILE_VALUE_U64,  PROFILE_VALUE_F64,
        PROFILE_VALUE_TEXT, PROFILE_VALUE_TEXT, PROFILE_VALUE_TEXT,
        PROFILE_VALUE_U64,  PROFILE_VALUE_I64,  PROFILE_VALUE_TEXT};
    struct bytes bytes = load("made/hand_values");
    struct profile *profile = read_bytes(bytes.data, bytes.n);
    const struct profile_instant *instants = profile->instants;
    assert_int_equal(profile->n_instants, N_ELEMENTS(types));
    for (size_t i = 0; i < N_ELEMENTS(types); i++)
        assert_int_equal(instants[i].type, types[i]);
    assert_int_equal(instants[0].value.u64, 1);
    assert_int_equal(instants[1].value.u64, 4000000000);
    assert_true(instants[2].value.f64 == 2.5);
    assert_string_equal(profile_text(profile, (uint32_t)instants[3].value.u64).bytes, "[1, -2, 3]");
    assert_string_equal(profile_text(profile, (uint32_t)instants[4].value.u64).bytes, "text");
    assert_string_equal(profile_text(profile, (uint32_t)instants[5].value.u64).bytes, "noNUL");
    assert_true(instants[6].value.u64 == UINT64_MAX);
    assert_true(instants[7].value.i64 == INT64_MIN);
    assert_string_equal(profile_text(profile, (uint32_t)instants[8].value.u64).bytes, "[]");
    profile_destroy(profile);
    free(bytes.data);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void a_rich_profile_survives(void **state)
{
    (void)state;
    struct profile *profile = rich_profile();
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "rich", &heard, &sink);
    easyprofiler_file_destroy(file);
    if (heard.n != 0)
        fail_msg("unexpected: %s", heard.last);
    size_t n, n_again;
    const void *data = sink_buffer(sink, &n);
    struct profile *back = read_bytes(data, n);
    /* Threads come back by id; the one without records has the smallest. */
    assert_int_equal(back->threads[1].tid, 9);
    struct sink *again = write_profile(back, &heard);
    const void *data_again = sink_buffer(again, &n_again);
    struct profile *third = read_bytes(data_again, n_again);
    assert_same(back, third);
    struct sink *same = write_profile(profile, &heard);
    data_again = sink_buffer(same, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(data, data_again, n);
    profile_destroy(profile);
    profile_destroy(back);
    profile_destroy(third);
    sink_abandon(sink);
    sink_abandon(again);
    sink_abandon(same);
}

static void corpus_files_survive(void **state)
{
    (void)state;
    static const char *const names[] = {
        "hand_bookmarks",      "hand_values",         "hand_v0.1.0",         "hand_nesting_rules",
        "hand_random_v2.1.0",  "hand_random_v1.3.1",  "hand_begin_clipped",  "rw_names_unicode",
        "rw_deep_255",         "rw_context_switches", "rw_threads_nested",   "hand_extra_bytes",
        "rw_values_all_types", "rw_old_v0.1.0",       "hand_ticks_odd_freq", "rw_explicit_times",
    };
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "made/%s", names[i]);
        struct bytes bytes = load(name);
        struct profile *profile = read_bytes(bytes.data, bytes.n);
        struct heard heard = {.n = 0};
        struct sink *sink;
        struct easyprofiler_file *file = rewrite(profile, names[i], &heard, &sink);
        easyprofiler_file_destroy(file);
        size_t n;
        const void *data = sink_buffer(sink, &n);
        struct profile *back = read_bytes(data, n);
        /* The order of bookmarks is theirs in time from now on. */
        if (strcmp(names[i], "hand_bookmarks") != 0)
            assert_same(profile, back);
        profile_destroy(profile);
        profile_destroy(back);
        sink_abandon(sink);
        free(bytes.data);
    }
}

static void samples_become_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t begin_ms, end_ms;
    } expected[] = {{"b", 0, 3},  {"c", 2, 3}, {"c", 3, 5}, {"a", 0, 5},
                    {"a", 9, 10}, {"x", 2, 3}, {"x", 1, 4}, {"x", 0, 4}};
    static const unsigned order[] = {1, 0, 2, 3, 4, 5, 6, 7}; /* as the blocks end */
    struct profile *profile = sampled_profile();
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "sampled", &heard, &sink);
    assert_int_equal(heard.n, 1);
    assert_int_equal(file->blocks.n - 1, N_ELEMENTS(expected));
    for (uint32_t i = 0; i < N_ELEMENTS(expected); i++) {
        const struct easyprofiler_block *block = easyprofiler_block_at(file, i + 1);
        const struct easyprofiler_descriptor *descriptor = &file->descriptors[block->descriptor];
        assert_string_equal(descriptor->name, expected[order[i]].name);
        assert_int_equal(block->begin_ns, 500 + expected[order[i]].begin_ms * 1000000);
        assert_int_equal(block->end_ns, 500 + expected[order[i]].end_ms * 1000000);
    }
    assert_int_equal(file->begin_ns, 500);
    assert_int_equal(file->n_threads, 2);
    assert_int_equal(file->threads[0].n_levels, 3);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

/* The viewer crops by the end of the file, and its reader drops what ends before the begin. */
static void the_header_spans_all_records(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(1000, 5);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    uint32_t frame = add_frame(builder, "f", "", 0);
    add_span(builder, thread, frame, 0, 70);
    const struct profile_instant instant = {.thread = thread, .frame = frame, .time_ns = 80};
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread, .begin_ns = 80, .end_ns = 90};
    profile_add_off_cpu(builder, &off_cpu);
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "range", &heard, &sink);
    assert_int_equal(file->begin_ns, 1000);
    assert_int_equal(file->end_ns, 1090);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void of_samples_at_one_time_the_last_counts(void **state)
{
    (void)state;
    static const uint64_t times[] = {1000, 1000, 2000};
    struct profile_builder *builder = builder_make(0, 0);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0] = (struct profile_kind){profile_add_cstring(builder, "cpu"), PROFILE_UNIT_NS};
    scalars->has_times = true;
    scalars->period = 1000;
    uint32_t thread = add_thread(builder, 0, 5, "t");
    for (size_t i = 0; i < N_ELEMENTS(times); i++) {
        const uint64_t value = 1000;
        uint32_t frame = profile_add_named_frame(builder, &"abc"[i], 1);
        const struct profile_sample sample = {
            .thread = thread, .stack = profile_add_stack(builder, 0, frame), .time_ns = times[i]};
        profile_add_sample(builder, &sample, &value);
    }
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "one_time", &heard, &sink);
    assert_int_equal(file->blocks.n - 1, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct easyprofiler_block *block = easyprofiler_block_at(file, i + 1);
        assert_int_equal(file->descriptors[block->descriptor].name[0], "bc"[i]);
        assert_int_equal(block->begin_ns, 1000 * (i + 1));
        assert_int_equal(block->end_ns, 1000 * (i + 2));
    }
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void an_event_comes_after_what_ends_with_it(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin_ns, end_ns;
        uint32_t parent;
    } expected[] = {{10, 20, 3}, {20, 20, 3}, {0, 30, 0}, {30, 30, 0}};
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    uint32_t frame = add_frame(builder, "f", "", 0);
    add_span(builder, thread, frame, 0, 30);
    add_span(builder, thread, frame, 10, 20);
    for (uint64_t time_ns = 30; time_ns >= 20; time_ns -= 10) {
        const struct profile_instant instant = {
            .thread = thread, .frame = frame, .time_ns = time_ns};
        profile_add_instant(builder, &instant);
    }
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "events", &heard, &sink);
    assert_int_equal(file->blocks.n - 1, N_ELEMENTS(expected));
    for (uint32_t i = 0; i < N_ELEMENTS(expected); i++) {
        const struct easyprofiler_block *block = easyprofiler_block_at(file, i + 1);
        assert_int_equal(block->begin_ns, expected[i].begin_ns);
        assert_int_equal(block->end_ns, expected[i].end_ns);
        assert_int_equal(block->parent, expected[i].parent);
    }
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void an_empty_profile_is_refused(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(0, 10);
    uint32_t thread = add_thread(builder, 0, 5, "idle");
    const struct profile_off_cpu off_cpu = {.thread = thread, .begin_ns = 1, .end_ns = 2};
    profile_add_off_cpu(builder, &off_cpu);
    struct profile *profile = finish(builder);
    struct err err = ERR_INIT;
    struct sink *sink;
    assert_true(sink_create_buffer(&sink, &err));
    assert_false(easyprofiler_write(profile, &no_options, NULL, sink, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_int_equal(sink_offset(sink), 0);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void deep_chains_fit_in_255_levels(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        bool with_event;
        uint32_t n_levels;
        unsigned n_notes;
    } cases[] = {{1, false, 1, 0},      {1, true, 2, 0},       {254, true, 255, 0},
                 {255, false, 255, 0},  {255, true, 255, 1},   {256, false, 255, 1},
                 {1000, false, 255, 1}, {100000, true, 255, 1}};
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct profile *profile = chain_profile(cases[i].n, cases[i].with_event);
        struct heard heard = {.n = 0};
        struct sink *sink;
        char name[32];
        (void)snprintf(name, sizeof name, "chain_%zu", i);
        struct easyprofiler_file *file = rewrite(profile, name, &heard, &sink);
        assert_int_equal(file->threads[0].n_levels, cases[i].n_levels);
        assert_int_equal(heard.n, cases[i].n_notes);
        /* The innermost span is there, with its event in it. */
        const struct easyprofiler_block *innermost =
            easyprofiler_block_at(file, cases[i].with_event ? 2 : 1);
        assert_int_equal(innermost->begin_ns, cases[i].n - 1);
        unsigned n_omitted = 0;
        for (uint32_t k = 0; k < file->n_descriptors; k++)
            n_omitted += strcmp(file->descriptors[k].name, "[frames omitted]") == 0;
        assert_int_equal(n_omitted, cases[i].n_notes);
        easyprofiler_file_destroy(file);
        sink_abandon(sink);
        profile_destroy(profile);
    }
}

/* Each begins in the one before and outlasts it: to EasyProfiler the later owns the earlier. */
static void crossing_spans_stay_readable(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "crossing");
    uint32_t frame = add_frame(builder, "f", "", 0);
    for (uint64_t i = 0; i < 1000; i++)
        add_span(builder, thread, frame, i * 10, i * 10 + 15);
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "crossing", &heard, &sink);
    assert_int_equal(file->threads[0].n_levels, 255);
    assert_int_equal(file->n_records, 1000);
    assert_int_equal(heard.n, 1);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void every_thread_gets_an_id_of_its_own(void **state)
{
    (void)state;
    static const uint64_t given[] = {7, 0, 7, 3, UINT64_MAX, 0, 1};
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t frame = add_frame(builder, "f", "", 0);
    for (size_t i = 0; i < N_ELEMENTS(given); i++) {
        uint32_t thread = add_thread(builder, 0, given[i], "t");
        add_span(builder, thread, frame, i, i + 1);
    }
    add_span(builder, 0, frame, 100, 200); /* the thread of formats that know none */
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "tids", &heard, &sink);
    assert_int_equal(file->n_threads, N_ELEMENTS(given) + 1);
    bool has_seven = false, has_three = false, has_largest = false;
    for (uint32_t i = 0; i < file->n_threads; i++) {
        const struct easyprofiler_thread *thread = &file->threads[i];
        assert_true(thread->tid != 0);
        assert_int_equal(thread->n_sections, 1);
        has_seven = has_seven || thread->tid == 7;
        has_three = has_three || thread->tid == 3;
        has_largest = has_largest || thread->tid == UINT64_MAX;
    }
    assert_true(has_seven && has_three && has_largest);
    assert_int_equal(heard.n, 1);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    enum { LENGTH = 200000 };
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    for (size_t i = 0; i + 2 < LENGTH; i += 3)
        memcpy(text + i, "\xe5\x90\x8d", 3);
    text[LENGTH - LENGTH % 3] = '\0';
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, text);
    add_span(builder, thread, add_frame(builder, text, text, 0), 0, 10);
    const struct profile_instant instant = {.thread = thread,
                                            .frame = add_frame(builder, "value", "", 0),
                                            .time_ns = 5,
                                            .type = PROFILE_VALUE_TEXT,
                                            .value.u64 = profile_add_cstring(builder, text)};
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread,
                                            .begin_ns = 1,
                                            .end_ns = 2,
                                            .to_process = profile_add_cstring(builder, text)};
    profile_add_off_cpu(builder, &off_cpu);
    const struct profile_bookmark bookmark = {.text = profile_add_text(builder, "a\0b", 3)};
    profile_add_bookmark(builder, &bookmark);
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "long", &heard, &sink);
    assert_int_equal(heard.n, 1);
    assert_string_equal(heard.last, "texts cut, too long or with a 0 byte inside: 6");
    const struct easyprofiler_descriptor *descriptor = &file->descriptors[1];
    assert_in_range(descriptor->name_length, 49000, 65535);
    assert_int_equal(descriptor->name_length % 3, 0);
    assert_int_equal(descriptor->file_length % 3, 0);
    assert_in_range(file->threads[0].name_length, 65531, 65534);
    assert_int_equal(file->threads[0].name_length % 3, 0);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
    free(text);
}

static void times_off_the_processor_do_not_overlap(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin_ns, end_ns;
    } given[] = {{50, 60}, {10, 20}, {15, 30}, {16, 18}, {40, 40}, {0, 0}};
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    add_span(builder, thread, add_frame(builder, "f", "", 0), 0, 100);
    for (size_t i = 0; i < N_ELEMENTS(given); i++) {
        const struct profile_off_cpu off_cpu = {
            .thread = thread, .begin_ns = given[i].begin_ns, .end_ns = given[i].end_ns};
        profile_add_off_cpu(builder, &off_cpu);
    }
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "switches", &heard, &sink);
    assert_int_equal(file->switches.n, 3);
    uint64_t end_ns = 0;
    for (size_t i = 0; i < file->switches.n; i++) {
        const struct easyprofiler_switch *item = array_at(&file->switches, i);
        assert_true(item->begin_ns >= end_ns && item->begin_ns < item->end_ns);
        end_ns = item->end_ns;
    }
    assert_int_equal(end_ns, 60);
    assert_int_equal(heard.n, 1);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void bookmarks_are_sorted_and_counted(void **state)
{
    (void)state;
    enum { N = 65537 };
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    add_span(builder, thread, add_frame(builder, "f", "", 0), 0, 100);
    for (uint64_t i = 0; i < N; i++) {
        const struct profile_bookmark bookmark = {.time_ns = N - i};
        profile_add_bookmark(builder, &bookmark);
    }
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "bookmarks", &heard, &sink);
    assert_int_equal(file->bookmarks.n, 65535);
    for (size_t i = 0; i < file->bookmarks.n; i++)
        assert_int_equal(
            ((struct easyprofiler_bookmark *)array_at(&file->bookmarks, i))->position_ns, i + 1);
    assert_string_equal(heard.last, "bookmarks left out (at most 65535): 2");
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void threads_name_their_process_when_there_are_several(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t frame = add_frame(builder, "f", "", 0);
    for (uint64_t i = 0; i < 2; i++) {
        const struct profile_process process = {
            .pid = 10 + i, .name = profile_add_cstring(builder, i == 0 ? "sh" : "cc")};
        uint32_t process_id = profile_add_process(builder, &process);
        add_span(builder, add_thread(builder, process_id, 10 + i, "main"), frame, 0, 10);
    }
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "processes", &heard, &sink);
    assert_int_equal(file->pid, 10);
    assert_string_equal(file->threads[0].name, "main (sh 10)");
    assert_string_equal(file->threads[1].name, "main (cc 11)");
    assert_int_equal(heard.n, 1);
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

static void what_is_lost_is_said_once(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "t");
    const struct profile_module module = {.path = profile_add_cstring(builder, "/usr/lib/libm.so")};
    const struct profile_function function = {.name = profile_add_cstring(builder, "sin"),
                                              .module = profile_add_module(builder, &module)};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = 3,
                                        .flags = PROFILE_FRAME_INLINED,
                                        .address = 0x1234};
    add_span(builder, thread, profile_add_frame(builder, &frame), 0, 10);
    profile_add_metadata(builder, "command", "x", 1);
    struct profile *profile = finish(builder);
    struct heard heard = {.n = 0};
    struct sink *sink;
    struct easyprofiler_file *file = rewrite(profile, "lost", &heard, &sink);
    assert_int_equal(heard.n, 1);
    assert_string_equal(heard.last,
                        "not kept: executed lines, which frames are inlined, addresses, "
                        "modules (their path stands for a file), metadata");
    assert_string_equal(file->descriptors[0].name + file->descriptors[0].file_start,
                        "/usr/lib/libm.so");
    easyprofiler_file_destroy(file);
    sink_abandon(sink);
    profile_destroy(profile);
}

/* ---- faults --------------------------------------------------------------------------------- */

static bool read_rich(const struct bytes *bytes, struct err *err)
{
    struct profile *profile = NULL;
    bool ok = easyprofiler_read(bytes->data, bytes->n, &no_options, NULL, &profile, err);
    profile_destroy(profile);
    return ok;
}

static bool dump_rich(const struct bytes *bytes, struct err *err)
{
    struct sink *sink;
    if (!sink_create_failing(1 << 20, &sink, err))
        return false;
    bool ok = easyprofiler_dump(bytes->data, bytes->n, NULL, sink, err);
    sink_abandon(sink);
    return ok;
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    struct bytes bytes = load("made/rw_context_switches");
    bool (*const runs[])(const struct bytes *, struct err *) = {read_rich, dump_rich};
    for (size_t i = 0; i < N_ELEMENTS(runs); i++) {
        unsigned n = 1;
        for (;; n++) {
            struct err err = ERR_INIT;
            alloc_fault_arm(n);
            bool ok = runs[i](&bytes, &err);
            if (!alloc_fault_fired()) {
                assert_true(ok);
                break;
            }
            /* Giving back reserve may fail without harm. */
            assert_true(ok || err.code == ERR_MEMORY);
        }
        assert_true(n > 5);
    }
    free(bytes.data);
}

static void failed_allocations_of_the_writer_are_reported(void **state)
{
    (void)state;
    struct profile *profiles[] = {rich_profile(), sampled_profile(), chain_profile(300, true)};
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        for (unsigned n = 1;; n++) {
            struct err err = ERR_INIT;
            struct sink *sink;
            assert_true(sink_create_failing(1 << 20, &sink, &err));
            alloc_fault_arm(n);
            bool ok = easyprofiler_write(profiles[i], &no_options, NULL, sink, &err);
            bool fired = alloc_fault_fired();
            if (!fired)
                assert_true(ok);
            else
                /* A sort without memory for it goes on in place. */
                assert_true(ok || err.code == ERR_MEMORY);
            sink_abandon(sink);
            if (!fired)
                break;
        }
        profile_destroy(profiles[i]);
    }
}

static void a_failing_sink_is_told_by_its_close(void **state)
{
    (void)state;
    struct profile *profile = rich_profile();
    struct heard heard = {.n = 0};
    struct sink *whole = write_profile(profile, &heard);
    size_t n;
    const void *data = sink_buffer(whole, &n);
    for (uint64_t limit = 0; limit < n; limit += 37) {
        struct err err = ERR_INIT;
        struct sink *sink;
        assert_true(sink_create_failing(limit, &sink, &err));
        assert_true(easyprofiler_write(profile, &no_options, NULL, sink, &err));
        assert_false(sink_close(sink, &err));
        assert_int_equal(err.sys_errno, ENOSPC);
        struct err dump_err = ERR_INIT;
        assert_true(sink_create_failing(limit, &sink, &dump_err));
        assert_true(easyprofiler_dump(data, n, NULL, sink, &dump_err));
        assert_false(sink_close(sink, &dump_err));
    }
    sink_abandon(whole);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_recognised),
        cmocka_unit_test(a_cut_file_is_not_read_in_silence),
        cmocka_unit_test(no_size_of_a_file_is_trusted),
        cmocka_unit_test(counts_that_cannot_fit_are_refused_at_once),
        cmocka_unit_test(strict_reading_makes_errors_of_notes),
        cmocka_unit_test(blocks_become_spans_and_instants),
        cmocka_unit_test(a_runtime_name_keeps_its_own_place),
        cmocka_unit_test(values_keep_type_and_content),
        cmocka_unit_test(a_rich_profile_survives),
        cmocka_unit_test(corpus_files_survive),
        cmocka_unit_test(samples_become_blocks),
        cmocka_unit_test(the_header_spans_all_records),
        cmocka_unit_test(of_samples_at_one_time_the_last_counts),
        cmocka_unit_test(an_event_comes_after_what_ends_with_it),
        cmocka_unit_test(an_empty_profile_is_refused),
        cmocka_unit_test(deep_chains_fit_in_255_levels),
        cmocka_unit_test(crossing_spans_stay_readable),
        cmocka_unit_test(every_thread_gets_an_id_of_its_own),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(times_off_the_processor_do_not_overlap),
        cmocka_unit_test(bookmarks_are_sorted_and_counted),
        cmocka_unit_test(threads_name_their_process_when_there_are_several),
        cmocka_unit_test(what_is_lost_is_said_once),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(failed_allocations_of_the_writer_are_reported),
        cmocka_unit_test(a_failing_sink_is_told_by_its_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
