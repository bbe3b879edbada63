/* label_stacks.c - see label_stacks.h. A table of (label, node) with open addressing, at most half
 * full. */
#include "build/label_stacks.h"

#include <stdlib.h>

#define FIRST_SLOTS 256u

struct slot {
    uint64_t key; /* label << 32 | node, + 1; 0 = empty */
    uint32_t stack;
};

struct label_stacks {
    struct node_stacks *stacks;
    const struct recording *recording;
    struct profile_builder *builder;
    size_t index;
    struct slot *slots;
    size_t n_slots; /* a power of two */
    size_t n_used;
    struct array path; /* uint32_t: nodes on the way up that are not known yet */
};

struct label_stacks *label_stacks_create(struct node_stacks *stacks, size_t index,
                                         const struct recording *recording,
                                         struct profile_builder *builder)
{
    struct label_stacks *labels = calloc(1, sizeof *labels);
    if (labels == NULL)
        return NULL;
    *labels = (struct label_stacks){
        .stacks = stacks, .recording = recording, .builder = builder, .index = index};
    array_init(&labels->path, sizeof(uint32_t));
    return labels;
}

void label_stacks_destroy(struct label_stacks *labels)
{
    if (labels == NULL)
        return;
    array_deinit(&labels->path);
    free(labels->slots);
    free(labels);
}

static uint64_t key_of(uint32_t label, uint32_t node)
{
    return ((uint64_t)label << 32 | node) + 1;
}

/* Where `key` is, or the empty slot where it belongs; n_slots > n_used. */
static struct slot *slot_find(struct slot *slots, size_t n_slots, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n_slots - 1);
    while (slots[at].key != 0 && slots[at].key != key)
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static bool grow(struct label_stacks *labels)
{
    size_t n_slots = labels->n_slots == 0 ? FIRST_SLOTS : 2 * labels->n_slots;
    struct slot *slots = calloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < labels->n_slots; i++) {
        if (labels->slots[i].key != 0)
            *slot_find(slots, n_slots, labels->slots[i].key) = labels->slots[i];
    }
    free(labels->slots);
    labels->slots = slots;
    labels->n_slots = n_slots;
    return true;
}

static bool put(struct label_stacks *labels, uint64_t key, uint32_t stack)
{
    if (2 * (labels->n_used + 1) > labels->n_slots && !grow(labels))
        return false;
    *slot_find(labels->slots, labels->n_slots, key) = (struct slot){key, stack};
    labels->n_used++;
    return true;
}

static bool get(const struct label_stacks *labels, uint64_t key, uint32_t *stack)
{
    if (labels->n_slots == 0)
        return false;
    const struct slot *slot = slot_find(labels->slots, labels->n_slots, key);
    if (slot->key == 0)
        return false;
    *stack = slot->stack;
    return true;
}

/* The label alone. */
static uint32_t root_make(const struct label_stacks *labels, uint32_t label)
{
    struct text text = intern_text(labels->recording->labels, label);
    return profile_add_stack(labels->builder, 0,
                             profile_add_named_frame(labels->builder, text.bytes, text.length));
}

bool label_stacks_get(struct label_stacks *labels, uint32_t label, uint32_t node, uint32_t *stack)
{
    /* Up to a node that is known, and down again; parents have smaller numbers. */
    labels->path.n = 0;
    uint32_t at = node;
    while (!get(labels, key_of(label, at), stack)) {
        uint32_t *step = array_push(&labels->path);
        if (step == NULL)
            return false;
        *step = at;
        if (at == 0)
            break;
        at = labels->recording->nodes[at].parent;
    }
    while (labels->path.n > 0) {
        at = *(uint32_t *)array_at(&labels->path, --labels->path.n);
        *stack = at == 0 ? root_make(labels, label)
                         : node_stacks_push(labels->stacks, labels->index, *stack, at);
        if (!put(labels, key_of(label, at), *stack))
            return false;
    }
    return true;
}
