/* diff.h - what the files of `sampler diff` share: the changes, before anybody sees them. */
#ifndef SAMPLER_CLI_DIFF_H
#define SAMPLER_CLI_DIFF_H

#include "compare/changes.h"
#include "diff/sides.h"
#include "options/options.h"
#include "view/input.h"

/* Rows that changed by more than chance, and what they changed by together. */
struct diff_verdict {
    size_t n;
    double sum;
};

struct diff {
    const struct options *options;
    struct sides sides;
    struct input *inputs; /* of all files, in the order of `sides` */
    size_t n_loaded;
    enum summary_by by;
    bool by_total;
    struct changes changes;
    struct diff_verdict verdict;
    size_t n_rows; /* to show, the first of the changes' */
};

/* For people (view/screen.h). */
MUST_CHECK bool diff_print_text(const struct diff *diff, struct err *err);

/* For programs; the man page says what is in it. */
MUST_CHECK bool diff_print_json(const struct diff *diff, struct err *err);

/* Whether each -o is a file for two numbers of each stack. ERR_USAGE if not. */
MUST_CHECK bool diff_outputs_check(const struct options *options, struct err *err);

/* What is compared, by the command's options; `profiles` are diff_profiles. */
struct changes_request diff_request(const struct diff *diff, const struct profile **profiles);

/* Of all inputs; the caller frees it. NULL when out of memory. */
const struct profile **diff_profiles(const struct diff *diff);

/* Stack by stack, to every -o. ERR_USAGE where a side has several runs, and the format takes one. */
MUST_CHECK bool diff_save(const struct diff *diff, struct err *err);

#endif
