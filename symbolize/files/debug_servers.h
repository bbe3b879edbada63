/* debug_servers.h - debug information from the network: debuginfod.
 *
 * Nobody is asked, and nothing is loaded, unless DEBUGINFOD_URLS is set. The client is elfutils'
 * libdebuginfod, loaded when the first file is wanted; it keeps what it fetched, and heeds the other
 * variables of debuginfod_find_debuginfo(3). Where they are not set we bound the wait: a server has 30 s
 * for its next 100 kB (DEBUGINFOD_TIMEOUT), a file 120 s (DEBUGINFOD_MAXTIME), and no other file is
 * asked for after that time in all. Whatever fails once, other than that a file is not there, is not
 * tried again in this run. */
#ifndef SAMPLER_DEBUG_SERVERS_H
#define SAMPLER_DEBUG_SERVERS_H

#include <stddef.h>

#include "files/elf_file.h"
#include "intern.h"

struct debug_servers; /* any thread; one is served at a time */

/* NULL: DEBUGINFOD_URLS is not set, or out of memory. Sets variables of the environment, so no other
 * thread runs yet. */
struct debug_servers *debug_servers_open(void);
void debug_servers_close(struct debug_servers *servers); /* takes NULL */

/* The debug file with this build id; where it is kept is written to `path`. `name` is the module's, for
 * debug_servers_describe. NULL: they have none, or cannot be asked. */
struct elf_file *debug_servers_find(struct debug_servers *servers, struct text build_id,
                                    const char *name, char *path, size_t path_bytes);

/* Why they cannot be asked, "" as long as they can; returns `out`. */
const char *debug_servers_problem(struct debug_servers *servers, char *out, size_t out_bytes);

/* For those who wait: "fetching libfoo.so.1, 12 of 80 MB", "" while nothing is; returns `out`. */
const char *debug_servers_describe(struct debug_servers *servers, char *out, size_t out_bytes);

#endif
