/* key.h - which file an index was made of, as the name of its file in the cache.
 *
 * The build id says which program it is, but not which of its files: the program with its debug
 * information in it and the one split off have the same. So the layout of the file, a checksum of its
 * section headers, belongs to the key. */
#ifndef SAMPLER_CACHE_KEY_H
#define SAMPLER_CACHE_KEY_H

#include <stdbool.h>

#include "files/elf_file.h"

#define CACHE_BUILD_ID_MAX_BYTES 64u
#define CACHE_KEY_EXTENSION ".index"

/* Not of a file, but of all advice on packages (packages/kept.h): no build id has one byte. */
#define CACHE_KEY_PACKAGES "00-00000000" CACHE_KEY_EXTENSION

struct cache_key {
    /* "66b3ce...-0a1b2c3d.index" */
    char name[2 * CACHE_BUILD_ID_MAX_BYTES + 1 + 8 + sizeof CACHE_KEY_EXTENSION];
};

/* False: it has no build id, so that nothing tells it from the next build. */
bool cache_key_make(const struct elf_file *file, struct cache_key *key);

/* True when the name of a file can be a key: nothing else in the folder is ours. */
bool cache_key_is(const char *name);

#endif
