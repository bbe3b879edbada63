/* stack_table.h - the distinct stacks of one stream: a tree of frames, found again by hash.
 *
 *   node = (parent node, place); place = (module, exact?, offset); a stack is its leaf's node
 *
 * Shape      nodes are numbered 1, 2, 3 ... in order of adding. Lookup is linear hashing over
 *            segments that double in size: the table grows by one bucket at a time, so no add ever
 *            costs more than a few steps, and old segments are never copied.
 * When full  with max_nodes in it, or without memory for more, the table forgets them all and goes
 *            on counting. What was given out stays true, as the stream has it: a forgotten number
 *            may be the parent of a new node. A stack that comes again is added again, so a
 *            program of ever new stacks (deep recursion) costs room in the recording, not in the
 *            program, and none of its stacks is cut.
 * Its end    a number is 32 bits: at last_number, and without memory for the first node, reserve
 *            returns false, and add must not be called (it cannot fail).
 * Memory     private mappings made by reserve and, for buckets, by add; add does without
 *            them where there is no memory, and chains get longer. deinit returns all of it.
 * Context    init and deinit: any. The rest: SIGNAL, by the owner of the stream only. */
#ifndef SAMPLER_STACK_TABLE_H
#define SAMPLER_STACK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"

#define STACK_TABLE_SEGMENTS 20u

struct stack_node {
    uint64_t offset;
    uint32_t parent; /* 0 = this is an outermost frame */
    uint32_t place;  /* module << 1 | exact; STACK_PLACE_CUT: offset is the reason of a cut */
    uint32_t next;   /* in the same bucket, by index in the table; 0 = last */
};

#define STACK_PLACE_CUT UINT32_MAX

/* As last_number to begin with: it leaves some for the roots that say why a stack is cut. */
#define STACK_TABLE_LAST_NUMBER (UINT32_MAX - 16u)

struct stack_table {
    uint32_t n_forgotten; /* the number of the first node in the table is one more */
    uint32_t n_nodes;
    uint32_t max_nodes;
    uint32_t last_number; /* the largest that is given out */
    uint32_t n_buckets;   /* >= 1 */
    struct stack_node *nodes[STACK_TABLE_SEGMENTS];
    uint32_t *buckets[STACK_TABLE_SEGMENTS];
};

/* max_nodes > 0 */
SIGNAL_SAFE void stack_table_init(struct stack_table *table, uint32_t max_nodes);
SIGNAL_SAFE void stack_table_deinit(struct stack_table *table);

/* The node's number, 0 when it is not in the table. */
SIGNAL_SAFE uint32_t stack_table_find(const struct stack_table *table, uint32_t parent,
                                      uint32_t place, uint64_t offset);

/* Makes room for one node; false when there is no number left for it. Separate from add so that the node's record can be written in between: a node that
 * could not be recorded is never added. Calling it again without an add is harmless. */
SIGNAL_SAFE bool stack_table_reserve(struct stack_table *table);

/* Adds what find did not find, right after a reserve that returned true. Returns its number, never
 * 0. */
SIGNAL_SAFE uint32_t stack_table_add(struct stack_table *table, uint32_t parent, uint32_t place,
                                     uint64_t offset);

#endif
