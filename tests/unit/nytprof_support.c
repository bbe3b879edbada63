/* nytprof_support.c - see nytprof_support.h. */
#include "nytprof_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* ---- files ------------------------------------------------------------------------------------
 */

struct file_bytes file_load(const char *path)
{
    FILE *in = fopen(path, "rbe");
    if (in == NULL)
        fail_msg("cannot open %s", path);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    long size = ftell(in);
    assert_true(size >= 0);
    rewind(in);
    struct file_bytes file = {.data = malloc(size == 0 ? 1 : (size_t)size),
                              .size_bytes = (size_t)size};
    assert_non_null(file.data);
    assert_int_equal(fread(file.data, 1, file.size_bytes, in), file.size_bytes);
    fclose(in);
    return file;
}

struct file_bytes file_part(const struct file_bytes *file, size_t size_bytes)
{
    struct file_bytes part = {.data = malloc(size_bytes == 0 ? 1 : size_bytes),
                              .size_bytes = size_bytes};
    assert_non_null(part.data);
    memcpy(part.data, file->data, size_bytes);
    return part;
}

void file_free(struct file_bytes *file)
{
    free(file->data);
    file->data = NULL;
}

static int is_nytprof(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".nytprof") == 0;
}

size_t each_nytprof(const char *folder, void (*check)(const char *base))
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_nytprof, alphasort);
    for (int i = 0; i < n; i++) {
        char base[4096];
        int length = (int)(strlen(entries[i]->d_name) - strlen(".nytprof"));
        snprintf(base, sizeof base, "%s/%.*s", folder, length, entries[i]->d_name);
        free(entries[i]);
        check(base);
    }
    free(entries);
    return n < 0 ? 0 : (size_t)n;
}

