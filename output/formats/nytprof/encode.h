/* encode.h - the bytes of a real NYTProf stream: records, written by the table of record.h, and the zlib stream around
 * them.
 *
 * Failures of the sink are the sink's (sticky); zlib's and our own are of memory only. Texts are written as bytes
 * without the UTF-8 tag, which Perl's tools misread. Which records, and in which order: write.c. */
#ifndef SAMPLER_NYTPROF_ENCODE_H
#define SAMPLER_NYTPROF_ENCODE_H

#include "err.h"
#include "formats/nytprof/record.h"
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

/* Any record but COMPRESSED, from the fields its kind has. Control characters of a text that ends at a newline become
 * blanks. */
void nytprof_encode(struct nytprof_encoder *encoder, const struct nytprof_record *record);

/* A number as the value of an attribute or option. */
void nytprof_encode_setting(struct nytprof_encoder *encoder, enum nytprof_tag tag, const char *key,
                            uint64_t value);

/* As many records as `ticks` needs; all but the first have no count. */
void nytprof_encode_time(struct nytprof_encoder *encoder, uint64_t ticks, uint32_t fid,
                         uint32_t line);

#endif
