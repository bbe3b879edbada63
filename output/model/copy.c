/* copy.c - see model/copy.h. */
#include "model/copy.h"

#include <stdlib.h>

#include "saturated.h"

void profile_map_deinit(struct profile_map *map)
{
    free(map->texts);
    free(map->modules);
    free(map->functions);
    free(map->frames);
    free(map->stacks);
    free(map->processes);
    free(map->threads);
    *map = (struct profile_map){0};
}

static bool map_alloc(struct profile_map *map, const struct profile *in)
{
    map->texts = calloc(intern_count(in->texts), sizeof *map->texts);
    map->modules = calloc(in->n_modules, sizeof *map->modules);
    map->functions = calloc(in->n_functions, sizeof *map->functions);
    map->frames = calloc(in->n_frames, sizeof *map->frames);
    map->stacks = calloc(in->n_stacks, sizeof *map->stacks);
    map->processes = calloc(in->n_processes, sizeof *map->processes);
    map->threads = calloc(in->n_threads, sizeof *map->threads);
    return map->texts != NULL && map->modules != NULL && map->functions != NULL &&
           map->frames != NULL && map->stacks != NULL && map->processes != NULL &&
           map->threads != NULL;
}

/* Modules, functions, frames, stacks: each refers only to tables copied before it. In a stack table
 * parents come first, so one pass is enough there, too. */
static void copy_code(struct profile_map *map, struct profile_builder *builder,
                      const struct profile *in)
{
    for (uint32_t id = 1; id < in->n_modules; id++) {
        struct profile_module module = in->modules[id];
        module.path = map->texts[module.path];
        module.build_id = map->texts[module.build_id];
        map->modules[id] = profile_add_module(builder, &module);
    }
    for (uint32_t id = 1; id < in->n_functions; id++) {
        struct profile_function function = in->functions[id];
        function.name = map->texts[function.name];
        function.system_name = map->texts[function.system_name];
        function.file = map->texts[function.file];
        function.module = map->modules[function.module];
        map->functions[id] = profile_add_function(builder, &function);
    }
    for (uint32_t id = 1; id < in->n_frames; id++) {
        struct profile_frame frame = in->frames[id];
        frame.function = map->functions[frame.function];
        frame.file = map->texts[frame.file];
        map->frames[id] = profile_add_frame(builder, &frame);
    }
    for (uint32_t id = 1; id < in->n_stacks; id++) {
        map->stacks[id] = profile_add_stack(builder, map->stacks[in->stacks[id].parent],
                                            map->frames[in->stacks[id].frame]);
    }
}

/* Row 0, "none", exists in every builder and is not copied. */
static void copy_threads(struct profile_map *map, struct profile_builder *builder,
                         const struct profile *in, uint64_t shift_ns)
{
    for (uint32_t id = 1; id < in->n_processes; id++) {
        struct profile_process process = in->processes[id];
        process.name = map->texts[process.name];
        process.start_ns = add_saturated(process.start_ns, shift_ns);
        process.end_ns = add_saturated(process.end_ns, shift_ns);
        map->processes[id] = profile_add_process(builder, &process);
    }
    for (uint32_t id = 1; id < in->n_threads; id++) {
        struct profile_thread thread = in->threads[id];
        thread.process = map->processes[thread.process];
        thread.name = map->texts[thread.name];
        thread.start_ns = add_saturated(thread.start_ns, shift_ns);
        thread.end_ns = add_saturated(thread.end_ns, shift_ns);
        map->threads[id] = profile_add_thread(builder, &thread);
    }
}

bool profile_map_init(struct profile_map *map, struct profile_builder *builder,
                      const struct profile *in, uint64_t shift_ns, struct err *err)
{
    *map = (struct profile_map){0};
    if (!map_alloc(map, in)) {
        profile_map_deinit(map);
        err_fail_memory(err);
        return false; /* in words, for clang-tidy: nothing is used after it */
    }
    for (uint32_t id = 1; id < intern_count(in->texts); id++) {
        struct text text = profile_text(in, id);
        map->texts[id] = profile_add_text(builder, text.bytes, text.length);
    }
    copy_code(map, builder, in);
    copy_threads(map, builder, in, shift_ns);
    return true;
}

