/* ours.h - the comments by which our writer says what Perl's records have no place for.
 *
 *     #sampler KEY <tab> NUMBER ... <tab> TEXT
 *
 * KEYs and their fields: docs/formats/nytprof.md. Unknown ones, and ones whose fields are not of
 * the expected kind, are skipped: a comment is never an error. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_READ_OURS_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_READ_OURS_H

#include "array.h"
#include "formats/nytprof/stream.h"

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
