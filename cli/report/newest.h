/* newest.h - the file that is meant where none is named: the newest of the folder the user is in,
 * which is where a run has left it.
 *
 * A run leaves an .sprofile; one that was cut off before it could (a crash, a signal, a kill) leaves
 * its recording, a .sampler. An older profile would be that of another run. */
#ifndef SAMPLER_CLI_NEWEST_H
#define SAMPLER_CLI_NEWEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "options/options.h"

struct newest_names {
    char names[2][NAME_MAX + 1];
    size_t n;
};

/* The name of what was changed last (of equally new ones the last by name): a file, or, where a
 * program started with plain LD_PRELOAD was cut off that had started others, its recording and the
 * folder of theirs. False with *err, which says how one is made, when there is none. `which` is not
 * NEWEST_NONE. */
MUST_CHECK bool newest_find(enum newest which, struct newest_names *out, struct err *err);

#endif
