/* nytprof_profiles.c - see nytprof_profiles.h. */
#include "nytprof_profiles.h"

#include <string.h>

#include "unit.h"

struct profile *make_empty_profile(void)
{
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    assert_true(profile_builder_finish(builder, &profile, &err));
    return profile;
}

struct known_function {
    const char *name;
    const char *file; /* NULL: none */
    uint32_t line;
    unsigned module; /* 0: the program */
    bool is_inlined;
};

#define SRC "/home/dev/word mill/"
static const struct known_function known[] = {
    {"_start", NULL, 0, 0, false},
    {"__libc_start_main", NULL, 0, 1, false},
    {"main", SRC "main.cpp", 6, 0, false},
    {"ns::Mill::turn(int)", SRC "mill.cpp", 3, 0, false},
    {"ns::parse(char const*)", SRC "mill.cpp", 9, 0, false},
    {"helper(char)", SRC "a.c", 4, 0, true},
    {"helper(char)", SRC "b.c", 4, 0, true},
    {"std::map<int, std::string, std::less<int>, std::allocator<std::pair<int const, std::string> "
     "> "
     ">::insert(std::pair<int const, std::string>&&)",
     "/usr/include/c++/12/bits/stl_map.h", 800, 0, true},
    {"operator new(unsigned long)", NULL, 0, 2, false},
    {"malloc", NULL, 0, 1, false},
    {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", NULL, 0,
     2, false},
    {"(anonymous namespace)::caf\xc3\xa9::{lambda(auto:1)#1}::operator()<int>(int) const",
     SRC "mill.cpp", 5, 0, true},
    {"<alloc::vec::Vec<T> as core::iter::Extend<&'a T>>::extend::h0123456789abcdef",
     "/rustc/vec.rs", 40000, 3, false},
    {"core::ops::function::FnOnce::call_once{{vtable.shim}}", "/rustc/function.rs", 250, 3, false},
    {"a;b \"quoted\" 'single' <b>bold</b> 100%\n\ttab", SRC "odd;name.c", 7, 0, false},
    {"\xe4\xb8\x96\xe7\x95\x8c::\xe6\x8c\xa8\xe6\x8b\xb6", SRC "\xe4\xb8\x96.c", 70000, 0, false},
    {"latin-1 caf\xe9", SRC "mill.cpp", 90, 0, false},
    {"::global", NULL, 0, 0, false},
    {"", NULL, 0, 0, false},
    {"main::RUNTIME", SRC "main.cpp", 1, 0, false},
    {"clock_gettime", NULL, 0, 4, false},
};
static const char *const modules[] = {
    "/home/dev/word mill/bin/mill", "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/x86_64-linux-gnu/libstdc++.so.6", "/home/dev/rust/libworker.so", "[vdso]"};

/* Numbers that look random and are the same everywhere. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static uint32_t random_stack(struct profile_builder *builder, const uint32_t *functions,
                             uint32_t *state)
{
    uint32_t stack = 0;
    uint32_t n = 3 + next_random(state) % 12;
    bool recurses = next_random(state) % 4 == 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t which = i < 3 ? i : 3 + next_random(state) % (uint32_t)(N_ELEMENTS(known) - 3);
        if (recurses && i > 3)
            which = 4;
        struct profile_frame frame = {.function = functions[which],
                                      .address = 0x1000 + which * 64 + next_random(state) % 8,
                                      .flags = known[which].is_inlined ? PROFILE_FRAME_INLINED : 0};
        if (known[which].line != 0) {
            frame.line = known[which].line + next_random(state) % 5;
            if (frame.line % 7 == 0)
                frame.file = profile_add_cstring(builder, "/src/part.h");
        }
        stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
    }
    return stack;
}

static void add_functions(struct profile_builder *builder, uint32_t *functions)
{
    for (size_t i = 0; i < N_ELEMENTS(known); i++) {
        struct profile_module module = {.path =
                                            profile_add_cstring(builder, modules[known[i].module])};
        struct profile_function function = {.name = profile_add_cstring(builder, known[i].name),
                                            .line = known[i].line,
                                            .module = profile_add_module(builder, &module)};
        if (known[i].file != NULL)
            function.file = profile_add_cstring(builder, known[i].file);
        functions[i] = profile_add_function(builder, &function);
    }
}

struct profile *make_real_profile(void)
{
    return make_other_real_profile(0);
}

struct profile *make_other_real_profile(uint32_t run)
{
    enum { N_THREADS = 3, N_SAMPLES = 400 };
    static const char *const names[] = {"mill", "worker \xc3\xa9; 1", "Tokio-\"rt\""};
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    uint32_t functions[N_ELEMENTS(known)];
    uint32_t state = 7 + run;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    *scalars = (struct profile_scalars){.n_kinds = 2,
                                        .has_times = true,
                                        .start_time_ns = 123456789,
                                        .start_realtime_ns = 1750000000123456789 + run,
                                        .duration_ns = 2000000000,
                                        .period = 1001001};
    scalars->kinds[0] = (struct profile_kind){.name = profile_add_cstring(builder, "samples"),
                                              .unit = PROFILE_UNIT_COUNT};
    scalars->kinds[1] =
        (struct profile_kind){.name = profile_add_cstring(builder, "cpu"), .unit = PROFILE_UNIT_NS};
    profile_add_metadata(builder, "command", "mill --words \"a=b\"", 18);
    profile_add_metadata(builder, "host", "h\n1%41", 6);
    add_functions(builder, functions);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        struct profile_process process = {
            .name = profile_add_cstring(builder, i < 2 ? "mill" : "child"),
            .pid = (i < 2 ? 4711 : 4712) + run,
            .ppid = (i < 2 ? 4700 : 4711) + run,
            .end_ns = 2000000000};
        static uint32_t last_process;
        if (i != 1)
            last_process = profile_add_process(builder, &process);
        struct profile_thread thread = {.process = last_process,
                                        .name = profile_add_cstring(builder, names[i]),
                                        .tid = 4711 + i * 10 + run,
                                        .start_ns = (uint64_t)i * 1000000,
                                        .end_ns = 2000000000 - i,
                                        .cpu_ns = 400400400};
        uint32_t id = profile_add_thread(builder, &thread);
        for (uint32_t k = 0; k < N_SAMPLES; k++) {
            struct profile_sample sample = {.thread = id,
                                            .stack = random_stack(builder, functions, &state),
                                            .time_ns = (uint64_t)k * 1001001};
            uint64_t n = 1 + next_random(&state) % 3;
            uint64_t values[] = {n, n * 1001001 + next_random(&state) % 50};
            profile_add_sample(builder, &sample, values);
        }
    }
    assert_true(profile_builder_finish(builder, &profile, &err));
    return profile;
}

struct profile *make_profile(enum profile_unit unit, uint64_t period, uint32_t depth,
                             const uint64_t *weights, size_t n_weights)
{
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].unit = unit;
    scalars->period = period;
    uint32_t stack = 0;
    for (uint32_t i = 0; i < depth; i++) {
        const char *name = i == 0 ? "main" : i % 2 == 0 ? "even" : "odd";
        stack =
            profile_add_stack(builder, stack, profile_add_named_frame(builder, name, strlen(name)));
    }
    for (size_t i = 0; i < n_weights; i++) {
        struct profile_sample sample = {.stack = stack};
        profile_add_sample(builder, &sample, &weights[i]);
    }
    assert_true(profile_builder_finish(builder, &profile, &err));
    return profile;
}
