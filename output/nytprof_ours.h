/* nytprof_ours.h - the comments by which our writer says what Perl's records have no place for.
 *
 *     #sampler KEY <tab> NUMBER ... <tab> TEXT
 *
 * KEYs and their fields: docs/formats/nytprof.md. Unknown ones, and ones whose fields are not of
 * the expected kind, are skipped: a comment is never an error. */
#ifndef SAMPLER_NYTPROF_OURS_H
#define SAMPLER_NYTPROF_OURS_H

#include "array.h"
#include "nytprof_stream.h"

#define NYTPROF_OURS_MAX_NUMBERS 5

struct nytprof_ours {
    const char *key; /* one of the known keys */
    uint64_t numbers[NYTPROF_OURS_MAX_NUMBERS];
    struct text text; /* in *buffer */
};

/* False: not a comment of ours, or out of memory (*no_memory). The text goes to *buffer, an array
 * of char. */
bool nytprof_ours_parse(const struct nytprof_record *comment, struct array *buffer,
                        struct nytprof_ours *out, bool *no_memory);

#endif
