/* code_file.h - a file in which a process said what code it made, read if nobody else can have
 * written it.
 *
 * Such files lie in /tmp under names that anybody can foresee. So: no symbolic link and no second
 * name, a regular file, of the user the program ran as, or of root, or of the one who asks; and
 * written while the program ran, as an earlier or later one of the same number may have left it. */
#ifndef SAMPLER_CODE_FILE_H
#define SAMPLER_CODE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct code_file_owner {
    uint64_t uid;
    uint64_t start_realtime_ns; /* of the program                         */
    uint64_t end_realtime_ns;   /* UINT64_MAX: not known, or it still runs */
};

enum code_file_outcome {
    CODE_FILE_READ,
    CODE_FILE_NONE,    /* there is none                               */
    CODE_FILE_REFUSED, /* or cannot be read: `why` says it, in words  */
};

/* The bytes there are now, of the heap. */
enum code_file_outcome code_file_read(const char *path, const struct code_file_owner *owner,
                                      char **bytes, size_t *n, const char **why);

#endif
