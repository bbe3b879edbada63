/* sides.h - which files `sampler diff` compares.
 *
 *     sampler diff BEFORE AFTER
 *     sampler diff BEFORE... --against AFTER...
 *
 * Each file is a run. A name that is no file is a pattern, as the shell has it, and stands for all files
 * that match: in quotes or not makes no difference. */
#ifndef SAMPLER_CLI_SIDES_H
#define SAMPLER_CLI_SIDES_H

#include <stddef.h>

#include "err.h"
#include "options/options.h"

struct sides {
    char **paths; /* those before, then those after */
    size_t n_before;
    size_t n_after;
};

/* ERR_USAGE: a side is missing. The caller gives the sides back in every case. */
MUST_CHECK bool sides_init(struct sides *sides, const struct options *options, struct err *err);
void sides_deinit(struct sides *sides); /* takes zeros */

#endif
