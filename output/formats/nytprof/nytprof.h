/* nytprof.h - the two formats called NYTProf: docs/formats/nytprof.md, docs/formats/nytprof-chunked.md.
 *
 *   nytprof           the stream that Perl's nytprofhtml and its kin read
 *                       records  record.h      the table of them, for all below
 *                       read     stream.h (bytes) -> content.h, collect.h (sums) -> read.c
 *                       dump     stream.h -> content.h -> dump/dump.c
 *                       write    graph.h, ticks.h (sums) -> labels.h, name.h (names) -> write.c (what) -> encode.h (bytes)
 *   nytprof-chunked   framed chunks
 *                       read     chunked/chunked.h -> chunked/read.c
 *                       write    graph.h, ticks.h -> chunked/write.c
 *
 * Either reader, given a file of the other dialect, hands it to the other: the first lines are the
 * same, and so may be the files' extension. */
#ifndef SAMPLER_NYTPROF_H
#define SAMPLER_NYTPROF_H

#include "formats/format.h"

extern const struct format format_nytprof;
extern const struct format format_nytprof_chunked;

/* Of the real stream. */
MUST_CHECK bool nytprof_read_real(const uint8_t *data, size_t size_bytes,
                                  const struct format_options *options,
                                  const struct format_notes *notes, struct profile **out,
                                  struct err *err);
MUST_CHECK bool nytprof_dump_real(const uint8_t *data, size_t size_bytes,
                                  const struct format_notes *notes, struct sink *out,
                                  struct err *err);
MUST_CHECK bool nytprof_write_real(const struct profile *profile,
                                   const struct format_options *options,
                                   const struct format_notes *notes, struct sink *out,
                                   struct err *err);

/* Of the chunked dialect. */
MUST_CHECK bool nytprof_read_chunked(const uint8_t *data, size_t size_bytes,
                                     const struct format_options *options,
                                     const struct format_notes *notes, struct profile **out,
                                     struct err *err);
MUST_CHECK bool nytprof_dump_chunked(const uint8_t *data, size_t size_bytes, struct sink *out,
                                     struct err *err);
MUST_CHECK bool nytprof_write_chunked(const struct profile *profile,
                                      const struct format_notes *notes, struct sink *out,
                                      struct err *err);

#endif
