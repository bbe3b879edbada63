/* stream.h - the records of a real NYTProf 5 stream, one after the other, inflated on the
 * way.
 *
 * Flow      nytprof_stream_open (header line) -> nytprof_stream_next ... -> NYTPROF_END
 * Memory    A plain file is read in place. Of a compressed one, one window is held, as large as the
 * longest record (NYTPROF_MAX_RECORD_BYTES at most), however far the data expands. What is not
 * here: any meaning of the records (content.h). Context: one thread at a time, not signal
 * safe. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_STREAM_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "intern.h"

/* Of a record in the compressed part; a plain file's records are only bounded by the file. */
#define NYTPROF_MAX_RECORD_BYTES ((size_t)16 << 20)

enum nytprof_tag {
    NYTPROF_END = 0, /* not a record: no more of them                                  */
    NYTPROF_ATTRIBUTE = ':',
    NYTPROF_OPTION = '!',
    NYTPROF_COMMENT = '#',
    NYTPROF_PROCESS_START = 'P',
    NYTPROF_PROCESS_END = 'p',
    NYTPROF_FILE = '@',
    NYTPROF_LINE_TIME = '+',
    NYTPROF_BLOCK_TIME = '*',
    NYTPROF_DISCOUNT = '-',
    NYTPROF_SOURCE = 'S',
    NYTPROF_SUB = 's',
    NYTPROF_EDGE = 'c',
    NYTPROF_ENTRY = '>',
    NYTPROF_RETURN = '<',
    NYTPROF_COMPRESSED = 'z'
};

/* One record; the fields its kind does not have are zero, but of the times (+, *), which are most
 * of a file, only their own and the first five are set. Texts are borrowed from the stream until
 * the next record is asked for, and have no NUL behind them. */
struct nytprof_record {
    enum nytprof_tag tag;
    uint64_t offset; /* of the tag; in the inflated data once `inflated` is set               */
    bool inflated;
    bool text_is_utf8;   /* the text came with the tag that says so                            */
    bool no_equals;      /* an attribute or option without `=`: all of it is the key           */
    uint32_t fid;        /* +, *, S, s, >, @; c: of the caller                                 */
    uint32_t line;       /* +, *, S, >; c: of the call; s: first line of the sub               */
    uint32_t last_line;  /* s                                                                  */
    uint32_t block_line; /* *                                                                  */
    uint32_t sub_line;   /* *                                                                  */
    uint32_t eval_fid;   /* @                                                                  */
    uint32_t eval_line;  /* @                                                                  */
    uint32_t flags;      /* @                                                                  */
    uint32_t size_bytes; /* @                                                                  */
    uint32_t mtime;      /* @                                                                  */
    uint32_t pid;        /* P, p                                                               */
    uint32_t ppid;       /* P                                                                  */
    uint32_t count;      /* c                                                                  */
    uint32_t depth;      /* c: of recursion; <: from 1                                         */
    int32_t ticks;       /* +, *                                                               */
    double time;         /* P, p: seconds since the epoch                                      */
    double inclusive;    /* c: seconds; <: ticks                                               */
    double exclusive;    /* c: seconds; <: ticks                                               */
    double recursive;    /* c: seconds                                                         */
    struct text text;    /* comment, key, file, source line, sub, called sub                   */
    struct text other;   /* value; c: the caller                                               */
};

struct nytprof_stream;

/* Reads the header line. Keeps `data` until the stream is destroyed. ERR_VERSION for a major
 * version other than 5. */
MUST_CHECK bool nytprof_stream_open(const uint8_t *data, size_t size_bytes,
                                    struct nytprof_stream **out, struct err *err);
void nytprof_stream_destroy(struct nytprof_stream *stream); /* takes NULL */

/* The next record, or one with the tag NYTPROF_END. After a failure the stream is of no more use.
 * ERR_TRUNCATED: the file was cut; all records that are whole came before. */
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
