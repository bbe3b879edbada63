/* reader.h - a recording while it is read: its tables as they grow, and its warnings.
 *
 *   recording.c  bytes, header, chunks; owns recording and tables
 *   records.c    the records of a stream
 *   reader.c     warnings
 *
 * Nobody else includes it. Want of memory anywhere sets `no_memory`, and reading stops at the next
 * record: pushes need no branches of their own. */
#ifndef SAMPLER_RECORDING_READER_H
#define SAMPLER_RECORDING_READER_H

#include "arena.h"
#include "recording/recording.h"
#include "vector.h"

/* A piece of a MODULE_IMAGE, put together when all are known. */
struct image_piece {
    uint32_t module_id;
    uint64_t offset;
    struct text bytes;
};

VECTOR_DEFINE(modules, struct recording_module)
VECTOR_DEFINE(images, struct image_piece)
VECTOR_DEFINE(nodes, struct recording_node)
VECTOR_DEFINE(threads, struct recording_thread)
VECTOR_DEFINE(samples, struct recording_sample)
VECTOR_DEFINE(infos, struct recording_info)
VECTOR_DEFINE(warnings, struct recording_warning)
VECTOR_DEFINE(children, struct recording_child)
VECTOR_DEFINE(pauses, struct recording_pause)

/* The tables of a recording in the making; images and nothing else go no further. */
struct tables {
    struct modules modules;
    struct images images;
    struct nodes nodes;
    struct threads threads;
    struct samples samples;
    struct infos infos;
    struct warnings warnings;
    struct children children;
    struct pauses pauses;
};

struct reader {
    struct recording *recording; /* header, cut                     */
    struct arena *arena;         /* texts                           */
    struct intern *labels;
    struct tables *tables; /* of the one who owns the recording */
    uint64_t time_unit_ns;
    bool no_memory; /* sticky, of anything; the whole reading fails */
};

/* Notes what is damaged; beyond RECORDING_MAX_WARNINGS it is only counted. */
void reader_warn(struct reader *reader, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
