/* rows_by.c - see rows_by.h. */
#include "view/rows_by.h"

static const struct {
    const char *word;    /* of --by                                */
    const char *missing; /* what a profile without such rows holds none of, and what to do */
} by_table[] = {
#define IN_SPROFILE "; the .sprofile of the run, or its recording, does"
    [SUMMARY_BY_FUNCTION] = {"function", ""},
    [SUMMARY_BY_LINE] = {"line",
                         "lines: programs need debug information (-g) to have them, and the "
                         "file must be the .sprofile of the run or its recording"},
    [SUMMARY_BY_FILE] = {"file", "source files: programs need debug information (-g) to have them, "
                                 "and the file must be the .sprofile of the run or its recording"},
    [SUMMARY_BY_MODULE] = {"module", "modules" IN_SPROFILE},
    [SUMMARY_BY_THREAD] = {"thread", "threads" IN_SPROFILE},
    [SUMMARY_BY_PROCESS] = {"process", "processes" IN_SPROFILE},
    [SUMMARY_BY_COMMAND] = {"command", "processes" IN_SPROFILE},
    [SUMMARY_BY_LABEL] = {"label", "labels: the program sets them with sampler_label (sampler.h)"},
};
#define N_BY (sizeof by_table / sizeof by_table[0])

enum summary_by rows_by(const struct options *options)
{
    enum summary_by by = SUMMARY_BY_FUNCTION;
    while (by + 1 < N_BY && !options_is(options, OPTION_BY, by_table[by].word))
        by++;
    return by;
}

const char *rows_by_word(enum summary_by by)
{
    return by_table[by].word;
}

bool rows_by_check(const struct input *input, enum summary_by by, struct err *err)
{
    if (summary_is_known(input->profile, by))
        return true;
    err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "holds no %s", by_table[by].missing);
    return input_name_file(input, err);
}
