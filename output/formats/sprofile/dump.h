/* dump.h - an sprofile file as JSON. */
#ifndef SAMPLER_SPROFILE_DUMP_H
#define SAMPLER_SPROFILE_DUMP_H

#include "formats/format.h"

/* {"version": 1, "blocks": [{"offset": 16, "table": "texts", "first": 1, "rows": [...]}, ...]}
 * Texts are strings, other rows objects of their columns, with ids as they stand in the file.
 * Damage has {"offset": N, "damage": "..."} in its place. */
MUST_CHECK bool sprofile_dump(const uint8_t *data, size_t size_bytes,
                              const struct format_notes *notes, struct sink *out, struct err *err);

#endif