const char *shared_corpus(const char *part)
{
    static char path[4096];
    const char *shared = getenv("SAMPLER_SHARED");
    if (shared == NULL)
        shared = TEST_DATA_DIR "/../../../shared";
    snprintf(path, sizeof path, "%s/corpus/nytprof/%s", shared, part);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static bool is_same(json_t *want, json_t *got, char *where, size_t where_bytes);

/* Puts a step in front of a path to where two values differ. */
static bool differ(char *where, size_t where_bytes, const char *step)
{
    char rest[512];
    snprintf(rest, sizeof rest, "%s", where);
    if (snprintf(where, where_bytes, "/%s%s", step, rest) >= (int)where_bytes)
        where[where_bytes - 1] = '\0'; /* cut: only for people */
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the files of the corpus */
static bool is_same_object(json_t *want, json_t *got, char *where, size_t where_bytes)
{
    const char *key;
    json_t *value;
    if (json_object_size(want) != json_object_size(got))
        return differ(where, where_bytes, "(number of members)");
    json_object_foreach(want, key, value)
    {
        json_t *other = json_object_get(got, key);
        if (other == NULL || !is_same(value, other, where, where_bytes))
            return differ(where, where_bytes, key);
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the files of the corpus */
static bool is_same_array(json_t *want, json_t *got, char *where, size_t where_bytes)
{
    if (json_array_size(want) != json_array_size(got))
        return differ(where, where_bytes, "(number of items)");
    for (size_t i = 0; i < json_array_size(want); i++) {
        char step[32];
        snprintf(step, sizeof step, "%zu", i);
        if (!is_same(json_array_get(want, i), json_array_get(got, i), where, where_bytes))
            return differ(where, where_bytes, step);
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static bool is_same(json_t *want, json_t *got, char *where, size_t where_bytes)
{
    if (json_is_number(want) && json_is_number(got)) {
        double a = json_number_value(want);
        double b = json_number_value(got);
        return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
    }
    if (json_typeof(want) != json_typeof(got))
        return false;
    if (json_is_object(want))
        return is_same_object(want, got, where, where_bytes);
    if (json_is_array(want))
        return is_same_array(want, got, where, where_bytes);
    return json_equal(want, got) != 0;
}

/* Numbers are read as doubles: jansson's integers end at 2^63. */
void check_dump(const char *base)
{
    static const char *const not_ours[] = {"file", "warnings", "perl_reader", "tools_error"};
    static const char *const left_out[] = {"events", "source"};
    char path[4200];
    snprintf(path, sizeof path, "%s.nytprof", base);
    struct file_bytes file = file_load(path);
    struct err err = ERR_INIT;
    struct sink *out = NULL;
    assert_true(sink_create_buffer(&out, &err));
    if (!format_by_name("nytprof")->dump(file.data, file.size_bytes, NULL, out, &err))
        fail_msg("%s: %s", path, err.text);
    size_t n_text;
    const char *text = sink_buffer(out, &n_text);
    json_error_t problem;
    json_t *got = json_loadb(text, n_text, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &problem);
    if (got == NULL)
        fail_msg("%s: dump is no JSON: line %d: %s", path, problem.line, problem.text);
    sink_abandon(out);
    snprintf(path, sizeof path, "%s.expected.json", base);
    json_t *want = json_load_file(path, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &problem);
    if (want == NULL)
        fail_msg("%s: %s", path, problem.text);
    for (size_t i = 0; i < N_ELEMENTS(not_ours); i++)
        json_object_del(want, not_ours[i]);
    for (size_t i = 0; i < N_ELEMENTS(left_out); i++) {
        if (json_object_get(want, left_out[i]) == NULL)
            json_object_del(got, left_out[i]);
    }
    char where[512] = "";
    if (!is_same(want, got, where, sizeof where))
        fail_msg("%s: dump differs at %s", path, where);
    json_decref(want);
    json_decref(got);
    file_free(&file);
}

/* ---- reading and writing ----------------------------------------------------------------------
 */

static void take_note(void *context, const char *text)
{
    struct note_log *log = context;
    log->n++;
    snprintf(log->last, sizeof log->last, "%s", text);
}

struct format_notes note_log_notes(struct note_log *log)
{
    return (struct format_notes){.note = take_note, .context = log};
}

bool read_bytes(const struct format *format, const struct file_bytes *file,
                const struct format_notes *notes, struct profile **out, struct err *err)
{
    static const struct format_options options = {.strict = false};
    return format->read(file->data, file->size_bytes, &options, notes, out, err);
}

bool dump_bytes(const struct format *format, const struct file_bytes *file, struct err *err)
{
    struct sink *out = NULL;
    struct err sink_err = ERR_INIT;
    assert_true(sink_create_buffer(&out, &sink_err));
    bool ok = format->dump(file->data, file->size_bytes, NULL, out, err);
    sink_abandon(out);
    return ok;
}

struct file_bytes write_bytes(const struct format *format, const struct profile *profile,
                              const struct format_options *options)
{
    static const struct format_options none = {.strict = false};
    struct sink *out = NULL;
    struct err err = ERR_INIT;
    assert_true(sink_create_buffer(&out, &err));
    if (!format->write(profile, options == NULL ? &none : options, NULL, out, &err))
        fail_msg("%s", err.text);
    struct file_bytes file = {.data = NULL};
    const void *bytes = sink_buffer(out, &file.size_bytes);
    file.data = malloc(file.size_bytes);
    assert_non_null(file.data);
    memcpy(file.data, bytes, file.size_bytes);
    assert_true(sink_close(out, &err));
    return file;
}

/* NOLINTNEXTLINE(misc-no-recursion): stacks of tests */
static void describe_stack(FILE *out, const struct profile *profile, uint32_t stack)
{
    if (stack == 0)
        return;
    describe_stack(out, profile, profile->stacks[stack].parent);
    const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
    const struct profile_function *function = &profile->functions[frame->function];
    struct text name = profile_text(profile, function->name);
    fwrite(name.bytes, 1, name.length, out);
    fprintf(out, " %s:%" PRIu32 "\x1f", profile_text(profile, function->file).bytes,
            function->line);
}

struct described {
    char *stack;
    uint64_t weight;
};

static int compare_described(const void *a, const void *b)
{
    return strcmp(((const struct described *)a)->stack, ((const struct described *)b)->stack);
}

char *describe_samples(const struct profile *profile, uint32_t kind)
{
    struct described *all = calloc(profile->n_samples + 1, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        const struct profile_thread *thread = &profile->threads[sample->thread];
        const struct profile_process *process = &profile->processes[thread->process];
        size_t size;
        FILE *out = open_memstream(&all[i].stack, &size);
        assert_non_null(out);
        fprintf(out, "%" PRIu64 "(%s)/%" PRIu64 "(%s): ", process->pid,
                profile_text(profile, process->name).bytes, thread->tid,
                profile_text(profile, thread->name).bytes);
        describe_stack(out, profile, sample->stack);
        fclose(out);
        all[i].weight = profile_value(profile, i, kind);
    }
    qsort(all, profile->n_samples, sizeof *all, compare_described);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < profile->n_samples; i++) {
        uint64_t weight = all[i].weight;
        while (i + 1 < profile->n_samples && strcmp(all[i].stack, all[i + 1].stack) == 0)
            weight += all[++i].weight;
        fprintf(out, "%s= %" PRIu64 "\n", all[i].stack, weight);
    }
    fclose(out);
    for (size_t i = 0; i < profile->n_samples; i++)
        free(all[i].stack);
    free(all);
    return text;
}

/* ---- Perl's tools -----------------------------------------------------------------------------
 */

bool check_tool(const char *command, const char *path)
{
    char line[8192];
    char output[8192];
    char program[64];
    snprintf(program, sizeof program, "%.*s", (int)strcspn(command, " "), command);
    snprintf(line, sizeof line, "command -v %s >/dev/null", program);
    if (system(line) != 0) /* NOLINT(cert-env33-c,concurrency-mt-unsafe): fixed words */
        return false;
    snprintf(line, sizeof line, "cd '%.*s' && %s '%s' 2>&1 >/dev/null",
             (int)(strrchr(path, '/') - path), path, command, path);
    FILE *said = popen(line, "re"); /* NOLINT(cert-env33-c): paths of our own */
    assert_non_null(said);
    while (fgets(output, sizeof output, said) != NULL) {
        if (strncmp(output, "Extracting subroutine ", 22) != 0 &&
            strncmp(output, "Generating subroutine ", 22) != 0)
            fail_msg("%s says: %s", command, output);
    }
    int status = pclose(said);
    if (status != 0)
        fail_msg("%s: exit status %d", command, WEXITSTATUS(status));
    return true;
}

/* ---- profiles ---------------------------------------------------------------------------------
 */

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
        if (known[which].line != 0)
            frame.line = known[which].line + next_random(state) % 5;
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
    enum { N_THREADS = 3, N_SAMPLES = 400 };
    static const char *const names[] = {"mill", "worker \xc3\xa9; 1", "Tokio-\"rt\""};
    struct profile_builder *builder = NULL;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    uint32_t functions[N_ELEMENTS(known)];
    uint32_t state = 7;
    assert_true(profile_builder_create(&builder, &err));
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    *scalars = (struct profile_scalars){.n_kinds = 2,
                                        .has_times = true,
                                        .start_time_ns = 123456789,
                                        .start_realtime_ns = 1750000000123456789,
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
            .pid = i < 2 ? 4711 : 4712,
            .ppid = i < 2 ? 4700 : 4711,
            .end_ns = 2000000000};
        static uint32_t last_process;
        if (i != 1)
            last_process = profile_add_process(builder, &process);
        struct profile_thread thread = {.process = last_process,
                                        .name = profile_add_cstring(builder, names[i]),
                                        .tid = i == 0 ? 4711 : 4711 + i * 10,
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
