/* entry.h - one file of the cache: the index of a module, packed.
 *
 *   char magic[8] "SMPLKEEP"
 *   u32  CRC-32 of all that follows up to the chunks
 *   u32  version       1
 *   u64  index_bytes   unpacked
 *   u32  name_bytes    of the file: a copy under another name is none
 *   u32  path_bytes    of the module, for people
 *   name, path
 *   for each ENTRY_CHUNK_BYTES of the index: u32 packed_bytes, u32 CRC-32 of them
 *   the chunks         each an LZ4 block
 *
 * Little-endian. Written under a temporary name and renamed when whole: there is never half an entry,
 * and of two writers the later one wins. Damage of any kind makes it no entry, never another index. */
#ifndef SAMPLER_CACHE_ENTRY_H
#define SAMPLER_CACHE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"
#include "intern.h"

/* What the names of files that are not whole yet begin with. */
#define ENTRY_TEMPORARY "unfinished."

#define ENTRY_CHUNK_BYTES 262144u

/* An index in memory, on the heap. */
struct cache_index {
    uint8_t *bytes;
    size_t size_bytes;
};

/* False, and nothing is there: no such entry, damaged, or no memory. Marks it as used. */
bool entry_read(int folder, const struct cache_key *key, struct cache_index *index);

/* False, and nothing was written: no room, no memory, not allowed. */
bool entry_write(int folder, const struct cache_key *key, struct text path,
                 const struct cache_index *index);

/* The path of the module it was made of when it was first seen, cut to `out_bytes`; "" if the entry
 * cannot be read. */
void entry_read_path(int folder, const struct cache_key *key, char *out, size_t out_bytes);

#endif
