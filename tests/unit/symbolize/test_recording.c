/* test_recording.c - the promises of symbolize/recording/recording.h: what is read, from any prefix, and what
 * damage costs. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "recording/recording.h"
#include "recording_builder.h"
#include "unit.h"

static const struct builder_module libm = {
    .id = 2,
    .start = 0x7f0000001000,
    .end = 0x7f0000020000,
    .bias = 0x7f0000000000,
    .dev = 5,
    .ino = 6,
    .size_bytes = 7,
    .mtime_s = 8,
    .build_id = "\x12\x00\xff",
    .build_id_length = 3,
    .path = "/lib/libm.so.6",
};

static struct recording *read_built(const struct recording_builder *b)
{
    struct err err = ERR_INIT;
    struct recording *recording = NULL;
    assert_true(recording_read_memory(b->bytes, b->size_bytes, &recording, &err));
    return recording;
}

static void expect_warning(const struct recording *recording, const char *words)
{
    for (size_t i = 0; i < recording->n_warnings; i++) {
        if (strstr(recording->warnings[i].text.bytes, words) != NULL)
            return;
    }
    fail_msg("no warning says \"%s\"", words);
}

/* One stream with everything a recording can hold. */
static void build_all(struct recording_builder *b)
{
    builder_init(b);
    builder_chunk(b, 0, 0);
    builder_info(b, "command", "ls\0-l", 5);
    builder_thread_start(b, 10, 3, 400, "main");
    builder_clock(b, CAPTURE_CLOCK_TIMER, EACCES);
    builder_module(b, &libm);
    builder_node(b, 0, 2, 0, 0x1234);
    builder_node(b, 1, 0, 1, 0xdeadbeef);
    builder_node_cut(b, CAPTURE_CUT_TOO_DEEP);
    builder_sample(b, 2, 2);
    builder_sample_weighted(b, CAPTURE_SAMPLE_WEIGHTED, 5, 7, 1);
    builder_sample_weighted(b, CAPTURE_SAMPLE_CREDIT, 0, 3, 3);
    builder_thread_end(b, 1, 900);
}

static void everything_is_read(void **state)
{
    (void)state;
    struct recording_builder b;
    build_all(&b);
    struct recording *recording = read_built(&b);
    assert_int_equal(recording->n_warnings, 0);
    assert_false(recording->cut);
    assert_int_equal(recording->header.pid, 4711);
    assert_int_equal(recording_info_get(recording, "command").length, 5);
    assert_int_equal(recording_info_get(recording, "none").length, 0);
    assert_int_equal(recording->n_threads, 1);
    const struct recording_thread *thread = &recording->threads[0];
    assert_int_equal(thread->tid, 10);
    assert_string_equal(thread->name.bytes, "main");
    assert_int_equal(thread->start_ns, 3000);
    assert_int_equal(thread->end_ns, 3000 + 8000);
    assert_int_equal(thread->start_cpu_ns, 400);
    assert_int_equal(thread->end_cpu_ns, 900);
    assert_int_equal(thread->clock, CAPTURE_CLOCK_TIMER);
    assert_int_equal(thread->clock_errno, EACCES);
    assert_int_equal(recording->n_modules, 1);
    assert_string_equal(recording->modules[0].path.bytes, libm.path);
    assert_memory_equal(recording->modules[0].build_id.bytes, libm.build_id, 3);
    assert_int_equal(recording->modules[0].mtime_s, 8);
    assert_int_equal(recording->n_nodes, 4);
    assert_int_equal(recording->nodes[1].module, 1);
    assert_int_equal(recording->nodes[1].exact, 0);
    assert_int_equal(recording->nodes[2].parent, 1);
    assert_int_equal(recording->nodes[2].module, 0);
    assert_int_equal(recording->nodes[2].exact, 1);
    assert_int_equal(recording->nodes[2].offset, 0xdeadbeef);
    assert_int_equal(recording->nodes[3].cut, CAPTURE_CUT_TOO_DEEP);
    assert_int_equal(recording->n_samples, 3);
    assert_int_equal(recording->samples[0].time_ns, 5000);
    assert_int_equal(recording->samples[0].steps, 1);
    assert_int_equal(recording->samples[1].time_ns, 10000);
    assert_int_equal(recording->samples[1].steps, 7);
    assert_int_equal(recording->samples[2].kind, RECORDING_CREDIT);
    assert_int_equal(recording->samples[2].node, 3);
    recording_destroy(recording);
    builder_deinit(&b);
}

