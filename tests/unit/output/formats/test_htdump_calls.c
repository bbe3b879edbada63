/* test_htdump_calls.c - what HawkTracer's own tools make of our files: nesting rebuilt from times
 * as they do it gives the stacks of the profile, and the stream keeps to what they can read. An
 * independent decoder reads it, too, where there is one. */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "formats/htdump/htdump.h"
#include "htdump_fixture.h"
#include "htdump_profiles.h"
#include "model/convert.h"
#include "unit.h"

extern char **environ;

/* ---- calls of a stream ---- */

struct call {
    uint64_t start_ns, end_ns, id;
    uint32_t thread;
    char label[64];
};

/* Time spent in a path of a thread, its callees included. */
struct total {
    char *path;
    uint64_t ns;
    uint64_t n_calls;
    uint32_t depth;
};

struct mapping {
    uint64_t number;
    char label[64];
};

static const struct htdump_value *value_of(const struct htdump_parser *parser,
                                           const struct htdump_event *event, const char *name)
{
    for (size_t i = 0; i < event->n_values; i++) {
        if (strcmp(htdump_parser_text(parser, event->values[i].name).bytes, name) == 0)
            return &event->values[i];
    }
    return NULL;
}

static void label_copy(char *out, struct text text)
{
    snprintf(out, 64, "%.*s", (int)text.length, text.bytes);
}

/* A number is looked up among the mappings so far, as the real tools do. */
static void label_find(struct call *call, const struct htdump_value *label,
                       const struct array *mappings)
{
    if (label->kind == HTDUMP_VALUE_TEXT) {
        label_copy(call->label, label->as.text);
        return;
    }
    for (size_t i = mappings->n; i > 0; i--) {
        const struct mapping *mapping = array_at(mappings, i - 1);
        if (mapping->number == label->as.u64) {
            snprintf(call->label, sizeof call->label, "%s", mapping->label);
            return;
        }
    }
    fail_msg("label %" PRIu64 " used before it was mapped", label->as.u64);
}

static struct array calls_of(const struct bytes *bytes)
{
    struct htdump_parser *parser = NULL;
    struct htdump_event event;
    struct err err = ERR_INIT;
    struct array calls, mappings;
    bool more;
    array_init(&calls, sizeof(struct call));
    array_init(&mappings, sizeof(struct mapping));
    assert_true(htdump_parser_create(bytes->data, bytes->n, &parser, &err));
    while (htdump_parser_next(parser, &event, &more, &err) && more) {
        const struct htdump_value *label = value_of(parser, &event, "label");
        if (label == NULL)
            continue;
        const struct htdump_value *identifier = value_of(parser, &event, "identifier");
        if (identifier != NULL) {
            struct mapping *mapping = array_push(&mappings);
            mapping->number = identifier->as.u64;
            label_copy(mapping->label, label->as.text);
            continue;
        }
        struct call *call = array_push(&calls);
        call->start_ns = event.timestamp_ns;
        uint64_t duration_ns = value_of(parser, &event, "duration")->as.u64;
        assert_true(duration_ns > 0 && duration_ns <= UINT64_MAX - call->start_ns);
        call->end_ns = call->start_ns + duration_ns;
        call->id = event.id;
        call->thread = (uint32_t)value_of(parser, &event, "thread_id")->as.u64;
        label_find(call, label, &mappings);
    }
    assert_int_equal(err.code, ERR_NONE);
    htdump_parser_destroy(parser);
    array_deinit(&mappings);
    return calls;
}

