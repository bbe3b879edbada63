/* report.h - at the end of a program that was started with plain LD_PRELOAD: the recording becomes
 * a profile, by `sampler report` in a process of its own.
 *
 * That process is no child the program could notice: it sends no SIGCHLD, and no wait() of the
 * program sees it. It gets the program's environment without LD_PRELOAD, /dev/null for input, and
 * stderr for all output.
 * Context    report_setup: SETUP. The rest: EXIT, after session_end; report_before_exec: HOOK. */
#ifndef SAMPLER_PRELOAD_PROCESS_REPORT_H
#define SAMPLER_PRELOAD_PROCESS_REPORT_H

#include <stdbool.h>

#include "sys/context.h"

/* Remembers where the library, and so the tool, lies. */
void report_setup(void);

/* The library's file as the loader named it. */
const char *report_library_path(void);

/* Makes the profile, or says how to make it. Does nothing under sampler-run. */
void report_at_exit(void);

/* What becomes of the recording when the program replaces itself. True when it was removed, having
 * no samples and no thread that may yet take one. */
bool report_before_exec(void);

/* The profile so far to `path`, by `sampler report`, and the program goes on. 0, or an errno:
 * ENOTCONN without a session, EIO when it could not be written. HOOK */
int report_so_far(const char *path);

#endif
