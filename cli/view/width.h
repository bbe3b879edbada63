/* width.h - how many columns of a terminal a text takes, and what of it may go there.
 *
 * Names come from files: control characters, and bytes that are no UTF-8, are shown as '?', so that
 * nothing in a name steers the terminal or breaks a table. Wide characters take two columns,
 * combining ones none, as wcwidth knows them: call width_init once before. */
#ifndef SAMPLER_CLI_WIDTH_H
#define SAMPLER_CLI_WIDTH_H

#include <stdbool.h>
#include <stddef.h>

#include "intern.h"
#include "vector.h"

/* Has wcwidth know all of Unicode, whatever the user's locale; numbers are still written as in "C".
 * Without that locale (before glibc 2.35) each character counts as one column. */
void width_init(void);

/* One character at the beginning of `text` (not empty): its bytes and columns. */
struct glyph {
    const char *bytes; /* of `text`, or "?" for what may not be shown */
    size_t n_bytes;
    size_t n_taken; /* bytes of `text` it stands for */
    size_t columns;
};
struct glyph glyph_next(struct text text);

size_t text_columns(struct text text);

/* Appends `text` cleaned; false when out of memory. */
bool text_append_clean(struct chars *out, struct text text);

#endif
