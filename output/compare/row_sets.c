/* row_sets.c - see row_sets.h. Samples share few stacks (or threads): each has its rows in a list
 * that begins with their number, made when its first sample is seen. A row met a second time on the
 * way up (recursion, copies of one function) is known by the stamp of the stack. */
#include "compare/row_sets.h"

#include <stdlib.h>

#include "arena.h"
#include "compare/same_name.h"
#include "map.h"

#define AT_LEAF UINT64_MAX

VECTOR_DEFINE(row_origins, struct row_origin)
VECTOR_DEFINE(row_stamps, uint64_t)

struct row_names {
    struct arena *arena;
    struct intern *texts;
    struct ids named;           /* rows by text                                         */
    struct map others;          /* rows by (parent path or AT_LEAF, row of the name)    */
    struct row_origins origins; /* by row */
    struct row_stamps stamps;   /* by row */
    uint64_t last_stamp;
    struct chars name; /* in work */
};

struct row_sets {
    const struct profile *profile;
    enum summary_by by;
    enum row_scope scope;
    uint64_t *lists;         /* by stack, or by thread: where its list is; 0 = none */
    uint32_t *rows_of_frame; /* 0 = not asked yet */
    uint32_t *paths;         /* ROWS_OF_TREE: by stack; of the empty one 0 */
    struct ids lists_of_all;
};

bool row_names_create(struct row_names **out, struct err *err)
{
    struct row_names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return err_fail_memory(err);
    names->arena = arena_create();
    names->texts = names->arena == NULL ? NULL : intern_create(names->arena);
    if (names->texts == NULL || !ids_push(&names->named, 0) ||
        !row_origins_extend(&names->origins, 1) || !row_stamps_extend(&names->stamps, 1)) {
        row_names_destroy(names);
        return err_fail_memory(err);
    }
    *out = names;
    return true;
}

void row_names_destroy(struct row_names *names)
{
    if (names == NULL)
        return;
    intern_destroy(names->texts);
    arena_destroy(names->arena);
    ids_deinit(&names->named);
    map_deinit(&names->others);
    row_origins_deinit(&names->origins);
    row_stamps_deinit(&names->stamps);
    chars_deinit(&names->name);
    free(names);
}

uint32_t row_names_count(const struct row_names *names)
{
    return (uint32_t)names->origins.n;
}

struct row_origin row_names_origin(const struct row_names *names, uint32_t row)
{
    return names->origins.items[row];
}

/* A new row; 0 when out of memory. */
static uint32_t origin_add(struct row_names *names, struct row_origin origin)
{
    bool ok = row_origins_push(&names->origins, origin) && row_stamps_push(&names->stamps, 0);
    return ok ? (uint32_t)names->origins.n - 1 : 0;
}

/* 0 when out of memory. */
static uint32_t row_add(struct row_names *names, const struct row_sets *sets,
                        struct summary_key key)
{
    uint32_t text = 0;
    names->name.n = 0;
    if (!same_name_append(&names->name, sets->profile, sets->by, key) ||
        !intern_add(names->texts, names->name.items, names->name.n, &text))
        return 0;
    if (text < names->named.n)
        return names->named.items[text];
    uint32_t row = origin_add(names, (struct row_origin){.profile = sets->profile, .key = key});
    return row != 0 && ids_push(&names->named, row) ? row : 0;
}

static uint32_t row_of_frame(struct row_names *names, struct row_sets *sets, uint32_t frame)
{
    uint32_t *known = &sets->rows_of_frame[frame];
    if (*known == 0)
        *known = row_add(names, sets, summary_frame_key(sets->profile, sets->by, frame));
    return *known;
}

/* The row of a frame at the leaf, or below a path; 0 when out of memory. */
static uint32_t row_of_place(struct row_names *names, struct row_sets *sets, uint64_t place,
                             uint32_t frame)
{
    uint32_t named = row_of_frame(names, sets, frame);
    uint32_t known = named == 0 ? MAP_NONE : map_find(&names->others, place, named);
    if (named == 0 || known != MAP_NONE)
        return named == 0 ? 0 : known;
    struct row_origin origin = {.profile = sets->profile,
                                .key = summary_frame_key(sets->profile, sets->by, frame),
                                .kind = place == AT_LEAF ? ROW_AT_LEAF : ROW_PATH,
                                .named = named,
                                .parent = place == AT_LEAF ? 0 : (uint32_t)place,
                                .frame = frame};
    uint32_t row = origin_add(names, origin);
    return row != 0 && map_set(&names->others, place, named, row) ? row : 0;
}

/* Parents come before children. */
static bool paths_fill(struct row_names *names, struct row_sets *sets)
{
    const struct profile *profile = sets->profile;
    bool ok = true;
    for (uint32_t stack = 1; ok && stack < profile->n_stacks; stack++) {
        uint32_t path = sets->paths[profile->stacks[stack].parent];
        sets->paths[stack] = row_of_place(names, sets, path, profile->stacks[stack].frame);
        ok = sets->paths[stack] != 0;
    }
    return ok;
}

