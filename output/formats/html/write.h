/* write.h - the writer of html. */
#ifndef SAMPLER_HTML_WRITE_H
#define SAMPLER_HTML_WRITE_H

#include "formats/format.h"

/* As format.h says of writers; no option concerns it, and there is nothing to note. */
MUST_CHECK bool html_write(const struct profile *profile, const struct format_options *options,
                           const struct format_notes *notes, struct sink *out, struct err *err);

#endif
