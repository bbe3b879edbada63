/* recording_builder.h - recordings put together field by field, so that a test shows the odd byte
 * it is about.
 *
 *   struct recording_builder b;
 *   builder_init(&b);
 *   builder_chunk(&b, 0, 0);               stream 0, sequence 0
 *   builder_thread_start(&b, 7, 0, 0, "main");
 *   builder_sample(&b, 1, 0);
 *   ... b.bytes, b.size_bytes ...
 *   builder_deinit(&b);
 *
 * Records go to the chunk opened last; a chunk's committed length is kept up to date. */
#ifndef SAMPLER_TESTS_RECORDING_BUILDER_H
#define SAMPLER_TESTS_RECORDING_BUILDER_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"

struct recording_builder {
    uint8_t *bytes;
    size_t size_bytes; /* header page and whole chunks                       */
    size_t chunk;      /* offset of the chunk in work                        */
    size_t n_records;  /* record bytes in it                                 */
};

static inline struct capture_header *builder_header(struct recording_builder *b)
{
    return (struct capture_header *)(void *)b->bytes;
}

static inline struct capture_chunk *builder_chunk_head(struct recording_builder *b)
{
    return (struct capture_chunk *)(void *)(b->bytes + b->chunk);
}

static inline void builder_grow(struct recording_builder *b, size_t more_bytes)
{
    b->bytes = realloc(b->bytes, b->size_bytes + more_bytes);
    assert(b->bytes != NULL);
    memset(b->bytes + b->size_bytes, 0, more_bytes);
    b->size_bytes += more_bytes;
}

static inline void builder_init(struct recording_builder *b)
{
    *b = (struct recording_builder){0};
    builder_grow(b, CAPTURE_HEADER_BYTES);
    struct capture_header *header = builder_header(b);
    memcpy(header->magic, CAPTURE_MAGIC, sizeof header->magic);
    header->version = CAPTURE_VERSION;
    header->header_bytes = CAPTURE_HEADER_BYTES;
    header->chunk_bytes = CAPTURE_CHUNK_BYTES;
    header->arch = CAPTURE_X86_64;
    header->pid = 4711;
    header->ppid = 1;
    header->period = 1000000;
    header->frequency_hz = 1000;
    header->clock = CAPTURE_CLOCK_PERF;
    header->time_unit_ns = 1000;
    header->start_time_ns = 5000000000;
}

static inline void builder_deinit(struct recording_builder *b)
{
    free(b->bytes);
}

static inline void builder_chunk(struct recording_builder *b, uint32_t stream, uint32_t sequence)
{
    b->chunk = b->size_bytes;
    b->n_records = 0;
    builder_grow(b, builder_header(b)->chunk_bytes);
    *builder_chunk_head(b) = (struct capture_chunk){CAPTURE_CHUNK_MAGIC, stream, sequence, 0};
}

static inline void builder_byte(struct recording_builder *b, unsigned byte)
{
    size_t at = b->chunk + sizeof(struct capture_chunk) + b->n_records;
    assert(at < b->size_bytes);
    b->bytes[at] = (uint8_t)byte;
    b->n_records++;
    builder_chunk_head(b)->committed_bytes = (uint32_t)b->n_records;
}

static inline void builder_varint(struct recording_builder *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        builder_byte(b, (unsigned)(value & 0x7f) | 0x80);
    builder_byte(b, (unsigned)value);
}

static inline void builder_text(struct recording_builder *b, const char *bytes, size_t length)
{
    builder_varint(b, length);
    for (size_t i = 0; i < length; i++)
        builder_byte(b, (unsigned char)bytes[i]);
}

static inline void builder_info(struct recording_builder *b, const char *key, const char *value,
                                size_t value_length)
{
    builder_byte(b, CAPTURE_INFO);
    builder_text(b, key, strlen(key));
    builder_text(b, value, value_length);
}

static inline void builder_thread_start(struct recording_builder *b, uint64_t tid, uint64_t time,
                                        uint64_t cpu_ns, const char *name)
{
    builder_byte(b, CAPTURE_THREAD_START);
    builder_varint(b, tid);
    builder_varint(b, time);
    builder_varint(b, cpu_ns);
    builder_text(b, name, strlen(name));
}

static inline void builder_thread_end(struct recording_builder *b, uint64_t delta, uint64_t cpu_ns)
{
    builder_byte(b, CAPTURE_THREAD_END);
    builder_varint(b, delta);
    builder_varint(b, cpu_ns);
}

static inline void builder_thread_cost(struct recording_builder *b, uint64_t begin_cpu_ns,
                                       uint64_t own_cpu_ns)
{
    builder_byte(b, CAPTURE_THREAD_COST);
    builder_varint(b, begin_cpu_ns);
    builder_varint(b, own_cpu_ns);
}

static inline void builder_clock(struct recording_builder *b, unsigned clock, unsigned failed)
{
    builder_byte(b, CAPTURE_CLOCK);
    builder_varint(b, clock);
    builder_varint(b, failed);
}

struct builder_module {
    uint32_t id;
    uint32_t flags;
    uint64_t start;
    uint64_t end;
    uint64_t bias;
    uint64_t dev;
    uint64_t ino;
    uint64_t size_bytes;
    uint64_t mtime_s;
    const char *build_id;
    size_t build_id_length;
    const char *path;
};

static inline void builder_module(struct recording_builder *b, const struct builder_module *module)
{
    builder_byte(b, CAPTURE_MODULE);
    builder_varint(b, module->id);
    builder_varint(b, module->flags);
    builder_varint(b, module->start);
    builder_varint(b, module->end);
    builder_varint(b, module->bias);
    builder_varint(b, module->dev);
    builder_varint(b, module->ino);
    builder_varint(b, module->size_bytes);
    builder_varint(b, module->mtime_s);
    builder_text(b, module->build_id, module->build_id_length);
    builder_text(b, module->path, strlen(module->path));
}

static inline void builder_node(struct recording_builder *b, uint64_t parent, uint64_t module,
                                unsigned exact, uint64_t offset)
{
    builder_byte(b, CAPTURE_NODE);
    builder_varint(b, parent);
    builder_varint(b, module << 1 | exact);
    builder_varint(b, offset);
}

static inline void builder_node_cut(struct recording_builder *b, unsigned reason)
{
    builder_byte(b, CAPTURE_NODE_CUT);
    builder_varint(b, reason);
}

static inline void builder_sample(struct recording_builder *b, uint64_t delta, uint64_t node)
{
    builder_byte(b, CAPTURE_SAMPLE);
    builder_varint(b, delta);
    builder_varint(b, node);
}

static inline void builder_sample_weighted(struct recording_builder *b, unsigned tag,
                                           uint64_t delta, uint64_t steps, uint64_t node)
{
    builder_byte(b, tag);
    builder_varint(b, delta);
    builder_varint(b, steps);
    builder_varint(b, node);
}

#endif
