/* top.h - what the files of `sampler top` share: the table, before anybody sees it. */
#ifndef SAMPLER_CLI_TOP_H
#define SAMPLER_CLI_TOP_H

#include <stddef.h>

#include "fold/summary.h"
#include "options/options.h"
#include "view/input.h"
#include "view/screen.h"

struct top {
    const struct options *options;
    const struct input *input;
    enum summary_by by;
    struct summary summary;
    size_t n_rows; /* to show, the first of the summary's */
};

/* For people (view/screen.h). */
MUST_CHECK bool top_print_text(const struct top *top, struct err *err);

/* What to ask next, if there is something to say. */
MUST_CHECK bool top_print_hint(const struct top *top, struct screen *screen, struct err *err);

/* For programs; the man page says what is in it. */
MUST_CHECK bool top_print_json(const struct top *top, struct err *err);

#endif
