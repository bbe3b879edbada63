/* commands.h - the processes of an account by what they were called as: a build or a script is made of a
 * thousand short ones, of which each by itself says nothing. */
#ifndef SAMPLER_ACCOUNT_COMMANDS_H
#define SAMPLER_ACCOUNT_COMMANDS_H

#include "account/account.h"

struct account_command {
    const char *name; /* of the account */
    uint64_t n_processes;
    uint64_t n_without_sample;  /* of them: shorter than a period, mostly                  */
    uint64_t without_sample_ns; /* what these used, all in all                             */
    uint64_t used_ns;           /* all of them; of killed ones, what was found of it       */
    uint64_t start_up_ns;       /* of it                                                   */
    uint64_t process_exit_ns;   /* of it                                                   */
    uint64_t n_samples;
};

VECTOR_DEFINE(account_commands, struct account_command)

/* Fills `out`, which is empty, the most used first, then by name. False: out of memory, and `out` is
 * empty. */
MUST_CHECK bool account_commands_find(const struct account *account, struct account_commands *out);

/* All of them together, without a name. */
struct account_command account_commands_sum(const struct account *account);

#endif
