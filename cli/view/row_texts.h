/* row_texts.h - the last columns of a table of rows (--by): names that fit the terminal and are told
 * apart, by line with the place in front. */
#ifndef SAMPLER_CLI_ROW_TEXTS_H
#define SAMPLER_CLI_ROW_TEXTS_H

#include "arena.h"
#include "fold/summary.h"
#include "view/screen.h"

/* What a row stands for. */
struct row_about {
    const struct profile *profile;
    struct summary_key key;
    struct text name;
    uint64_t number; /* behind the name: a tid or pid; 0 = none */
};

struct row_texts {
    struct text *names;  /* by row                    */
    struct text *places; /* by line only, else NULL   */
    size_t place_columns;
};

/* Of `n` rows, in at most `columns` columns (SIZE_MAX: as many as it takes). Lives in the arena. False
 * when out of memory. */
MUST_CHECK bool row_texts_make(struct row_texts *texts, const struct row_about *rows, size_t n,
                               enum summary_by by, size_t columns, struct text mark,
                               struct arena *arena);

/* Without the end of the line. */
void row_texts_print(struct screen *screen, const struct row_texts *texts, size_t i);

#endif
