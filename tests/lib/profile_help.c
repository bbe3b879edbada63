/* profile_help.c - see profile_help.h. */
#include "profile_help.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

struct profile_builder *builder_make(enum profile_unit unit, uint64_t period)
{
    struct err err = ERR_INIT;
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].name = profile_add_cstring(builder, "n");
    scalars->kinds[0].unit = unit;
    scalars->period = period;
    return builder;
}

struct profile *builder_finish(struct profile_builder *builder)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    bool ok = profile_builder_finish(builder, &profile, &err);
    if (!ok)
        print_error("%s\n", err.text);
    assert_true(ok);
    return profile;
}

uint32_t folded_stack(struct profile_builder *builder, const char *folded)
{
    uint32_t stack = 0;
    while (*folded != '\0') {
        size_t n = strcspn(folded, ";");
        stack = profile_add_stack(builder, stack, profile_add_named_frame(builder, folded, n));
        folded += n + (folded[n] == ';');
    }
    return stack;
}

uint32_t module_stack(struct profile_builder *builder, const char *frames)
{
    uint32_t stack = 0;
    while (*frames != '\0') {
        size_t n_path = strcspn(frames, "/");
        const char *name = frames + n_path + 1;
        size_t n_name = strcspn(name, ":;");
        bool has_line = name[n_name] == ':';
        const struct profile_module module = {.path = profile_add_text(builder, frames, n_path)};
        const struct profile_function function = {.name = profile_add_text(builder, name, n_name),
                                                  .module = profile_add_module(builder, &module)};
        const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                            .line =
                                                has_line ? (uint32_t)(name[n_name + 1] - '0') : 0,
                                            .flags = name[0] == 'i' ? PROFILE_FRAME_IDLE : 0};
        stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
        frames = name + n_name + (has_line ? 2 : 0);
        frames += *frames == ';';
    }
    return stack;
}

uint32_t thread_add(struct profile_builder *builder, const char *process, uint64_t pid,
                    const char *name, uint64_t tid)
{
    const struct profile_process owner = {.name = profile_add_cstring(builder, process),
                                          .pid = pid};
    const struct profile_thread thread = {.process = profile_add_process(builder, &owner),
                                          .name = profile_add_cstring(builder, name),
                                          .tid = tid};
    return profile_add_thread(builder, &thread);
}

void sample_add(struct profile_builder *builder, uint32_t thread, const char *folded,
                uint64_t time_ns, uint64_t value)
{
    const struct profile_sample sample = {
        .thread = thread, .stack = folded_stack(builder, folded), .time_ns = time_ns};
    profile_add_sample(builder, &sample, &value);
}

void span_add(struct profile_builder *builder, uint32_t thread, const char *name, uint64_t begin_ns,
              uint64_t end_ns)
{
    const struct profile_span span = {.thread = thread,
                                      .frame = profile_add_named_frame(builder, name, strlen(name)),
                                      .begin_ns = begin_ns,
                                      .end_ns = end_ns};
    profile_add_span(builder, &span);
}

struct profile *run_of_folded(const char *folded)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, UINT64_C(1000000));
    char stack[128];
    unsigned n_ms;
    int length;
    for (const char *at = folded; sscanf(at, "%127s %u%n", stack, &n_ms, &length) == 2;
         at += length)
        for (unsigned i = 0; i < n_ms; i++)
            sample_add(builder, 0, stack, 0, UINT64_C(1000000));
    profile_add_metadata(builder, "command", folded, strlen(folded));
    return builder_finish(builder);
}
