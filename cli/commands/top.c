/* top.c - sampler top: where the time went, on the terminal or as JSON. The sums are those of
 * output/fold/summary.h, over the part of the files that view/input.h gives. */
#include "commands/top.h"

#include "commands/commands.h"
#include "view/rows_by.h"

static bool show(struct top *top, struct err *err)
{
    if (!rows_by_check(top->input, top->by, err) ||
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
        struct top top = {.options = options, .input = &input, .by = rows_by(options)};
        ok = show(&top, &err);
    }
    input_unload(&input);
    return view_status(ok, &err);
}
