/* messages.h - what the tools say on stderr: one line each, "NAME: TEXT".
 *
 * Names of files and texts of recordings come from anywhere. Whatever stands in them, a message
 * stays one line and steers no terminal: control characters become '?'. */
#ifndef SAMPLER_CLI_MESSAGES_H
#define SAMPLER_CLI_MESSAGES_H

#include "err.h"

void tell(const char *name, const char *text);

/* The same of an error. */
void complain(const char *name, const struct err *err);

/* A line on a terminal that the next message, or status, takes the place of; "" takes it away. Any
 * thread. */
void status_show(const char *text);

#endif
