/* read.h - what the parts of the reader of real NYTProf streams share. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_READ_READ_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_READ_READ_H

#include "formats/nytprof/read/collect.h"

struct nytprof_reader {
    struct nytprof_collection all;
    struct profile_builder *builder;
    uint32_t *functions;     /* by name of a sub: function + 1                      */
    struct nytprof_map sums; /* (thread, stack) -> row of samples                   */
    struct array samples;    /* weights by thread and stack                         */
    struct array buffer;     /* of char                                             */
    bool no_memory;
};

/* The function of a sub; that of code of a file outside of all subs. */
uint32_t nytprof_reader_function(struct nytprof_reader *r, uint32_t name);
uint32_t nytprof_reader_file_function(struct nytprof_reader *r, uint32_t fid);
uint32_t nytprof_reader_stack(struct nytprof_reader *r, uint32_t parent, uint32_t function,
                              uint32_t line);
void nytprof_reader_add(struct nytprof_reader *r, uint32_t thread, uint32_t stack, uint64_t weight);

/* False when out of memory. */
MUST_CHECK bool nytprof_read_lines(struct nytprof_reader *r);

#endif
