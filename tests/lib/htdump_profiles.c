/* htdump_profiles.c - see htdump_profiles.h. */
#include "htdump_profiles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct profile_builder *builder_make(uint64_t period_ns)
{
    struct err err = ERR_INIT;
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].name = profile_add_cstring(builder, "cpu");
    scalars->kinds[0].unit = PROFILE_UNIT_NS;
    scalars->has_times = true;
    scalars->start_time_ns = 5000000000000;
    scalars->period = period_ns;
    return builder;
}

struct profile *profile_done(struct profile_builder *builder)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    if (!profile_builder_finish(builder, &profile, &err))
        fail_msg("%s", err.text);
    return profile;
}

static uint32_t named(struct profile_builder *builder, const char *name)
{
    return profile_add_named_frame(builder, name, strlen(name));
}

static const char *const odd_names[] = {
    "main",
    "operator new[](unsigned long)",
    "std::vector<int, std::allocator<int> >::push_back(int&&)",
    "<T as core::fmt::Debug>::fmt::{{closure}}",
    "a;b c;d",
    "say \"hi\" \\ bye",
    "gr\303\266\303\237er \342\202\254 \360\237\230\200",
    "tab\there\nand line",
    "",
    " ",
};

static uint32_t rich_frame(struct profile_builder *builder, uint32_t n)
{
    const struct profile_module module = {
        .path = profile_add_cstring(builder, n % 2 == 0 ? "/usr/bin/de mo" : "/lib/libc.so.6"),
        .build_id = profile_add_cstring(builder, n % 2 == 0 ? "00ff12ab" : ""),
        .start = n % 2 == 0 ? 0x400000 : 0,
        .end = n % 2 == 0 ? 0x500000 : 0,
    };
    const struct profile_function function = {
        .name = profile_add_cstring(builder, odd_names[n % N_ELEMENTS(odd_names)]),
        .system_name = n % 3 == 0 ? profile_add_cstring(builder, "_Z4mainv") : 0,
        .file = n % 4 != 0 ? profile_add_cstring(builder, "src/\xc3\xa4 file.cc") : 0,
        .line = n % 5,
        .column = n % 7,
        .module = n % 4 == 3 ? 0 : profile_add_module(builder, &module),
    };
    const struct profile_frame frame = {
        .function = profile_add_function(builder, &function),
        .line = n,
        .column = n % 3,
        .flags = n % 5 == 4    ? PROFILE_FRAME_INLINED
                 : n % 11 == 0 ? PROFILE_FRAME_KERNEL
                               : 0,
        .address = n % 6 == 0 ? 0 : UINT64_C(0xffffffff00000000) + n,
        .file = n % 9 == 1 ? profile_add_cstring(builder, "src/actions.y") : 0,
    };
    return profile_add_frame(builder, &frame);
}

static void happenings_add(struct profile_builder *builder, uint32_t thread)
{
    struct profile_instant instant = {
        .thread = thread, .frame = named(builder, "mark"), .time_ns = 150};
    profile_add_instant(builder, &instant);
    instant.type = PROFILE_VALUE_I64;
    instant.value.i64 = -7;
    profile_add_instant(builder, &instant);
    instant.type = PROFILE_VALUE_U64;
    instant.value.u64 = UINT64_MAX;
    profile_add_instant(builder, &instant);
    instant.type = PROFILE_VALUE_F64;
    instant.value.f64 = -0.1;
    profile_add_instant(builder, &instant);
    instant.type = PROFILE_VALUE_BOOL;
    instant.value.u64 = 1;
    profile_add_instant(builder, &instant);
    instant.type = PROFILE_VALUE_TEXT;
    instant.value.u64 = profile_add_cstring(builder, "va\"lue");
    instant.thread = 0;
    profile_add_instant(builder, &instant);
    const struct profile_off_cpu off_cpu = {.thread = thread,
                                            .to_process = profile_add_cstring(builder, "sw ap"),
                                            .to_tid = UINT64_C(1) << 40,
                                            .begin_ns = 100,
                                            .end_ns = 180};
    profile_add_off_cpu(builder, &off_cpu);
    const struct profile_bookmark bookmark = {
        .text = profile_add_cstring(builder, "here"), .color = 0xff00aa11, .time_ns = 42};
    profile_add_bookmark(builder, &bookmark);
    profile_add_metadata(builder, "command", "./demo --x \"y\"", 14);
    profile_add_metadata(builder, "host", "", 0);
}

