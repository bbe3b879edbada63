/* newest.h - the file that is meant where none is named: the newest of the folder the user is in,
 * which is where a run has left it.
 *
 * A run leaves an .sprofile; one that was cut off before it could (a crash, a signal, a kill) leaves
 * its recording, a .sampler. An older profile would be that of another run. */
#ifndef SAMPLER_CLI_NEWEST_H
#define SAMPLER_CLI_NEWEST_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "options/options.h"

/* The name of the regular file changed last (of equally new ones the last by name). False with *err,
 * which says how one is made, when there is none. `which` is not NEWEST_NONE. */
MUST_CHECK bool newest_find(enum newest which, char *name, size_t name_bytes, struct err *err);

#endif
