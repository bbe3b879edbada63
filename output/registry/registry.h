/* registry.h - the one table of formats. Selection by name, extension and content, `sampler
 * formats`, `--help`, the docs test and the round-trip test all walk it. formats/format.h says how
 * a format is added.
 *
 * A folder of its own above the formats: it needs all of them, and none of them needs it. */
#ifndef SAMPLER_REGISTRY_H
#define SAMPLER_REGISTRY_H

#include "formats/format.h"

extern const struct format *const format_table[]; /* NULL at the end */

/* A word for each flag of enum format_keeps, by its bit; NULL at the end. */
extern const char *const format_keeps_words[];

/* Each returns NULL when no format fits. */
const struct format *format_by_name(const char *name);

/* By the end of a file's name; of several extensions that fit (.folded, .diff.folded) the longest
 * decides. */
const struct format *format_by_path(const char *path);

/* By the first bytes of a file: the format that is surest, the first in the table of equally sure
 * ones. */
const struct format *format_by_content(const uint8_t *head, size_t head_bytes);

#endif
