/* map.c - see map.h. The hash multiplies each word with a secret one and folds the 128 bits of the
 * product: which keys fall together depends on the secret. Numbers in files come in rows, and one
 * product only spreads a row by steps of the secret: 6 secrets in 100 have a step after which all
 * of a row comes to lie on a few slots. So a last product, with a fixed number that spreads every
 * step, follows. */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define SLOTS_AT_FIRST 32

__extension__ typedef unsigned __int128 u128;

/* Odd numbers whose bits have no pattern (the first is 2^64 divided by the golden ratio). */
static const uint64_t mixers[2] = {0x9e3779b97f4a7c15U, 0xd6e8feb86659fd93U};

static uint64_t fold(uint64_t a, uint64_t b)
{
    u128 product = (u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The kernel hands every process 16 bytes that no author of a file can know. */
static void seed_draw(uint64_t seed[2])
{
    memcpy(seed, mixers, sizeof mixers);
    unsigned long address = getauxval(AT_RANDOM);
    if (address != 0)
        memcpy(seed, (const void *)address, 2 * sizeof *seed); /* NOLINT(performance-no-int-to-ptr):
                                                              getauxval returns addresses so */
    /* The bytes guard the stack, too: none of them as it is, and odd, so that no product is 0 for
     * many keys. */
    for (size_t i = 0; i < 2; i++)
        seed[i] = fold(seed[i], mixers[i]) | 1;
}

static struct map_slot *slot_of(const struct map *map, uint64_t a, uint64_t b)
{
    uint64_t hash = fold(fold(a ^ map->seed[1], map->seed[0]) ^ b, map->seed[1]);
    size_t at = (size_t)fold(hash ^ map->seed[0], mixers[0]) & (map->n_slots - 1);
    while (map->slots[at].value_plus_one != 0 && (map->slots[at].a != a || map->slots[at].b != b))
        at = (at + 1) & (map->n_slots - 1);
    return &map->slots[at];
}

void map_deinit(struct map *map)
{
    free(map->slots);
    *map = (struct map){.slots = NULL};
}

static bool grow(struct map *map)
{
    struct map bigger = *map;
    bigger.n_slots = map->n_slots == 0 ? SLOTS_AT_FIRST : map->n_slots * 2;
    bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
    if (bigger.slots == NULL) {
        map->no_memory = true;
        return false;
    }
    if (map->n_slots == 0)
        seed_draw(bigger.seed);
    for (size_t i = 0; i < map->n_slots; i++) {
        const struct map_slot *slot = &map->slots[i];
        if (slot->value_plus_one != 0)
            *slot_of(&bigger, slot->a, slot->b) = *slot;
    }
    free(map->slots);
    *map = bigger;
    return true;
}

/* The slot of a key, taken if it was free; NULL when out of memory. */
static struct map_slot *slot_take(struct map *map, uint64_t a, uint64_t b)
{
    if ((map->n + 1) * 4 > map->n_slots * 3 && !grow(map))
        return NULL;
    struct map_slot *slot = slot_of(map, a, b);
    if (slot->value_plus_one == 0) {
        slot->a = a;
        slot->b = b;
        map->n++;
    }
    return slot;
}

uint32_t map_find(const struct map *map, uint64_t a, uint64_t b)
{
    return map->n_slots == 0 ? MAP_NONE : slot_of(map, a, b)->value_plus_one - 1;
}

uint32_t map_add(struct map *map, uint64_t a, uint64_t b, uint32_t value)
{
    struct map_slot *slot = slot_take(map, a, b);
    if (slot == NULL)
        return MAP_NONE;
    if (slot->value_plus_one == 0)
        slot->value_plus_one = value + 1;
    return slot->value_plus_one - 1;
}

bool map_set(struct map *map, uint64_t a, uint64_t b, uint32_t value)
{
    struct map_slot *slot = slot_take(map, a, b);
    if (slot != NULL)
        slot->value_plus_one = value + 1;
    return slot != NULL;
}
