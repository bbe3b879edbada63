/* same_name.h - what rows of two runs, or of two builds, have in common: their name.
 *
 * Lines of a source file aside, numbers mean nothing in another run (pids, tids, addresses), and
 * folders nothing in another build. Compilers add to names of functions what tells copies of one
 * function apart, and choose it anew in each build: .constprop.0, .part.1, [clone .cold], the hash of a
 * Rust name. Copies are counted as the function they are of. */
#ifndef SAMPLER_SAME_NAME_H
#define SAMPLER_SAME_NAME_H

#include "fold/summary.h"
#include "vector.h"

/* The name of a function without what a compiler added; a view of `name`, never empty unless it is. */
struct text same_name_of_function(struct text name);

/* Appends what rows of the kind are matched by:
 *   function, label   the name as above
 *   line              that, the file without its folders, the line
 *   module            the file without its folders
 *   others            summary_row_name
 * False when out of memory. */
bool same_name_append(struct chars *out, const struct profile *profile, enum summary_by by,
                      struct summary_key key);

#endif
