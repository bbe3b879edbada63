/* input.h - what a command that shows something looks at: all files and recordings named, as one
 * profile, and of it the part the options ask for (--focus, --thread, --from ...: select/select.h).
 *
 * Recordings become one profile, with their names; files follow in the order given. */
#ifndef SAMPLER_CLI_INPUT_H
#define SAMPLER_CLI_INPUT_H

#include "err.h"
#include "model/profile.h"
#include "options/options.h"

/* ERR_USAGE: the options, before any file was read. */
MUST_CHECK bool input_load(const struct options *options, struct profile **out, struct err *err);

#endif
