/* tree.c - sampler tree: who calls whom, on the terminal or as JSON. Trees are those of
 * output/fold/call_tree.h, over the part of the files that view/input.h gives. */
#include "commands/tree.h"

#include <stdlib.h>

#include "commands/commands.h"
#include "select/match.h"
#include "view/rows_by.h"

/* The functions of --callers or --callees, one mark each. */
static bool starts_mark(const struct tree *tree, const char *option, uint8_t *marks,
                        struct err *err)
{
    struct match match;
    bool ok = match_init(&match, option, tree->from, err) &&
              (match_mark_name(&match, tree->input->profile, marks, 1, err) ||
               input_name_file(tree->input, err));
    match_deinit(&match);
    return ok;
}

static bool show(struct tree *tree, const uint8_t *starts, struct err *err)
{
    const struct call_tree_request request = {
        .by = tree->by, .direction = tree->direction, .starts = starts};
    if (!call_tree_init(&tree->calls, tree->input->profile, &request, err))
        return false;
    tree->least =
        options_percent(tree->options, OPTION_MIN) / 100 * (double)tree->calls.nodes[0].total;
    bool ok = options_flag(tree->options, OPTION_JSON) ? tree_print_json(tree, err)
                                                       : tree_print_text(tree, err);
    call_tree_deinit(&tree->calls);
    return ok;
}

static bool show_from(struct tree *tree, const char *option, struct err *err)
{
    uint8_t *marks = calloc(tree->input->profile->n_functions, 1);
    if (marks == NULL) {
        err_fail_memory(err);
        return false;
    }
    bool ok = starts_mark(tree, option, marks, err) && show(tree, marks, err);
    free(marks);
    return ok;
}

static bool check_options(const struct options *options, struct err *err)
{
    int n_kinds = options_flag(options, OPTION_UP) + options_flag(options, OPTION_CALLERS) +
                  options_flag(options, OPTION_CALLEES);
    if (n_kinds > 1)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "--up, --callers and --callees are trees of their own; give one of them");
    if (summary_is_of_samples(rows_by(options)))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "--by %s: a tree is by function, line, file or module; `sampler top` has "
                        "the others",
                        rows_by_word(rows_by(options)));
    return true;
}

int command_tree(const struct options *options)
{
    struct err err = ERR_INIT;
    struct input input = {.profile = NULL};
    bool is_callers = options_flag(options, OPTION_CALLERS);
    enum option_id from = is_callers ? OPTION_CALLERS : OPTION_CALLEES;
    bool is_up = is_callers || options_flag(options, OPTION_UP);
    bool ok = check_options(options, &err) && input_load(options, &input, &err);
    if (ok) {
        struct tree tree = {.options = options,
                            .input = &input,
                            .by = rows_by(options),
                            .direction = is_up ? CALL_TREE_UP : CALL_TREE_DOWN,
                            .from = options->values[from]};
        ok = rows_by_check(&input, tree.by, &err) &&
             (tree.from == NULL ? show(&tree, NULL, &err)
                                : show_from(&tree, is_callers ? "--callers" : "--callees", &err));
    }
    input_unload(&input);
    return view_status(ok, &err);
}
