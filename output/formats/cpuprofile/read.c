/* read.c - struct cpuprofile -> profile.
 *
 * A sample lasts until the next one (the last: until the end of the file), and that is its weight.
 * Its stack is the path below the root; a sample of the root itself has no frame. As the last one
 * it only ends the one before (the thread may end before the file does) and is no sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"

static uint32_t add_frame(struct profile_builder *builder, const struct cpuprofile_node *node)
{
    struct profile_function function = {
        .name = profile_add_text(builder, node->name.bytes, node->name.length),
        .file = profile_add_text(builder, node->url.bytes, node->url.length),
        .line = node->line,
        .column = node->column,
    };
    bool is_idle = node->depth == 1 && node->line == 0 && node->url.length == 0 &&
                   text_is(node->name, "(idle)");
    struct profile_frame frame = {
        .function = profile_add_function(builder, &function),
        .flags = is_idle ? PROFILE_FRAME_IDLE : 0,
    };
    return profile_add_frame(builder, &frame);
}

/* Stacks of all nodes, parents first: nodes are listed in any order, so by rising depth (counting
 * sort). */
static uint32_t *add_stacks(struct profile_builder *builder, const struct cpuprofile *file)
{
    size_t n = file->nodes.n;
    uint32_t max_depth = 0;
    for (size_t i = 0; i < n; i++) {
        const struct cpuprofile_node *node = &file->nodes.items[i];
        max_depth = node->depth > max_depth ? node->depth : max_depth;
    }
    uint32_t *stacks = calloc(n + 1, sizeof *stacks);
    uint32_t *order = calloc(n + 1, sizeof *order);
    size_t *starts = calloc((size_t)max_depth + 2, sizeof *starts);
    if (stacks != NULL && order != NULL && starts != NULL) {
        for (size_t i = 0; i < n; i++)
            starts[file->nodes.items[i].depth + 1]++;
        for (size_t depth = 1; depth <= max_depth; depth++)
            starts[depth] += starts[depth - 1];
        for (size_t i = 0; i < n; i++)
            order[starts[file->nodes.items[i].depth]++] = (uint32_t)i;
        for (size_t i = 0; i < n; i++) {
            const struct cpuprofile_node *node = &file->nodes.items[order[i]];
            uint32_t parent = node->parent == CPUPROFILE_NO_NODE ? 0 : stacks[node->parent];
            stacks[order[i]] = order[i] == file->root
                                   ? 0
                                   : profile_add_stack(builder, parent, add_frame(builder, node));
        }
    } else {
        free(stacks);
        stacks = NULL;
    }
    free(order);
    free(starts);
    return stacks;
}

static uint64_t to_ns(double us)
{
    const double EXACT_NS = 1e15; /* so far adding a half rounds right */
    if (us <= 0)
        return 0;
    return us < EXACT_NS / 1000 ? (uint64_t)(us * 1000.0 + 0.5) : (uint64_t)llround(us * 1000.0);
}

static void add_samples(struct profile_builder *builder, const struct cpuprofile *file,
                        const uint32_t *stacks, uint32_t thread, double base_us)
{
    enum { BATCH = 512 };
    struct profile_sample rows[BATCH];
    uint64_t counts[BATCH], lengths_ns[BATCH];
    const uint64_t *const values[] = {counts, lengths_ns};
    struct cpuprofile_samples samples = cpuprofile_samples_make(file);
    struct cpuprofile_sample from;
    size_t n = 0;
    for (size_t i = 0; i < BATCH; i++)
        counts[i] = 1;
    while (cpuprofile_samples_next(&samples, &from)) {
        if (samples.next == file->samples.n && from.node == file->root)
            break;
        uint64_t begin_ns = to_ns(from.begin_us - base_us);
        rows[n] = (struct profile_sample){
            .thread = thread, .stack = stacks[from.node], .time_ns = begin_ns};
        /* Ends are rounded, not lengths, so that lengths add up to the whole. */
        lengths_ns[n++] = to_ns(from.end_us - base_us) - begin_ns;
        if (n == BATCH) {
            profile_add_samples(builder, n, rows, values);
            n = 0;
        }
    }
    profile_add_samples(builder, n, rows, values);
}

static void build(struct profile_builder *builder, const struct cpuprofile *file,
                  const uint32_t *stacks)
{
    double base_us = file->first_us < file->start_us ? file->first_us : file->start_us;
    double end_us = file->end_us > file->last_us ? file->end_us : file->last_us;
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 2;
    scalars->kinds[0] = (struct profile_kind){.name = profile_add_cstring(builder, "samples"),
                                              .unit = PROFILE_UNIT_COUNT};
    scalars->kinds[1] = (struct profile_kind){.name = profile_add_cstring(builder, "time"),
                                              .unit = PROFILE_UNIT_NS};
    scalars->has_times = true;
    scalars->start_time_ns = to_ns(base_us);
    scalars->duration_ns = to_ns(end_us - base_us);
    const struct profile_process process = {.end_ns = scalars->duration_ns};
    const struct profile_thread thread = {.process = profile_add_process(builder, &process),
                                          .end_ns = scalars->duration_ns};
    add_samples(builder, file, stacks, profile_add_thread(builder, &thread), base_us);
}

bool cpuprofile_read(const uint8_t *data, size_t size_bytes, const struct format_options *options,
                     const struct format_notes *notes, struct profile **out, struct err *err)
{
    struct cpuprofile file;
    struct profile_builder *builder = NULL;
    uint32_t *stacks = NULL;
    bool ok =
        cpuprofile_parse(data, size_bytes, &file, err) && profile_builder_create(&builder, err);
    if (ok && options->input_done != NULL)
        options->input_done(options->input);
    if (ok) {
        stacks = add_stacks(builder, &file);
        ok = stacks != NULL || err_fail_memory(err);
    }
    if (ok && file.samples.n == 0)
        format_note(notes, "no samples in the file; hit counts alone are not read");
    if (ok && file.is_evenly_spread && file.samples.n != 0)
        format_note(notes, "no times in the file: samples are spread evenly");
    if (ok && file.is_reordered)
        format_note(notes, "samples were not in order of time: sorted");
    if (ok) {
        build(builder, &file, stacks);
        ok = profile_builder_finish(builder, out, err);
    } else {
        profile_builder_destroy(builder);
    }
    free(stacks);
    cpuprofile_deinit(&file);
    return ok;
}
