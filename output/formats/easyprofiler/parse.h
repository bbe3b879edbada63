/* parse.h - what the parts of the parser share; only they include it.
 *
 *   header.c   signature, version and the fields each version has
 *   parse.c    descriptors, threads with their switches and blocks, bookmarks, totals
 *   tree.c     sections to threads, blocks to a tree (easyprofiler_gather), once all is known to be
 *              right
 *   common.c   how all of them report what is wrong and what is odd */
#ifndef SAMPLER_EASYPROFILER_PARSE_H
#define SAMPLER_EASYPROFILER_PARSE_H

#include "cursor.h"
#include "formats/easyprofiler/easyprofiler.h"

/* Things that are odd but leave the rest readable: counted, and reported once each at the end. */
enum easyprofiler_oddity {
    EASYPROFILER_ODD_BEFORE_BEGIN,
    EASYPROFILER_ODD_REVERSED_BLOCK,
    EASYPROFILER_ODD_REVERSED_SWITCH,
    EASYPROFILER_ODD_VALUE_TYPE,
    EASYPROFILER_ODD_HOLE,
    EASYPROFILER_N_ODDITIES
};

struct easyprofiler_parser {
    struct cursor in;
    struct easyprofiler_file *file;
    const struct format_notes *notes;
    struct err *err;
    bool strict;

    /* From the header. */
    uint32_t records_total;
    uint64_t blocks_memory;
    uint64_t descriptors_memory;
    uint32_t n_sections;
    uint16_t n_bookmarks;

    /* What was found. */
    uint64_t n_blocks;
    uint64_t blocks_memory_found;
    uint64_t descriptors_memory_found;
    uint64_t odd_counts[EASYPROFILER_N_ODDITIES];
    uint64_t odd_offsets[EASYPROFILER_N_ODDITIES]; /* of the first */
};

/* Counts of threads and bookmarks in the header, and marks after them: from 2.1.0. */
static inline bool easyprofiler_has_counts(const struct easyprofiler_parser *p)
{
    return p->file->version >= EASYPROFILER_VERSION(2, 1, 0);
}

/* Ids of threads and processes have 64 bits instead of 32: from 1.3.0. */
static inline bool easyprofiler_has_wide_ids(const struct easyprofiler_parser *p)
{
    return p->file->version >= EASYPROFILER_VERSION(1, 3, 0);
}

/* Sets the error and returns false. */
bool easyprofiler_fail_truncated(struct easyprofiler_parser *p, uint64_t offset, const char *what);

/* Notes something odd; false only in strict mode, where it is an error. */
__attribute__((format(printf, 3, 4))) bool
easyprofiler_odd(struct easyprofiler_parser *p, uint64_t offset, const char *format, ...);

bool easyprofiler_read_header(struct easyprofiler_parser *p);

#endif