/* What it cost to begin and end a thread adds up, by thread; one of another stream is apart. */
static void costs_of_threads_add_up(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_chunk(&b, 0, 0);
    builder_thread_start(&b, 10, 0, 0, "first");
    builder_thread_cost(&b, 900, 30000);
    builder_thread_cost(&b, 0, 7000);
    builder_thread_end(&b, 1, 100000);
    builder_thread_start(&b, 11, 0, 0, "second");
    builder_thread_cost(&b, 1, 2);
    struct recording *recording = read_built(&b);
    assert_int_equal(recording->n_warnings, 0);
    assert_int_equal(recording->threads[0].begin_cpu_ns, 900);
    assert_int_equal(recording->threads[0].own_cpu_ns, 37000);
    assert_int_equal(recording->threads[1].begin_cpu_ns, 1);
    assert_int_equal(recording->threads[1].own_cpu_ns, 2);
    assert_int_equal(recording->facts.own_ns, 37002);
    recording_destroy(recording);
    builder_deinit(&b);
}

/* Versions before this one are read; they had no such records. */
static void older_versions_are_read(void **state)
{
    (void)state;
    for (uint32_t version = CAPTURE_VERSION_OLDEST; version <= CAPTURE_VERSION; version++) {
        struct recording_builder b;
        build_all(&b);
        builder_header(&b)->version = version;
        struct recording *recording = read_built(&b);
        assert_int_equal(recording->n_samples, 3);
        assert_int_equal(recording->threads[0].own_cpu_ns, 0);
        recording_destroy(recording);
        builder_deinit(&b);
    }
}

/* Chunks of two streams in mixed order in the file; a stream taken over by a second thread, whose
 * samples name nodes of the first. */
static void streams_and_threads_are_kept_apart(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_chunk(&b, 1, 1);
    builder_sample(&b, 1, 1);
    builder_chunk(&b, 0, 0);
    builder_thread_start(&b, 10, 0, 0, "first");
    builder_node(&b, 0, 0, 1, 100);
    builder_sample(&b, 1, 1);
    builder_thread_end(&b, 0, 0);
    builder_thread_start(&b, 11, 50, 0, "second");
    builder_sample(&b, 1, 1);
    builder_chunk(&b, 1, 0);
    builder_thread_start(&b, 20, 7, 0, "other");
    builder_node(&b, 0, 0, 1, 200);
    struct recording *recording = read_built(&b);
    assert_int_equal(recording->n_warnings, 0);
    assert_int_equal(recording->n_threads, 3);
    assert_int_equal(recording->n_samples, 3);
    assert_int_equal(recording->threads[recording->samples[1].thread].tid, 11);
    assert_int_equal(recording->samples[1].time_ns, 51000);
    assert_int_equal(recording->nodes[recording->samples[1].node].offset, 100);
    assert_int_equal(recording->threads[recording->samples[2].thread].tid, 20);
    assert_int_equal(recording->samples[2].time_ns, 8000);
    assert_int_equal(recording->nodes[recording->samples[2].node].offset, 200);
    recording_destroy(recording);
    builder_deinit(&b);
}

/* Every length from nothing to everything: an error while the header is not whole, and from then on
 * exactly the samples whose bytes are all there. */
static void every_prefix_is_read(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_header(&b)->chunk_bytes = 128;
    size_t sample_ends[64];
    size_t n_samples = 0;
    for (uint32_t chunk = 0; chunk < 4; chunk++) {
        builder_chunk(&b, chunk % 2, chunk / 2);
        if (chunk < 2) {
            builder_thread_start(&b, 10 + chunk, 0, 0, "thread");
            builder_node(&b, 0, 0, 1, 0x123456);
        }
        for (int i = 0; i < 10; i++) {
            builder_sample_weighted(&b, CAPTURE_SAMPLE_WEIGHTED, 300, 1, 1);
            sample_ends[n_samples++] = b.chunk + sizeof(struct capture_chunk) + b.n_records;
        }
    }
    for (size_t length = 0; length <= b.size_bytes; length++) {
        /* A copy of exactly that length: a read behind it is seen by the sanitizer. */
        uint8_t *copy = malloc(length == 0 ? 1 : length);
        assert_non_null(copy);
        memcpy(copy, b.bytes, length);
        struct err err = ERR_INIT;
        struct recording *recording = NULL;
        if (recording_read_memory(copy, length, &recording, &err)) {
            assert_true(length >= sizeof(struct capture_header));
            size_t expected = 0;
            for (size_t i = 0; i < n_samples; i++)
                expected += sample_ends[i] <= length;
            assert_int_equal(recording->n_samples, expected);
            assert_int_equal(recording->n_warnings, 0);
        } else {
            assert_true(length < sizeof(struct capture_header));
            assert_int_equal(err.code, ERR_TRUNCATED);
        }
        recording_destroy(recording);
        free(copy);
    }
    builder_deinit(&b);
}

