/* profile.c - see profile.h. The builder: growing tables, four of them with a hash index over their
 * rows, so that equal rows get equal ids; orders and containment at finish (model/order.c).
 *
 * The profile handed out is the first member of a struct profile_owner, which holds the tables
 * themselves: writers see const pointers and counts, profile_destroy finds the storage by a cast.
 * Nothing is copied at finish but the trimming of tables. */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "array.h"
#include "model/order.h"
#include "model/row_table.h"
#include "model/value_column.h"

/* Rows of row tables are compared and hashed as 64-bit words: none of them may have padding. */
_Static_assert(sizeof(struct profile_module) == 24, "no padding");
_Static_assert(sizeof(struct profile_function) == 24, "no padding");
_Static_assert(sizeof(struct profile_frame) == 32, "no padding");
_Static_assert(sizeof(struct profile_stack) == 8, "no padding");

struct storage {
    struct arena *arena;
    struct intern *texts;
    struct row_table modules, functions, frames, stacks;
    struct array processes, threads, spans;
    struct array samples, instants, off_cpus, bookmarks, metadata;
    struct value_column columns[PROFILE_MAX_KINDS];
};

enum failure { FAILURE_NONE, FAILURE_MEMORY, FAILURE_FULL, FAILURE_NO_KINDS, FAILURE_WRONG_ROW };

struct profile_builder {
    struct storage storage;
    struct profile_scalars scalars;
    uint32_t n_kinds; /* fixed by the first sample */
    enum failure failure;
};

/* What profile_destroy finds behind the public face. */
struct profile_owner {
    struct profile profile;
    struct storage storage;
};

/* The first failure is the one that is reported: later ones follow from it. */
static uint32_t builder_fail(struct profile_builder *builder, enum failure failure)
{
    if (builder->failure == FAILURE_NONE)
        builder->failure = failure;
    return 0;
}

/* Inlined, so that `row_bytes` is a constant where rows are hashed (row_table.h). */
__attribute__((always_inline)) static inline uint32_t table_add(struct profile_builder *builder,
                                                                struct row_table *table,
                                                                const void *row, size_t row_bytes)
{
    if (builder->failure != FAILURE_NONE)
        return 0;
    uint32_t id = row_table_add(table, row, row_bytes);
    if (id == 0)
        builder_fail(builder, table->rows.n < UINT32_MAX ? FAILURE_MEMORY : FAILURE_FULL);
    return id;
}

/* A reader that hands in a wrong id must not make writers read beyond a table. */
static inline bool is_right(struct profile_builder *builder, bool right)
{
    if (!right)
        builder_fail(builder, FAILURE_WRONG_ROW);
    return right;
}

/* A row that is never compared; NULL on failure. `limit` is the most rows there may be. */
static void *row_add(struct profile_builder *builder, struct array *rows, size_t limit)
{
    if (builder->failure != FAILURE_NONE)
        return NULL;
    void *row = rows->n < limit ? array_push(rows) : NULL;
    if (row == NULL)
        builder_fail(builder, rows->n < limit ? FAILURE_MEMORY : FAILURE_FULL);
    return row;
}

static void storage_deinit(struct storage *storage)
{
    intern_destroy(storage->texts);
    arena_destroy(storage->arena);
    row_table_deinit(&storage->modules);
    row_table_deinit(&storage->functions);
    row_table_deinit(&storage->frames);
    row_table_deinit(&storage->stacks);
    array_deinit(&storage->processes);
    array_deinit(&storage->threads);
    array_deinit(&storage->spans);
    array_deinit(&storage->samples);
    for (size_t kind = 0; kind < PROFILE_MAX_KINDS; kind++)
        value_column_deinit(&storage->columns[kind]);
    array_deinit(&storage->instants);
    array_deinit(&storage->off_cpus);
    array_deinit(&storage->bookmarks);
    array_deinit(&storage->metadata);
}

static bool storage_init(struct storage *storage)
{
    array_init(&storage->processes, sizeof(struct profile_process));
    array_init(&storage->threads, sizeof(struct profile_thread));
    array_init(&storage->spans, sizeof(struct profile_span));
    array_init(&storage->samples, sizeof(struct profile_sample));
    for (size_t kind = 0; kind < PROFILE_MAX_KINDS; kind++)
        value_column_init(&storage->columns[kind]);
    array_init(&storage->instants, sizeof(struct profile_instant));
    array_init(&storage->off_cpus, sizeof(struct profile_off_cpu));
    array_init(&storage->bookmarks, sizeof(struct profile_bookmark));
    array_init(&storage->metadata, sizeof(struct profile_metadata));
    storage->arena = arena_create();
    storage->texts = storage->arena == NULL ? NULL : intern_create(storage->arena);
    return storage->texts != NULL &&
           row_table_init(&storage->modules, sizeof(struct profile_module)) &&
           row_table_init(&storage->functions, sizeof(struct profile_function)) &&
           row_table_init(&storage->frames, sizeof(struct profile_frame)) &&
           row_table_init(&storage->stacks, sizeof(struct profile_stack)) &&
           array_push(&storage->processes) != NULL && array_push(&storage->threads) != NULL &&
           array_push(&storage->spans) != NULL;
}

