/* stream.h - the records of a real NYTProf 5 stream, one after the other, inflated on the way.
 *
 * Flow      nytprof_stream_open (header line) -> nytprof_stream_next ... -> NYTPROF_END
 * Memory    A plain file is read in place. Of a compressed one, one window is held, as large as the longest record
 *           (NYTPROF_MAX_RECORD_BYTES at most), however far the data expands.
 * Not here  Any meaning of the records: content.h.
 * Context   One thread at a time, not signal safe. */
#ifndef SAMPLER_NYTPROF_STREAM_H
#define SAMPLER_NYTPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "formats/nytprof/record.h"

/* Of a record in the compressed part; a plain file's records are only bounded by the file. */
#define NYTPROF_MAX_RECORD_BYTES ((size_t)16 << 20)

struct nytprof_stream;

/* Reads the header line. Keeps `data` until the stream is destroyed. ERR_VERSION for a major
 * version other than 5. */
MUST_CHECK bool nytprof_stream_open(const uint8_t *data, size_t size_bytes,
                                    struct nytprof_stream **out, struct err *err);
void nytprof_stream_destroy(struct nytprof_stream *stream); /* takes NULL */

/* The next record, or one with the tag NYTPROF_END; *record need not be set before. Of the times (+, *) only their own
 * fields and the first five are set. Texts are borrowed from the stream until the next record is asked for, and have no
 * NUL behind them. After a failure the stream is of no more use. ERR_TRUNCATED: the file was cut; all records that are
 * whole came before. */
MUST_CHECK bool nytprof_stream_next(struct nytprof_stream *stream, struct nytprof_record *record,
                                    struct err *err);

uint32_t nytprof_stream_minor(const struct nytprof_stream *stream);

enum nytprof_dialect {
    NYTPROF_NONE,   /* no NYTProf header line                        */
    NYTPROF_REAL,   /* the stream Perl's tools read                  */
    NYTPROF_CHUNKED /* the dialect of framed chunks                  */
};

/* Which of the two dialects a file is of, told by its first bytes: the header line, the text lines
 * after it, and up to 5 + n bytes more. */
enum nytprof_dialect nytprof_dialect_of(const uint8_t *head, size_t head_bytes);

/* Parses the header line; its length with the newline, or 0 if there is none. */
size_t nytprof_header(const uint8_t *data, size_t size_bytes, uint32_t *major, uint32_t *minor);

#endif
