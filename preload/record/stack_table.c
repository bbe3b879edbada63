/* stack_table.c - see stack_table.h.
 *
 * In here a node goes by its index, from 1: its number without those that were forgotten.
 * Segment 0 holds indices 0..FIRST-1, segment s > 0 holds FIRST * 2^(s-1) .. FIRST * 2^s - 1. Nodes
 * and buckets are cut up alike. Linear hashing (Litwin 1980): with n buckets and the largest power
 * of two p <= n, a hash h lives in bucket h mod 2p if that exists already, else in h mod p; bucket
 * n is made by splitting bucket n - p. */
#include "record/stack_table.h"

#include "sys/os.h"

#define FIRST_LOG2 10u
#define FIRST (1u << FIRST_LOG2)

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t top_bit(uint32_t x)
{
    return 31u - (uint32_t)__builtin_clz(x);
}

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t segment_of(uint32_t index)
{
    return index < FIRST ? 0 : top_bit(index) - FIRST_LOG2 + 1;
}

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t segment_first(uint32_t segment)
{
    return segment == 0 ? 0 : FIRST << (segment - 1);
}

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t segment_length(uint32_t segment)
{
    return segment == 0 ? FIRST : FIRST << (segment - 1);
}

/* SIGNAL */
SIGNAL_SAFE static inline struct stack_node *node_at(const struct stack_table *table,
                                                     uint32_t index)
{
    uint32_t segment = segment_of(index);
    return table->nodes[segment] + (index - segment_first(segment));
}

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t *bucket_at(const struct stack_table *table, uint32_t bucket)
{
    uint32_t segment = segment_of(bucket);
    return table->buckets[segment] + (bucket - segment_first(segment));
}

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t hash_of(uint32_t parent, uint32_t place, uint64_t offset)
{
    uint64_t x = (offset ^ (uint64_t)place << 44) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32 ^ parent) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(x >> 32);
}

/* SIGNAL */
SIGNAL_SAFE static inline uint32_t bucket_of(const struct stack_table *table, uint32_t hash)
{
    uint32_t half = 1u << top_bit(table->n_buckets);
    uint32_t bucket = hash & (2 * half - 1);
    return bucket < table->n_buckets ? bucket : bucket - half;
}

/* any context */
void stack_table_init(struct stack_table *table, uint32_t max_nodes)
{
    *table = (struct stack_table){
        .max_nodes = max_nodes, .last_number = STACK_TABLE_LAST_NUMBER, .n_buckets = 1};
}

/* any context */
void stack_table_deinit(struct stack_table *table)
{
    for (uint32_t s = 0; s < STACK_TABLE_SEGMENTS; s++) {
        if (table->nodes[s] != NULL)
            os_unmap(table->nodes[s], segment_length(s) * sizeof(struct stack_node));
        if (table->buckets[s] != NULL)
            os_unmap(table->buckets[s], segment_length(s) * sizeof(uint32_t));
    }
    *table = (struct stack_table){.n_buckets = 1};
}

/* SIGNAL */
uint32_t stack_table_find(const struct stack_table *table, uint32_t parent, uint32_t place,
                          uint64_t offset)
{
    if (unlikely(table->n_nodes == 0))
        return 0;
    uint32_t index = *bucket_at(table, bucket_of(table, hash_of(parent, place, offset)));
    while (index != 0) {
        const struct stack_node *node = node_at(table, index);
        if (node->offset == offset && node->parent == parent && node->place == place)
            return table->n_forgotten + index;
        index = node->next;
    }
    return 0;
}

/* SIGNAL */
SIGNAL_SAFE static bool has_room(struct stack_table *table)
{
    uint32_t index = table->n_nodes + 1;
    uint32_t segment = segment_of(index);
    if (index > table->max_nodes || segment >= STACK_TABLE_SEGMENTS)
        return false;
    if (table->nodes[segment] == NULL)
        table->nodes[segment] = os_map(segment_length(segment) * sizeof(struct stack_node));
    if (unlikely(table->buckets[0] == NULL))
        table->buckets[0] = os_map(FIRST * sizeof(uint32_t));
    return table->nodes[segment] != NULL && table->buckets[0] != NULL;
}

/* Memory stays for those to come; buckets are emptied as they are made again. SIGNAL */
SIGNAL_SAFE static void forget_all(struct stack_table *table)
{
    table->n_forgotten += table->n_nodes;
    table->n_nodes = 0;
    table->n_buckets = 1;
    *bucket_at(table, 0) = 0;
}

/* SIGNAL */
bool stack_table_reserve(struct stack_table *table)
{
    if (table->n_forgotten + table->n_nodes >= table->last_number)
        return false;
    if (has_room(table))
        return true;
    if (table->n_nodes == 0)
        return false;
    forget_all(table);
    return true;
}

/* One more bucket, and into it those nodes of the bucket it is split from that belong there.
 * Without memory for it the existing buckets just get fuller. SIGNAL */
SIGNAL_SAFE static void split_bucket(struct stack_table *table)
{
    uint32_t made = table->n_buckets;
    uint32_t segment = segment_of(made);
    if (segment >= STACK_TABLE_SEGMENTS)
        return;
    if (table->buckets[segment] == NULL)
        table->buckets[segment] = os_map(segment_length(segment) * sizeof(uint32_t));
    if (table->buckets[segment] == NULL)
        return;
    uint32_t half = 1u << top_bit(made);
    table->n_buckets = made + 1;
    uint32_t *stay = bucket_at(table, made - half), *move = bucket_at(table, made);
    uint32_t index = *stay;
    *stay = *move = 0;
    while (index != 0) {
        struct stack_node *node = node_at(table, index);
        uint32_t next = node->next;
        uint32_t *to = hash_of(node->parent, node->place, node->offset) & half ? move : stay;
        node->next = *to;
        *to = index;
        index = next;
    }
}

/* SIGNAL */
uint32_t stack_table_add(struct stack_table *table, uint32_t parent, uint32_t place,
                         uint64_t offset)
{
    uint32_t index = ++table->n_nodes;
    if (index > table->n_buckets)
        split_bucket(table);
    uint32_t *bucket = bucket_at(table, bucket_of(table, hash_of(parent, place, offset)));
    *node_at(table, index) =
        (struct stack_node){.offset = offset, .parent = parent, .place = place, .next = *bucket};
    *bucket = index;
    return table->n_forgotten + index;
}
