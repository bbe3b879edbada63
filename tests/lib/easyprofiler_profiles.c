/* easyprofiler_profiles.c - see easyprofiler_profiles.h. */
#include "easyprofiler_profiles.h"

#include <string.h>

#include "profile_help.h"
#include "unit.h"

struct profile_builder *timed_builder(uint64_t start_ns, uint64_t duration_ns)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 0; /* until there are samples */
    scalars->start_time_ns = start_ns;
    scalars->duration_ns = duration_ns;
    return builder;
}

uint32_t add_thread(struct profile_builder *builder, uint32_t process, uint64_t tid,
                    const char *name)
{
    const struct profile_thread thread = {
        .process = process, .tid = tid, .name = profile_add_cstring(builder, name)};
    return profile_add_thread(builder, &thread);
}

uint32_t add_frame(struct profile_builder *builder, const char *name, const char *file,
                   uint32_t line)
{
    const struct profile_function function = {.name = profile_add_cstring(builder, name),
                                              .file = profile_add_cstring(builder, file),
                                              .line = line};
    const struct profile_frame frame = {.function = profile_add_function(builder, &function)};
    return profile_add_frame(builder, &frame);
}

void add_span(struct profile_builder *builder, uint32_t thread, uint32_t frame, uint64_t begin_ns,
              uint64_t end_ns)
{
    const struct profile_span span = {
        .thread = thread, .frame = frame, .begin_ns = begin_ns, .end_ns = end_ns};
    profile_add_span(builder, &span);
}

static const char *const odd_names[] = {
    "std::vector<std::pair<int, char>>::operator[](unsigned long) const",
    "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef",
    "main;with;semicolons",
    "\"quoted\" 'name' \\back",
    "\xd0\xb8\xd0\xbc\xd1\x8f \xe5\x90\x8d\xe5\x89\x8d \xf0\x9f\x94\xa5",
    "latin-1: caf\xe9",
    "line\nbreak\ttab",
    "operator new(unsigned long)@plt",
    "",
    " leading and trailing blanks ",
};

/* Several threads, all kinds of records, odd names. */
struct profile *rich_profile(void)
{
    struct profile_builder *builder = timed_builder(1000000, 100000);
    const struct profile_process process = {.pid = 4242};
    uint32_t process_id = profile_add_process(builder, &process);
    for (uint64_t t = 1; t <= 3; t++) {
        uint32_t thread = add_thread(builder, process_id, 4240 + t, odd_names[t + 2]);
        for (uint32_t i = 0; i < N_ELEMENTS(odd_names); i++) {
            uint32_t frame = add_frame(builder, odd_names[i], i % 2 != 0 ? "src/a b.cpp" : "", i);
            uint32_t inner =
                add_frame(builder, odd_names[(i + 1) % N_ELEMENTS(odd_names)], "src/inner.c", 7);
            uint64_t begin = 1000 * (uint64_t)i + t;
            add_span(builder, thread, frame, begin, begin + 900);
            add_span(builder, thread, inner, begin + 100, begin + 500);
            add_span(builder, thread, inner, begin + 500, begin + 600);
            struct profile_instant instant = {.thread = thread,
                                              .frame = frame,
                                              .time_ns = begin + 150,
                                              .type = (enum profile_value_type)(i % 6)};
            instant.value.u64 = UINT64_MAX - i;
            if (instant.type == PROFILE_VALUE_F64)
                instant.value.f64 = -0.1;
            if (instant.type == PROFILE_VALUE_BOOL || instant.type == PROFILE_VALUE_NONE)
                instant.value.u64 = instant.type == PROFILE_VALUE_BOOL;
            if (instant.type == PROFILE_VALUE_TEXT)
                instant.value.u64 = profile_add_cstring(builder, odd_names[i]);
            profile_add_instant(builder, &instant);
            const struct profile_off_cpu off_cpu = {.thread = thread,
                                                    .to_process =
                                                        profile_add_cstring(builder, odd_names[i]),
                                                    .to_tid = 77 + i,
                                                    .begin_ns = begin + 200,
                                                    .end_ns = begin + 300};
            profile_add_off_cpu(builder, &off_cpu);
        }
    }
    add_thread(builder, process_id, 9999, "no records");
    for (uint32_t i = 0; i < 3; i++) {
        const struct profile_bookmark bookmark = {
            .text = profile_add_cstring(builder, odd_names[i + 3]),
            .color = 0xff000000U + i,
            .time_ns = (uint64_t)i * 100};
        profile_add_bookmark(builder, &bookmark);
    }
    return builder_finish(builder);
}

/* A chain of `n` spans, each in the one before, and an event in the innermost. */
struct profile *chain_profile(uint32_t n, bool with_event)
{
    struct profile_builder *builder = timed_builder(0, 0);
    uint32_t thread = add_thread(builder, 0, 5, "deep");
    char name[32];
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "level %u", i);
        add_span(builder, thread, add_frame(builder, name, "", 0), i, 10000000 - i);
    }
    const struct profile_instant instant = {
        .thread = thread, .frame = add_frame(builder, "event", "", 0), .time_ns = 5000000};
    if (with_event)
        profile_add_instant(builder, &instant);
    return builder_finish(builder);
}

/* Two threads, 1000 Hz; the stack of each sample in letters, outermost first, '.' = none. */
struct profile *sampled_profile(void)
{
    static const char *const lines[] = {"ab ab abc ac ac . . . . a", "q qq qqq qq"};
    struct profile_builder *builder = timed_builder(500, 0);
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0] = (struct profile_kind){profile_add_cstring(builder, "cpu"), PROFILE_UNIT_NS};
    scalars->has_times = true;
    scalars->period = 1000000;
    for (uint32_t t = 0; t < N_ELEMENTS(lines); t++) {
        uint32_t thread = add_thread(builder, 0, 100 + t, "sampled");
        struct profile_sample sample = {.thread = thread, .time_ns = 1000000};
        const uint64_t value = 1000000;
        for (const char *c = lines[t];; c++) {
            if (*c >= 'a') {
                uint32_t frame = profile_add_named_frame(builder, c, 1);
                sample.stack = profile_add_stack(builder, sample.stack, frame);
                continue;
            }
            if (*c == '.')
                continue;
            if (sample.stack != 0)
                profile_add_sample(builder, &sample, &value);
            sample.stack = 0;
            sample.time_ns += 1000000;
            if (*c == '\0')
                break;
        }
    }
    return builder_finish(builder);
}