static void expect_refused(struct recording_builder *b, enum err_code code, const char *words)
{
    struct err err = ERR_INIT;
    struct recording *recording = NULL;
    assert_false(recording_read_memory(b->bytes, b->size_bytes, &recording, &err));
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, words));
    builder_deinit(b);
}

static void unusable_headers_are_refused(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_header(&b)->magic[3] = 'x';
    expect_refused(&b, ERR_FORMAT, "not a recording");
    builder_init(&b);
    builder_header(&b)->version = 99;
    expect_refused(&b, ERR_VERSION, "99");
    builder_init(&b);
    builder_header(&b)->header_bytes = 8;
    expect_refused(&b, ERR_FORMAT, "header of 8");
    builder_init(&b);
    builder_header(&b)->chunk_bytes = 0;
    expect_refused(&b, ERR_FORMAT, "chunks of 0");
}

/* Each case damages the second of three chunks of stream 0 and keeps the sample of the first, and
 * of stream 1. */
static struct recording_builder damaged_begin(void)
{
    struct recording_builder b;
    builder_init(&b);
    builder_chunk(&b, 1, 0);
    builder_thread_start(&b, 20, 0, 0, "other");
    builder_sample(&b, 1, 0);
    builder_chunk(&b, 0, 0);
    builder_thread_start(&b, 10, 0, 0, "main");
    builder_node(&b, 0, 0, 1, 1);
    builder_sample(&b, 1, 1);
    return b;
}

static void expect_damage(struct recording_builder *b, size_t n_samples, const char *words)
{
    struct recording *recording = read_built(b);
    expect_warning(recording, words);
    assert_int_equal(recording->n_samples, n_samples);
    recording_destroy(recording);
    builder_deinit(b);
}

static void damage_costs_the_rest_of_its_stream(void **state)
{
    (void)state;
    struct recording_builder b = damaged_begin();
    builder_byte(&b, 200); /* no such tag */
    builder_sample(&b, 1, 1);
    expect_damage(&b, 2, "unknown record 200");

    b = damaged_begin();
    builder_node(&b, 3, 0, 1, 1); /* node 2 names node 3 */
    builder_sample(&b, 1, 1);
    expect_damage(&b, 2, "later node");

    b = damaged_begin();
    builder_byte(&b, CAPTURE_SAMPLE);
    for (int i = 0; i < 10; i++)
        builder_byte(&b, 0xff); /* a varint of more than 64 bits */
    builder_byte(&b, 1);
    builder_sample(&b, 1, 1);
    expect_damage(&b, 2, "does not fit");

    b = damaged_begin();
    builder_chunk(&b, 0, 2); /* 1 is missing */
    builder_sample(&b, 1, 1);
    expect_damage(&b, 2, "lacks chunk 1");
}

static void damage_that_can_be_passed_is(void **state)
{
    (void)state;
    struct recording_builder b = damaged_begin();
    builder_sample(&b, 1, 77); /* no such node: the weight stays */
    builder_sample(&b, 1, 1);
    expect_damage(&b, 4, "names node 77 of 1");

    b = damaged_begin();
    builder_chunk(&b, 0, 0); /* 0 once more */
    builder_sample(&b, 1, 1);
    builder_chunk(&b, 0, 1);
    builder_sample(&b, 1, 1);
    expect_damage(&b, 3, "chunk 0 twice");

    b = damaged_begin();
    builder_chunk(&b, 0, 1);
    builder_sample(&b, 1, 1);
    builder_chunk_head(&b)->committed_bytes = UINT32_MAX; /* what follows reads as padding */
    expect_damage(&b, 3, "committed");

    b = damaged_begin();
    builder_chunk(&b, 7, 0);
    builder_chunk_head(&b)->magic = 0x12345678;
    expect_damage(&b, 2, "not a chunk");

    b = damaged_begin();
    builder_chunk(&b, 2, 0);
    builder_sample(&b, 1, 0);
    expect_damage(&b, 3, "before any thread");
}

