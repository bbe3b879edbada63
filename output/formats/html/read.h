/* read.h - reading a page back: the profile in it. */
#ifndef SAMPLER_HTML_READ_H
#define SAMPLER_HTML_READ_H

#include "formats/format.h"

int html_sniff(const uint8_t *head, size_t head_bytes);

/* As format.h says of readers and dumps, and as sprofile's do with what lies in the page: offsets
 * of what is damaged in it are those of the .sprofile file. */
MUST_CHECK bool html_read(const uint8_t *data, size_t size_bytes,
                          const struct format_options *options, const struct format_notes *notes,
                          struct profile **out, struct err *err);
MUST_CHECK bool html_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                          struct sink *out, struct err *err);

#endif
