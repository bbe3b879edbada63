/* read.h - the reader of sprofile. */
#ifndef SAMPLER_SPROFILE_READ_H
#define SAMPLER_SPROFILE_READ_H

#include "formats/format.h"

/* As format.h says of readers. Damage costs the rows of its block: each damaged place is noted with
 * its offset (`strict`: an error), and what refers to lost rows refers to one called [damaged].
 * Without the scalars nothing can be read. */
MUST_CHECK bool sprofile_read(const uint8_t *data, size_t size_bytes,
                              const struct format_options *options,
                              const struct format_notes *notes, struct profile **out,
                              struct err *err);

#endif
