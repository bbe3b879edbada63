/* commands.h - what `sampler COMMAND` runs.
 *
 * Each takes the parsed options and returns the exit status: 0, 1 when it failed (and said so on
 * stderr), 2 for a command line that cannot be. Profiles and lists go to stdout or to -o, all
 * talk to stderr. */
#ifndef SAMPLER_CLI_COMMANDS_H
#define SAMPLER_CLI_COMMANDS_H

#include "options/options.h"

int command_report(const struct options *options);
int command_convert(const struct options *options);
int command_top(const struct options *options);
int command_tree(const struct options *options);
int command_view(const struct options *options);
int command_dump(const struct options *options);
int command_formats(const struct options *options);
int command_cache(const struct options *options);

#endif