static int call_compare(const void *a, const void *b)
{
    const struct call *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

static void total_add(struct array *totals, char *path, uint64_t ns, uint32_t depth)
{
    for (size_t i = 0; i < totals->n; i++) {
        struct total *total = array_at(totals, i);
        if (strcmp(total->path, path) != 0)
            continue;
        total->ns += ns;
        total->n_calls++;
        free(path);
        return;
    }
    *(struct total *)array_push(totals) =
        (struct total){.path = path, .ns = ns, .n_calls = 1, .depth = depth};
}

static char *path_make(const char *outer, uint32_t thread, const char *label)
{
    char *path = NULL;
    int n = outer == NULL ? asprintf(&path, "%u:%s", thread, label)
                          : asprintf(&path, "%s;%s", outer, label);
    assert_true(n > 0);
    return path;
}

/* Sorted by start within a thread, an event belongs to the last one that contains it. Starts must
 * differ: one of the real tools sorts equal ones in any order. Our ids, as the library's, say which
 * of two calls began first. */
static struct array totals_of_calls(const struct array *calls, bool ids_count_starts)
{
    struct array totals, open;
    array_init(&totals, sizeof(struct total));
    array_init(&open, sizeof(size_t));
    char **paths = calloc(calls->n + 1, sizeof *paths);
    struct call *rows = calls->items;
    if (calls->n > 1)
        qsort(rows, calls->n, sizeof *rows, call_compare);
    for (size_t i = 0; i < calls->n; i++) {
        while (open.n > 0) {
            const struct call *top = &rows[*(size_t *)array_at(&open, open.n - 1)];
            if (top->thread == rows[i].thread && top->end_ns >= rows[i].end_ns)
                break;
            open.n--;
        }
        const char *outer = NULL;
        if (open.n > 0) {
            size_t parent = *(size_t *)array_at(&open, open.n - 1);
            assert_true(rows[parent].start_ns < rows[i].start_ns);
            assert_true(!ids_count_starts || rows[parent].id < rows[i].id);
            outer = paths[parent];
        }
        assert_true(i == 0 || rows[i].thread != rows[i - 1].thread ||
                    rows[i].start_ns != rows[i - 1].start_ns);
        paths[i] = path_make(outer, rows[i].thread, rows[i].label);
        total_add(&totals, path_make(outer, rows[i].thread, rows[i].label),
                  rows[i].end_ns - rows[i].start_ns, (uint32_t)open.n);
        *(size_t *)array_push(&open) = i;
    }
    for (size_t i = 0; i < calls->n; i++)
        free(paths[i]);
    free(paths);
    array_deinit(&open);
    return totals;
}

static struct array totals_of_spans(const struct profile *profile)
{
    struct array totals;
    array_init(&totals, sizeof(struct total));
    char **paths = calloc(profile->n_spans, sizeof *paths);
    uint32_t *depths = calloc(profile->n_spans, sizeof *depths);
    for (uint32_t id = 1; id < profile->n_spans; id++) {
        const struct profile_span *span = &profile->spans[id];
        uint32_t name = profile->functions[profile->frames[span->frame].function].name;
        const char *label = profile_text(profile, name).bytes;
        uint32_t thread = (uint32_t)profile->threads[span->thread].tid;
        depths[id] = span->parent == 0 ? 0 : depths[span->parent] + 1;
        paths[id] = path_make(paths[span->parent], thread, label);
        total_add(&totals, path_make(paths[span->parent], thread, label),
                  span->end_ns - span->begin_ns, depths[id]);
    }
    for (uint32_t id = 1; id < profile->n_spans; id++)
        free(paths[id]);
    free(paths);
    free(depths);
    return totals;
}

static void totals_deinit(struct array *totals)
{
    for (size_t i = 0; i < totals->n; i++)
        free(((struct total *)array_at(totals, i))->path);
    array_deinit(totals);
}

/* The same paths; times as much shorter, at most, as the depth in ns for each call. */
static const struct total *total_find(const struct array *totals, const char *path)
{
    for (size_t k = 0; k < totals->n; k++) {
        const struct total *total = array_at(totals, k);
        if (strcmp(total->path, path) == 0)
            return total;
    }
    fail_msg("no call %s", path);
    abort(); /* not reached: fail_msg ends the test */
}

static void totals_compare(struct array *found, struct array *expected)
{
    assert_true(expected->n > 0);
    assert_int_equal(found->n, expected->n);
    for (size_t i = 0; i < expected->n; i++) {
        const struct total *wanted = array_at(expected, i);
        const struct total *got = total_find(found, wanted->path);
        uint64_t low = wanted->ns - wanted->n_calls * wanted->depth;
        if (got->ns < low || got->ns > wanted->ns)
            fail_msg("%s: %" PRIu64 " ns, expected %" PRIu64, wanted->path, got->ns, wanted->ns);
    }
    totals_deinit(found);
    totals_deinit(expected);
}

static void samples_are_shown_as_their_stacks(void **state)
{
    (void)state;
    static const uint64_t periods[] = {1000000, 0};
    for (unsigned seed = 0; seed < 4; seed++) {
        struct err err = ERR_INIT;
        struct profile *profile = profile_of_chance(seed, periods[seed % 2]);
        struct profile *spans = NULL;
        struct bytes bytes = write_bytes(profile, NULL);
        struct array calls = calls_of(&bytes);
        assert_true(profile_samples_to_spans(profile, &spans, &err));
        struct array found = totals_of_calls(&calls, true), expected = totals_of_spans(spans);
        totals_compare(&found, &expected);
        array_deinit(&calls);
        free(bytes.data);
        profile_destroy(profile);
        profile_destroy(spans);
    }
}

/* A file that holds samples and the calls another program made of them. */
static void calls_are_those_others_make_of_the_samples(void **state)
{
    (void)state;
    struct bytes theirs = file_load(TEST_DATA_DIR "/htdump/made/sampled_profile.htdump");
    struct profile *profile = read_profile(&theirs, NULL);
    struct bytes ours = write_bytes(profile, NULL);
    struct array their_calls = calls_of(&theirs), our_calls = calls_of(&ours);
    assert_int_equal(our_calls.n, their_calls.n);
    struct array their_totals = totals_of_calls(&their_calls, false),
                 our_totals = totals_of_calls(&our_calls, true);
    for (size_t i = 0; i < their_totals.n; i++) {
        struct total *total = array_at(&their_totals, i);
        total->ns +=
            total->n_calls * total->depth; /* they shorten by the depth always, we if need be */
        total->depth *= 2;
    }
    totals_compare(&our_totals, &their_totals);
    array_deinit(&their_calls);
    array_deinit(&our_calls);
    profile_destroy(profile);
    free(theirs.data);
    free(ours.data);
}

static void spans_keep_their_nesting(void **state)
{
    (void)state;
    static const struct call expected[] = {
        {0, 100, 0, 1, "a"},   {1, 100, 0, 1, "b"},   {2, 50, 0, 1, "c"},    {50, 100, 0, 1, "d"},
        {60, 62, 0, 1, "f"},   {61, 62, 0, 1, "g"},   {100, 120, 0, 1, "i"}, {120, 130, 0, 1, "j"},
        {130, 131, 0, 1, "k"}, {200, 300, 0, 1, "l"}, {201, 210, 0, 1, "m"},
    };
    struct profile *profile = profile_of_spans();
    struct bytes bytes = write_bytes(profile, NULL);
    struct array calls = calls_of(&bytes);
    struct array totals = totals_of_calls(&calls, true);
    assert_int_equal(calls.n, N_ELEMENTS(expected));
    for (size_t i = 0; i < calls.n; i++) {
        const struct call *call = array_at(&calls, i);
        assert_string_equal(call->label, expected[i].label);
        assert_int_equal(call->start_ns - profile->start_time_ns, expected[i].start_ns);
        assert_int_equal(call->end_ns - profile->start_time_ns, expected[i].end_ns);
    }
    totals_deinit(&totals);
    array_deinit(&calls);
    profile_destroy(profile);
    free(bytes.data);
}

static void thread_with_spans_is_shown_by_them_alone(void **state)
{
    (void)state;
    struct profile *profile = profile_of_everything();
    struct bytes bytes = write_bytes(profile, NULL);
    struct array calls = calls_of(&bytes);
    unsigned n_of_spans = 0, n_of_samples = 0;
    for (size_t i = 0; i < calls.n; i++) {
        const struct call *call = array_at(&calls, i);
        /* Thread 2 of the profile has tid 100, as thread 1: it gets the first free number. */
        if (call->thread == 2 || call->thread == 0)
            n_of_spans++;
        else
            n_of_samples++;
        for (const char *c = call->label; *c != '\0'; c++)
            assert_true((unsigned char)*c >= 0x20 && *c != '"' && *c != '\\');
        assert_true(call->label[0] != '\0');
    }
    assert_int_equal(n_of_spans, 3);
    assert_true(n_of_samples > 100);
    array_deinit(&calls);
    profile_destroy(profile);
    free(bytes.data);
}

static void every_level_is_shown(void **state)
{
    (void)state;
    struct profile *profile = profile_of_depth(3000);
    struct bytes bytes = write_bytes(profile, NULL);
    struct array calls = calls_of(&bytes);
    assert_int_equal(calls.n, 3000);
    qsort(calls.items, calls.n, sizeof(struct call), call_compare);
    for (size_t i = 0; i < calls.n; i++) {
        const struct call *call = array_at(&calls, i);
        assert_int_equal(call->start_ns, profile->start_time_ns + i);
        assert_int_equal(call->end_ns, profile->start_time_ns + 1000000);
        assert_string_equal(call->label, i % 2 == 0 ? "even" : "odd");
    }
    array_deinit(&calls);
    profile_destroy(profile);
    free(bytes.data);
}

/* ---- rules of the real readers ---- */

static bool texts_are_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* The first 39 events are those of HawkTracer 0.11.0, times apart. */
static void own_classes_are_described_as_by_the_real_writer(void **state)
{
    (void)state;
    struct bytes real = file_load(TEST_DATA_DIR "/htdump/made/nested_string.htdump");
    struct profile *profile = profile_of_nothing();
    struct bytes ours = write_bytes(profile, NULL);
    struct htdump_parser *parsers[2] = {NULL, NULL};
    struct err err = ERR_INIT;
    assert_true(htdump_parser_create(real.data, real.n, &parsers[0], &err));
    assert_true(htdump_parser_create(ours.data, ours.n, &parsers[1], &err));
    for (unsigned i = 0; i < 39; i++) {
        struct htdump_event a, b;
        bool more;
        assert_true(htdump_parser_next(parsers[0], &a, &more, &err) && more);
        assert_true(htdump_parser_next(parsers[1], &b, &more, &err) && more);
        assert_int_equal(a.class_id, b.class_id);
        assert_int_equal(a.id, b.id);
        assert_int_equal(a.n_values, b.n_values);
        for (size_t k = 0; k < a.n_values; k++) {
            if (a.values[k].kind == HTDUMP_VALUE_TEXT)
                assert_true(texts_are_equal(a.values[k].as.text, b.values[k].as.text));
            else
                assert_true(a.values[k].as.u64 == b.values[k].as.u64);
        }
    }
    htdump_parser_destroy(parsers[0]);
    htdump_parser_destroy(parsers[1]);
    profile_destroy(profile);
    free(real.data);
    free(ours.data);
}

static void field_rules_check(const struct htdump_event *event)
{
    static const char *const reserved[] = {"label", "name", "klass_id", "timestamp", "id",
                                           "type",  "base", "duration", "thread_id"};
    uint64_t size_bytes = event->values[3].as.u64;
    uint64_t data_type = event->values[4].as.u64;
    const char *name = event->values[2].as.text.bytes;
    if (data_type == HTDUMP_STRUCT) {
        assert_string_equal(name, "base");
        assert_string_equal(event->values[1].as.text.bytes, "HT_Event");
        return;
    }
    assert_true(data_type == HTDUMP_STRING || data_type == HTDUMP_UNSIGNED);
    assert_true(size_bytes == 1 || size_bytes == 4 || size_bytes == 8);
    for (size_t i = 0; i < N_ELEMENTS(reserved); i++)
        assert_string_not_equal(name, reserved[i]);
}

static int id_compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void stream_keeps_the_rules(void **state)
{
    (void)state;
    struct profile *profile = profile_of_everything();
    struct bytes bytes = write_bytes(profile, NULL);
    struct htdump_parser *parser = NULL;
    struct htdump_event event;
    struct err err = ERR_INIT;
    struct array ids;
    bool more;
    array_init(&ids, sizeof(uint64_t));
    assert_true(htdump_parser_create(bytes.data, bytes.n, &parser, &err));
    for (size_t n = 0; htdump_parser_next(parser, &event, &more, &err) && more; n++) {
        const char *name = htdump_parser_text(parser, event.class_name).bytes;
        if (n == 0) {
            assert_int_equal(event.core, HTDUMP_CORE_ENDIANNESS);
            assert_int_equal(event.values[0].as.u64, 0);
        }
        if (event.core == HTDUMP_CORE_FIELD_INFO && event.values[0].as.u64 >= 9)
            field_rules_check(&event);
        if (event.core != HTDUMP_CORE_ENDIANNESS && strcmp(name, "HT_SystemInfoEvent") != 0)
            *(uint64_t *)array_push(&ids) = event.id;
    }
    assert_int_equal(err.code, ERR_NONE);
    qsort(ids.items, ids.n, sizeof(uint64_t), id_compare);
    for (size_t i = 1; i < ids.n; i++)
        assert_true(*(uint64_t *)array_at(&ids, i) > *(uint64_t *)array_at(&ids, i - 1));
    struct htdump_oddities oddities = htdump_parser_oddities(parser);
    assert_int_equal(oddities.n_redefined + oddities.n_count_mismatches, 0);
    htdump_parser_destroy(parser);
    array_deinit(&ids);
    profile_destroy(profile);
    free(bytes.data);
}

/* ---- an independent decoder ---- */

static struct bytes decoder_run(const char *decoder, const struct bytes *stream)
{
    char input[] = "/tmp/htdump-in-XXXXXX", output[] = "/tmp/htdump-out-XXXXXX";
    int in = mkstemp(input), out = mkstemp(output);
    assert_true(in >= 0 && out >= 0);
    assert_int_equal(write(in, stream->data, stream->n), (ssize_t)stream->n);
    close(in);
    char python[] = "python3", *script = strdup(decoder);
    char *arguments[] = {python, script, input, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    assert_int_equal(posix_spawnp(&pid, python, &actions, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out);
    struct bytes lines = file_load(output);
    unlink(input);
    unlink(output);
    free(script);
    return lines;
}

static void independent_decoder_reads_the_same(void **state)
{
    (void)state;
    char decoder[512];
    if (shared_folder() == NULL)
        skip();
    snprintf(decoder, sizeof decoder, "%s/oracles/htdump.py", shared_folder());
    struct profile *const profiles[] = {profile_of_everything(), profile_of_chance(3, 1000000),
                                        profile_of_spans(),      profile_of_counts(),
                                        profile_of_nothing(),    profile_of_depth(2000)};
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        struct bytes bytes = write_bytes(profiles[i], NULL);
        struct bytes theirs = decoder_run(decoder, &bytes), ours = dump_bytes(&bytes, NULL);
        /* Both write the fields in the order of the stream; controls in texts look different. */
        if (i != 0) {
            assert_int_equal(theirs.n, ours.n);
            assert_memory_equal(theirs.data, ours.data, ours.n);
        }
        free(bytes.data);
        free(theirs.data);
        free(ours.data);
        profile_destroy(profiles[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_shown_as_their_stacks),
        cmocka_unit_test(calls_are_those_others_make_of_the_samples),
        cmocka_unit_test(spans_keep_their_nesting),
        cmocka_unit_test(thread_with_spans_is_shown_by_them_alone),
        cmocka_unit_test(every_level_is_shown),
        cmocka_unit_test(own_classes_are_described_as_by_the_real_writer),
        cmocka_unit_test(stream_keeps_the_rules),
        cmocka_unit_test(independent_decoder_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
