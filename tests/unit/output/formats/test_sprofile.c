/* test_sprofile.c - columns, blocks and damage of the format sprofile. What it keeps of a profile is
 * held to by test_formats.c. */
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "format_help.h"
#include "formats/sprofile/block.h"
#include "formats/sprofile/column.h"
#include "formats/sprofile/sprofile.h"
#include "profile_help.h"
#include "unit.h"

/* ---- columns ---- */

static size_t column_round(const uint64_t *numbers, size_t n, enum column_how how)
{
    uint8_t bytes[1024];
    uint64_t back[64];
    assert_true(COLUMN_BYTES_MOST(n) <= sizeof bytes && n <= N_ELEMENTS(back));
    size_t n_bytes = (size_t)(column_put(numbers, n, bytes) - bytes);
    assert_int_equal(bytes[0], how);
    struct cursor in = cursor_make(bytes, n_bytes);
    column_get(&in, n, back);
    assert_true(!in.failed && cursor_at_end(&in));
    assert_memory_equal(back, numbers, n * sizeof numbers[0]);
    for (size_t length = 0; length < n_bytes; length++) {
        in = cursor_make(bytes, length);
        column_get(&in, n, back);
        assert_true(in.failed);
    }
    return n_bytes;
}

static void columns_come_back(void **state)
{
    (void)state;
    static const uint64_t same[] = {7, 7, 7, 7};
    assert_int_equal(column_round(same, 4, COLUMN_SAME), 2);
    assert_int_equal(column_round(same, 1, COLUMN_SAME), 2);
    static const uint64_t zeros[] = {0, 0};
    assert_int_equal(column_round(zeros, 2, COLUMN_SAME), 2);
    /* Weights: multiples of a period. */
    static const uint64_t weights[] = {1001001, 1001001, 0, 3003003, 1001001};
    assert_int_equal(column_round(weights, 5, COLUMN_PLAIN), 1 + 3 + 5);
    /* Times: steps of microseconds from a large beginning, and a step back to another thread's. */
    static const uint64_t times[] = {UINT64_C(5000000123), UINT64_C(5001000123),
                                     UINT64_C(5002001123), UINT64_C(5000000123)};
    assert_int_equal(column_round(times, 4, COLUMN_STEPS), 1 + 2 + 5 + 2 + 2 + 2);
    /* The ends of the range, and differences that only fit modulo 2^64. */
    static const uint64_t ends[] = {UINT64_MAX, 0, UINT64_C(1) << 63, 1};
    column_round(ends, 4, COLUMN_PLAIN);
    static const uint64_t high[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX, UINT64_C(1) << 63};
    column_round(high, 4, COLUMN_STEPS);
}

static void wrong_columns_fail(void **state)
{
    (void)state;
    static const uint8_t unknown[] = {9, 1, 1, 1};
    static const uint8_t long_number[] = {COLUMN_SAME, 0xff, 0xff, 0xff, 0xff, 0xff,
                                          0xff,        0xff, 0xff, 0xff, 0xff, 0x01};
    uint64_t numbers[3];
    struct cursor in = cursor_make(unknown, sizeof unknown);
    column_get(&in, 3, numbers);
    assert_true(in.failed);
    in = cursor_make(long_number, sizeof long_number);
    column_get(&in, 3, numbers);
    assert_true(in.failed);
}

/* ---- a file ---- */

#define N_SAMPLES (SPROFILE_BLOCK_ROWS + 10u) /* two blocks of samples */

static struct profile *profile_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 1000);
    profile_builder_scalars(builder)->has_times = true;
    uint32_t thread = thread_add(builder, "app", 10, "worker", 11);
    const struct profile_module module = {.path = profile_add_cstring(builder, "/bin/app"),
                                          .build_id = profile_add_cstring(builder, "ab01"),
                                          .start = 0x1000,
                                          .end = 0x2000};
    const struct profile_function function = {.name = profile_add_cstring(builder, "work"),
                                              .system_name =
                                                  profile_add_cstring(builder, "_Z4workv"),
                                              .file = profile_add_cstring(builder, "/src/a.cc"),
                                              .line = 3,
                                              .column = 4,
                                              .module = profile_add_module(builder, &module)};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                        .line = 5,
                                        .column = 6,
                                        .flags = PROFILE_FRAME_INLINED,
                                        .address = 0x1234,
                                        .file = profile_add_cstring(builder, "/src/part.h")};
    uint32_t outer = profile_add_stack(builder, 0, profile_add_named_frame(builder, "main", 4));
    uint32_t inner = profile_add_stack(builder, outer, profile_add_frame(builder, &frame));
    for (uint64_t i = 0; i < N_SAMPLES; i++) {
        const uint64_t weight = 1000 * (i % 3);
        const struct profile_sample sample = {
            .thread = thread, .stack = i % 7 == 0 ? outer : inner, .time_ns = i * 1000 + i % 5};
        profile_add_sample(builder, &sample, &weight);
    }
    return builder_finish(builder);
}

