/* report.h - recordings to output files: what sampler-run does at the end and `sampler report` does
 * on request.
 *
 *   recordings -> one profile (or one per process) -> each output in its format -> line of account
 */
#ifndef SAMPLER_CLI_REPORT_H
#define SAMPLER_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "err.h"
#include "model/profile.h"
#include "options.h"

struct report_request {
    const struct options *options;
    const char *const *recordings; /* in any order; the first one's process names the file        */
    size_t n_recordings;
    const char *command; /* for %n; NULL: as the recording says                                  */
    uint64_t main_pid;   /* for %p, and whose file is written even if empty; 0: the first one's  */
    const struct rusage
        *usage;           /* CPU of the whole run, where a recording has no end; NULL: unknown */
    bool show_account;    /* the closing line                                                    */
    bool no_outputs;      /* no profile, only the account                                        */
    bool skip_unreadable; /* say so and go on with the others; else that is an error              */
};

/* Whether each --output (else the default) has a name that can be and a format with a writer: all
 * that can be checked before there is a recording. */
MUST_CHECK bool report_check_outputs(const struct options *options, struct err *err);

/* Nothing stands under a final name unless it is whole. Tells on stderr what deserves it. */
MUST_CHECK bool report_write(const struct report_request *request, struct err *err);

/* The profile of recordings, for what looks at one without writing it. */
MUST_CHECK bool recordings_load_profile(const struct options *options, char *const *paths, size_t n,
                                        struct profile **out, struct err *err);

#endif
