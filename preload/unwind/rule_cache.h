/* rule_cache.h - the short rules of the pcs a thread's stacks pass through.
 *
 * Shape      direct-mapped, one entry per slot, keyed by the pc with its exact bit and the
 *            generation of the modules: unloading needs no flush. A new entry replaces the slot's
 *            old one. Zero bytes are an empty cache.
 * Context    SIGNAL, by the thread that owns it. */
#ifndef SAMPLER_RULE_CACHE_H
#define SAMPLER_RULE_CACHE_H

#include <stdint.h>

#include "sys/context.h"
#include "unwind/step.h"

#define RULE_CACHE_SLOTS_LOG2 11u
#define RULE_CACHE_SLOTS (1u << RULE_CACHE_SLOTS_LOG2)
#define RULE_ENTRY_LOG2 5u

struct rule_entry {
    uint64_t key;        /* rule_key; 0 = empty */
    uint32_t generation; /* low half: 2^32 unloads between two samples of one pc do not happen */
    uint32_t module;     /* 0 = none */
    struct unwind_rule rule;
    uint32_t exact; /* the rule is that at pc, else that at pc - 1; makes 32 bytes, two to a line */
};

struct rule_cache {
    struct rule_entry entries[RULE_CACHE_SLOTS];
};

/* User addresses have at most 57 bits, so no bit is lost. */
SIGNAL_SAFE static inline uint64_t rule_key(uint64_t pc, bool exact)
{
    return pc << 1 | exact;
}

/* The slot of pc, whatever is in it: pc bits 0..10 ^ 11..21. As few instructions as possible, since
 * they lie between one frame's load and the next one's. */
SIGNAL_SAFE static inline struct rule_entry *rule_cache_slot(struct rule_cache *cache, uint64_t pc)
{
    _Static_assert(sizeof(struct rule_entry) == 1u << RULE_ENTRY_LOG2,
                   "entries are found by shift");
    uint64_t offset = (pc << RULE_ENTRY_LOG2 ^ pc >> (RULE_CACHE_SLOTS_LOG2 - RULE_ENTRY_LOG2)) &
                      ((RULE_CACHE_SLOTS - 1) << RULE_ENTRY_LOG2);
    return (struct rule_entry *)(void *)((unsigned char *)cache->entries + offset);
}

SIGNAL_SAFE static inline bool rule_entry_holds(const struct rule_entry *entry, uint64_t key,
                                                uint32_t generation)
{
    return entry->key == key && entry->generation == generation;
}

#endif
