/* stream.c - see stream.h.
 *
 * record_begin makes room, put_* appends, record_end commits: a record is visible whole or not at
 * all. An upper bound of its size is known before it is begun, so writing it never meets the end of
 * the chunk. */
#include "record/stream.h"

#include <string.h>

#include "sys/os.h"

#define VARINT_MAX_BYTES 10u
#define CHUNK_ROOM (CAPTURE_CHUNK_BYTES - sizeof(struct capture_chunk))
#define TEXT_MAX_BYTES 8192u /* any record with one text fits a chunk */

/* A record being written; nobody reads it before record_end. */
struct record {
    struct capture_chunk *chunk;
    uint8_t *at;
};

/* any context */
SIGNAL_SAFE static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* any context */
SIGNAL_SAFE static inline uint8_t *put_text(uint8_t *at, const void *bytes, size_t n_bytes)
{
    at = put_varint(at, n_bytes);
    memcpy(at, bytes, n_bytes);
    return at + n_bytes;
}

/* any context */
SIGNAL_SAFE static size_t text_length(const char *text)
{
    return strnlen(text, TEXT_MAX_BYTES);
}

/* Room for a record of up to max_bytes, in a new chunk when the current one has too little. The
 * rest of the old one stays zero, which reads as padding. any context */
SIGNAL_SAFE static inline bool record_begin(struct stream *stream, uint8_t tag, size_t max_bytes,
                                            struct record *record)
{
    struct capture_chunk *chunk = stream->chunk;
    if (unlikely(chunk == NULL || CHUNK_ROOM - chunk->committed_bytes < max_bytes)) {
        chunk = recording_map_chunk(stream->recording, stream->id, stream->n_chunks);
        if (chunk == NULL)
            return false;
        if (stream->chunk != NULL)
            recording_unmap_chunk(stream->chunk);
        stream->chunk = chunk;
        stream->n_chunks++;
    }
    record->chunk = chunk;
    record->at = (uint8_t *)(chunk + 1) + chunk->committed_bytes;
    *record->at++ = tag;
    return true;
}

/* any context */
SIGNAL_SAFE static inline bool record_end(const struct record *record)
{
    uint32_t committed = (uint32_t)(record->at - (uint8_t *)(record->chunk + 1));
    /* Release: who sees the new length sees the bytes; a reader of the file after a crash sees
     * what the kernel has, which is this memory. */
    __atomic_store_n(&record->chunk->committed_bytes, committed, __ATOMIC_RELEASE);
    return true;
}

/* The time of a record in units, for the caller to store in the stream once the record is in. Never
 * runs backward, whatever the clock does. any context */
SIGNAL_SAFE static inline uint64_t time_units_of(const struct stream *stream, uint64_t time_ns)
{
    const struct capture_header *header = stream->recording->header;
    uint64_t units = time_ns > header->start_time_ns
                         ? (time_ns - header->start_time_ns) / RECORDING_TIME_UNIT_NS
                         : 0;
    return units > stream->time_units ? units : stream->time_units;
}

/* any context */
void stream_init(struct stream *stream, struct recording *recording, uint32_t id)
{
    *stream = (struct stream){.recording = recording, .id = id};
}

/* any context */
bool stream_put_thread_start(struct stream *stream, const struct stream_thread_start *start)
{
    struct record record;
    size_t length = text_length(start->name);
    if (!record_begin(stream, CAPTURE_THREAD_START, 1 + 4 * VARINT_MAX_BYTES + length, &record))
        return false;
    stream->time_units = 0; /* a new thread, a new beginning of deltas */
    stream->time_units = time_units_of(stream, start->time_ns);
    record.at = put_varint(record.at, start->tid);
    record.at = put_varint(record.at, stream->time_units);
    record.at = put_varint(record.at, start->cpu_ns);
    record.at = put_text(record.at, start->name, length);
    return record_end(&record);
}

/* any context */
bool stream_put_thread_name(struct stream *stream, const char *name)
{
    struct record record;
    size_t length = text_length(name);
    if (!record_begin(stream, CAPTURE_THREAD_NAME, 1 + VARINT_MAX_BYTES + length, &record))
        return false;
    record.at = put_text(record.at, name, length);
    return record_end(&record);
}

