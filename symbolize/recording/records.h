/* records.h - the records of one stream into the tables of the reader. Their layout is in
 * include/capture.h and, in prose, docs/recording.md. */
#ifndef SAMPLER_RECORDING_RECORDS_H
#define SAMPLER_RECORDING_RECORDS_H

#include "cursor.h"
#include "recording/reader.h"

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

/* Reads the committed records of one chunk. `base_offset` is where `records` begins in the file;
 * `whole` is false when the file ends inside. False: the rest of the stream cannot be read (and it
 * has been warned about, unless the file was merely cut here). */
bool records_read(struct reader *reader, struct stream_state *stream, struct cursor *records,
                  uint64_t base_offset, bool whole);

/* After all streams: nodes learn the index of their module, images are put together. */
void records_finish(struct reader *reader);

#endif