static uint64_t weight_of(const struct profile *profile)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        sum += profile_value(profile, i, 0);
    return sum;
}

static void all_of_it_comes_back(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    struct bytes file = profile_write(&format_sprofile, profile, NULL, NULL);
    struct profile *back = bytes_read(&format_sprofile, file, NULL);
    assert_int_equal(back->n_samples, profile->n_samples);
    assert_memory_equal(back->samples, profile->samples,
                        profile->n_samples * sizeof profile->samples[0]);
    assert_memory_equal(back->frames, profile->frames,
                        profile->n_frames * sizeof profile->frames[0]);
    assert_memory_equal(back->functions, profile->functions,
                        profile->n_functions * sizeof profile->functions[0]);
    assert_memory_equal(back->modules, profile->modules,
                        profile->n_modules * sizeof profile->modules[0]);
    assert_memory_equal(back->threads, profile->threads,
                        profile->n_threads * sizeof profile->threads[0]);
    assert_int_equal(weight_of(back), weight_of(profile));
    struct bytes again = profile_write(&format_sprofile, back, NULL, NULL);
    assert_int_equal(again.n, file.n);
    assert_memory_equal(again.bytes, file.bytes, file.n);
    assert_true(file.n < N_SAMPLES); /* a sample of a regular program takes less than a byte */
    free(again.bytes);
    free(file.bytes);
    profile_destroy(back);
    profile_destroy(profile);
}

/* ---- damage ---- */

/* Offset of the `index`-th block of `table`, 0 if there is none. */
static size_t block_find(struct bytes file, uint32_t table, unsigned index)
{
    for (size_t at = SPROFILE_HEADER_BYTES; at + SPROFILE_BLOCK_HEADER_BYTES <= file.n;) {
        uint32_t words[8];
        memcpy(words, file.bytes + at, sizeof words);
        assert_int_equal(words[0], SPROFILE_BLOCK_MAGIC);
        if (words[1] == table && index-- == 0)
            return at;
        at += SPROFILE_BLOCK_HEADER_BYTES + words[5];
    }
    return 0;
}

/* Reads the file with a byte of the block changed; `note` is what is said of it. */
static struct profile *read_damaged(struct bytes file, size_t at, const char *note)
{
    struct note_log log;
    struct format_notes notes = note_log_make(&log);
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    struct bytes part = bytes_part(file, file.n);
    part.bytes[at] ^= 0x10;
    assert_false(bytes_try_read(&format_sprofile, part, true, NULL, &profile, &err));
    if (!bytes_try_read(&format_sprofile, part, false, &notes, &profile, &err))
        fail_msg("%s", err.text);
    if (log.n != 1 || strstr(log.text, note) == NULL)
        fail_msg("%zu notes: %s", (size_t)log.n, log.text);
    free(part.bytes);
    return profile;
}

static const char *leaf_name(const struct profile *profile, size_t sample)
{
    const struct profile_frame *frame =
        &profile->frames[profile->stacks[profile->samples[sample].stack].frame];
    return profile_text(profile, profile->functions[frame->function].name).bytes;
}

