/* map.h - numbers a file gives to things -> our ids.
 *
 * Open addressing, places drawn per process, so that no file can be made to collide on purpose.
 * Contract  value 0 means "not there". Context   One thread at a time. */
#ifndef SAMPLER_OUTPUT_FORMATS_HTDUMP_MAP_H
#define SAMPLER_OUTPUT_FORMATS_HTDUMP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htdump_map_slot {
    uint64_t key;
    uint32_t value; /* 0 = free */
};

/* All zero bytes are an empty map. */
struct htdump_map {
    struct htdump_map_slot *slots;
    size_t n_slots; /* 0 or a power of two */
    size_t n;
    uint64_t seed;
};

void htdump_map_deinit(struct htdump_map *map);

uint32_t htdump_map_find(const struct htdump_map *map, uint64_t key);

/* Sets or replaces; `value` is not 0. False when out of memory. */
bool htdump_map_set(struct htdump_map *map, uint64_t key, uint32_t value);

#endif
