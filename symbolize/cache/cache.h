/* cache.h - indexes of modules, kept from one run to the next.
 *
 *   get   the key of a debug file -> its index, if it was kept
 *   put   an index that was made -> kept when the cache is closed, after the answer
 *
 * Reading all debug information of a large program takes seconds, reading its index tenths of one.
 *
 * Bounds    All entries together have at most CACHE_LIMIT_BYTES: those used longest ago go. An index of
 *           less than CACHE_LEAST_BYTES is made as fast as it is read, and not kept.
 * Errors    None: a cache that cannot be used, or an entry that is damaged, costs time and nothing
 *           else. NULL in place of a cache is one that keeps nothing.
 * Sharing   Any number of processes at a time (entry.h).
 * Context   Any thread, but for opening and closing. */
#ifndef SAMPLER_CACHE_H
#define SAMPLER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "intern.h"

#define CACHE_LIMIT_BYTES ((uint64_t)1 << 30)
#define CACHE_LEAST_BYTES ((size_t)256 << 10)

struct symbol_cache;

/* NULL: out of memory. The folder is looked for with the first `get`, and made with the first `put`. */
struct symbol_cache *symbol_cache_open(uint64_t limit_bytes);

/* Writes what was put. */
void symbol_cache_close(struct symbol_cache *cache); /* takes NULL */

/* The index is the caller's, on the heap. */
bool symbol_cache_get(struct symbol_cache *cache, const struct cache_key *key,
                      struct cache_index *index);

/* Takes the index over, whatever becomes of it. `path`: of the module, for people. */
void symbol_cache_put(struct symbol_cache *cache, const struct cache_key *key, struct text path,
                      struct cache_index index);

#endif
