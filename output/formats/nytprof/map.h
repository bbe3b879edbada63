/* map.h - row numbers by key, for the tables of the NYTProf readers and writers.
 *
 * Context: one thread at a time, not signal safe. Keys are two 64-bit numbers, which is enough for
 * every key there is here (ids, file and line numbers); they may come from a hostile file, so the
 * numbers of a file are never sizes. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_MAP_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nytprof_map_slot {
    uint64_t a;
    uint64_t b;
    uint32_t value_plus_one; /* 0 = free */
};

/* Zero bytes are an empty map. */
struct nytprof_map {
    struct nytprof_map_slot *slots;
    size_t n_slots; /* 0 or a power of two */
    size_t n;
};

void nytprof_map_deinit(struct nytprof_map *map);

/* The value of a key, or UINT32_MAX if there is none. */
uint32_t nytprof_map_find(const struct nytprof_map *map, uint64_t a, uint64_t b);

/* Gives a key a value (< UINT32_MAX). False when out of memory; the map is unchanged then. */
bool nytprof_map_set(struct nytprof_map *map, uint64_t a, uint64_t b, uint32_t value);

#endif
