/* top.c - sampler top: where the time went, on the terminal or as JSON. The sums are those of
 * output/fold/summary.h, over the part of the files that view/input.h gives. */
#include "commands/top.h"

#include "commands/commands.h"
#include "options/messages.h"

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

static enum summary_by summary_by_from(const struct options *options)
{
    enum summary_by by = SUMMARY_BY_FUNCTION;
    while (by + 1 < N_BY && !options_is(options, OPTION_BY, by_table[by].word))
        by++;
    return by;
}

static bool check_is_known(const struct top *top, struct err *err)
{
    if (summary_is_known(top->input->profile, top->by))
        return true;
    err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "holds no %s", by_table[top->by].missing);
    return top->options->n_operands == 1 ? err_name_file(err, top->options->operands[0]) : false;
}

static bool show(struct top *top, struct err *err)
{
    if (!check_is_known(top, err) ||
        !summary_init(&top->summary, top->input->profile, top->by, err))
        return false;
    if (options_is(top->options, OPTION_SORT, "total"))
        summary_sort_by_total(&top->summary);
    uint64_t most = options_number(top->options, OPTION_ROWS);
    top->n_rows = most == 0 || most > top->summary.n ? top->summary.n : (size_t)most;
    bool ok = options_flag(top->options, OPTION_JSON) ? top_print_json(top, err)
                                                      : top_print_text(top, err);
    summary_deinit(&top->summary);
    return ok;
}

int command_top(const struct options *options)
{
    struct err err = ERR_INIT;
    struct input input;
    bool ok = input_load(options, &input, &err);
    if (ok) {
        struct top top = {.options = options, .input = &input, .by = summary_by_from(options)};
        top.by_word = by_table[top.by].word;
        ok = show(&top, &err);
    }
    input_unload(&input);
    if (ok)
        return 0;
    complain("sampler", &err);
    return err.code == ERR_USAGE ? 2 : 1;
}
