/* encode.h - the bytes of a real NYTProf stream: one function per kind of record.
 *
 * Failures of the sink are the sink's (sticky); zlib's and our own are of memory only. Texts are
 * written as bytes without the UTF-8 tag, which Perl's tools misread. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_WRITE_ENCODE_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_WRITE_ENCODE_H

#include "err.h"
#include "intern.h"
#include "sink.h"

struct nytprof_encoder;

/* Writes the header line. Keeps the sink. */
MUST_CHECK bool nytprof_encoder_create(struct sink *out, struct nytprof_encoder **encoder,
                                       struct err *err);
void nytprof_encoder_destroy(struct nytprof_encoder *encoder); /* takes NULL */

/* All that follows is compressed. Once. */
MUST_CHECK bool nytprof_encode_compressed(struct nytprof_encoder *encoder, struct err *err);

/* Everything out, the zlib stream ended. */
void nytprof_encode_finish(struct nytprof_encoder *encoder);

/* At most 255 bytes, without a newline. */
void nytprof_encode_comment(struct nytprof_encoder *encoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
MUST_CHECK bool nytprof_encode_attribute(struct nytprof_encoder *encoder, const char *key,
                                         struct text value, struct err *err);
void nytprof_encode_attribute_u64(struct nytprof_encoder *encoder, const char *key, uint64_t value);
void nytprof_encode_option(struct nytprof_encoder *encoder, const char *key, uint64_t value);

/* A comment of ours: `#sampler KEY`, the numbers and the text (if not NULL), with tabs between
 * them. The text is escaped by nytprof_line_encode. */
MUST_CHECK bool nytprof_encode_ours(struct nytprof_encoder *encoder, const char *key,
                                    const uint64_t *numbers, size_t n_numbers,
                                    const struct text *text, struct err *err);

void nytprof_encode_process_start(struct nytprof_encoder *encoder, uint32_t pid, uint32_t ppid,
                                  double time);
void nytprof_encode_process_end(struct nytprof_encoder *encoder, uint32_t pid, double time);
void nytprof_encode_file(struct nytprof_encoder *encoder, uint32_t fid, uint32_t flags,
                         struct text name);
/* As many records as `ticks` needs; all but the first have no count. */
void nytprof_encode_time(struct nytprof_encoder *encoder, uint64_t ticks, uint32_t fid,
                         uint32_t line);
void nytprof_encode_return(struct nytprof_encoder *encoder, uint32_t depth, uint64_t inclusive,
                           uint64_t exclusive, struct text name);
void nytprof_encode_source(struct nytprof_encoder *encoder, uint32_t fid, uint32_t line,
                           struct text text);
void nytprof_encode_sub(struct nytprof_encoder *encoder, uint32_t fid, struct text name,
                        uint32_t first_line, uint32_t last_line);

struct nytprof_call {
    uint32_t fid; /* of the caller                 */
    uint32_t line;
    struct text caller;
    struct text called;
    uint32_t count;
    uint32_t depth;
    double inclusive; /* seconds, as the other two */
    double exclusive;
    double recursive;
};
void nytprof_encode_call(struct nytprof_encoder *encoder, const struct nytprof_call *call);

#endif
