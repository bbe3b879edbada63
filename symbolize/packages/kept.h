/* kept.h - advice that an earlier run was given, kept in the cache (cache/entry.h): finding it out
 * takes tenths of a second, which a short program should not wait for each time.
 *
 * It is good as long as our version and the system's data about packages stay as they are; then all
 * of it goes. A text, one entry of the cache for all files:
 *
 *   0.9.0 1a2b3c4d               our version, a checksum of the state of that data
 *   s 571d98e0... /usr/bin/python3.11<TAB>apt install ...
 *                                s: DEBUGINFOD_URLS is set, -: it is not; build id, path, advice
 *
 * Errors    None: what cannot be read or kept is found out again. */
#ifndef SAMPLER_PACKAGES_KEPT_H
#define SAMPLER_PACKAGES_KEPT_H

#include <stdbool.h>

#include "packages/packages.h"
#include "vector.h"

struct kept {
    int folder;        /* of the cache; -1: nothing is kept                 */
    struct chars text; /* as above */
    bool has_servers;
    bool is_new; /* there is more than was read           */
};

void kept_open(struct kept *kept, const struct packages_system *system);

/* Writes the query's advice, if it is there. */
bool kept_find(const struct kept *kept, struct package_query *query);

void kept_add(struct kept *kept, const struct package_query *query);

/* Writes what was added. */
void kept_close(struct kept *kept);

#endif
