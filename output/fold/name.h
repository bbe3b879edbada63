/* name.h - names of frames as a folded file can hold them: no ";", no line end, no blanks at the
 * ends, valid UTF-8. What readers of such files do with others is in docs/formats/folded.md. */
#ifndef SAMPLER_FOLD_NAME_H
#define SAMPLER_FOLD_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "vector.h"

/* Puts into `out` (emptied first) the name without what would break a line or a
 * stack: ";" becomes ":", control characters become blanks, ill-formed UTF-8 becomes U+FFFD, blanks
 * at the ends and byte order marks in front go, nothing becomes "[unknown]". False when out of
 * memory. */
bool fold_name_clean(struct chars *out, const char *bytes, size_t length);

/* Where a clean name ends in a blank and a number, the offset of that blank, else 0: as the end of
 * a line it would be read as a first count. */
size_t fold_name_number(const char *bytes, size_t length);

#endif
