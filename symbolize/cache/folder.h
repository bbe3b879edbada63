/* folder.h - the folder of the cache: where it is, and whether it can be trusted.
 *
 *   $XDG_CACHE_HOME/sampler   if that is an absolute path (XDG Base Directory Specification)
 *   $HOME/.cache/sampler      else
 *
 * Trust     Names of functions come from it. So it must belong to who runs us, and nobody else may
 *           write to it; with sudo, say, the home may be another user's: then there is no cache. A
 *           symbolic link in the place of the folder is not followed. */
#ifndef SAMPLER_CACHE_FOLDER_H
#define SAMPLER_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cache/key.h"
#include "err.h"
#include "vector.h"

/* False: there is no home. */
bool cache_folder_path(char *out, size_t out_bytes);

/* A descriptor of it; -1: there is none, or none that can be trusted, and *err says why. ERR_IO with
 * ENOENT where it was never made. */
int cache_folder_open(bool create, struct err *err);

/* A file of it. */
struct cache_file {
    struct cache_key key;
    uint64_t size_bytes;
    struct timespec used; /* last */
};

VECTOR_DEFINE(cache_files, struct cache_file)

/* Those there are, the one used last first. Files that are not ours are left out; what writers that
 * were killed have left behind is removed. False: out of memory. */
MUST_CHECK bool cache_folder_list(int folder, struct cache_files *files);

/* Removes those used longest ago until the rest has at most so many bytes. Says how many, and
 * how many bytes. */
struct cache_removed {
    size_t n;
    uint64_t size_bytes;
};
struct cache_removed cache_folder_trim(int folder, uint64_t limit_bytes);

#endif
