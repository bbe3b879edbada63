/* outputs.h - the outputs of a profile as the command line names them: patterns or names, how many,
 * and whether they can be at all.
 *
 * What sampler-run is given with -o is a pattern, and so is the default; `sampler report` takes
 * a pattern from sampler-run only (--run). Else it is given a finished name, by the library at
 * the end of a program, say, in which a percent sign is one. */
#ifndef SAMPLER_CLI_OUTPUTS_H
#define SAMPLER_CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "options/options.h"
#include "options/pattern.h"

/* Outputs there are. Where none is named, they are folded stacks for viewers and an sprofile for
 * the commands of sampler; one, where only a format is given. With --open one more, a page, if none
 * of them is for browsers. */
size_t outputs_count(const struct options *options);

/* Output `index` < outputs_count as it was given. */
const char *outputs_name(const struct options *options, size_t index);

/* Whether output `index` is the page that --open adds. */
bool outputs_is_added_page(const struct options *options, size_t index);

/* True when the name of output `index` differs from pid to pid by itself. */
bool outputs_name_has_pid(const struct options *options, size_t index);

/* The path of output `index`. */
MUST_CHECK bool outputs_expand(const struct options *options, size_t index,
                               const struct pattern_values *values, char *out, size_t out_bytes,
                               struct err *err);

/* Whether each output has a name that can be and a format with a writer: all that can be checked
 * before there is a recording. `may_be_several`: of more than one process, so that --processes
 * split makes several files. */
MUST_CHECK bool outputs_check(const struct options *options, bool may_be_several, struct err *err);

#endif
