/* command.h - sampler list, as commands/commands.h has it. */
#ifndef SAMPLER_CLI_LIST_COMMAND_H
#define SAMPLER_CLI_LIST_COMMAND_H

#include "options/options.h"

int command_list(const struct options *options);

#endif
