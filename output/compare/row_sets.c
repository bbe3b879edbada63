/* row_sets.c - see row_sets.h. Samples share few stacks (or threads): each has its rows in a list
 * that begins with their number, made when its first sample is seen. A row met a second time on the
 * way up (recursion, copies of one function) is known by the stamp of the stack. */
#include "compare/row_sets.h"

#include <stdlib.h>

#include "arena.h"
#include "compare/same_name.h"

VECTOR_DEFINE(row_origins, struct row_origin)
VECTOR_DEFINE(row_stamps, uint64_t)

struct row_names {
    struct arena *arena;
    struct intern *texts;
    struct row_origins origins; /* by row */
    struct row_stamps stamps;   /* by row */
    uint64_t last_stamp;
    struct chars name; /* in work */
};

struct row_sets {
    const struct profile *profile;
    enum summary_by by;
    bool by_total;
    uint64_t *lists;         /* by stack, or by thread: where its list is; 0 = none */
    uint32_t *rows_of_frame; /* 0 = not asked yet */
    struct ids lists_of_all;
};

bool row_names_create(struct row_names **out, struct err *err)
{
    struct row_names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return err_fail_memory(err);
    names->arena = arena_create();
    names->texts = names->arena == NULL ? NULL : intern_create(names->arena);
    if (names->texts == NULL || !row_origins_extend(&names->origins, 1) ||
        !row_stamps_extend(&names->stamps, 1)) {
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

/* 0 when out of memory. */
static uint32_t row_add(struct row_names *names, const struct row_sets *sets,
                        struct summary_key key)
{
    uint32_t row = 0;
    names->name.n = 0;
    if (!same_name_append(&names->name, sets->profile, sets->by, key) ||
        !intern_add(names->texts, names->name.items, names->name.n, &row))
        return 0;
    if (row < names->origins.n)
        return row;
    bool ok = row_origins_push(&names->origins, (struct row_origin){sets->profile, key}) &&
              row_stamps_push(&names->stamps, 0);
    return ok ? row : 0;
}

static uint32_t row_of_frame(struct row_names *names, struct row_sets *sets, uint32_t frame)
{
    uint32_t *known = &sets->rows_of_frame[frame];
    if (*known == 0)
        *known = row_add(names, sets, summary_frame_key(sets->profile, sets->by, frame));
    return *known;
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
    } while (stack != 0 && sets->by_total);
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
                                               : stack_rows_push(names, sets, sample->stack));
    if (ok)
        sets->lists_of_all.items[begin] = (uint32_t)(sets->lists_of_all.n - begin - 1);
    return ok;
}

static bool sets_fill(struct row_names *names, struct row_sets *sets)
{
    const struct profile *profile = sets->profile;
    bool ok = ids_push(&sets->lists_of_all, 0); /* no list begins at 0 */
    for (size_t i = 0; ok && i < profile->n_samples; i++)
        if (!profile_stack_is_idle(profile, profile->samples[i].stack))
            ok = sample_add(names, sets, &profile->samples[i]);
    return ok;
}

bool row_sets_create(struct row_names *names, const struct profile *profile, enum summary_by by,
                     bool by_total, struct row_sets **out, struct err *err)
{
    struct row_sets *sets = calloc(1, sizeof *sets);
    if (sets == NULL)
        return err_fail_memory(err);
    sets->profile = profile;
    sets->by = by;
    sets->by_total = by_total;
    sets->lists =
        calloc(by_thread(sets) ? profile->n_threads : profile->n_stacks, sizeof *sets->lists);
    sets->rows_of_frame = calloc(profile->n_frames, sizeof *sets->rows_of_frame);
    if (sets->lists == NULL || sets->rows_of_frame == NULL || !sets_fill(names, sets)) {
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
