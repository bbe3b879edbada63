/* test_recording_writer.c - the promises of recording.h and stream.h: bytes as capture.h has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/recording.h"
#include "record/stream.h"
#include "sys/fds.h"
#include "unit.h"

static char folder[] = "/tmp/sampler-test-XXXXXX";
static char path[64];
static struct recording recording;

static int make(void **state)
{
    (void)state;
    const struct capture_header header = {.magic = CAPTURE_MAGIC, .start_time_ns = 1000000};
    return recording_open(&recording, path, &header) ? 0 : -1;
}

static int discard(void **state)
{
    (void)state;
    recording_abandon(&recording);
    return unlink(path);
}

/* The file's bytes from `offset`. */
static void file_bytes(long offset, uint8_t *bytes, size_t n_bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, SEEK_SET), 0);
    assert_int_equal(fread(bytes, 1, n_bytes, file), n_bytes);
    fclose(file);
}

static void name_taken_is_an_answer(void **state)
{
    (void)state;
    struct recording second;
    const struct capture_header header = {.magic = CAPTURE_MAGIC};
    struct stat file;
    assert_false(recording_open(&second, path, &header));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(file.st_size, CAPTURE_HEADER_BYTES);
}

static void records_are_bytes_of_the_format(void **state)
{
    (void)state;
    struct stream stream;
    const struct stream_thread_start start = {
        .tid = 300, .time_ns = 6000000, .cpu_ns = 7, .name = "main"};
    stream_init(&stream, &recording, 9);
    assert_true(stream_put_thread_start(&stream, &start));
    assert_true(stream_put_node(&stream, 0, 3, 0x1234));
    assert_true(stream_put_node_cut(&stream, CAPTURE_CUT_TOO_DEEP));
    assert_true(stream_put_sample(&stream, 7001000, 1, 1));
    assert_true(stream_put_sample(&stream, 7001000, 5, 2));
    assert_true(stream_put_credit(&stream, 6500000, 2, 1)); /* the clock went back: no delta */
    assert_true(stream_put_clock(&stream, CAPTURE_CLOCK_TIMER, 13));
    assert_true(stream_put_thread_cost(&stream, 9, 300));
    assert_true(stream_put_thread_end(&stream, 8001000, 128));
    const uint8_t expected[] = {
        0x43, 0x48, 0x4e, 0x4b, 9,    0, 0, 0,   0,   0,   0,
        0,    42,   0,    0,    0,                              /* CHNK, stream, sequence, bytes */
        2,    0xac, 0x02, 0x88, 0x27, 7, 4, 'm', 'a', 'i', 'n', /* tid 300 at 5000 units        */
        8,    0,    3,    0xb4, 0x24,                           /* node 1                       */
        9,    4,                                                /* node 2: too deep             */
        10,   0xe9, 0x07, 1,                                    /* 1001 units later             */
        11,   0,    5,    2,                                    /* five steps                   */
        12,   0,    2,    1,                                    /* credit                       */
        5,    3,    13,                                         /* clock                        */
        16,   9,    0xac, 0x02,                                 /* begin, own                   */
        4,    0xe8, 0x07, 0x80, 0x01,                           /* end                          */
    };
    uint8_t bytes[sizeof expected];
    file_bytes(CAPTURE_HEADER_BYTES, bytes, sizeof bytes);
    assert_memory_equal(bytes, expected, sizeof expected);
    recording_unmap_chunk(stream.chunk);
}

/* Two streams that fill many chunks: none of a record lies in two, sequences count up. */
static void chunks_follow_one_another(void **state)
{
    (void)state;
    struct stream streams[2];
    char text[3000];
    memset(text, 'x', sizeof text);
    for (uint32_t i = 0; i < 2; i++)
        stream_init(&streams[i], &recording, i);
    for (int i = 0; i < 40; i++)
        assert_true(stream_put_info(&streams[i % 2], "key", text, sizeof text));
    assert_int_equal(recording.header->n_chunks, 8); /* 5 records of 3009 bytes in each */
    uint32_t sequence[2] = {0, 0};
    for (uint32_t i = 0; i < 8; i++) {
        struct capture_chunk chunk;
        file_bytes((long)(CAPTURE_HEADER_BYTES + i * CAPTURE_CHUNK_BYTES), (uint8_t *)&chunk,
                   sizeof chunk);
        assert_int_equal(chunk.magic, CAPTURE_CHUNK_MAGIC);
        assert_int_equal(chunk.sequence, sequence[chunk.stream]++);
        assert_int_equal(chunk.committed_bytes, 5 * (1 + 1 + 3 + 2 + 3000));
    }
    for (uint32_t i = 0; i < 2; i++)
        recording_unmap_chunk(streams[i].chunk);
}

/* No SIGXFSZ, no bytes beyond; and it is not tried again. */
static void file_limit_ends_it(void **state)
{
    (void)state;
    struct rlimit before, limit;
    struct stream stream;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = CAPTURE_HEADER_BYTES + CAPTURE_CHUNK_BYTES + 100;
    stream_init(&stream, &recording, 0);
    assert_true(stream_put_clock(&stream, 1, 0));
    setrlimit(RLIMIT_FSIZE, &limit);
    char text[8000] = {0};
    assert_true(stream_put_info(&stream, "a", text, sizeof text));
    assert_true(stream_put_info(&stream, "b", text, sizeof text));
    assert_false(stream_put_info(&stream, "c", text, sizeof text));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_true(recording.stopped);
    assert_false(stream_put_info(&stream, "c", text, sizeof text));
    assert_true(stream_put_clock(&stream, 1, 0)); /* what fits the chunk still does */
    recording_unmap_chunk(stream.chunk);
}

/* The program closed our number and opened a file of its own under it. */
static void stolen_number_is_noticed(void **state)
{
    (void)state;
    struct stream stream;
    int innocent = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    assert_true(innocent >= 0);
    int number = recording.fd;
    assert_true(number > 2 && fds_is_ours(number));
    assert_int_equal(dup2(innocent, number), number);
    stream_init(&stream, &recording, 0);
    assert_true(stream_put_clock(&stream, 1, 0));
    struct stat file;
    assert_int_equal(fstat(number, &file), 0);
    assert_int_equal(file.st_size, 0);
    assert_int_not_equal(recording.fd, number);
    assert_false(fds_is_ours(number));
    close(innocent);
    close(number);
    recording_unmap_chunk(stream.chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(name_taken_is_an_answer, make, discard),
        cmocka_unit_test_setup_teardown(records_are_bytes_of_the_format, make, discard),
        cmocka_unit_test_setup_teardown(chunks_follow_one_another, make, discard),
        cmocka_unit_test_setup_teardown(file_limit_ends_it, make, discard),
        cmocka_unit_test_setup_teardown(stolen_number_is_noticed, make, discard),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/a.sampler", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
