/* name_fit.h - names of functions in few columns, and still told apart.
 *
 *   int std::map<std::string, Table<int, 3> >::at<long>(std::string const&)
 *   std::map<std::string, Table<int, 3> >::at<long>(...)          type and arguments go first,
 *   std::map<std::string, Table<...> >::at<long>(...)             then what is deepest in brackets,
 *   std::map<...>::at<...>(...)
 *   std::map<...>::at<...>                                        then the brackets of arguments,
 *   std::m...:at<...>                                             then the middle.
 *
 * Columns are those of a terminal (width.h). What is written is clean as there. `mark` stands for
 * what is left out: "..." or one that takes a single column. */
#ifndef SAMPLER_CLI_NAME_FIT_H
#define SAMPLER_CLI_NAME_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "err.h"
#include "intern.h"
#include "vector.h"

/* Appends `name` in at most `columns` columns, which are at least those of the mark. False when out
 * of memory. */
bool name_fit(struct chars *out, struct text name, size_t columns, struct text mark);

/* The same of a path, whose end matters most. */
bool path_fit(struct chars *out, struct text path, size_t columns, struct text mark);

/* A row of a table. */
struct name_cell {
    struct text name;
    struct text detail;     /* what tells rows of one name apart: a file, a module; may be empty */
    struct text fitted;     /* result; lives in the arena                                        */
    struct text difference; /* used on the way */
};

/* Fits all of them. Rows that would look the same have in brackets what makes the difference: the
 * words in which a name differs from the others, as few as it takes, or the detail. */
MUST_CHECK bool names_fit(struct name_cell *cells, size_t n, size_t columns, struct text mark,
                          struct arena *arena);

#endif
