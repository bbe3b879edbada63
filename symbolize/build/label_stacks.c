/* label_stacks.c - see label_stacks.h. A stack below a label is made from the outermost node on,
 * each node once for each label it is seen with: most programs have few labels, and most nodes
 * none. */
#include "build/label_stacks.h"

#include <stdlib.h>

#include "map.h"
#include "vector.h"

struct label_stacks {
    struct node_stacks *stacks;
    const struct recording *recording;
    struct profile_builder *builder;
    size_t index;
    struct map known; /* (label, node) -> stack                        */
    struct ids path;  /* nodes on the way up that are not known yet */
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
    return labels;
}

void label_stacks_destroy(struct label_stacks *labels)
{
    if (labels == NULL)
        return;
    ids_deinit(&labels->path);
    map_deinit(&labels->known);
    free(labels);
}

/* The label alone. */
static uint32_t root_make(const struct label_stacks *labels, uint32_t label)
{
    struct text text = intern_text(labels->recording->labels, label);
    const struct profile_function function = {
        .name = profile_add_text(labels->builder, text.bytes, text.length)};
    const struct profile_frame frame = {
        .function = profile_add_function(labels->builder, &function), .flags = PROFILE_FRAME_LABEL};
    return profile_add_stack(labels->builder, 0, profile_add_frame(labels->builder, &frame));
}

bool label_stacks_get(struct label_stacks *labels, uint32_t label, uint32_t node, uint32_t *stack)
{
    /* Up to a node that is known, and down again; parents have smaller numbers. */
    labels->path.n = 0;
    uint32_t at = node;
    while ((*stack = map_find(&labels->known, label, at)) == MAP_NONE) {
        ids_push(&labels->path, at);
        if (at == 0)
            break;
        at = labels->recording->nodes[at].parent;
    }
    if (labels->path.no_memory)
        return false;
    while (labels->path.n > 0) {
        at = labels->path.items[--labels->path.n];
        *stack = at == 0 ? root_make(labels, label)
                         : node_stacks_push(labels->stacks, labels->index, *stack, at);
        map_set(&labels->known, label, at, *stack);
    }
    return !labels->known.no_memory;
}
