/* dump.c - `sampler dump` of a .cpuprofile: its plain reading. Per distinct stack (name,
 * file, line, column of each frame) the samples and microseconds, sorted by name; no display
 * tricks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "intern.h"
#include "text/json_write.h"

struct row {
    uint32_t first_node; /* some node with this stack                                */
    uint64_t n_samples;
    double us;
    char *joined; /* names joined by ';', what rows are sorted by              */
    size_t order; /* of first appearance                                       */
};

VECTOR_DEFINE(rows, struct row)

/* Nodes with the same frames all the way down share a row. */
struct classes {
    uint32_t *of_node; /* index of the row, UINT32_MAX = not sampled                 */
    struct ids of_key; /* of uint32_t, by id of the stack's key: index of the row + 1 */
    struct rows rows;
};

static double round3(double value)
{
    return floor(value * 1000.0 + 0.5) / 1000.0;
}

/* The frames of a node, outermost first, as bytes that are equal exactly for equal stacks. The root
 * has none. */
static bool stack_key(const struct cpuprofile *file, uint32_t index, struct sink *key)
{
    for (uint32_t i = index; i != CPUPROFILE_NO_NODE && i != file->root;) {
        const struct cpuprofile_node *node = &file->nodes.items[i];
        sink_u64(key, node->name.length);
        sink_write(key, ":", 1);
        sink_write(key, node->name.bytes, node->name.length);
        sink_u64(key, node->url.length);
        sink_write(key, ":", 1);
        sink_write(key, node->url.bytes, node->url.length);
        sink_format(key, "%u:%u;", node->line, node->column);
        i = node->parent;
    }
    return !sink_failed(key);
}

/* Nodes of the path, outermost first; freed by the caller. NULL when out of memory; an empty path
 * is one unused element. */
static uint32_t *path_of(const struct cpuprofile *file, uint32_t index, size_t *n)
{
    *n = 0;
    for (uint32_t i = index; i != CPUPROFILE_NO_NODE && i != file->root;
         i = file->nodes.items[i].parent)
        ++*n;
    uint32_t *path = malloc((*n + 1) * sizeof *path);
    size_t at = *n;
    for (uint32_t i = index; path != NULL && i != CPUPROFILE_NO_NODE && i != file->root;
         i = file->nodes.items[i].parent)
        path[--at] = i;
    return path;
}

static char *join_names(const struct cpuprofile *file, uint32_t index, struct arena *arena)
{
    size_t n;
    uint32_t *path = path_of(file, index, &n);
    size_t length = 1;
    for (size_t i = 0; path != NULL && i < n; i++)
        length += file->nodes.items[path[i]].name.length + 1;
    char *joined = path == NULL ? NULL : arena_alloc(arena, length);
    char *at = joined;
    for (size_t i = 0; joined != NULL && i < n; i++) {
        const struct cpuprofile_node *node = &file->nodes.items[path[i]];
        if (i > 0)
            *at++ = ';';
        for (size_t k = 0; k < node->name.length; k++)
            *at++ = node->name.bytes[k];
        for (char *nul = at - node->name.length; nul < at; nul++) {
            if (*nul == '\0')
                *nul = '\1'; /* keeps strcmp going; order only */
        }
    }
    free(path);
    return joined;
}

static bool classes_add(struct classes *classes, const struct cpuprofile *file, uint32_t node,
                        struct intern *keys, struct arena *arena, struct err *err)
{
    struct sink *key = NULL;
    if (!sink_create_buffer(&key, err))
        return false;
    size_t length;
    uint32_t id = 0;
    bool ok = stack_key(file, node, key);
    const char *bytes = sink_buffer(key, &length);
    ok = ok && (length == 0 || intern_add(keys, bytes, length, &id));
    sink_abandon(key);
    if (!ok)
        return err_fail_memory(err);
    if (!ids_extend(&classes->of_key, (size_t)id + 1))
        return err_fail_memory(err);
    uint32_t *known = &classes->of_key.items[id];
    if (*known != 0) {
        classes->of_node[node] = *known - 1;
        return true;
    }
    const struct row row = {
        .first_node = node, .order = id, .joined = join_names(file, node, arena)};
    if (row.joined == NULL || !rows_push(&classes->rows, row))
        return err_fail_memory(err);
    *known = (uint32_t)classes->rows.n;
    classes->of_node[node] = *known - 1;
    return true;
}

static int row_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int names = strcmp(x->joined, y->joined);
    return names != 0 ? names : (x->order > y->order) - (x->order < y->order);
}