static void threads_of_everything(struct profile_builder *builder, uint32_t *threads)
{
    const struct profile_process processes[] = {
        {.name = profile_add_cstring(builder, "demo"),
         .pid = 100,
         .ppid = 1,
         .start_ns = 5,
         .end_ns = 900},
        {.name = profile_add_cstring(builder, "ch ild"), .pid = 100},
        {.pid = UINT64_C(1) << 33},
    };
    uint32_t ids[3];
    for (size_t i = 0; i < 3; i++)
        ids[i] = profile_add_process(builder, &processes[i]);
    const struct profile_thread rows[] = {
        {.process = ids[0],
         .name = profile_add_cstring(builder, "ma in"),
         .tid = 100,
         .start_ns = 1,
         .end_ns = 2,
         .cpu_ns = 3},
        {.process = ids[1], .name = profile_add_cstring(builder, "w\xc3\xb6rk\"er"), .tid = 100},
        {.process = ids[2], .tid = UINT64_C(5) << 32},
        {.process = ids[0], .tid = 1},
        {.tid = 7, .cpu_ns = UINT64_MAX},
    };
    for (size_t i = 0; i < N_ELEMENTS(rows); i++)
        threads[i + 1] = profile_add_thread(builder, &rows[i]);
}

struct profile *profile_of_everything(void)
{
    struct profile_builder *builder = builder_make(1000);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 3;
    scalars->kinds[1] =
        (struct profile_kind){profile_add_cstring(builder, "samples"), PROFILE_UNIT_COUNT};
    scalars->kinds[2] =
        (struct profile_kind){profile_add_cstring(builder, "cache misses"), PROFILE_UNIT_EVENTS};
    scalars->start_realtime_ns = 1700000000000000000;
    scalars->duration_ns = 123456;
    uint32_t threads[6] = {0};
    threads_of_everything(builder, threads);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t stack = 0;
        for (uint32_t depth = 0; depth < i % 7; depth++)
            stack = profile_add_stack(builder, stack,
                                      rich_frame(builder, (i / 10 + depth * depth) % 60));
        const struct profile_sample sample = {
            .thread = threads[i % 6], .stack = stack, .time_ns = (uint64_t)i * 997};
        const uint64_t values[] = {i == 3 ? UINT64_MAX : 1000, i % 3, i % 50 == 0 ? UINT64_MAX : 0};
        profile_add_sample(builder, &sample, values);
    }
    const struct profile_span spans[] = {
        {.thread = threads[2], .frame = rich_frame(builder, 61), .begin_ns = 100, .end_ns = 300},
        {.thread = threads[2], .frame = rich_frame(builder, 5), .begin_ns = 100, .end_ns = 300},
        {.thread = threads[2], .frame = 0, .begin_ns = 150, .end_ns = 150},
        {.thread = 0, .frame = named(builder, "nowhere"), .begin_ns = 0, .end_ns = 5},
    };
    for (size_t i = 0; i < N_ELEMENTS(spans); i++)
        profile_add_span(builder, &spans[i]);
    happenings_add(builder, threads[2]);
    return profile_done(builder);
}

static uint32_t chance(unsigned *state, uint32_t below)
{
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 8) % below;
}

