/* stream.h - the records of one thread, on their way into the recording.
 *
 *   stream_* -> bytes behind committed_bytes of the current chunk -> committed by one release store
 *
 * A stream has one owner at a time: the thread it belongs to, in its handler or with our signal
 * blocked; after the end of a thread, whoever takes it from the free list. Each function writes one
 * record and returns false when there was no room for it (recording.h): then nothing of it exists.
 * Context    any, by the owner. */
#ifndef SAMPLER_PRELOAD_RECORD_STREAM_H
#define SAMPLER_PRELOAD_RECORD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/recording.h"
#include "sys/context.h"
#include "unwind/modules.h"

struct stream {
    struct recording *recording;
    struct capture_chunk *chunk; /* being filled; NULL before the first record     */
    uint32_t id;
    uint32_t n_chunks;   /* opened so far = sequence of the next one         */
    uint64_t time_units; /* of the last record with a time, since start_time */
};

struct stream_thread_start {
    uint64_t tid;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;
    const char *name;
};

SIGNAL_SAFE void stream_init(struct stream *stream, struct recording *recording, uint32_t id);

SIGNAL_SAFE bool stream_put_thread_start(struct stream *stream,
                                         const struct stream_thread_start *start);
SIGNAL_SAFE bool stream_put_thread_name(struct stream *stream, const char *name);
SIGNAL_SAFE bool stream_put_thread_end(struct stream *stream, uint64_t time_ns, uint64_t cpu_ns);
SIGNAL_SAFE bool stream_put_label(struct stream *stream, const char *label);

/* At CLOCK_MONOTONIC time_ns sampling stops (or goes on) for the whole process. */
SIGNAL_SAFE bool stream_put_pause(struct stream *stream, uint64_t time_ns, bool stops);
SIGNAL_SAFE bool stream_put_clock(struct stream *stream, uint32_t clock, int why_errno);
SIGNAL_SAFE bool stream_put_node(struct stream *stream, uint32_t parent, uint32_t place,
                                 uint64_t offset);
SIGNAL_SAFE bool stream_put_node_cut(struct stream *stream, uint32_t cut);

/* A sample of `steps` grid steps at CLOCK_MONOTONIC time_ns. */
SIGNAL_SAFE bool stream_put_sample(struct stream *stream, uint64_t time_ns, uint64_t steps,
                                   uint32_t node);
SIGNAL_SAFE bool stream_put_credit(struct stream *stream, uint64_t time_ns, uint64_t steps,
                                   uint32_t node);

/* The module (and the image of one that is no file), and notes on the process; value need not end
 * in a NUL. What is longer than a chunk takes is cut. */
SIGNAL_SAFE bool stream_put_module(struct stream *stream, const struct module *module);
SIGNAL_SAFE bool stream_put_info(struct stream *stream, const char *key, const char *value,
                                 size_t n_bytes);

/* A program that was started at CLOCK_MONOTONIC time_ns and cannot be recorded. */
SIGNAL_SAFE bool stream_put_child(struct stream *stream, uint64_t time_ns, uint32_t why,
                                  const char *path);

#endif
