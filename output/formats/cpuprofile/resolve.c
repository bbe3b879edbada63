/* resolve.c - from ids to indexes, from deltas to times, and the checks that keep viewers from
 * hanging: no node with two parents, no cycle, no sample of a node that does not exist
 * (cpuprofile.h).
 *
 * Nothing here recurses and all is linear, but for sorting ids that are not dense and samples
 * that are not in order. Files of V8 have dense ids and, mostly, samples in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"

/* ---- ids to indexes ---------------------------------------------------------------------------
 */

struct id_index {
    int64_t id;
    uint32_t index;
};

static int id_compare(const void *a, const void *b)
{
    const struct id_index *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id ? 1 : (x->index > y->index) - (x->index < y->index);
}

/* The nodes by id: a table when ids are dense (nearly always), a sorted list otherwise. */
struct id_table {
    struct id_index *sorted;
    size_t n;
    uint32_t *dense; /* index by id, CPUPROFILE_NO_NODE = none; NULL when not dense */
    int64_t n_dense;
};

static void id_table_deinit(struct id_table *table)
{
    free(table->sorted);
    free(table->dense);
}

static uint32_t id_find(const struct id_table *table, int64_t id)
{
    if (table->dense != NULL)
        return id >= 0 && id < table->n_dense ? table->dense[id] : CPUPROFILE_NO_NODE;
    struct id_index key = {.id = id};
    size_t low = 0, high = table->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->sorted[middle].id < key.id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->n && table->sorted[low].id == id ? table->sorted[low].index
                                                         : CPUPROFILE_NO_NODE;
}

static bool id_table_dense(struct id_table *table)
{
    int64_t last = table->sorted[table->n - 1].id;
    if (table->sorted[0].id < 0 || last >= (int64_t)(4 * table->n + 64))
        return true;
    table->n_dense = last + 1;
    table->dense = malloc((size_t)table->n_dense * sizeof *table->dense);
    if (table->dense == NULL)
        return false;
    memset(table->dense, 0xff, (size_t)table->n_dense * sizeof *table->dense);
    for (size_t i = 0; i < table->n; i++)
        table->dense[table->sorted[i].id] = table->sorted[i].index;
    return true;
}

static bool id_table_init(struct id_table *table, const struct cpuprofile_nodes *nodes,
                          struct err *err)
{
    table->n = nodes->n;
    table->sorted = malloc(nodes->n * sizeof *table->sorted);
    if (table->sorted == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < nodes->n; i++) {
        const struct cpuprofile_node *node = &nodes->items[i];
        table->sorted[i] = (struct id_index){.id = node->id, .index = (uint32_t)i};
    }
    qsort(table->sorted, table->n, sizeof *table->sorted, id_compare);
    for (size_t i = 1; i < table->n; i++) {
        if (table->sorted[i].id == table->sorted[i - 1].id)
            return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "node id %lld occurs twice",
                            (long long)table->sorted[i].id);
    }
    return id_table_dense(table) || err_fail_memory(err);
}

static bool link_children(struct cpuprofile_nodes *nodes, const struct id_table *table,
                          const struct cpuprofile_children *children,
                          const struct cpuprofile_parents *parents, struct err *err)
{
    for (size_t i = 0; i < children->n; i++) {
        const struct cpuprofile_child *child = &children->items[i];
        uint32_t index = id_find(table, child->id);
        if (index == CPUPROFILE_NO_NODE)
            continue; /* as DevTools and speedscope do */
        struct cpuprofile_node *node = &nodes->items[index];
        if (node->parent != CPUPROFILE_NO_NODE && node->parent != child->parent)
            return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "node %lld has two parents",
                            (long long)node->id);
        node->parent = child->parent;
    }
    for (size_t i = 0; i < parents->n; i++) {
        const struct cpuprofile_parent *key = &parents->items[i];
        uint32_t parent = key->is_there ? id_find(table, key->id) : CPUPROFILE_NO_NODE;
        struct cpuprofile_node *node = &nodes->items[i];
        if (parent == CPUPROFILE_NO_NODE)
            continue;
        if (node->parent != CPUPROFILE_NO_NODE && node->parent != parent)
            return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "node %lld has two parents",
                            (long long)node->id);
        node->parent = parent;
    }
    return true;
}

/* Depths by walking up to the first node whose depth is known, then down again the same way: each
 * node twice. */
