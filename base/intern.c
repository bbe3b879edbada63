/* intern.c - see intern.h.
 *
 * Open addressing over an array of texts. Eight bytes at a time are hashed, the rest one by one
 * (FNV-1a), with a final mix since slots are taken from the low bits. Hashes are kept: they sort
 * out nearly all texts that are not equal, and growing needs no text read again. */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "array.h"

struct entry {
    struct text text;
    uint64_t hash;
};

struct intern {
    struct arena *arena;
    struct array entries; /* of struct entry, by id */
    uint32_t *slots;      /* ids, 0 = free          */
    size_t n_slots;       /* a power of two         */
};

static uint64_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    for (; length > 0; bytes++, length--)
        hash = (hash ^ (unsigned char)*bytes) * 0x100000001b3U;
    return (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9U;
}

struct intern *intern_create(struct arena *arena)
{
    struct intern *intern = calloc(1, sizeof *intern);
    if (intern == NULL)
        return NULL;
    intern->arena = arena;
    array_init(&intern->entries, sizeof(struct entry));
    intern->n_slots = 1024;
    intern->slots = calloc(intern->n_slots, sizeof *intern->slots);
    struct entry *empty = array_push(&intern->entries);
    if (intern->slots == NULL || empty == NULL) {
        intern_destroy(intern);
        return NULL;
    }
    empty->text.bytes = "";
    return intern;
}

void intern_destroy(struct intern *intern)
{
    if (intern == NULL)
        return;
    array_deinit(&intern->entries);
    free(intern->slots);
    free(intern);
}

static const struct entry *entry_at(const struct intern *intern, uint32_t id)
{
    return array_at(&intern->entries, id);
}

static bool grow(struct intern *intern)
{
    size_t n_slots = intern->n_slots * 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t id = 1; id < intern->entries.n; id++) {
        size_t slot = entry_at(intern, id)->hash & (n_slots - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = id;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->n_slots = n_slots;
    return true;
}

bool intern_add(struct intern *intern, const char *bytes, size_t length, uint32_t *id)
{
    if (length == 0) {
        *id = 0;
        return true;
    }
    uint64_t hash = hash_bytes(bytes, length);
    size_t slot = hash & (intern->n_slots - 1);
    for (; intern->slots[slot] != 0; slot = (slot + 1) & (intern->n_slots - 1)) {
        const struct entry *entry = entry_at(intern, intern->slots[slot]);
        if (entry->hash == hash && entry->text.length == length &&
            memcmp(entry->text.bytes, bytes, length) == 0) {
            *id = intern->slots[slot];
            return true;
        }
    }
    if (intern->entries.n >= UINT32_MAX)
        return false;
    char *copy = arena_text(intern->arena, bytes, length);
    struct entry *entry = copy == NULL ? NULL : array_push(&intern->entries);
    if (entry == NULL)
        return false;
    *entry = (struct entry){.text = {.bytes = copy, .length = length}, .hash = hash};
    *id = (uint32_t)(intern->entries.n - 1);
    intern->slots[slot] = *id;
    /* A failed growth only makes the table fuller; it never fills up because the next one tries
     * again. */
    if (intern->entries.n * 4 > intern->n_slots * 3 && !grow(intern))
        return intern->entries.n + 1 < intern->n_slots;
    return true;
}

struct text intern_text(const struct intern *intern, uint32_t id)
{
    return entry_at(intern, id)->text;
}

uint32_t intern_count(const struct intern *intern)
{
    return (uint32_t)intern->entries.n;
}
