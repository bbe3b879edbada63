/* recording_dir.h - the private folder of one run, where the processes of the command leave their
 * recordings as PID.N.sampler (N counts what one process became by exec); those that ended before
 * their first sample share one file, CAPTURE_BRIEF_NAME.
 *
 * In the folder of the first output, so that --keep can move them there by a link; mode 0700, as
 * recordings hold paths and names of whoever ran the program. Root's run has a second folder, for
 * processes of other users (others_dir.h): what is in it counts as in the first. */
#ifndef SAMPLER_CLI_RECORDING_DIR_H
#define SAMPLER_CLI_RECORDING_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct recording_file {
    uint64_t pid;    /* 0: of many */
    uint64_t number; /* no two of a pid are the same */
    bool is_others;  /* it is in the folder for other users */
    char *path;
};

struct recording_list {
    struct recording_file *files; /* by pid, then number */
    size_t n;
};

/* Makes a folder that only we may enter, in `parent`; `out` gets its absolute path. That it can be
 * made also proves that an output can be written there. */
MUST_CHECK bool recording_dir_create(const char *parent, char *out, size_t out_bytes,
                                     struct err *err);

MUST_CHECK bool recording_dir_list(const char *folder, struct recording_list *out, struct err *err);
void recording_list_free(struct recording_list *list);

/* Moves all recordings to `parent` as NAME.PID.sampler (NAME.PID.N.sampler when N > 0) and
 * NAME.PID.brief.sampler (`pid`, of the command), never over a file that is there. */
MUST_CHECK bool recording_dir_keep(const struct recording_list *list, const char *parent,
                                   const char *name, uint64_t pid, struct err *err);

/* Removes the folder with what is in it. */
void recording_dir_remove(const char *folder);

#endif
