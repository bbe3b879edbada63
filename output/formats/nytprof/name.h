/* name.h - names of native functions as names of subs that Perl's report tools take, and back.
 *
 * The tools group subs by the text before the last `::`, write names into HTML as they are, and split stacks at `;`. So
 *
 *     control characters                      become blanks
 *     `;`                                     becomes `,`
 *     a name without a `::` out of brackets   gets a package: `main`, or the object it is in
 *     `::` inside brackets                    becomes `.`
 *     `<` that a browser takes for markup     gets a blank after it
 *
 * Decoding guesses: all of 6945 names of libstdc++ and libc come back, but a `.` between words in brackets that was one
 * before becomes `::` too. */
#ifndef SAMPLER_NYTPROF_NAME_H
#define SAMPLER_NYTPROF_NAME_H

#include "text.h"
#include "vector.h"

/* Appends the sub's name to `out`. `object`: base name of the object the function is in, empty for
 * the program itself. */
void nytprof_name_encode(struct text name, struct text object, struct chars *out);

/* Appends what nytprof_name_encode made it from, as far as can be told. */
void nytprof_name_decode(struct text name, struct chars *out);

/* A label without what labels.c put behind it to tell namesakes apart: ` [file.c:12]`, ` [object+0x34]`, ` #2`. */
struct text nytprof_name_bare(struct text label);

/* Appends with blanks for control characters. */
void nytprof_append_plain(struct chars *out, struct text text);

#endif
