/* map.c - see map.h. Open addressing, at most three quarters full. */
#include "formats/nytprof/map.h"

#include <stdlib.h>

static size_t slot_of(const struct nytprof_map *map, uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 32) ^ b) * 0xbf58476d1ce4e5b9U;
    size_t slot = (size_t)(hash ^ (hash >> 29)) & (map->n_slots - 1);
    while (map->slots[slot].value_plus_one != 0 &&
           (map->slots[slot].a != a || map->slots[slot].b != b))
        slot = (slot + 1) & (map->n_slots - 1);
    return slot;
}

void nytprof_map_deinit(struct nytprof_map *map)
{
    free(map->slots);
    *map = (struct nytprof_map){0};
}

uint32_t nytprof_map_find(const struct nytprof_map *map, uint64_t a, uint64_t b)
{
    if (map->n_slots == 0)
        return UINT32_MAX;
    return map->slots[slot_of(map, a, b)].value_plus_one - 1;
}

static bool grow(struct nytprof_map *map)
{
    struct nytprof_map bigger = {.n_slots = map->n_slots == 0 ? 64 : map->n_slots * 2, .n = map->n};
    bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return false;
    for (size_t i = 0; i < map->n_slots; i++) {
        const struct nytprof_map_slot *slot = &map->slots[i];
        if (slot->value_plus_one != 0)
            bigger.slots[slot_of(&bigger, slot->a, slot->b)] = *slot;
    }
    free(map->slots);
    *map = bigger;
    return true;
}

bool nytprof_map_set(struct nytprof_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    if ((map->n + 1) * 4 > map->n_slots * 3 && !grow(map))
        return false;
    struct nytprof_map_slot *slot = &map->slots[slot_of(map, a, b)];
    if (slot->value_plus_one == 0)
        map->n++;
    *slot = (struct nytprof_map_slot){.a = a, .b = b, .value_plus_one = value + 1};
    return true;
}