struct profile *profile_of_chance(unsigned seed, uint64_t period_ns)
{
    struct profile_builder *builder = builder_make(period_ns);
    uint64_t weight_ns = period_ns == 0 ? 1000000 : period_ns;
    for (unsigned t = 0; t < 3; t++) {
        const struct profile_thread thread = {.tid = 4000 + t};
        uint32_t id = profile_add_thread(builder, &thread);
        uint32_t path[41] = {0}; /* stacks by depth */
        uint32_t depth = 0;
        uint64_t time_ns = chance(&seed, 100);
        for (unsigned i = 0; i < 50; i++) {
            uint32_t common = chance(&seed, depth + 1);
            depth = common + chance(&seed, 41 - common);
            for (uint32_t d = common; d < depth; d++) {
                char name[] = {'f', (char)('a' + (int)chance(&seed, 6)), '\0'};
                path[d + 1] = profile_add_stack(builder, path[d], named(builder, name));
            }
            const struct profile_sample sample = {
                .thread = id, .stack = path[depth], .time_ns = time_ns};
            profile_add_sample(builder, &sample, &weight_ns);
            time_ns += chance(&seed, 10) == 0 ? 20 * weight_ns : weight_ns;
        }
    }
    return profile_done(builder);
}

struct profile *profile_of_spans(void)
{
    struct profile_builder *builder = builder_make(0);
    profile_builder_scalars(builder)->n_kinds = 0;
    profile_builder_scalars(builder)->has_times = false;
    const struct profile_thread thread = {.tid = 1};
    uint32_t id = profile_add_thread(builder, &thread);
    static const struct {
        const char *name;
        uint64_t begin_ns, end_ns;
    } rows[] = {
        {"a", 0, 100},   {"b", 0, 100},   {"c", 0, 50},    {"d", 50, 100}, {"e", 50, 50},
        {"f", 60, 62},   {"g", 60, 62},   {"h", 60, 62},   {"i", 99, 120}, {"j", 110, 130},
        {"k", 130, 131}, {"l", 200, 300}, {"m", 200, 210},
    };
    for (size_t i = 0; i < N_ELEMENTS(rows); i++) {
        const struct profile_span span = {.thread = id,
                                          .frame = named(builder, rows[i].name),
                                          .begin_ns = rows[i].begin_ns,
                                          .end_ns = rows[i].end_ns};
        profile_add_span(builder, &span);
    }
    return profile_done(builder);
}

struct profile *profile_of_counts(void)
{
    struct profile_builder *builder = builder_make(0);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->kinds[0].unit = PROFILE_UNIT_COUNT;
    scalars->has_times = false;
    scalars->start_time_ns = 0;
    uint32_t a = profile_add_stack(builder, 0, named(builder, "a"));
    const uint64_t counts[] = {3, 1, UINT64_MAX};
    const uint32_t stacks[] = {profile_add_stack(builder, a, named(builder, "b")), a, 0};
    for (size_t i = 0; i < 3; i++) {
        const struct profile_sample sample = {.stack = stacks[i]};
        profile_add_sample(builder, &sample, &counts[i]);
    }
    return profile_done(builder);
}

struct profile *profile_of_nothing(void)
{
    struct err err = ERR_INIT;
    struct profile_builder *builder = NULL;
    assert_true(profile_builder_create(&builder, &err));
    return profile_done(builder);
}

struct profile *profile_of_depth(uint32_t depth)
{
    struct profile_builder *builder = builder_make(1000000);
    uint32_t stack = 0;
    for (uint32_t i = 0; i < depth; i++)
        stack = profile_add_stack(builder, stack, named(builder, i % 2 == 0 ? "even" : "odd"));
    const struct profile_sample sample = {.stack = stack, .time_ns = 7};
    const uint64_t weight_ns = 1000000;
    profile_add_sample(builder, &sample, &weight_ns);
    return profile_done(builder);
}

/* ---- description ---- */

static void text_describe(FILE *out, const struct profile *profile, uint32_t id)
{
    struct text text = profile_text(profile, id);
    fputc('[', out);
    fwrite(text.bytes, 1, text.length, out);
    fputc(']', out);
}