static void damage_costs_its_block(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    struct bytes file = profile_write(&format_sprofile, profile, NULL, NULL);
    char offset[64];

    /* Of the samples the first block. */
    size_t at = block_find(file, SPROFILE_SAMPLES, 0);
    snprintf(offset, sizeof offset, "offset %zu", at);
    struct profile *left = read_damaged(file, at + SPROFILE_BLOCK_HEADER_BYTES + 40, offset);
    assert_int_equal(left->n_samples, N_SAMPLES - SPROFILE_BLOCK_ROWS);
    assert_string_equal(leaf_name(left, 0), "work");
    profile_destroy(left);
    left = read_damaged(file, at + 8, offset); /* its header: the next is found by its magic */
    assert_int_equal(left->n_samples, N_SAMPLES - SPROFILE_BLOCK_ROWS);
    profile_destroy(left);

    /* Of names and stacks: all the samples are there. */
    static const uint32_t tables[] = {SPROFILE_TEXTS, SPROFILE_FUNCTIONS, SPROFILE_FRAMES,
                                      SPROFILE_STACKS};
    for (size_t i = 0; i < N_ELEMENTS(tables); i++) {
        at = block_find(file, tables[i], 0);
        left = read_damaged(file, at + SPROFILE_BLOCK_HEADER_BYTES + 3, "offset");
        assert_int_equal(left->n_samples, N_SAMPLES);
        assert_int_equal(weight_of(left), weight_of(profile));
        assert_string_equal(leaf_name(left, 1), "[damaged]");
        profile_destroy(left);
    }

    /* The scalars alone cannot be done without. */
    struct err err = ERR_INIT;
    file.bytes[block_find(file, SPROFILE_SCALARS, 0) + SPROFILE_BLOCK_HEADER_BYTES + 3] ^= 0x10;
    assert_false(bytes_try_read(&format_sprofile, file, false, NULL, &left, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    free(file.bytes);
    profile_destroy(profile);
}

static void a_cut_file_is_read_up_to_there(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    struct bytes file = profile_write(&format_sprofile, profile, NULL, NULL);
    size_t samples = block_find(file, SPROFILE_SAMPLES, 0);
    size_t scalars = block_find(file, SPROFILE_SCALARS, 0);
    size_t second = block_find(file, SPROFILE_SAMPLES, 1);
    for (size_t n = 0; n < file.n; n += n < samples + 100 ? 1 : 997) {
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        struct err err = ERR_INIT;
        struct profile *left = NULL;
        struct bytes part = bytes_part(file, n);
        assert_false(bytes_try_read(&format_sprofile, part, true, NULL, &left, &err));
        err = (struct err)ERR_INIT;
        bool ok = bytes_try_read(&format_sprofile, part, false, &notes, &left, &err);
        if (n <= scalars)
            assert_false(ok);
        if (n >= samples)
            assert_true(ok);
        if (ok) {
            assert_true(log.n >= 1);
            assert_int_equal(left->n_samples, n < second ? 0 : SPROFILE_BLOCK_ROWS);
            profile_destroy(left);
        }
        free(part.bytes);
    }
    free(file.bytes);
    profile_destroy(profile);
}

/* ---- what others may write ---- */

struct writing {
    struct sink *sink;
    struct block_writer *blocks;
};

static struct writing file_begin(uint32_t version)
{
    struct err err = ERR_INIT;
    struct writing w;
    assert_true(sink_create_buffer(&w.sink, &err));
    sink_write(w.sink, SPROFILE_MAGIC, SPROFILE_MAGIC_BYTES);
    sink_u32le(w.sink, version);
    sink_u32le(w.sink, 0);
    assert_true(block_writer_create(w.sink, &w.blocks, &err));
    return w;
}

static void file_add(struct writing *w, uint32_t table, uint64_t first, uint32_t n_rows,
                     const uint8_t *content, size_t n)
{
    struct err err = ERR_INIT;
    assert_true(
        block_write(w->blocks, (enum sprofile_table)table, first, n_rows, content, n, &err));
}

/* Reads the finished file; false with *err. */
static bool file_try(struct writing *w, struct profile **out, struct err *err)
{
    size_t n;
    block_write_end(w->blocks);
    block_writer_destroy(w->blocks);
    const uint8_t *data = sink_buffer(w->sink, &n);
    bool ok = format_sprofile.read(data, n, NULL, NULL, out, err);
    sink_abandon(w->sink);
    return ok;
}

static const uint8_t one_kind[] = {6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

static void later_versions_may_add(void **state)
{
    (void)state;
    /* A table we do not know, and a column more of one we do; the columns that follow are zeros. */
    static const uint8_t modules[] = {5, 0, 1, 0, 1, 0, 0, 0, 0, 0, 77};
    static const uint8_t texts[] = {1, 0, 1, 'x'};
    static const uint8_t bookmark[] = {1, 0, 1};
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    struct writing w = file_begin(SPROFILE_VERSION);
    file_add(&w, 200, 0, 1, texts, sizeof texts);
    file_add(&w, SPROFILE_TEXTS, 1, 1, texts, sizeof texts);
    file_add(&w, SPROFILE_SCALARS, 0, 1, one_kind, sizeof one_kind);
    file_add(&w, SPROFILE_MODULES, 1, 1, modules, sizeof modules);
    file_add(&w, SPROFILE_BOOKMARKS, 0, 1, bookmark, sizeof bookmark);
    if (!file_try(&w, &profile, &err))
        fail_msg("%s", err.text);
    assert_int_equal(profile->n_modules, 2);
    assert_int_equal(profile->n_bookmarks, 1);
    assert_int_equal(profile->bookmarks[0].color, 0);
    profile_destroy(profile);

    w = file_begin(SPROFILE_VERSION + 1);
    assert_false(file_try(&w, &profile, &err));
    assert_int_equal(err.code, ERR_VERSION);
}

static void expect_refused(uint32_t table, uint64_t first, uint32_t n_rows, const uint8_t *content,
                           size_t n, const char *words)
{
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    struct writing w = file_begin(SPROFILE_VERSION);
    file_add(&w, SPROFILE_SCALARS, 0, 1, one_kind, sizeof one_kind);
    file_add(&w, table, first, n_rows, content, n);
    assert_false(file_try(&w, &profile, &err));
    if (strstr(err.text, words) == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(err.offset == ERR_NO_OFFSET, 0);
}

static void wrong_rows_are_refused(void **state)
{
    (void)state;
    static const uint8_t bookmark[] = {1, 0, 5}; /* of a text that is not there */
    expect_refused(SPROFILE_BOOKMARKS, 0, 1, bookmark, sizeof bookmark, "number 5 of texts");
    static const uint8_t stack[] = {2, 0, 1, 0, 0}; /* its own parent */
    expect_refused(SPROFILE_STACKS, 1, 1, stack, sizeof stack, "number 1 of stacks");
    static const uint8_t zeros[] = {1, 0, 0};
    expect_refused(SPROFILE_STACKS, 9, 1, zeros, sizeof zeros, "begins with number 9");
    expect_refused(SPROFILE_SCALARS, 1, 1, one_kind, sizeof one_kind, "scalars");
    /* A packed nothing that would be a profile of any size. */
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    struct writing w = file_begin(SPROFILE_VERSION);
    file_add(&w, SPROFILE_SCALARS, 0, 1, one_kind, sizeof one_kind);
    for (uint64_t i = 0; i <= (1 << 25) / SPROFILE_BLOCK_ROWS; i++)
        file_add(&w, SPROFILE_BOOKMARKS, i * SPROFILE_BLOCK_ROWS, SPROFILE_BLOCK_ROWS, zeros,
                 sizeof zeros);
    assert_false(file_try(&w, &profile, &err));
    assert_int_equal(err.code, ERR_LIMIT);
}

/* A file that the first version wrote: 2.5 s of a program of two functions. It stays as it is. */
static void the_first_version_is_read(void **state)
{
    (void)state;
    struct bytes file = data_load("sprofile/version-1.sprofile");
    struct profile *profile = bytes_read(&format_sprofile, file, NULL);
    assert_int_equal(profile->n_samples, 2546);
    assert_int_equal(profile->n_kinds, 2);
    assert_int_equal(profile->kinds[1].unit, PROFILE_UNIT_NS);
    uint64_t samples = 0, hot_ns = 0, all_ns = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        samples += profile_value(profile, i, 0);
        all_ns += profile_value(profile, i, 1);
        hot_ns += strcmp(leaf_name(profile, i), "hot") == 0 ? profile_value(profile, i, 1) : 0;
    }
    assert_int_equal(samples, 2544);
    assert_int_equal(all_ns, 2548950472);
    assert_int_equal(hot_ns / 1000000, 1683);
    profile_destroy(profile);
    free(file.bytes);
}

/* ---- no memory ---- */

/* A run of the whole way, of which any step may find no memory. */
static bool write_and_read(const struct profile *profile, struct bytes file, struct err *err)
{
    struct sink *sink = NULL;
    struct profile *back = NULL;
    if (!sink_create_buffer(&sink, err))
        return false;
    bool ok = format_sprofile.write(profile, NULL, NULL, sink, err) &&
              (!sink_failed(sink) || err_fail_memory(err)) &&
              format_sprofile.read((const uint8_t *)file.bytes, file.n, NULL, NULL, &back, err);
    profile_destroy(back);
    sink_abandon(sink);
    return ok;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    struct bytes file = profile_write(&format_sprofile, profile, NULL, NULL);
    unsigned n = 0, n_failed = 0;
    for (bool fired = true; fired;) {
        struct err err = ERR_INIT;
        alloc_fault_arm(++n);
        bool ok = write_and_read(profile, file, &err);
        fired = alloc_fault_fired();
        assert_true(ok || fired); /* giving back spare memory may fail, and nobody minds */
        assert_int_equal(err.code, ok ? ERR_NONE : ERR_MEMORY);
        n_failed += !ok;
    }
    assert_true(n_failed > 20);
    free(file.bytes);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_come_back),
        cmocka_unit_test(wrong_columns_fail),
        cmocka_unit_test(all_of_it_comes_back),
        cmocka_unit_test(damage_costs_its_block),
        cmocka_unit_test(a_cut_file_is_read_up_to_there),
        cmocka_unit_test(later_versions_may_add),
        cmocka_unit_test(wrong_rows_are_refused),
        cmocka_unit_test(the_first_version_is_read),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