bool profile_builder_create(struct profile_builder **out, struct err *err)
{
    struct profile_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return err_fail_memory(err);
    if (!storage_init(&builder->storage)) {
        profile_builder_destroy(builder);
        return err_fail_memory(err);
    }
    *out = builder;
    return true;
}

void profile_builder_destroy(struct profile_builder *builder)
{
    if (builder == NULL)
        return;
    storage_deinit(&builder->storage);
    free(builder);
}

struct profile_scalars *profile_builder_scalars(struct profile_builder *builder)
{
    return &builder->scalars;
}

uint32_t profile_add_text(struct profile_builder *builder, const char *bytes, size_t length)
{
    if (builder->failure != FAILURE_NONE)
        return 0;
    uint32_t id;
    if (!intern_add(builder->storage.texts, bytes, length, &id))
        return builder_fail(builder, FAILURE_MEMORY);
    return id;
}

uint32_t profile_add_cstring(struct profile_builder *builder, const char *text)
{
    return profile_add_text(builder, text, strlen(text));
}

struct text profile_builder_text(const struct profile_builder *builder, uint32_t id)
{
    return intern_text(builder->storage.texts, id);
}

uint32_t profile_add_module(struct profile_builder *builder, const struct profile_module *module)
{
    return table_add(builder, &builder->storage.modules, module, sizeof *module);
}

uint32_t profile_add_function(struct profile_builder *builder,
                              const struct profile_function *function)
{
    if (!is_right(builder, function->module < builder->storage.modules.rows.n))
        return 0;
    return table_add(builder, &builder->storage.functions, function, sizeof *function);
}

uint32_t profile_add_frame(struct profile_builder *builder, const struct profile_frame *frame)
{
    if (!is_right(builder, frame->function < builder->storage.functions.rows.n))
        return 0;
    const struct profile_function *function =
        array_at(&builder->storage.functions.rows, frame->function);
    struct profile_frame row = *frame;
    if (row.file == function->file)
        row.file = 0;
    return table_add(builder, &builder->storage.frames, &row, sizeof row);
}

uint32_t profile_add_stack(struct profile_builder *builder, uint32_t parent, uint32_t frame)
{
    if (!is_right(builder, parent < builder->storage.stacks.rows.n &&
                               frame < builder->storage.frames.rows.n))
        return 0;
    const struct profile_stack stack = {.parent = parent, .frame = frame};
    return table_add(builder, &builder->storage.stacks, &stack, sizeof stack);
}

uint32_t profile_add_named_frame(struct profile_builder *builder, const char *name, size_t length)
{
    const struct profile_function function = {.name = profile_add_text(builder, name, length)};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function)};
    return profile_add_frame(builder, &frame);
}

uint32_t profile_add_process(struct profile_builder *builder, const struct profile_process *process)
{
    struct profile_process *row = row_add(builder, &builder->storage.processes, UINT32_MAX);
    if (row == NULL)
        return 0;
    *row = *process;
    return (uint32_t)(builder->storage.processes.n - 1);
}

uint32_t profile_add_thread(struct profile_builder *builder, const struct profile_thread *thread)
{
    if (!is_right(builder, thread->process < builder->storage.processes.n))
        return 0;
    struct profile_thread *row = row_add(builder, &builder->storage.threads, UINT32_MAX);
    if (row == NULL)
        return 0;
    *row = *thread;
    return (uint32_t)(builder->storage.threads.n - 1);
}

/* The first sample fixes how many numbers each has: columns cannot be added later. */
static bool kinds_are_fixed(struct profile_builder *builder)
{
    if (builder->n_kinds != 0)
        return true;
    if (builder->scalars.n_kinds == 0 || builder->scalars.n_kinds > PROFILE_MAX_KINDS) {
        builder_fail(builder, FAILURE_NO_KINDS);
        return false;
    }
    builder->n_kinds = builder->scalars.n_kinds;
    return true;
}

