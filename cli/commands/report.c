/* report.c - sampler report: recordings to outputs. */
#include "report/report.h"

#include <unistd.h>

#include "commands/commands.h"
#include "options/messages.h"
#include "options/outputs.h"
#include "report/account_out.h"
#include "run/others_dir.h"
#include "run/reporter.h"

static bool may_be_several(const struct options *options)
{
    return options->n_operands > 1 || path_is_folder(options->operands[0]);
}

/* Only who knows of the run knows that a folder may be empty. */
static bool inputs_find(const struct options *options, struct report_inputs *inputs,
                        struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < options->n_operands; i++)
        ok = report_inputs_add_operand(inputs, options->operands[i], options->given[OPTION_RUN],
                                       err);
    return ok;
}

/* The recordings that were read and have ended, and folders that hold nothing else. */
static void inputs_remove(const struct options *options, const struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (!inputs->items[i].is_running)
            unlink(inputs->items[i].path);
    for (size_t i = 0; i < options->n_operands; i++)
        if (path_is_folder(options->operands[i])) {
            others_dir_remove(options->operands[i]);
            rmdir(options->operands[i]);
        }
}

/* All that can be wrong with the command line, before the first recording is read. */
static bool check(const struct options *options, struct reported_run *run, struct err *err)
{
    return outputs_check(options, may_be_several(options), err) &&
           account_out_check(options, err) &&
           (!options->given[OPTION_RUN] ||
            reported_run_parse(options->values[OPTION_RUN], run, err));
}

int command_report(const struct options *options)
{
    struct err err = ERR_INIT;
    struct reported_run run = {0};
    struct report_inputs inputs = {0};
    if (!check(options, &run, &err)) {
        complain("sampler", &err);
        return 2;
    }
    bool ok = inputs_find(options, &inputs, &err);
    if (ok) {
        bool only_account = account_out_is_all(options);
        bool wants_account = options_flag(options, OPTION_ACCOUNT) || options->given[OPTION_RUN];
        const struct report_request request = {
            .options = options,
            .inputs = inputs.items,
            .n_inputs = inputs.n,
            .command = run.command,
            .main_pid = run.pid,
            .cpu_ns = run.cpu_ns,
            .show_account = wants_account && !only_account && !options_flag(options, OPTION_QUIET),
            .no_outputs = only_account,
        };
        ok = report_write(&request, &err);
    }
    if (!ok)
        complain("sampler", &err);
    else if (options_flag(options, OPTION_REMOVE))
        inputs_remove(options, &inputs);
    report_inputs_free(&inputs);
    return ok ? 0 : 1;
}
