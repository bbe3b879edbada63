/* parts.h - what the two halves of the reader share: recording.c (bytes, header, chunks)
 * and records.c (the records of one stream). Nobody else includes it. */
#ifndef SAMPLER_SYMBOLIZE_RECORDING_PARTS_H
#define SAMPLER_SYMBOLIZE_RECORDING_PARTS_H

#include "arena.h"
#include "array.h"
#include "cursor.h"
#include "recording/recording.h"

struct reader {
    struct recording *recording; /* header, cut                              */
    struct arena *arena;         /* texts                                    */
    struct array modules;        /* struct recording_module                  */
    struct array images;         /* struct image_piece                       */
    struct array nodes;          /* struct recording_node                    */
    struct array threads;        /* struct recording_thread                  */
    struct array samples;        /* struct recording_sample                  */
    struct array infos;          /* struct recording_info                    */
    struct array warnings;       /* struct recording_warning                 */
    struct array children;       /* struct recording_child                   */
    struct intern *labels;
    struct array pauses; /* struct recording_pause                   */
    uint64_t time_unit_ns;
    bool no_memory; /* sticky; the whole reading fails          */
};

/* A piece of a MODULE_IMAGE, put together when all are known. */
struct image_piece {
    uint32_t module_id;
    uint64_t offset;
    struct text bytes;
};

/* One stream while it is read. Zero before its first chunk, with `first_node` = nodes so far - 1.
 */
struct stream_state {
    uint32_t first_node; /* node k of the stream is nodes[first_node + k]    */
    uint32_t n_nodes;
    uint64_t time_ns;
    uint32_t label;  /* of the thread, index in labels                  */
    uint32_t thread; /* index in threads, meaningful when has_thread     */
    bool has_thread;
};

void reader_warn(struct reader *reader, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the committed records of one chunk. `base_offset` is where `records` begins in the file;
 * `whole` is false when the file ends inside. False: the rest of the stream cannot be read (and it
 * has been warned about, unless the file was merely cut here). */
bool records_read(struct reader *reader, struct stream_state *stream, struct cursor *records,
                  uint64_t base_offset, bool whole);

/* After all streams: nodes learn the index of their module, images are put together. */
void records_finish(struct reader *reader);

#endif
