/* test_brief.c - the promises of symbolize/recording/brief.h: all recordings of a file, and what
 * damage costs. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "recording/brief.h"
#include "recording_builder.h"
#include "unit.h"

static char path[] = "/tmp/sampler-test-XXXXXX";
static FILE *file;

static int make(void **state)
{
    (void)state;
    file = fopen(path, "wb");
    return file != NULL ? 0 : -1;
}

/* The first chunk of what was built, as a process leaves it. `header_bytes`: as an older or newer
 * library would have it. */
static void put_built(const struct recording_builder *b, uint32_t header_bytes)
{
    const struct capture_brief brief = {.magic = CAPTURE_BRIEF_MAGIC,
                                        .header_bytes = header_bytes,
                                        .records_bytes = (uint32_t)b->n_records};
    const uint8_t *records = b->bytes + b->chunk + sizeof(struct capture_chunk);
    assert_int_equal(fwrite(&brief, sizeof brief, 1, file), 1);
    assert_int_equal(fwrite(b->bytes, header_bytes, 1, file), 1);
    assert_int_equal(fwrite(records, b->n_records, 1, file), 1);
}

static void put_part(uint32_t pid, uint32_t header_bytes)
{
    struct recording_builder b;
    builder_init(&b);
    builder_header(&b)->pid = pid;
    builder_header(&b)->end = CAPTURE_EXITED;
    builder_chunk(&b, 0, 0);
    builder_thread_start(&b, pid, 1, 2, "main");
    put_built(&b, header_bytes);
    builder_deinit(&b);
}

/* The pids read, up to `n`; whether all was well. */
static bool read_pids(uint32_t *pids, size_t *n, struct err *err)
{
    struct recordings all = {0}, own = {0};
    fclose(file);
    bool ok = recordings_read_file(path, &own, &all, err);
    if (own.n != 0) {
        recordings_destroy(&all);
        all = own;
    }
    for (size_t i = 0; i < all.n && i < *n; i++) {
        pids[i] = all.items[i]->header.pid;
        assert_int_equal(all.items[i]->n_threads, 1);
        assert_int_equal(all.items[i]->threads[0].tid, pids[i]);
        assert_int_equal(all.items[i]->n_warnings, 0);
        assert_false(all.items[i]->cut);
    }
    *n = all.n;
    recordings_destroy(&all);
    assert_int_equal(all.n, 0);
    return ok;
}

static void each_part_is_a_recording(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    uint32_t pids[4] = {0};
    size_t n = 4;
    put_part(30, sizeof(struct capture_header));
    put_part(10, sizeof(struct capture_header) - 8);
    put_part(20, sizeof(struct capture_header) + 16);
    assert_true(read_pids(pids, &n, &err));
    assert_int_equal(n, 3);
    assert_int_equal(pids[0], 30);
    assert_int_equal(pids[1], 10);
    assert_int_equal(pids[2], 20);
}

static void a_recording_of_its_own_is_one(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct recording_builder b;
    uint32_t pids[1] = {0};
    size_t n = 1;
    builder_init(&b);
    builder_chunk(&b, 0, 0);
    builder_thread_start(&b, 4711, 1, 2, "main");
    assert_int_equal(fwrite(b.bytes, b.size_bytes, 1, file), 1);
    builder_deinit(&b);
    assert_true(read_pids(pids, &n, &err));
    assert_int_equal(n, 1);
    assert_int_equal(pids[0], 4711);
}

/* A disk that was full cut a part; a later process had room again. */
static void damage_costs_its_part(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    uint32_t pids[4] = {0};
    size_t n = 4;
    put_part(1, sizeof(struct capture_header));
    long second = ftell(file);
    put_part(2, sizeof(struct capture_header));
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), second + 100), 0);
    assert_int_equal(fseek(file, second + 100, SEEK_SET), 0);
    put_part(3, sizeof(struct capture_header));
    assert_false(read_pids(pids, &n, &err));
    assert_int_equal(n, 2);
    assert_int_equal(pids[0], 1);
    assert_int_equal(pids[1], 3);
    assert_int_equal(err.offset, second);
    assert_string_equal(err.file, path);
}

/* The name of a file may hold the magic: only damage makes a reader look for the next part. */
static void a_magic_inside_is_text(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct recording_builder b;
    uint32_t pids[2] = {0};
    size_t n = 2;
    builder_init(&b);
    builder_header(&b)->pid = 5;
    builder_chunk(&b, 0, 0);
    builder_info(&b, "command", "grep " CAPTURE_BRIEF_MAGIC, 13);
    builder_thread_start(&b, 5, 1, 2, "main");
    put_built(&b, sizeof(struct capture_header));
    builder_deinit(&b);
    put_part(6, sizeof(struct capture_header));
    assert_true(read_pids(pids, &n, &err));
    assert_int_equal(n, 2);
    assert_int_equal(pids[0], 5);
    assert_int_equal(pids[1], 6);
}

static void every_prefix_is_read(void **state)
{
    (void)state;
    put_part(1, sizeof(struct capture_header));
    long first = ftell(file);
    put_part(2, sizeof(struct capture_header));
    long size = ftell(file);
    fclose(file);
    for (long n_bytes = size; n_bytes >= 0; n_bytes--) {
        struct err err = ERR_INIT;
        struct recordings own = {0}, brief = {0};
        assert_int_equal(truncate(path, n_bytes), 0);
        bool ok = recordings_read_file(path, &own, &brief, &err);
        assert_int_equal(ok, n_bytes == size || n_bytes == first);
        assert_int_equal(own.n, 0);
        assert_int_equal(brief.n, n_bytes == size ? 2 : n_bytes >= first ? 1 : 0);
        recordings_destroy(&brief);
        recordings_destroy(&own);
    }
}

static void sizes_are_not_believed(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    uint32_t pids[1] = {0};
    size_t n = 1;
    const struct capture_brief brief = {
        .magic = CAPTURE_BRIEF_MAGIC, .header_bytes = 0xffffffff, .records_bytes = 0xffffffff};
    assert_int_equal(fwrite(&brief, sizeof brief, 1, file), 1);
    assert_false(read_pids(pids, &n, &err));
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_part_is_a_recording, make),
        cmocka_unit_test_setup(a_recording_of_its_own_is_one, make),
        cmocka_unit_test_setup(damage_costs_its_part, make),
        cmocka_unit_test_setup(a_magic_inside_is_text, make),
        cmocka_unit_test_setup(every_prefix_is_read, make),
        cmocka_unit_test_setup(sizes_are_not_believed, make),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
