/* packages.h - how to get the debug information of a file, said so that it can be done.
 *
 *   the file's package            dpkg.h, rpm.h: the system's own data
 *   the one with its debug info   apt.h: what apt knows; else by the custom of the distribution
 *   the distribution's server     for debuginfod
 *
 *   apt install libc6-dbg
 *   set DEBUGINFOD_URLS=https://debuginfod.debian.net, or apt install bash-dbgsym (archive: ...)
 *   build it with -g, or name the folder of its debug file by --debug-dir
 *
 * Cost      Tenths of a second the first time, as commands of the system are run and apt's lists
 *           are read; then milliseconds (kept.h).
 * Errors    None: what cannot be found out is not in the advice.
 * Context   Any thread. */
#ifndef SAMPLER_PACKAGES_PACKAGES_H
#define SAMPLER_PACKAGES_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

#define PACKAGES_ADVICE_BYTES 300u

struct package_query {
    const char *path;     /* of the file                           */
    const char *build_id; /* hexadecimal digits, "" if it has none */
    char advice[PACKAGES_ADVICE_BYTES];
};

/* Which system the files are of. */
struct packages_system {
    const char *root; /* its folder, "" for this one               */
    bool has_servers; /* the user has set DEBUGINFOD_URLS already     */
    bool is_kept;     /* advice may be kept from one run to the next       */
};

/* Writes the advice of all. */
void packages_advise(const struct packages_system *system, struct package_query *queries, size_t n);

#endif
