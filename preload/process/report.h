/* report.h - in a program that was started with plain LD_PRELOAD: the recording becomes a profile,
 * by `sampler report` in a process of its own.
 *
 * That process is no child the program could notice: it sends no SIGCHLD, and no wait() of the
 * program sees it. It gets the program's environment without LD_PRELOAD, /dev/null for input, and
 * stderr for all output. It is a process of its own because reading DWARF takes hundreds of
 * megabytes, locks, threads and sometimes crashes: none of that may happen in the program, least of
 * all at its end.
 *
 * Under sampler-run the launcher does this; report_at_exit does nothing then.
 *
 * Context    report_setup, report_library_path: SETUP; the path is constant afterwards.
 *            report_at_exit: EXIT, after session_end. report_before_exec, report_so_far: HOOK. */
#ifndef SAMPLER_REPORT_H
#define SAMPLER_REPORT_H

#include <stdbool.h>

#include "sys/context.h"

/* Remembers where the library, and so the tool, lies. */
void report_setup(void);

/* The library's file as the loader named it. */
const char *report_library_path(void);

/* Makes the profile, or states on stderr how to make it; in a later process of a tree (tree.h) only
 * if it is the last one. */
void report_at_exit(void);

/* What becomes of the recording when the program replaces itself: it is kept for the profile of the
 * tree. Unless the new program `goes_on` with that, being one that can be recorded, one line states
 * how to make the profile. True when it is no file of its own any more, having no samples and no
 * thread that may yet take one. */
bool report_before_exec(bool goes_on);

/* Writes the profile so far to `path`, by `sampler report`; the calling thread waits. 0, or an
 * errno: ENOTCONN without a session, EIO when it could not be written. */
int report_so_far(const char *path);

#endif
