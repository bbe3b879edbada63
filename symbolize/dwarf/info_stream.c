/* info_stream.c - see info_stream.h. */
#include "dwarf/info_stream.h"

#include <isa-l.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "number.h"

/* Handed over at a time: few enough switches, early enough. */
#define STEP_BYTES ((size_t)1 << 20)

struct info_stream {
    const struct section *section;
    uint8_t *ring;               /* or the section itself, if it is not packed            */
    size_t ring_bytes;           /* multiple of STEP_BYTES                                */
    size_t map_bytes;            /* mapped at `ring`; 0: not ours                         */
    struct inflate_state *state; /* of the thread                              */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    uint64_t n_there; /* written by the thread, read by the reader             */
    uint64_t n_done;  /* the other way round                                   */
    bool damaged;     /* by the thread: no more will come                      */
    bool stop;        /* by the reader: no more is wanted                      */
};

/* Room in the ring for the bytes before `end`; false: to stop. */
static bool room_wait(struct info_stream *stream, uint64_t end)
{
    pthread_mutex_lock(&stream->lock);
    while (!stream->stop && end > stream->n_done + stream->ring_bytes)
        pthread_cond_wait(&stream->changed, &stream->lock);
    bool stop = stream->stop;
    pthread_mutex_unlock(&stream->lock);
    return !stop;
}

static void there_set(struct info_stream *stream, uint64_t n_there, bool damaged)
{
    pthread_mutex_lock(&stream->lock);
    stream->n_there = n_there;
    stream->damaged = damaged;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

/* Unpacks the next `want` bytes to `offset`. */
static bool step(struct info_stream *stream, uint64_t offset, size_t want)
{
    struct inflate_state *state = stream->state;
    const uint8_t *from = state->next_in;
    state->next_out = stream->ring + offset % stream->ring_bytes;
    state->avail_out = (uint32_t)want;
    bool done = isal_inflate(state) == ISAL_DECOMP_OK && state->avail_out == 0;
    if (offset + want == stream->section->size_bytes) /* only then is the checksum compared */
        done = done && state->block_state == ISAL_BLOCK_FINISH;
    section_pages_drop(stream->section, from, state->next_in);
    return done;
}

static void *thread_run(void *argument)
{
    struct info_stream *stream = argument;
    uint64_t size = stream->section->size_bytes;
    for (uint64_t at = 0; at < size;) {
        size_t want = (size_t)min_u64(STEP_BYTES, size - at);
        if (!room_wait(stream, at + want))
            return NULL;
        bool done = step(stream, at, want);
        at += want;
        there_set(stream, done ? at : at - want, !done);
        if (!done)
            return NULL;
    }
    return NULL;
}

/* One piece of memory at two places, one behind the other. */
static bool ring_map_twice(struct info_stream *stream)
{
    size_t bytes = stream->ring_bytes;
    int fd = memfd_create("debug_info", MFD_CLOEXEC);
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        map = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool done = map != MAP_FAILED;
    for (size_t i = 0; i < 2 && done; i++)
        done = mmap((uint8_t *)map + i * bytes, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (map != MAP_FAILED) {
        stream->ring = map;
        stream->map_bytes = 2 * bytes;
    }
    return done;
}

static bool ring_map(struct info_stream *stream, size_t unit_max_bytes)
{
    size_t size = stream->section->size_bytes;
    /* A unit may begin in the middle of a step and end in the middle of another. */
    size_t wanted = unit_max_bytes < size ? unit_max_bytes + 2 * STEP_BYTES : size;
    stream->ring_bytes = (wanted + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    if (stream->ring_bytes < size)
        return ring_map_twice(stream);
    void *map = mmap(NULL, stream->ring_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    stream->ring = map;
    stream->map_bytes = stream->ring_bytes;
    return true;
}

static bool thread_start(struct info_stream *stream)
{
    stream->state = malloc(sizeof *stream->state);
    if (stream->state == NULL)
        return false;
    isal_inflate_init(stream->state);
    stream->state->crc_flag = ISAL_ZLIB;
    /* ISA-L does not write to its input. */ /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    stream->state->next_in = (uint8_t *)(uintptr_t)stream->section->packed;
    stream->state->avail_in = (uint32_t)stream->section->packed_bytes;
    if (stream->section->size_bytes <= STEP_BYTES) {
        thread_run(stream); /* not worth one: the ring holds it all */
        return true;
    }
    stream->has_thread = pthread_create(&stream->thread, NULL, thread_run, stream) == 0;
    return stream->has_thread;
}

struct info_stream *info_stream_open(const struct section *section, size_t unit_max_bytes)
{
    struct info_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->section = section;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    if (!section->is_packed) {
        stream->ring =
            (uint8_t *)(uintptr_t)section->packed; /* NOLINT(performance-no-int-to-ptr) */
        stream->ring_bytes = section->size_bytes;
        stream->n_there = section->size_bytes;
        return stream;
    }
    if (ring_map(stream, unit_max_bytes) && thread_start(stream))
        return stream;
    info_stream_close(stream);
    return NULL;
}

void info_stream_close(struct info_stream *stream)
{
    if (stream == NULL)
        return;
    pthread_mutex_lock(&stream->lock);
    stream->stop = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    if (stream->has_thread)
        pthread_join(stream->thread, NULL);
    if (stream->map_bytes != 0)
        munmap(stream->ring, stream->map_bytes);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    free(stream->state);
    free(stream);
}

bool info_stream_need(struct info_stream *stream, uint64_t end)
{
    pthread_mutex_lock(&stream->lock);
    while (stream->n_there < end && !stream->damaged && end <= stream->section->size_bytes)
        pthread_cond_wait(&stream->changed, &stream->lock);
    bool there = stream->n_there >= end;
    pthread_mutex_unlock(&stream->lock);
    return there;
}

const uint8_t *info_stream_at(const struct info_stream *stream, uint64_t offset)
{
    return stream->ring + offset % stream->ring_bytes;
}

void info_stream_done(struct info_stream *stream, uint64_t offset)
{
    pthread_mutex_lock(&stream->lock);
    stream->n_done = offset;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}
