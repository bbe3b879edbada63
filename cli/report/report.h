/* report.h - recordings to output files: what sampler-run does at the end and `sampler report` does
 * on request.
 *
 *   recordings -> one profile (or one per process) -> each output in its format -> closing lines
 *
 * A recording that cannot be read costs a line on stderr if it is one of a run, the report if it
 * was named by the user. */
#ifndef SAMPLER_CLI_REPORT_H
#define SAMPLER_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "model/profile.h"
#include "options/options.h"
#include "report/inputs.h"

struct report_request {
    const struct options *options;
    struct report_input *inputs; /* in any order; the first one's process names the file     */
    size_t n_inputs;
    const char *command; /* for %n; NULL: as the recording says                              */
    uint64_t main_pid;   /* for %p, and whose file is written even if empty; 0: the first's  */
    uint64_t cpu_ns;     /* of that process with all it waited for; 0: unknown                */
    bool show_account;   /* the closing lines                                                */
    bool no_outputs;     /* no profile, only the account                                     */
};

/* Nothing stands under a final name unless it is whole. Reports on stderr what the user should
 * know. */
MUST_CHECK bool report_write(const struct report_request *request, struct err *err);

/* The profile of recordings, and of those in folders, for what looks at one without writing it. */
MUST_CHECK bool recordings_load_profile(const struct options *options, char *const *paths, size_t n,
                                        struct profile **out, struct err *err);

#endif