/* any context */
bool stream_put_thread_end(struct stream *stream, uint64_t time_ns, uint64_t cpu_ns)
{
    struct record record;
    if (!record_begin(stream, CAPTURE_THREAD_END, 1 + 2 * VARINT_MAX_BYTES, &record))
        return false;
    uint64_t units = time_units_of(stream, time_ns);
    record.at = put_varint(record.at, units - stream->time_units);
    record.at = put_varint(record.at, cpu_ns);
    stream->time_units = units;
    return record_end(&record);
}

/* any context */
bool stream_put_thread_cost(struct stream *stream, uint64_t begin_cpu_ns, uint64_t own_cpu_ns)
{
    struct record record;
    if (!record_begin(stream, CAPTURE_THREAD_COST, 1 + 2 * VARINT_MAX_BYTES, &record))
        return false;
    record.at = put_varint(record.at, begin_cpu_ns);
    record.at = put_varint(record.at, own_cpu_ns);
    return record_end(&record);
}

/* any context */
bool stream_put_clock(struct stream *stream, uint32_t clock, int why_errno)
{
    struct record record;
    if (!record_begin(stream, CAPTURE_CLOCK, 1 + 2 * VARINT_MAX_BYTES, &record))
        return false;
    record.at = put_varint(record.at, clock);
    record.at = put_varint(record.at, (uint64_t)why_errno);
    return record_end(&record);
}

/* any context */
bool stream_put_label(struct stream *stream, const char *label)
{
    struct record record;
    size_t length = text_length(label);
    if (!record_begin(stream, CAPTURE_THREAD_LABEL, 1 + VARINT_MAX_BYTES + length, &record))
        return false;
    record.at = put_text(record.at, label, length);
    return record_end(&record);
}

/* any context */
bool stream_put_pause(struct stream *stream, uint64_t time_ns, bool stops)
{
    struct record record;
    uint64_t start_ns = stream->recording->header->start_time_ns;
    if (!record_begin(stream, CAPTURE_PAUSE, 1 + 2 * VARINT_MAX_BYTES, &record))
        return false;
    record.at = put_varint(record.at,
                           time_ns > start_ns ? (time_ns - start_ns) / RECORDING_TIME_UNIT_NS : 0);
    record.at = put_varint(record.at, stops ? 1 : 0);
    return record_end(&record);
}

/* any context */
bool stream_put_node(struct stream *stream, uint32_t parent, uint32_t place, uint64_t offset)
{
    struct record record;
    if (!record_begin(stream, CAPTURE_NODE, 1 + 3 * VARINT_MAX_BYTES, &record))
        return false;
    record.at = put_varint(record.at, parent);
    record.at = put_varint(record.at, place);
    record.at = put_varint(record.at, offset);
    return record_end(&record);
}

/* any context */
bool stream_put_node_cut(struct stream *stream, uint32_t cut)
{
    struct record record;
    if (!record_begin(stream, CAPTURE_NODE_CUT, 1 + VARINT_MAX_BYTES, &record))
        return false;
    record.at = put_varint(record.at, cut);
    return record_end(&record);
}

/* any context */
SIGNAL_SAFE static inline bool put_weighted(struct stream *stream, uint8_t tag, uint64_t time_ns,
                                            uint64_t steps, uint32_t node)
{
    struct record record;
    if (!record_begin(stream, tag, 1 + 3 * VARINT_MAX_BYTES, &record))
        return false;
    uint64_t units = time_units_of(stream, time_ns);
    record.at = put_varint(record.at, units - stream->time_units);
    if (tag != CAPTURE_SAMPLE)
        record.at = put_varint(record.at, steps);
    record.at = put_varint(record.at, node);
    stream->time_units = units;
    return record_end(&record);
}

/* any context */
bool stream_put_sample(struct stream *stream, uint64_t time_ns, uint64_t steps, uint32_t node)
{
    uint8_t tag = steps == 1 ? CAPTURE_SAMPLE : CAPTURE_SAMPLE_WEIGHTED;
    return put_weighted(stream, tag, time_ns, steps, node);
}