static void frame_describe(FILE *out, const struct profile *profile, uint32_t id)
{
    const struct profile_frame *frame = &profile->frames[id];
    const struct profile_function *function = &profile->functions[frame->function];
    const struct profile_module *module = &profile->modules[function->module];
    text_describe(out, profile, function->name);
    text_describe(out, profile, function->system_name);
    text_describe(out, profile, function->file);
    fprintf(out, "%u:%u ", function->line, function->column);
    text_describe(out, profile, module->path);
    text_describe(out, profile, module->build_id);
    fprintf(out, "%" PRIx64 "-%" PRIx64 " at %u:%u %u %" PRIx64 "\n", module->start, module->end,
            frame->line, frame->column, frame->flags, frame->address);
}

static void scalars_describe(FILE *out, const struct profile *profile)
{
    fprintf(out, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", profile->has_times,
            profile->start_time_ns, profile->start_realtime_ns, profile->duration_ns,
            profile->period);
    for (uint32_t i = 0; i < profile->n_kinds; i++) {
        fprintf(out, "kind %d", (int)profile->kinds[i].unit);
        text_describe(out, profile, profile->kinds[i].name);
    }
    for (size_t i = 0; i < profile->n_metadata; i++) {
        text_describe(out, profile, profile->metadata[i].key);
        text_describe(out, profile, profile->metadata[i].value);
    }
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        const struct profile_process *p = &profile->processes[i];
        fprintf(out, "\nprocess %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, p->pid, p->ppid,
                p->start_ns, p->end_ns);
        text_describe(out, profile, p->name);
    }
    for (uint32_t i = 1; i < profile->n_threads; i++) {
        const struct profile_thread *t = &profile->threads[i];
        fprintf(out, "\nthread %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, t->process, t->tid,
                t->start_ns, t->end_ns, t->cpu_ns);
        text_describe(out, profile, t->name);
    }
    fputc('\n', out);
}

static void samples_describe(FILE *out, const struct profile *profile)
{
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        fprintf(out, "sample %u %" PRIu64, sample->thread, sample->time_ns);
        for (uint32_t k = 0; k < profile->n_kinds; k++)
            fprintf(out, " %" PRIu64, profile_value(profile, i, k));
        fputc('\n', out);
        for (uint32_t stack = sample->stack; stack != 0; stack = profile->stacks[stack].parent)
            frame_describe(out, profile, profile->stacks[stack].frame);
    }
}

static void happenings_describe(FILE *out, const struct profile *profile)
{
    for (uint32_t i = 1; i < profile->n_spans; i++) {
        const struct profile_span *span = &profile->spans[i];
        fprintf(out, "span %u %u %" PRIu64 " %" PRIu64 " ", span->thread, span->parent,
                span->begin_ns, span->end_ns);
        frame_describe(out, profile, span->frame);
    }
    for (size_t i = 0; i < profile->n_instants; i++) {
        const struct profile_instant *instant = &profile->instants[i];
        bool is_text = instant->type == PROFILE_VALUE_TEXT;
        fprintf(out, "instant %u %u %d %" PRIu64 " %" PRIx64, instant->thread, instant->span,
                (int)instant->type, instant->time_ns, is_text ? 0 : instant->value.u64);
        text_describe(out, profile, is_text ? (uint32_t)instant->value.u64 : 0);
        frame_describe(out, profile, instant->frame);
    }
    for (size_t i = 0; i < profile->n_off_cpus; i++) {
        const struct profile_off_cpu *off = &profile->off_cpus[i];
        fprintf(out, "off %u %" PRIu64 " %" PRIu64 " %" PRIu64, off->thread, off->to_tid,
                off->begin_ns, off->end_ns);
        text_describe(out, profile, off->to_process);
    }
    for (size_t i = 0; i < profile->n_bookmarks; i++) {
        fprintf(out, "\nbookmark %x %" PRIu64, profile->bookmarks[i].color,
                profile->bookmarks[i].time_ns);
        text_describe(out, profile, profile->bookmarks[i].text);
    }
}

char *profile_describe(const struct profile *profile)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    scalars_describe(out, profile);
    samples_describe(out, profile);
    happenings_describe(out, profile);
    fclose(out);
    return text;
}
