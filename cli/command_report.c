/* command_report.c - sampler report: recordings to outputs. */
#include <unistd.h>

#include "account_out.h"
#include "commands.h"
#include "files.h"
#include "report.h"

int command_report(const struct options *options)
{
    struct err err = ERR_INIT;
    bool only_account = account_out_is_all(options);
    if (!report_check_outputs(options, &err) || !account_out_check(options, &err)) {
        complain("sampler", &err);
        return 2;
    }
    const struct report_request request = {
        .options = options,
        .recordings = (const char *const *)options->operands,
        .n_recordings = options->n_operands,
        .show_account = options_flag(options, OPTION_ACCOUNT) && !only_account &&
                        !options_flag(options, OPTION_QUIET),
        .no_outputs = only_account,
    };
    if (!report_write(&request, &err)) {
        complain("sampler", &err);
        return 1;
    }
    if (options_flag(options, OPTION_REMOVE))
        for (size_t i = 0; i < options->n_operands; i++)
            unlink(options->operands[i]);
    return 0;
}
