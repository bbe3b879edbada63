/* newest.h - the file that is meant where none is named: the newest .sprofile of the folder the
 * user is in, which is where a run has left it. */
#ifndef SAMPLER_CLI_NEWEST_H
#define SAMPLER_CLI_NEWEST_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

/* Its name, of the regular file changed last (of equally new ones the last by name). False with
 * *err, which says how one is made, when there is none. */
MUST_CHECK bool newest_profile(char *name, size_t name_bytes, struct err *err);

#endif