static void modules_may_repeat_but_not_differ(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_chunk(&b, 0, 0);
    builder_module(&b, &libm);
    builder_module(&b, &libm);
    struct recording *recording = read_built(&b);
    assert_int_equal(recording->n_warnings, 0);
    assert_int_equal(recording->n_modules, 1);
    recording_destroy(recording);
    struct builder_module other = libm;
    other.path = "/lib/other.so";
    builder_module(&b, &other);
    builder_node(&b, 0, 2, 1, 5);
    builder_node(&b, 0, 9, 1, 5); /* no module 9 */
    recording = read_built(&b);
    expect_warning(recording, "comes twice and differs");
    expect_warning(recording, "1 stack nodes name modules that are not recorded");
    assert_int_equal(recording->n_modules, 1);
    assert_string_equal(recording->modules[0].path.bytes, libm.path);
    assert_int_equal(recording->nodes[1].unknown, 0);
    assert_int_equal(recording->nodes[2].unknown, 1);
    recording_destroy(recording);
    builder_deinit(&b);
}

static void images_are_put_together(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_chunk(&b, 0, 0);
    struct builder_module vdso = libm;
    vdso.flags = CAPTURE_MODULE_VDSO;
    builder_module(&b, &vdso);
    builder_byte(&b, CAPTURE_MODULE_IMAGE);
    builder_varint(&b, vdso.id);
    builder_varint(&b, 3);
    builder_text(&b, "def", 3);
    builder_byte(&b, CAPTURE_MODULE_IMAGE);
    builder_varint(&b, vdso.id);
    builder_varint(&b, 0);
    builder_text(&b, "abc", 3);
    builder_byte(&b, CAPTURE_MODULE_IMAGE);
    builder_varint(&b, vdso.id);
    builder_varint(&b, UINT64_MAX - 1); /* would wrap around */
    builder_text(&b, "xyz", 3);
    struct recording *recording = read_built(&b);
    expect_warning(recording, "image of module 2");
    assert_int_equal(recording->modules[0].image.length, 6);
    assert_memory_equal(recording->modules[0].image.bytes, "abcdef", 6);
    recording_destroy(recording);
    builder_deinit(&b);
}

/* Five images of 32 MiB, each by its last byte: four are as much as a recording may ask for. */
static void images_have_bounds(void **state)
{
    (void)state;
    struct recording_builder b;
    builder_init(&b);
    builder_chunk(&b, 0, 0);
    for (uint32_t id = 1; id <= 5; id++) {
        struct builder_module module = libm;
        module.id = id;
        builder_module(&b, &module);
        builder_byte(&b, CAPTURE_MODULE_IMAGE);
        builder_varint(&b, id);
        builder_varint(&b, ((uint64_t)32 << 20) - 1);
        builder_text(&b, "x", 1);
    }
    builder_byte(&b, CAPTURE_MODULE_IMAGE);
    builder_varint(&b, 9); /* of no module */
    builder_varint(&b, 0);
    builder_text(&b, "x", 1);
    struct recording *recording = read_built(&b);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(recording->modules[i].image.length, i < 4 ? (uint64_t)32 << 20 : 0);
    recording_destroy(recording);
    builder_deinit(&b);
}

static void files_are_read_like_bytes(void **state)
{
    (void)state;
    struct recording_builder b;
    build_all(&b);
    char path[] = "/tmp/sampler-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, b.bytes, b.size_bytes), b.size_bytes);
    close(fd);
    struct err err = ERR_INIT;
    struct recording *recording = NULL;
    assert_true(recording_read_file(path, &recording, &err));
    assert_int_equal(recording->n_samples, 3);
    recording_destroy(recording);
    unlink(path);
    assert_false(recording_read_file(path, &recording, &err));
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.file, path);
    struct err other = ERR_INIT;
    assert_false(recording_read_file("/tmp", &recording, &other));
    assert_int_equal(other.code, ERR_FORMAT);
    builder_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(costs_of_threads_add_up),
        cmocka_unit_test(older_versions_are_read),
        cmocka_unit_test(streams_and_threads_are_kept_apart),
        cmocka_unit_test(every_prefix_is_read),
        cmocka_unit_test(unusable_headers_are_refused),
        cmocka_unit_test(damage_costs_the_rest_of_its_stream),
        cmocka_unit_test(damage_that_can_be_passed_is),
        cmocka_unit_test(modules_may_repeat_but_not_differ),
        cmocka_unit_test(images_are_put_together),
        cmocka_unit_test(images_have_bounds),
        cmocka_unit_test(files_are_read_like_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
