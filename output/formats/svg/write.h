/* write.h - the writer of svg: what it draws where is in docs/formats/svg.md. */
#ifndef SAMPLER_SVG_WRITE_H
#define SAMPLER_SVG_WRITE_H

#include "formats/format.h"

/* By this a picture of ours is known. */
#define SVG_SIGN "<!-- A flame graph by Sampler"

/* As format.h says of writers; no option concerns it. Notes stacks of more than SVG_MOST_LEVELS frames. */
MUST_CHECK bool svg_write(const struct profile *profile, const struct format_options *options,
                          const struct format_notes *notes, struct sink *out, struct err *err);

#endif