static bool find_depths(struct cpuprofile *file, struct err *err)
{
    const uint32_t UNKNOWN = 0, ON_WAY = UINT32_MAX;
    size_t n = file->nodes.n;
    file->root = CPUPROFILE_NO_NODE;
    for (size_t i = 0; i < n; i++) {
        struct cpuprofile_node *node = &file->nodes.items[i];
        node->depth = node->parent == CPUPROFILE_NO_NODE ? 1 : UNKNOWN;
        if (node->depth == 1 && file->root == CPUPROFILE_NO_NODE)
            file->root = (uint32_t)i;
    }
    if (file->root == CPUPROFILE_NO_NODE)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                        "the tree has no root: every node is the child of another");
    for (size_t i = 0; i < n; i++) {
        struct cpuprofile_node *node = &file->nodes.items[i];
        uint32_t above = 0;
        struct cpuprofile_node *walk = node;
        while (walk->depth == UNKNOWN) {
            walk->depth = ON_WAY;
            above++;
            walk = &file->nodes.items[walk->parent];
        }
        if (walk->depth == ON_WAY)
            return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "the tree has a cycle at node %lld",
                            (long long)walk->id);
        uint32_t depth = walk->depth + above;
        for (walk = node; walk->depth == ON_WAY; walk = &file->nodes.items[walk->parent])
            walk->depth = depth--;
    }
    for (size_t i = 0; i < n; i++)
        file->nodes.items[i].depth--;
    return true;
}

static bool resolve_samples(struct cpuprofile *file, const struct id_table *table, struct err *err)
{
    struct number_list *samples = &file->samples;
    for (size_t i = 0; i < samples->n; i++) {
        double id = number_list_at(samples, i);
        uint32_t index = CPUPROFILE_NO_NODE;
        if (!samples->is_wide || (floor(id) == id && fabs(id) <= CPUPROFILE_MAX_EXACT))
            index = id_find(table, (int64_t)id);
        if (index == CPUPROFILE_NO_NODE)
            return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                            "sample %zu names node %.17g, which does not exist", i, id);
        number_list_set(samples, i, index);
    }
    return true;
}

/* ---- times ------------------------------------------------------------------------------------
 */

/* `stored`: deltas of the new layout, times of the old one; NULL = the file has none. */
static bool take_times(struct cpuprofile *file, struct number_list *stored, struct err *err)
{
    file->is_evenly_spread = stored == NULL;
    if (stored == NULL)
        return true;
    if (stored->n != file->samples.n)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "%zu samples but %zu times",
                        file->samples.n, stored->n);
    file->has_deltas = !file->is_old;
    file->times = *stored;
    *stored = (struct number_list){0};
    return true;
}

struct timed {
    double time;
    double sample;
    size_t index;
};

static int timed_compare(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* V8 adds samples out of order now and then; readers sort them by time. */
static bool sort_samples(struct cpuprofile *file, struct err *err)
{
    size_t n = file->samples.n;
    struct timed *order = malloc(n * sizeof *order);
    if (order == NULL)
        return err_fail_memory(err);
    double time = file->start_us;
    for (size_t i = 0; i < n; i++) {
        time = cpuprofile_time_us(file, i, time);
        order[i] =
            (struct timed){.time = time, .sample = number_list_at(&file->samples, i), .index = i};
    }
    qsort(order, n, sizeof *order, timed_compare);
    number_list_clear(&file->times);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        number_list_set(&file->samples, i, order[i].sample);
        ok = number_list_push(&file->times, order[i].time);
    }
    file->is_evenly_spread = file->has_deltas = false;
    file->first_us = order[0].time;
    file->last_us = order[n - 1].time;
    file->is_reordered = true;
    free(order);
    return ok || err_fail_memory(err);
}

/* Whether each sample is at or after the one before it, as is plain from whole deltas. */
static bool deltas_are_sorted(const struct cpuprofile *file)
{
    if (!file->has_deltas || file->times.is_wide)
        return false;
    const int32_t *deltas = file->times.items;
    int32_t signs = 0;
    for (size_t i = 1; i < file->times.n; i++)
        signs |= deltas[i];
    return signs >= 0;
}

static bool check_times(struct cpuprofile *file, struct err *err)
{
    bool is_sorted = true, is_plain = deltas_are_sorted(file);
    double before = file->start_us;
    file->first_us = cpuprofile_time_us(file, 0, before);
    for (size_t i = 0; i < file->samples.n; i++) {
        double time = is_plain ? before + ((const int32_t *)file->times.items)[i]
                               : cpuprofile_time_us(file, i, before);
        if (!(fabs(time) <= CPUPROFILE_MAX_EXACT))
            return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                            "the time of sample %zu is out of range", i);
        if (i > 0 && time < before)
            is_sorted = false;
        before = time;
    }
    file->last_us = before;
    return is_sorted || sort_samples(file, err);
}

bool cpuprofile_resolve(struct cpuprofile *file, const struct cpuprofile_children *children,
                        const struct cpuprofile_parents *parents, struct number_list *stored_times,
                        struct err *err)
{
    struct id_table table = {0};
    bool ok = id_table_init(&table, &file->nodes, err) &&
              link_children(&file->nodes, &table, children, parents, err) &&
              find_depths(file, err) && take_times(file, stored_times, err) &&
              resolve_samples(file, &table, err) && check_times(file, err);
    id_table_deinit(&table);
    return ok;
}
