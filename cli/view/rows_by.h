/* rows_by.h - the option --by: what a row of a table or a tree stands for. */
#ifndef SAMPLER_CLI_ROWS_BY_H
#define SAMPLER_CLI_ROWS_BY_H

#include "err.h"
#include "fold/summary.h"
#include "options/options.h"
#include "view/input.h"

enum summary_by rows_by(const struct options *options);

/* "function", "line" ... */
const char *rows_by_word(enum summary_by by);

/* ERR_UNSUPPORTED: the profile holds none of these; says which file would. */
MUST_CHECK bool rows_by_check(const struct input *input, enum summary_by by, struct err *err);

#endif
