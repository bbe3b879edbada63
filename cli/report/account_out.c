/* account_out.c - see account_out.h. */
#include "report/account_out.h"

#include "account/print.h"
#include "report/files.h"
#include "text.h"

static bool write_one(const struct account *account, const char *path, bool as_json,
                      struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file(path, &sink, err))
        return err_name_file(err, path);
    if (as_json)
        account_print_json(account, sink);
    else
        account_print_text(account, sink);
    return sink_close(sink, err) || err_name_file(err, path);
}

bool account_out_is_all(const struct options *options)
{
    return options_flag(options, OPTION_ACCOUNT) && options->n_outputs == 0 &&
           !options->given[OPTION_FORMAT];
}

bool account_out_check(const struct options *options, struct err *err)
{
    if (options_flag(options, OPTION_JSON) && !options_flag(options, OPTION_ACCOUNT))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "--json is of the account: add --account");
    if (options_flag(options, OPTION_JSON) && !account_out_is_all(options))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "--json prints the account alone; with a profile use --account-file "
                        "FILE.json");
    return true;
}

bool account_out_write(const struct account *account, const struct options *options,
                       struct err *err)
{
    const char *path = options->values[OPTION_ACCOUNT_FILE];
    if (account_out_is_all(options) &&
        !write_one(account, "-", options_flag(options, OPTION_JSON), err))
        return false;
    return path == NULL || write_one(account, path, path_has_extension(path, "json"), err);
}
