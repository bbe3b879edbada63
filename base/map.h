/* map.h - row numbers by key: the hash map for tables that are not made for speed alone.
 *
 * Shape     Keys are two 64-bit numbers (ids, numbers of files and lines; 0 for what a key does not
 *           need), values 32-bit ones below MAP_NONE. Nothing is removed, there is no iteration:
 *           tables whose order matters are arrays of rows, and the map leads to a row.
 * Growth    Open addressing with linear probing, doubled at three quarters full, 24 bytes a slot.
 * Seed      Drawn per process from the kernel's AT_RANDOM, as keys come from files that may be
 *           hostile: an unseeded hash lets a file choose keys that fall on one slot, and reading it
 *           takes quadratic time. The seed decides where an entry lies, never what comes out.
 * Failure   Out of memory is sticky in `no_memory`; what was set before stays valid.
 * Context   One thread at a time. Not signal safe.
 *
 * The tables of texts (intern.h), of the profile's rows (output/model/row_table.h) and of folded
 * names are hot and keep hashes of their own. */
#ifndef SAMPLER_BASE_MAP_H
#define SAMPLER_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_slot {
    uint64_t a;
    uint64_t b;
    uint32_t value_plus_one; /* 0 = free */
};

/* Zero bytes are an empty map. */
struct map {
    struct map_slot *slots;
    size_t n_slots; /* 0 or a power of two */
    size_t n;
    uint64_t seed[2]; /* drawn with the first slots */
    bool no_memory;
};

void map_deinit(struct map *map);

/* The value of a key, MAP_NONE if there is none. */
uint32_t map_find(const struct map *map, uint64_t a, uint64_t b);

/* The value of a key, which is `value` if the key is new; MAP_NONE when out of memory. */
uint32_t map_add(struct map *map, uint64_t a, uint64_t b, uint32_t value);

/* Sets or replaces. False when out of memory. */
bool map_set(struct map *map, uint64_t a, uint64_t b, uint32_t value);

#endif
