/* reporter.h - the end of a run: `sampler report` makes the outputs of its recordings, in a process
 * of its own.
 *
 *   sampler report [the options that both programs take] --run PID:CPU_NS:COMMAND FOLDER
 *
 * So whatever hostile debug information does to it, the exit status is the command's and the
 * recordings are not lost; and sampler-run loads neither libdw nor what the writers need. The
 * process has our stdin, stdout and stderr, the signal mask and dispositions we were started
 * with, and our environment without libsampler.so in LD_PRELOAD. Ctrl-C ends it as it would any
 * program; signals sent to us are passed on. */
#ifndef SAMPLER_CLI_REPORTER_H
#define SAMPLER_CLI_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "options/options.h"
#include "run/child.h"

struct reporter_request {
    const struct options *options;   /* of sampler-run                                        */
    const struct child_guard *guard; /* entered                                               */
    const char *folder;              /* of the recordings, absolute                           */
    const char *command;             /* for %n                                                */
    uint64_t pid;                    /* of the command, for %p                                */
    uint64_t cpu_ns;                 /* of the command and all it waited for                  */
};

/* What `--run` of `sampler report` says. */
struct reported_run {
    uint64_t pid;
    uint64_t cpu_ns;
    const char *command; /* borrowed from the value */
};

/* True when it did all it had to; else why not was said on stderr. */
bool reporter_run(const struct reporter_request *request, const char *own_name);

/* The value of --run, as reporter_run wrote it. */
MUST_CHECK bool reported_run_parse(const char *value, struct reported_run *out, struct err *err);

#endif
