/* inputs.h - the recordings that operands stand for: a file, or the folder of a run's, so that a run of
 * any number of processes fits a command line. */
#ifndef SAMPLER_CLI_INPUTS_H
#define SAMPLER_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "vector.h"

struct report_input {
    char *path;
    bool may_be_bad; /* one of a run, perhaps of a process killed while it made the file */
    bool is_running; /* the process still writes to it; known once it has been read      */
};

VECTOR_DEFINE(report_inputs, struct report_input)

bool path_is_folder(const char *path);

/* For commands that take profiles only: false with *err, which says what to do, where `path` is a
 * recording or a folder. */
MUST_CHECK bool path_check_profile(const char *path, struct err *err);

/* Adds those of one operand. A folder without any is an error unless it `may_be_empty`. */
MUST_CHECK bool report_inputs_add_operand(struct report_inputs *inputs, const char *path,
                                          bool may_be_empty, struct err *err);

void report_inputs_free(struct report_inputs *inputs);

#endif
