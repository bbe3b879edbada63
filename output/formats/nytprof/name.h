/* name.h - names of native functions as names of subs that Perl's report tools take, and
 * back.
 *
 * The tools group subs by the text before the last `::`, write names into HTML as they are, and
 * split stacks at `;`. So: control characters become blanks, `;` becomes `,`; a name without a `::`
 * outside of brackets gets a package (`main`, or the object it is in); a `::` inside brackets
 * becomes `.`; a
 * `<` that a browser would take for markup gets a blank behind it. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_NAME_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_NAME_H

#include "array.h"
#include "err.h"
#include "intern.h"

/* Appends the sub's name to `out` (an array of char). `object`: base name of the object the
 * function is in, empty for the program itself. False when out of memory. */
MUST_CHECK bool nytprof_name_encode(struct text name, struct text object, struct array *out);

/* Appends what nytprof_name_encode made it from, as far as can be told. */
MUST_CHECK bool nytprof_name_decode(struct text name, struct array *out);

/* Whether a sub of this name can be what nytprof_name_encode made from `name`, for any object and
 * with anything behind it. *fits is untouched when out of memory. */
MUST_CHECK bool nytprof_name_fits(struct text sub, struct text name, bool *fits);

/* The same of the label of a file: a path, or the last part of one in square brackets. */
bool nytprof_path_fits(struct text label, struct text path);

/* Appends bytes with control characters, `%` and bytes that are no UTF-8 as %XX, fit for a line. */
MUST_CHECK bool nytprof_line_encode(struct text text, struct array *out);
MUST_CHECK bool nytprof_line_decode(struct text text, struct array *out);

/* Appends bytes; the helpers above and their callers share it. */
MUST_CHECK bool nytprof_append(struct array *out, const char *bytes, size_t length);

#endif
