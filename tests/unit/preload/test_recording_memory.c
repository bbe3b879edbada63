/* test_recording_memory.c - recordings that begin in memory: the promises of record/recording.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/recording.h"
#include "record/stream.h"
#include "unit.h"

static char folder[] = "/tmp/sampler-test-XXXXXX";
static char prefix[64];
static char brief_path[64];
static struct recording recording;
static struct stream stream;

static int make(void **state)
{
    (void)state;
    const struct capture_header header = {.magic = CAPTURE_MAGIC, .pid = 7};
    stream_init(&stream, &recording, 0);
    return recording_begin(&recording, folder, &header) ? 0 : -1;
}

static int discard(void **state)
{
    (void)state;
    if (stream.chunk != NULL)
        recording_unmap_chunk(stream.chunk);
    recording_abandon(&recording);
    return 0;
}

static const char *name_of(unsigned attempt)
{
    static char name[96];
    snprintf(name, sizeof name, "%s%u.sampler", prefix, attempt);
    return name;
}

/* Bytes of a file, which is removed; how many there are. */
static size_t take_file(const char *name, uint8_t *bytes, size_t room)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, room, file);
    fclose(file);
    unlink(name);
    return n;
}

static void put_clocks(int n)
{
    for (int i = 0; i < n; i++)
        assert_true(stream_put_clock(&stream, CAPTURE_CLOCK_PERF, 0));
}

static void no_file_before_it_is_placed(void **state)
{
    (void)state;
    static uint8_t bytes[CAPTURE_HEADER_BYTES + CAPTURE_CHUNK_BYTES + 1];
    put_clocks(2);
    recording.header->n_ticks = 5;
    assert_int_not_equal(access(name_of(0), F_OK), 0);
    assert_true(recording_place(&recording));
    assert_true(recording_place(&recording)); /* once is enough */
    put_clocks(1);                            /* into the file, by the same pointers */
    recording.header->n_ticks = 6;
    assert_int_equal(take_file(name_of(0), bytes, sizeof bytes), sizeof bytes - 1);
    const struct capture_header *header = (const void *)bytes;
    const struct capture_chunk *chunk = (const void *)(bytes + CAPTURE_HEADER_BYTES);
    assert_int_equal(header->pid, 7);
    assert_int_equal(header->n_ticks, 6);
    assert_int_equal(header->n_chunks, 1);
    assert_int_equal(chunk->magic, CAPTURE_CHUNK_MAGIC);
    assert_int_equal(chunk->committed_bytes, 3 * 3);
    const uint8_t records[] = {5, 1, 0, 5, 1, 0, 5, 1, 0};
    assert_memory_equal(chunk + 1, records, sizeof records);
}

static void the_first_free_name_is_taken(void **state)
{
    (void)state;
    close(open(name_of(0), O_WRONLY | O_CREAT, 0600));
    assert_true(recording_place(&recording));
    assert_string_equal(recording.path, name_of(1));
    assert_int_equal(unlink(name_of(1)), 0);
    assert_int_equal(unlink(name_of(0)), 0);
}

static void a_second_chunk_places_it(void **state)
{
    (void)state;
    static uint8_t bytes[CAPTURE_HEADER_BYTES + 3 * CAPTURE_CHUNK_BYTES];
    put_clocks(CAPTURE_CHUNK_BYTES / 3);
    assert_int_equal(take_file(name_of(0), bytes, sizeof bytes),
                     CAPTURE_HEADER_BYTES + 2 * CAPTURE_CHUNK_BYTES);
    const struct capture_chunk *second =
        (const void *)(bytes + CAPTURE_HEADER_BYTES + CAPTURE_CHUNK_BYTES);
    assert_int_equal(second->sequence, 1);
    assert_false(recording_append(&recording));
}

static void brief_ones_share_a_file(void **state)
{
    uint8_t bytes[2048];
    struct capture_brief brief;
    put_clocks(2);
    assert_true(recording_append(&recording));
    assert_false(recording_append(&recording));
    assert_false(recording_place(&recording)); /* it has ended */
    discard(state);
    assert_int_equal(make(state), 0);
    put_clocks(1);
    assert_true(recording_append(&recording));
    size_t n = take_file(brief_path, bytes, sizeof bytes);
    const size_t header_bytes = sizeof(struct capture_header);
    assert_int_equal(n, 2 * (sizeof brief + header_bytes) + 9);
    memcpy(&brief, bytes, sizeof brief);
    assert_memory_equal(brief.magic, CAPTURE_BRIEF_MAGIC, sizeof brief.magic);
    assert_int_equal(brief.header_bytes, header_bytes);
    assert_int_equal(brief.records_bytes, 2 * 3);
    assert_memory_equal(bytes + sizeof brief, CAPTURE_MAGIC, 8);
    assert_int_not_equal(access(name_of(0), F_OK), 0);
}

/* The folder is gone: nothing can be placed, and nobody is sent to a file that is not there. */
static void nowhere_to_go(void **state)
{
    (void)state;
    assert_int_equal(rmdir(folder), 0);
    assert_false(recording_append(&recording));
    assert_false(recording_place(&recording));
    assert_true(recording.stopped);
    assert_false(stream_put_clock(&stream, CAPTURE_CLOCK_PERF, 0));
    assert_int_equal(mkdir(folder, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_file_before_it_is_placed, make, discard),
        cmocka_unit_test_setup_teardown(the_first_free_name_is_taken, make, discard),
        cmocka_unit_test_setup_teardown(a_second_chunk_places_it, make, discard),
        cmocka_unit_test_setup_teardown(brief_ones_share_a_file, make, discard),
        cmocka_unit_test_setup_teardown(nowhere_to_go, make, discard),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(prefix, sizeof prefix, "%s/7.", folder);
    snprintf(brief_path, sizeof brief_path, "%s/" CAPTURE_BRIEF_NAME, folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
