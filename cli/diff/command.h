/* command.h - sampler diff, as commands/commands.h has it; with --fail-over the status is 1 also where
 * something grew by more than that. */
#ifndef SAMPLER_CLI_DIFF_COMMAND_H
#define SAMPLER_CLI_DIFF_COMMAND_H

#include "options/options.h"

int command_diff(const struct options *options);

#endif
