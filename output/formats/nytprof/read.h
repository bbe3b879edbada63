/* read.h - what the files of the reader of real NYTProf streams share: only they include it.
 *
 *   file -> collection (collect.h) -> samples -> profile
 *       read.c         calls, edges, processes, and the steering
 *       read_lines.c   times of lines
 *       read_common.c  what both need: functions of subs, stacks, the sums that become samples
 *
 * A stream has no samples as such: it has sums by call, by line and by edge, of which the first that the file has is
 * the story, and the others would count the same time again. */
#ifndef SAMPLER_NYTPROF_READ_H
#define SAMPLER_NYTPROF_READ_H

#include "formats/nytprof/collect.h"

/* Weights by thread and stack. */
struct nytprof_sum {
    uint32_t thread;
    uint32_t stack;
    uint64_t weight;
};

VECTOR_DEFINE(nytprof_sums, struct nytprof_sum)

/* Zero bytes and a builder are one at the start. */
struct nytprof_reader {
    struct nytprof_collection all;
    struct profile_builder *builder;
    uint32_t *functions; /* by name of a sub: function + 1       */
    struct map sum_rows; /* (thread, stack)                      */
    struct nytprof_sums sums;
    struct chars buffer;
    bool no_memory;
};

/* The function of a sub, by its name (text of the content); that of code of a file outside of all subs. */
uint32_t nytprof_reader_function(struct nytprof_reader *r, uint32_t name);
uint32_t nytprof_reader_file_function(struct nytprof_reader *r, uint32_t fid);

/* `parent` with one frame more; 0 is the empty stack. */
uint32_t nytprof_reader_stack(struct nytprof_reader *r, uint32_t parent, uint32_t function,
                              uint32_t line);

/* More weight of a thread in a stack. Out of memory is sticky in `sums` and `sum_rows`. */
void nytprof_reader_add(struct nytprof_reader *r, uint32_t thread, uint32_t stack, uint64_t weight);

/* Adds the collected times of lines that no call has counted. False when out of memory. */
MUST_CHECK bool nytprof_read_lines(struct nytprof_reader *r);

#endif