void profile_copy_events(struct profile_builder *builder, const struct profile *in,
                         const struct profile_map *map, uint64_t shift_ns)
{
    for (size_t i = 0; i < in->n_instants; i++) {
        struct profile_instant instant = in->instants[i];
        instant.thread = map->threads[instant.thread];
        instant.frame = map->frames[instant.frame];
        instant.time_ns = add_saturated(instant.time_ns, shift_ns);
        if (instant.type == PROFILE_VALUE_TEXT)
            instant.value.u64 = map->texts[instant.value.u64];
        profile_add_instant(builder, &instant);
    }
    for (size_t i = 0; i < in->n_off_cpus; i++) {
        struct profile_off_cpu off_cpu = in->off_cpus[i];
        off_cpu.thread = map->threads[off_cpu.thread];
        off_cpu.to_process = map->texts[off_cpu.to_process];
        off_cpu.begin_ns = add_saturated(off_cpu.begin_ns, shift_ns);
        off_cpu.end_ns = add_saturated(off_cpu.end_ns, shift_ns);
        profile_add_off_cpu(builder, &off_cpu);
    }
    for (size_t i = 0; i < in->n_bookmarks; i++) {
        struct profile_bookmark bookmark = in->bookmarks[i];
        bookmark.text = map->texts[bookmark.text];
        bookmark.time_ns = add_saturated(bookmark.time_ns, shift_ns);
        profile_add_bookmark(builder, &bookmark);
    }
}

void profile_copy_spans(struct profile_builder *builder, const struct profile *in,
                        const struct profile_map *map, uint64_t shift_ns)
{
    for (uint32_t id = 1; id < in->n_spans; id++) {
        struct profile_span span = in->spans[id];
        span.thread = map->threads[span.thread];
        span.frame = map->frames[span.frame];
        span.begin_ns = add_saturated(span.begin_ns, shift_ns);
        span.end_ns = add_saturated(span.end_ns, shift_ns);
        profile_add_span(builder, &span);
    }
}

void profile_copy_metadata(struct profile_builder *builder, const struct profile *in)
{
    for (size_t i = 0; i < in->n_metadata; i++) {
        struct text value = profile_text(in, in->metadata[i].value);
        profile_add_metadata(builder, profile_text(in, in->metadata[i].key).bytes, value.bytes,
                             value.length);
    }
}

void profile_copy_scalars(struct profile_builder *builder, const struct profile *in,
                          const struct profile_map *map)
{
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = in->n_kinds;
    for (uint32_t kind = 0; kind < in->n_kinds; kind++) {
        scalars->kinds[kind] = in->kinds[kind];
        scalars->kinds[kind].name = map->texts[in->kinds[kind].name];
    }
    scalars->has_times = in->has_times;
    scalars->start_time_ns = in->start_time_ns;
    scalars->start_realtime_ns = in->start_realtime_ns;
    scalars->duration_ns = in->duration_ns;
    scalars->period = in->period;
}

bool profile_builder_like(const struct profile *in, struct profile_builder **out, struct err *err)
{
    struct profile_builder *builder = NULL;
    struct profile_map map;
    if (!profile_builder_create(&builder, err))
        return false;
    if (!profile_map_init(&map, builder, in, 0, err)) {
        profile_builder_destroy(builder);
        return false;
    }
    profile_copy_scalars(builder, in, &map);
    profile_copy_events(builder, in, &map, 0);
    profile_copy_metadata(builder, in);
    profile_map_deinit(&map);
    *out = builder;
    return true;
}

void profile_builder_fill(struct profile_builder *builder, const struct profile *in)
{
    for (size_t i = 0; i < in->n_samples; i++) {
        uint64_t values[PROFILE_MAX_KINDS] = {0};
        for (uint32_t kind = 0; kind < in->n_kinds; kind++)
            values[kind] = profile_value(in, i, kind);
        profile_add_sample(builder, &in->samples[i], values);
    }
    for (uint32_t id = 1; id < in->n_spans; id++)
        profile_add_span(builder, &in->spans[id]);
}