/* any context */
bool stream_put_credit(struct stream *stream, uint64_t time_ns, uint64_t steps, uint32_t node)
{
    return put_weighted(stream, CAPTURE_SAMPLE_CREDIT, time_ns, steps, node);
}

/* any context */
bool stream_put_image(struct stream *stream, uint32_t module_id, uint64_t offset, const void *bytes,
                      size_t n_bytes)
{
    struct record record;
    if (!record_begin(stream, CAPTURE_MODULE_IMAGE, 1 + 3 * VARINT_MAX_BYTES + n_bytes, &record))
        return false;
    record.at = put_varint(record.at, module_id);
    record.at = put_varint(record.at, offset);
    record.at = put_text(record.at, bytes, n_bytes);
    return record_end(&record);
}

/* The image of the vdso, as it is mapped: up to a page a record. any context */
SIGNAL_SAFE static bool put_vdso(struct stream *stream, const struct module *module)
{
    uint64_t n_bytes = module->end - module->start;
    bool is_put = true;
    for (uint64_t offset = 0; is_put && offset < n_bytes; offset += STREAM_IMAGE_PIECE_BYTES) {
        uint64_t left = n_bytes - offset;
        size_t piece = left < STREAM_IMAGE_PIECE_BYTES ? (size_t)left : STREAM_IMAGE_PIECE_BYTES;
        is_put = stream_put_image(stream, module->id, offset,
                                  address_pointer(module->start + offset), piece);
    }
    return is_put;
}

/* any context */
bool stream_put_module(struct stream *stream, struct module *module)
{
    struct record record;
    struct stat file = {0};
    size_t path_length = text_length(module->path);
    bool is_image = (module->flags & CAPTURE_MODULE_VDSO) != 0;
    /* By path, as a reader will look: this states which file should be found there. */
    if (is_image || os_stat(module->path, &file) != 0)
        file = (struct stat){0};
    __atomic_store_n(&module->file_dev, file.st_dev, __ATOMIC_RELAXED);
    __atomic_store_n(&module->file_ino, file.st_ino, __ATOMIC_RELAXED);
    size_t max_bytes = 1 + 11 * VARINT_MAX_BYTES + module->build_id_bytes + path_length;
    if (!record_begin(stream, CAPTURE_MODULE, max_bytes, &record))
        return false;
    const uint64_t numbers[] = {module->id,  module->flags,          module->start,
                                module->end, module->bias,           file.st_dev,
                                file.st_ino, (uint64_t)file.st_size, (uint64_t)file.st_mtim.tv_sec};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        record.at = put_varint(record.at, numbers[i]);
    record.at = put_text(record.at, module->build_id, module->build_id_bytes);
    record.at = put_text(record.at, module->path, path_length);
    record_end(&record);
    return !is_image || put_vdso(stream, module);
}

/* any context */
bool stream_put_info(struct stream *stream, const char *key, const char *value, size_t n_bytes)
{
    struct record record;
    size_t key_length = text_length(key);
    if (n_bytes > TEXT_MAX_BYTES)
        n_bytes = TEXT_MAX_BYTES;
    if (key_length > 64)
        key_length = 64;
    if (!record_begin(stream, CAPTURE_INFO, 1 + 2 * VARINT_MAX_BYTES + key_length + n_bytes,
                      &record))
        return false;
    record.at = put_text(record.at, key, key_length);
    record.at = put_text(record.at, value, n_bytes);
    return record_end(&record);
}

/* any context */
bool stream_put_child(struct stream *stream, uint64_t time_ns, uint32_t why, const char *path)
{
    struct record record;
    const struct capture_header *header = stream->recording->header;
    size_t length = text_length(path);
    if (!record_begin(stream, CAPTURE_CHILD, 1 + 3 * VARINT_MAX_BYTES + length, &record))
        return false;
    /* A time of its own, not a delta: it may be earlier than the stream's last record. */
    record.at =
        put_varint(record.at, time_ns > header->start_time_ns
                                  ? (time_ns - header->start_time_ns) / RECORDING_TIME_UNIT_NS
                                  : 0);
    record.at = put_varint(record.at, why);
    record.at = put_text(record.at, path, length);
    return record_end(&record);
}