static bool samples_are_right(const struct storage *storage, size_t n,
                              const struct profile_sample *samples)
{
    bool right = true;
    for (size_t i = 0; i < n; i++)
        right &=
            samples[i].thread < storage->threads.n && samples[i].stack < storage->stacks.rows.n;
    return right;
}

void profile_add_samples(struct profile_builder *builder, size_t n,
                         const struct profile_sample *samples, const uint64_t *const *values)
{
    struct array *rows = &builder->storage.samples;
    if (n == 0 || builder->failure != FAILURE_NONE ||
        !is_right(builder, samples_are_right(&builder->storage, n, samples)) ||
        !kinds_are_fixed(builder))
        return;
    /* Rows last: after a failure there are as many rows as before, whatever the columns have. */
    bool ok = array_reserve(rows, n);
    for (uint32_t kind = 0; ok && kind < builder->n_kinds; kind++)
        ok = value_column_add(&builder->storage.columns[kind], values[kind], n);
    if (!ok) {
        builder_fail(builder, FAILURE_MEMORY);
        return;
    }
    struct profile_sample *added = (struct profile_sample *)rows->items + rows->n;
    memcpy(added, samples, n * sizeof *added);
    for (size_t i = 0; i < n && !builder->scalars.has_times; i++)
        added[i].time_ns = 0; /* no times, no order by them */
    rows->n += n;
}

void profile_add_sample(struct profile_builder *builder, const struct profile_sample *sample,
                        const uint64_t *values)
{
    const uint64_t *by_kind[PROFILE_MAX_KINDS] = {NULL};
    for (uint32_t kind = 0; kind < PROFILE_MAX_KINDS && kind < builder->scalars.n_kinds; kind++)
        by_kind[kind] = &values[kind];
    profile_add_samples(builder, 1, sample, by_kind);
}

void profile_add_span(struct profile_builder *builder, const struct profile_span *span)
{
    if (!is_right(builder, span->thread < builder->storage.threads.n &&
                               span->frame < builder->storage.frames.rows.n &&
                               span->end_ns >= span->begin_ns))
        return;
    struct profile_span *row = row_add(builder, &builder->storage.spans, UINT32_MAX);
    if (row != NULL)
        *row = *span;
}

void profile_add_instant(struct profile_builder *builder, const struct profile_instant *instant)
{
    if (!is_right(builder, instant->thread < builder->storage.threads.n &&
                               instant->frame < builder->storage.frames.rows.n))
        return;
    struct profile_instant *row = row_add(builder, &builder->storage.instants, SIZE_MAX);
    if (row != NULL)
        *row = *instant;
}

void profile_add_off_cpu(struct profile_builder *builder, const struct profile_off_cpu *off_cpu)
{
    if (!is_right(builder, off_cpu->thread < builder->storage.threads.n &&
                               off_cpu->end_ns >= off_cpu->begin_ns))
        return;
    struct profile_off_cpu *row = row_add(builder, &builder->storage.off_cpus, SIZE_MAX);
    if (row != NULL)
        *row = *off_cpu;
}

void profile_add_bookmark(struct profile_builder *builder, const struct profile_bookmark *bookmark)
{
    struct profile_bookmark *row = row_add(builder, &builder->storage.bookmarks, SIZE_MAX);
    if (row != NULL)
        *row = *bookmark;
}

void profile_add_metadata(struct profile_builder *builder, const char *key, const char *value,
                          size_t value_length)
{
    const struct profile_metadata metadata = {
        .key = profile_add_cstring(builder, key),
        .value = profile_add_text(builder, value, value_length),
    };
    struct profile_metadata *row = row_add(builder, &builder->storage.metadata, SIZE_MAX);
    if (row != NULL)
        *row = metadata;
}

static bool failure_report(enum failure failure, struct err *err)
{
    switch (failure) {
    case FAILURE_NONE:
        return true;
    case FAILURE_FULL:
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "a table of the profile has over 2^32 rows");
    case FAILURE_NO_KINDS:
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "samples need 1 to %d kinds of values",
                        PROFILE_MAX_KINDS);
    case FAILURE_WRONG_ROW:
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                        "a row of the profile refers to one that does not exist, or ends before it "
                        "begins");
    case FAILURE_MEMORY:
    default:
        return err_fail_memory(err);
    }
}

static bool builder_order(struct profile_builder *builder)
{
    struct storage *storage = &builder->storage;
    if (!profile_order_samples(&storage->samples, storage->columns, builder->n_kinds,
                               (uint32_t)storage->threads.n) ||
        !profile_order_spans(&storage->spans) ||
        !profile_place_instants(&storage->instants, &storage->spans)) {
        builder_fail(builder, FAILURE_MEMORY);
        return false;
    }
    return true;
}