static void write_stack(struct json *json, const struct cpuprofile *file, const uint32_t *path,
                        size_t n)
{
    json_key(json, "stack");
    json_array_begin(json);
    for (size_t i = 0; i < n; i++)
        json_text(json, file->nodes.items[path[i]].name);
    json_array_end(json);
    json_key(json, "at");
    json_array_begin(json);
    for (size_t i = 0; i < n; i++) {
        const struct cpuprofile_node *node = &file->nodes.items[path[i]];
        char *place = NULL;
        int length = node->url.length == 0 ? -1
                                           : asprintf(&place, "%.*s:%u:%u", (int)node->url.length,
                                                      node->url.bytes, node->line, node->column);
        json_bytes(json, length < 0 ? "" : place, length < 0 ? 0 : (size_t)length);
        free(place);
    }
    json_array_end(json);
}

static bool write_rows(struct json *json, const struct cpuprofile *file, const struct rows *rows,
                       struct err *err)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->items[i];
        size_t n;
        uint32_t *path = path_of(file, row->first_node, &n);
        if (path == NULL)
            return err_fail_memory(err);
        json_object_begin(json);
        write_stack(json, file, path, n);
        free(path);
        json_key(json, "samples");
        json_u64(json, row->n_samples);
        json_key(json, "us");
        json_f64(json, round3(row->us));
        json_object_end(json);
    }
    return true;
}

static void time_or_null(struct json *json, const char *key, const struct cpuprofile *file,
                         double time_us)
{
    json_key(json, key);
    if (file->samples.n != 0)
        json_f64(json, round3(time_us));
    else
        json_null(json);
}

static void write_scalars(struct json *json, const struct cpuprofile *file, double total_us)
{
    json_key(json, "layout");
    json_cstring(json, file->is_old ? "head" : "nodes");
    json_key(json, "nodes");
    json_u64(json, file->nodes.n);
    json_key(json, "samples");
    json_u64(json, file->samples.n);
    json_key(json, "startUs");
    json_f64(json, round3(file->start_us));
    json_key(json, "endUs");
    json_f64(json, round3(file->end_us));
    time_or_null(json, "firstSampleUs", file, file->first_us);
    time_or_null(json, "lastSampleUs", file, file->last_us);
    json_key(json, "timesFromEvenSpread");
    json_bool(json, file->is_evenly_spread);
    json_key(json, "samplesReordered");
    json_bool(json, file->is_reordered);
    json_key(json, "totalUs");
    json_f64(json, round3(total_us));
}

static bool collect(struct classes *classes, const struct cpuprofile *file, struct arena *arena,
                    double *total_us, struct err *err)
{
    struct intern *keys = intern_create(arena);
    bool ok = keys != NULL || err_fail_memory(err);
    *total_us = 0;
    struct cpuprofile_samples samples = cpuprofile_samples_make(file);
    struct cpuprofile_sample sample;
    while (ok && cpuprofile_samples_next(&samples, &sample)) {
        uint32_t node = sample.node;
        if (classes->of_node[node] == UINT32_MAX)
            ok = classes_add(classes, file, node, keys, arena, err);
        if (!ok)
            break;
        struct row *row = &classes->rows.items[classes->of_node[node]];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): of_node names rows there are */
        row->n_samples++;
        row->us += sample.end_us - sample.begin_us;
    }
    for (size_t i = 0; ok && i < classes->rows.n; i++)
        *total_us += round3(classes->rows.items[i].us);
    intern_destroy(keys);
    return ok;
}

static bool dump_file(const struct cpuprofile *file, struct sink *out, struct err *err)
{
    struct classes classes = {.of_node = malloc(file->nodes.n * sizeof(uint32_t))};
    struct arena *arena = arena_create();
    double total_us = 0;
    bool ok = false;
    if (classes.of_node == NULL || arena == NULL) {
        err_fail_memory(err);
    } else {
        memset(classes.of_node, 0xff, file->nodes.n * sizeof(uint32_t));
        ok = collect(&classes, file, arena, &total_us, err);
    }
    if (ok) {
        if (classes.rows.n > 0)
            qsort(classes.rows.items, classes.rows.n, sizeof(struct row), row_compare);
        struct json json = json_make(out, 1);
        json_object_begin(&json);
        write_scalars(&json, file, total_us);
        json_key(&json, "stacks");
        json_array_begin(&json);
        ok = write_rows(&json, file, &classes.rows, err);
        json_array_end(&json);
        json_object_end(&json);
        sink_text(out, "\n");
    }
    free(classes.of_node);
    rows_deinit(&classes.rows);
    ids_deinit(&classes.of_key);
    arena_destroy(arena);
    return ok;
}

bool cpuprofile_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                     struct sink *out, struct err *err)
{
    (void)notes;
    struct cpuprofile file;
    bool ok = cpuprofile_parse(data, size_bytes, &file, err) && dump_file(&file, out, err);
    cpuprofile_deinit(&file);
    return ok;
}
