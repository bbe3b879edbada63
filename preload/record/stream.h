/* stream.h - the records of one thread, on their way into the recording.
 *
 *   stream_put_* -> bytes after committed_bytes of the chunk -> committed by one release store
 *
 * Owner      one at a time: the thread the stream belongs to, in its handler or with our signal
 *            blocked; whoever holds its slot (threads/slots.h); after the end of a thread, the next
 *            one that gets the slot.
 * When full  each function writes one record and returns false when there was no room for it
 *            (recording.h): then nothing of it exists. Texts longer than a chunk takes are
 *            truncated.
 * Times      in ns of CLOCK_MONOTONIC. A time before that of the stream's last record is recorded
 *            as that: deltas are never negative.
 * Context    any, by the owner. */
#ifndef SAMPLER_STREAM_H
#define SAMPLER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/recording.h"
#include "sys/context.h"
#include "unwind/modules.h"

#define STREAM_IMAGE_PIECE_BYTES 4096u

struct stream {
    struct recording *recording; /* kept */
    struct capture_chunk *chunk; /* being filled; NULL before the first record */
    uint32_t id;
    uint32_t n_chunks;   /* opened so far = sequence of the next one */
    uint64_t time_units; /* of the last record with a delta, since start_time_ns */
};

struct stream_thread_start {
    uint64_t tid;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;  /* of its CPU clock, from which on it is known what it used */
    const char *name; /* borrowed */
};

/* An empty stream: nothing is mapped before its first record. */
SIGNAL_SAFE void stream_init(struct stream *stream, struct recording *recording, uint32_t id);

SIGNAL_SAFE bool stream_put_thread_start(struct stream *stream,
                                         const struct stream_thread_start *start);
SIGNAL_SAFE bool stream_put_thread_name(struct stream *stream, const char *name);
SIGNAL_SAFE bool stream_put_thread_end(struct stream *stream, uint64_t time_ns, uint64_t cpu_ns);
/* Since the last such record: what libc and the kernel took to begin the thread, and what our own
 * code took of its CPU time. */
SIGNAL_SAFE bool stream_put_thread_cost(struct stream *stream, uint64_t begin_cpu_ns,
                                        uint64_t own_cpu_ns);
SIGNAL_SAFE bool stream_put_label(struct stream *stream, const char *label);

/* At time_ns sampling stops (or resumes) for the whole process. Has a time of its own and leaves
 * the stream's alone. */
SIGNAL_SAFE bool stream_put_pause(struct stream *stream, uint64_t time_ns, bool stops);

/* The clock a thread got (enum capture_clock), and the error of the better one that failed, or
 * 0. */
SIGNAL_SAFE bool stream_put_clock(struct stream *stream, uint32_t clock, int why_errno);

/* Nodes as stack_table.h has them; the caller numbers them. */
SIGNAL_SAFE bool stream_put_node(struct stream *stream, uint32_t parent, uint32_t place,
                                 uint64_t offset);
SIGNAL_SAFE bool stream_put_node_cut(struct stream *stream, uint32_t cut);

/* A sample of `steps` grid steps at time_ns; put_credit: steps without a tick of their own. */
SIGNAL_SAFE bool stream_put_sample(struct stream *stream, uint64_t time_ns, uint64_t steps,
                                   uint32_t node);
SIGNAL_SAFE bool stream_put_credit(struct stream *stream, uint64_t time_ns, uint64_t steps,
                                   uint32_t node);

/* The module, whose file it looks at (and the image of the vdso, which is none); a piece of another
 * module's image, at most STREAM_IMAGE_PIECE_BYTES; notes on the process, whose value need not end
 * in a NUL. */
SIGNAL_SAFE bool stream_put_module(struct stream *stream, struct module *module);
SIGNAL_SAFE bool stream_put_image(struct stream *stream, uint32_t module_id, uint64_t offset,
                                  const void *bytes, size_t n_bytes);
SIGNAL_SAFE bool stream_put_info(struct stream *stream, const char *key, const char *value,
                                 size_t n_bytes);

/* A program that was started at time_ns and cannot be recorded (`why`: enum capture_child). Has a
 * time of its own. */
SIGNAL_SAFE bool stream_put_child(struct stream *stream, uint64_t time_ns, uint32_t why,
                                  const char *path);

#endif