/* Gives back what a growing array holds in reserve. */
static void array_trim(struct array *rows)
{
    if (rows->n == 0 || rows->n == rows->n_reserved)
        return;
    void *items = realloc(rows->items, rows->n * rows->item_bytes);
    if (items == NULL)
        return;
    rows->items = items;
    rows->n_reserved = rows->n;
}

/* Ids are given out; nothing looks for equal rows any more. */
static void table_trim(struct row_table *table)
{
    free(table->slots);
    table->slots = NULL;
    array_trim(&table->rows);
}

static void storage_trim(struct storage *storage)
{
    table_trim(&storage->modules);
    table_trim(&storage->functions);
    table_trim(&storage->frames);
    table_trim(&storage->stacks);
    array_trim(&storage->spans);
    array_trim(&storage->samples);
    for (size_t kind = 0; kind < PROFILE_MAX_KINDS; kind++) {
        array_trim(&storage->columns[kind].numbers);
        array_trim(&storage->columns[kind].large);
    }
    array_trim(&storage->instants);
    array_trim(&storage->off_cpus);
}

static void profile_fill(struct profile *profile, const struct storage *storage,
                         const struct profile_scalars *scalars)
{
    *profile = (struct profile){
        .texts = storage->texts,
        .n_kinds = scalars->n_kinds,
        .has_times = scalars->has_times,
        .start_time_ns = scalars->start_time_ns,
        .start_realtime_ns = scalars->start_realtime_ns,
        .duration_ns = scalars->duration_ns,
        .period = scalars->period,
        .modules = storage->modules.rows.items,
        .functions = storage->functions.rows.items,
        .frames = storage->frames.rows.items,
        .stacks = storage->stacks.rows.items,
        .processes = storage->processes.items,
        .threads = storage->threads.items,
        .samples = storage->samples.items,
        .spans = storage->spans.items,
        .instants = storage->instants.items,
        .off_cpus = storage->off_cpus.items,
        .bookmarks = storage->bookmarks.items,
        .metadata = storage->metadata.items,
        .n_modules = (uint32_t)storage->modules.rows.n,
        .n_functions = (uint32_t)storage->functions.rows.n,
        .n_frames = (uint32_t)storage->frames.rows.n,
        .n_stacks = (uint32_t)storage->stacks.rows.n,
        .n_processes = (uint32_t)storage->processes.n,
        .n_threads = (uint32_t)storage->threads.n,
        .n_spans = (uint32_t)storage->spans.n,
        .n_samples = storage->samples.n,
        .n_instants = storage->instants.n,
        .n_off_cpus = storage->off_cpus.n,
        .n_bookmarks = storage->bookmarks.n,
        .n_metadata = storage->metadata.n,
    };
    memcpy(profile->kinds, scalars->kinds, sizeof profile->kinds);
    for (size_t kind = 0; kind < PROFILE_MAX_KINDS; kind++) {
        const struct value_column *column = &storage->columns[kind];
        profile->columns[kind] =
            (struct profile_column){.numbers = column->numbers.items,
                                    .large = column->large.items,
                                    .same = column->same,
                                    .number_bytes = (unsigned)column->numbers.item_bytes};
    }
}

bool profile_builder_finish(struct profile_builder *builder, struct profile **out, struct err *err)
{
    struct profile_owner *owner = calloc(1, sizeof *owner);
    if (owner == NULL)
        builder_fail(builder, FAILURE_MEMORY);
    is_right(builder, builder->n_kinds == 0 || builder->n_kinds == builder->scalars.n_kinds);
    if (builder->failure != FAILURE_NONE || !builder_order(builder)) {
        enum failure failure = builder->failure;
        free(owner);
        profile_builder_destroy(builder);
        return failure_report(failure, err);
    }
    storage_trim(&builder->storage);
    owner->storage = builder->storage;
    profile_fill(&owner->profile, &owner->storage, &builder->scalars);
    free(builder);
    *out = &owner->profile;
    return true;
}

uint32_t profile_stack_label(const struct profile *profile, uint32_t stack)
{
    while (profile->stacks[stack].parent != 0)
        stack = profile->stacks[stack].parent;
    const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
    return frame->flags & PROFILE_FRAME_LABEL ? frame->function : 0;
}

void profile_destroy(struct profile *profile)
{
    if (profile == NULL)
        return;
    struct profile_owner *owner = (struct profile_owner *)profile;
    storage_deinit(&owner->storage);
    free(owner);
}
