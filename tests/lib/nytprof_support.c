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

#include "saturated.h"
#include "unit.h"

/* ---- files ------------------------------------------------------------------------------------
 */

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
    struct bytes file = path_load(path);
    struct err err = ERR_INIT;
    struct sink *out = NULL;
    assert_true(sink_create_buffer(&out, &err));
    if (!format_by_name("nytprof")->dump((const uint8_t *)file.bytes, file.n, NULL, out, &err))
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
    free(file.bytes);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

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
            weight = add_saturated(weight, all[++i].weight);
        fprintf(out, "%s= %" PRIu64 "\n", all[i].stack, weight);
    }
    fclose(out);
    for (size_t i = 0; i < profile->n_samples; i++)
        free(all[i].stack);
    free(all);
    return text;
}

/* ---- what is kept ---- */

enum { KEPT_DEPTH = 96, KEPT_LINE = 32767 };

static uint32_t kept_name(struct profile_builder *builder, struct text name)
{
    char plain[512];
    size_t n = 0;
    assert_true(name.length < sizeof plain);
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        if (n == 0 && c == ':')
            continue; /* Perl warns of names that begin with `::` */
        plain[n++] = (char)(c == ';' ? ',' : (unsigned char)c < ' ' ? ' ' : c);
    }
    return n == 0 ? profile_add_cstring(builder, "??") : profile_add_text(builder, plain, n);
}

static uint32_t kept_stack(struct profile_builder *builder, const struct profile *in,
                           uint32_t stack)
{
    uint32_t path[8192];
    size_t n = 0;
    for (; stack != 0; stack = in->stacks[stack].parent) {
        assert_true(n < N_ELEMENTS(path));
        path[n++] = in->stacks[stack].frame;
    }
    uint32_t kept = 0;
    for (size_t depth = 1; n-- > 0 && depth <= KEPT_DEPTH; depth++) {
        const struct profile_function *from = &in->functions[in->frames[path[n]].function];
        struct text file = profile_text(in, from->file);
        struct profile_function function = {
            .name = kept_name(builder, profile_text(in, from->name)),
            .file = profile_add_text(builder, file.bytes, file.length),
            .line = from->file == 0 || from->line > KEPT_LINE ? 0 : from->line};
        struct profile_frame frame = {.function = profile_add_function(builder, &function)};
        kept = profile_add_stack(builder, kept, profile_add_frame(builder, &frame));
    }
    return kept;
}

/* Threads are processes there, with their ids; one without an id has its process's, or 1. */
static uint32_t kept_thread(struct profile_builder *builder, const struct profile *in,
                            uint32_t thread, const char *command)
{
    uint64_t tid = in->threads[thread].tid;
    uint64_t pid = in->processes[in->threads[thread].process].pid;
    struct profile_process process = {.name = profile_add_cstring(builder, command),
                                      .pid = tid != 0   ? tid
                                             : pid != 0 ? pid
                                                        : 1};
    struct profile_thread kept = {.process = profile_add_process(builder, &process),
                                  .tid = process.pid};
    return profile_add_thread(builder, &kept);
}

struct profile *make_kept(const struct profile *in, uint32_t kind, uint64_t unit_ns,
                          const char *command)
{
    struct profile_builder *builder = NULL;
    struct profile *kept = NULL;
    struct err err = ERR_INIT;
    uint32_t thread = 0;
    assert_true(profile_builder_create(&builder, &err));
    profile_builder_scalars(builder)->n_kinds = 1;
    for (size_t i = 0; i < in->n_samples; i++) {
        uint64_t ns;
        if (i == 0 || in->samples[i].thread != in->samples[i - 1].thread)
            thread = kept_thread(builder, in, in->samples[i].thread, command);
        if (in->samples[i].stack == 0)
            continue;
        if (__builtin_mul_overflow(profile_value(in, i, kind), unit_ns, &ns))
            ns = UINT64_MAX;
        const struct profile_sample sample = {
            .thread = thread, .stack = kept_stack(builder, in, in->samples[i].stack)};
        profile_add_sample(builder, &sample, &ns);
    }
    assert_true(profile_builder_finish(builder, &kept, &err));
    return kept;
}

/* A line of describe_samples: its length up to the weight. */
static size_t described_line(const char *line, uint64_t *weight)
{
    const char *end = strchr(line, '\n');
    assert_non_null(end);
    const char *number = end;
    while (number[-1] != ' ')
        number--;
    *weight = strtoull(number, NULL, 10);
    return (size_t)(number - line);
}

static bool is_within(uint64_t a, uint64_t b, uint64_t tick_ns)
{
    uint64_t larger = a > b ? a : b;
    return (a > b ? a - b : b - a) <= tick_ns + (larger >> 50); /* a double has 53 bits */
}

void check_same_samples(const struct profile *got, const struct profile *want, uint64_t tick_ns)
{
    char *got_text = describe_samples(got, 0);
    char *want_text = describe_samples(want, 0);
    const char *at = got_text;
    for (const char *line = want_text; *line != '\0'; line = strchr(line, '\n') + 1) {
        uint64_t want_ns = 0;
        uint64_t got_ns = 0;
        size_t n = described_line(line, &want_ns);
        bool is_there = *at != '\0' && described_line(at, &got_ns) == n && memcmp(at, line, n) == 0;
        if (!is_there && want_ns < tick_ns)
            continue;
        if (!is_there || !is_within(got_ns, want_ns, tick_ns))
            fail_msg("want %.*s\n got %.*s", (int)strcspn(line, "\n"), line, (int)strcspn(at, "\n"),
                     at);
        at = strchr(at, '\n') + 1;
    }
    assert_string_equal(at, "");
    free(got_text);
    free(want_text);
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
