/* account_out.h - where the account in full goes.
 *
 *   sampler report --account [--json] REC...   stdout, and no profile
 *   sampler report --account REC... -o X       the profile, and the closing lines as always
 *   --account-file FILE                        FILE, besides all else; JSON when its name ends
 *                                              in .json */
#ifndef SAMPLER_CLI_ACCOUNT_OUT_H
#define SAMPLER_CLI_ACCOUNT_OUT_H

#include "account/account.h"
#include "err.h"
#include "options/options.h"

/* True when only the account is asked for. */
bool account_out_is_all(const struct options *options);

/* What cannot go together; before there is a recording. */
MUST_CHECK bool account_out_check(const struct options *options, struct err *err);

/* Writes what the options ask for, perhaps nothing. */
MUST_CHECK bool account_out_write(const struct account *account, const struct options *options,
                                  struct err *err);

#endif