static bool tree_rows_push(struct row_names *names, struct row_sets *sets, uint32_t stack)
{
    uint32_t at_leaf = row_of_place(names, sets, AT_LEAF, sets->profile->stacks[stack].frame);
    uint32_t path = stack == 0 ? row_of_place(names, sets, 0, 0) : sets->paths[stack];
    bool ok = at_leaf != 0 && path != 0 && ids_push(&sets->lists_of_all, at_leaf);
    for (; ok && path != 0; path = names->origins.items[path].parent)
        ok = ids_push(&sets->lists_of_all, path);
    return ok;
}

/* Pushes the rows of a stack; false when out of memory. */
static bool stack_rows_push(struct row_names *names, struct row_sets *sets, uint32_t stack)
{
    uint64_t stamp = ++names->last_stamp;
    do { /* the empty stack, too, has one entry: unknown */
        uint32_t row = row_of_frame(names, sets, sets->profile->stacks[stack].frame);
        if (row == 0 || (names->stamps.items[row] != stamp && !ids_push(&sets->lists_of_all, row)))
            return false;
        names->stamps.items[row] = stamp;
        stack = sets->profile->stacks[stack].parent;
    } while (stack != 0 && sets->scope != ROWS_OF_LEAF);
    return true;
}

static bool whole_row_push(struct row_names *names, struct row_sets *sets,
                           const struct profile_sample *sample)
{
    const struct profile *profile = sets->profile;
    uint32_t process = profile->threads[sample->thread].process;
    uint32_t id = sets->by == SUMMARY_BY_LABEL     ? profile_stack_label(profile, sample->stack)
                  : sets->by == SUMMARY_BY_THREAD  ? sample->thread
                  : sets->by == SUMMARY_BY_PROCESS ? process
                                                   : profile->processes[process].name;
    uint32_t row = row_add(names, sets, (struct summary_key){.id = id});
    return row != 0 && ids_push(&sets->lists_of_all, row);
}

static bool by_thread(const struct row_sets *sets)
{
    return summary_is_of_samples(sets->by) && sets->by != SUMMARY_BY_LABEL;
}

static uint64_t *list_of(const struct row_sets *sets, const struct profile_sample *sample)
{
    return &sets->lists[by_thread(sets) ? sample->thread : sample->stack];
}

static bool sample_add(struct row_names *names, struct row_sets *sets,
                       const struct profile_sample *sample)
{
    uint64_t *list = list_of(sets, sample);
    size_t begin = sets->lists_of_all.n;
    if (*list != 0)
        return true;
    *list = begin;
    bool ok = ids_push(&sets->lists_of_all, 0) &&
              (summary_is_of_samples(sets->by) ? whole_row_push(names, sets, sample)
                                               : stack_rows_push(names, sets, sample->stack)) &&
              (sets->scope != ROWS_OF_TREE || tree_rows_push(names, sets, sample->stack));
    if (ok)
        sets->lists_of_all.items[begin] = (uint32_t)(sets->lists_of_all.n - begin - 1);
    return ok;
}

static bool sets_fill(struct row_names *names, struct row_sets *sets)
{
    const struct profile *profile = sets->profile;
    bool ok = ids_push(&sets->lists_of_all, 0) && /* no list begins at 0 */
              (sets->scope != ROWS_OF_TREE || paths_fill(names, sets));
    for (size_t i = 0; ok && i < profile->n_samples; i++)
        if (!profile_stack_is_idle(profile, profile->samples[i].stack))
            ok = sample_add(names, sets, &profile->samples[i]);
    return ok;
}

bool row_sets_create(struct row_names *names, const struct profile *profile, enum summary_by by,
                     enum row_scope scope, struct row_sets **out, struct err *err)
{
    struct row_sets *sets = calloc(1, sizeof *sets);
    if (sets == NULL)
        return err_fail_memory(err);
    sets->profile = profile;
    sets->by = by;
    sets->scope = scope;
    sets->lists =
        calloc(by_thread(sets) ? profile->n_threads : profile->n_stacks, sizeof *sets->lists);
    sets->rows_of_frame = calloc(profile->n_frames, sizeof *sets->rows_of_frame);
    sets->paths = calloc(profile->n_stacks, sizeof *sets->paths);
    if (sets->lists == NULL || sets->rows_of_frame == NULL || sets->paths == NULL ||
        !sets_fill(names, sets)) {
        row_sets_destroy(sets);
        return err_fail_memory(err);
    }
    *out = sets;
    return true;
}

void row_sets_destroy(struct row_sets *sets)
{
    if (sets == NULL)
        return;
    free(sets->lists);
    free(sets->rows_of_frame);
    free(sets->paths);
    ids_deinit(&sets->lists_of_all);
    free(sets);
}

const uint32_t *row_sets_of(const struct row_sets *sets, const struct profile_sample *sample,
                            size_t *n)
{
    uint64_t list =
        profile_stack_is_idle(sets->profile, sample->stack) ? 0 : *list_of(sets, sample);
    *n = sets->lists_of_all.items[list];
    return &sets->lists_of_all.items[list] + 1;
}
