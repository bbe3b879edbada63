/* report.c - sampler report: recordings to outputs. An operand is a recording, or the folder of
 * a run's recordings: so that a run of any number of processes fits a command line. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options/messages.h"
#include "options/outputs.h"
#include "report/account_out.h"
#include "run/others_dir.h"
#include "run/recording_dir.h"
#include "run/reporter.h"
#include "vector.h"

VECTOR_DEFINE(report_inputs, struct report_input)

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool may_be_several(const struct options *options)
{
    return options->n_operands > 1 || is_folder(options->operands[0]);
}

static bool input_add(struct report_inputs *inputs, const char *path, bool of_run, struct err *err)
{
    char *copy = strdup(path);
    const struct report_input input = {.path = copy, .may_be_bad = of_run};
    if (copy != NULL && report_inputs_push(inputs, input))
        return true;
    free(copy);
    return err_fail_memory(err);
}

/* The recordings of a folder; only sampler-run knows that there may be none. */
static bool inputs_add_folder(struct report_inputs *inputs, const char *folder, bool may_be_empty,
                              struct err *err)
{
    struct recording_list list = {0};
    bool ok = recording_dir_list(folder, &list, err);
    if (ok && list.n == 0 && !may_be_empty) {
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "no recording of a run is in this folder");
        ok = err_name_file(err, folder);
    }
    for (size_t i = 0; ok && i < list.n; i++)
        ok = input_add(inputs, list.files[i].path, true, err);
    recording_list_free(&list);
    return ok;
}

static bool inputs_find(const struct options *options, struct report_inputs *inputs,
                        struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < options->n_operands; i++) {
        const char *path = options->operands[i];
        ok = is_folder(path) ? inputs_add_folder(inputs, path, options->given[OPTION_RUN], err)
                             : input_add(inputs, path, false, err);
    }
    return ok;
}

static void inputs_deinit(struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        union {
            const char *constant;
            char *mutable;
        } path = {.constant = inputs->items[i].path};
        free(path.mutable);
    }
    report_inputs_deinit(inputs);
}

/* The recordings that were read, and folders that hold nothing else. */
static void inputs_remove(const struct options *options, const struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        unlink(inputs->items[i].path);
    for (size_t i = 0; i < options->n_operands; i++)
        if (is_folder(options->operands[i])) {
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
    inputs_deinit(&inputs);
    return ok ? 0 : 1;
}
