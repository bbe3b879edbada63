/* command.h - what a command prints, line by line.
 *
 * It runs in the C locale, without input, its errors go nowhere, and it is not profiled, whatever
 * our own environment says. */
#ifndef SAMPLER_PACKAGES_COMMAND_H
#define SAMPLER_PACKAGES_COMMAND_H

#include <stddef.h>

#include "text.h"

/* Takes one line, without its end; the text is valid during the call only. */
typedef void command_line(void *context, struct text line);

/* arguments[0] is looked for in PATH; NULL ends them. Of a line of more than COMMAND_LINE_BYTES the
 * rest is left out. After COMMAND_MAX_MS it is killed: a database that is locked, or lies on a server
 * that does not answer, must not keep a profile back. Returns its status; COMMAND_FAILED if it cannot be
 * run or was killed, or there is no memory: what it printed until then was taken. */
#define COMMAND_LINE_BYTES ((size_t)4 << 20)
#define COMMAND_MAX_MS 5000
#define COMMAND_FAILED (-1)
int command_run(const char *const *arguments, command_line *take, void *context);

#endif
