/* map.c - see map.h. */
#include "formats/htdump/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* A number no author of a file can know: the kernel hands every process 16 random bytes. It decides
 * only where an entry lies, never what comes out. */
static uint64_t seed_draw(void)
{
    uint64_t seed = 0x9e3779b97f4a7c15U;
    unsigned long address = getauxval(AT_RANDOM);
    if (address != 0)
        memcpy(&seed, (const void *)address, sizeof seed); /* NOLINT(performance-no-int-to-ptr):
                                                              getauxval returns addresses so */
    return seed;
}

/* Every bit of the key reaches every bit of the place: numbers in files come in rows, and linear
 * probing wants them scattered (one multiplication did not do). */
static size_t slot_of(const struct htdump_map *map, uint64_t key)
{
    uint64_t mixed = key ^ map->seed;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    return (size_t)(mixed ^ (mixed >> 32)) & (map->n_slots - 1);
}

static struct htdump_map_slot *slot_find(const struct htdump_map *map, uint64_t key)
{
    size_t slot = slot_of(map, key);
    while (map->slots[slot].value != 0 && map->slots[slot].key != key)
        slot = (slot + 1) & (map->n_slots - 1);
    return &map->slots[slot];
}

static bool map_grow(struct htdump_map *map)
{
    struct htdump_map bigger = {.n_slots = map->n_slots == 0 ? 32 : map->n_slots * 2, .n = map->n};
    bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return false;
    bigger.seed = map->n_slots == 0 ? seed_draw() : map->seed;
    for (size_t i = 0; i < map->n_slots; i++) {
        if (map->slots[i].value != 0)
            *slot_find(&bigger, map->slots[i].key) = map->slots[i];
    }
    free(map->slots);
    *map = bigger;
    return true;
}

void htdump_map_deinit(struct htdump_map *map)
{
    free(map->slots);
    *map = (struct htdump_map){0};
}

uint32_t htdump_map_find(const struct htdump_map *map, uint64_t key)
{
    return map->n_slots == 0 ? 0 : slot_find(map, key)->value;
}

bool htdump_map_set(struct htdump_map *map, uint64_t key, uint32_t value)
{
    if ((map->n + 1) * 4 > map->n_slots * 3 && !map_grow(map))
        return false;
    struct htdump_map_slot *slot = slot_find(map, key);
    if (slot->value == 0)
        map->n++;
    *slot = (struct htdump_map_slot){.key = key, .value = value};
    return true;
}
