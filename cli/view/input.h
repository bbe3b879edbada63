/* input.h - what a command that shows something looks at: all files and recordings named, as one
 * profile, and of it the part the options ask for (--focus, --thread, --from ...: select/select.h).
 *
 * Recordings become one profile, with their names; files follow in the order given. */
#ifndef SAMPLER_CLI_INPUT_H
#define SAMPLER_CLI_INPUT_H

#include "err.h"
#include "model/profile.h"
#include "options/options.h"

struct input {
    struct profile *profile; /* the part */
    uint64_t whole;          /* weight of all samples that are not idle, before the part was taken,
                                as summary.h counts them */
    bool is_part;
    const char *path; /* of the only file; NULL: there are several */
};

/* ERR_USAGE: the options, before any file was read. */
MUST_CHECK bool input_load(const struct options *options, struct input *out, struct err *err);

/* The same of `n` files instead of the operands; `paths` must outlive it. */
MUST_CHECK bool input_load_files(const struct options *options, char *const *paths, size_t n,
                                 struct input *out, struct err *err);
void input_unload(struct input *input); /* takes zeros */

/* The exit status of such a command, which says on stderr why it could not do it: 0, 1, or 2 for what
 * was wrong on the command line. */
int view_status(bool ok, const struct err *err);

/* Says in the error which file it is about, where only one was read. Returns false. */
bool input_name_file(const struct input *input, struct err *err);

#endif
