/* format_round.c - see format_round.h. */
#include "format_round.h"

#include <stdlib.h>
#include <string.h>

#include "fold/fold.h"
#include "format_help.h"
#include "model/convert.h"
#include "profile_text.h"
#include "unit.h"

/* What is to be known of a format to compare, all of it in docs/formats. */
static const struct rule {
    const char *format;
    enum name_rule names;
    uint64_t unit_ns; /* of times */
    bool is_folded;   /* several processes become outermost frames */
    bool is_prof;     /* several processes in names of threads; modules stand for files */
    const char *cut;  /* what the writer says when stacks are too deep for it */
} rules_of[] = {
    {.format = "folded", .names = NAMES_FOLDED, .is_folded = true, .cut = "stacks were cut"},
    {.format = "diff-folded", .names = NAMES_FOLDED, .is_folded = true, .cut = "stacks were cut"},
    {.format = "cpuprofile", .names = NAMES_UTF8, .unit_ns = 1000},
    {.format = "easyprofiler", .names = NAMES_TO_NUL, .is_prof = true, .cut = "to stay within 255"},
    {.format = "nytprof", .names = NAMES_BARE, .unit_ns = 100, .cut = "calls deeper than"},
    {.format = "nytprof-chunked", .names = NAMES_BARE, .unit_ns = 100},
    {.format = "htdump", .names = NAMES_UTF8},
    {.format = "sprofile", .names = NAMES_UTF8},
    {.format = "html", .names = NAMES_UTF8},
};

static const struct rule *rule_of(const struct format *format)
{
    for (size_t i = 0; i < N_ELEMENTS(rules_of); i++) {
        if (strcmp(rules_of[i].format, format->name) == 0)
            return &rules_of[i];
    }
    print_error("%s: how to compare it?\n", format->name);
    fail();
    return NULL;
}

bool format_write_bytes(const struct format *format, const struct profile *profile, uint32_t thread,
                        const struct format_notes *notes, struct bytes *out)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    const struct format_options options = {.thread = thread};
    assert_true(sink_create_buffer(&sink, &err));
    bool ok = format->write(profile, &options, notes, sink, &err);
    if (!ok)
        assert_int_equal(err.code, ERR_UNSUPPORTED);
    size_t n = 0;
    const void *bytes = sink_buffer(sink, &n);
    *out = (struct bytes){ok ? malloc(n == 0 ? 1 : n) : NULL, n};
    if (ok)
        memcpy(out->bytes, bytes, n);
    sink_abandon(sink);
    return ok;
}

/* Formats in which threads need ids give them to those that have none of their own. */
static bool has_tids(const struct profile *profile)
{
    for (uint32_t i = 1; i < profile->n_threads; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (profile->threads[i].tid == profile->threads[k].tid)
                return false; /* thread 0 has id 0 */
        }
    }
    return profile->n_threads > 1;
}

static bool has_several_processes(const struct profile *profile)
{
    for (uint32_t i = 2; i < profile->n_processes; i++) {
        if (profile->processes[i].pid != profile->processes[1].pid)
            return true;
    }
    return false;
}

/* Times end at 2^64 ns, and before that in some formats. */
static bool is_too_long(const struct profile *profile)
{
    uint64_t total_ns = profile->start_time_ns;
    for (size_t i = 0; i < profile->n_samples; i++) {
        uint64_t ns = profile_sample_ns(profile, i);
        if (__builtin_add_overflow(total_ns, ns, &total_ns) || total_ns > INT64_MAX)
            return true;
    }
    return false;
}

/* One profile on its way through one format. */
struct trip {
    struct format_rounds *rounds;
    struct format_round *round;
    const struct format *format;
    const char *name;
    const struct profile *profile, *again;
    uint32_t thread; /* 0 = all */
};

static void complain(const struct trip *trip, const char *what, const char *why)
{
    if (trip->rounds->n_failures++ < 40)
        print_error("%s through %s: %s: %s\n", trip->name, trip->format->name, what, why);
}

static struct profile_text_rules rules_make(const struct trip *trip, uint32_t flag)
{
    const uint32_t alone = KEEPS_SAMPLES | KEEPS_SPANS | KEEPS_INSTANTS | KEEPS_OFF_CPU |
                           KEEPS_BOOKMARKS | KEEPS_METADATA;
    struct profile_text_rules rules = {
        .keeps = flag,
        .format_keeps = trip->format->keeps,
        .names = rule_of(trip->format)->names,
        .no_tids = !has_tids(trip->profile),
        .in_ns = fold_unit_choose(trip->again, true).unit == PROFILE_UNIT_NS,
    };
    if (!(flag & alone)) {
        uint32_t base = trip->format->keeps & (KEEPS_SAMPLES | KEEPS_SPANS);
        rules.keeps |= base != 0 ? base : KEEPS_SAMPLES;
    }
    return rules;
}

static void compare_flag(const struct trip *trip, uint32_t flag)
{
    const struct profile *profile = trip->profile;
    const struct rule *rule = rule_of(trip->format);
    struct profile_text_rules rules = rules_make(trip, flag);
    struct profile_text found = profile_text_make(trip->again, &rules);
    rules.one_thread = trip->thread != 0;
    rules.thread = trip->thread;
    rules.process_roots = rule->is_folded && fold_needs_process_roots(profile);
    rules.process_in_names = rule->is_prof && has_several_processes(profile);
    rules.modules_as_files = rule->is_prof;
    struct profile_text expected = profile_text_make(profile, &rules);
    char why[PROFILE_TEXT_WHY];
    profile_text_differ(&found, &expected, rule->unit_ns, why);
    int index = __builtin_ctz(flag);
    trip->round->n_compared[index] += expected.lines.n > 0;
    trip->round->n_lost[index] += why[0] != '\0';
    if (why[0] != '\0' && trip->format->keeps & flag)
        complain(trip, format_keeps_words[index], why);
    profile_text_free(&found);
    profile_text_free(&expected);
}

static void compare_all(const struct trip *trip)
{
    for (uint32_t flag = 1; flag < 1u << N_KEEPS; flag <<= 1) {
        if (flag != KEEPS_TIMES || trip->profile->has_times)
            compare_flag(trip, flag);
    }
}

static void round_trip(struct trip *trip)
{
    const struct rule *rule = rule_of(trip->format);
    if (rule->unit_ns > 0 && is_too_long(trip->profile))
        return;
    struct err err = ERR_INIT;
    struct bytes first, second;
    struct note_log log;
    const struct format_notes notes = note_log_make(&log);
    if (!format_write_bytes(trip->format, trip->profile, trip->thread, &notes, &first))
        return;
    trip->round->n_taken++;
    assert_true(format_write_bytes(trip->format, trip->profile, trip->thread, NULL, &second));
    if (first.n != second.n || memcmp(first.bytes, second.bytes, first.n) != 0)
        complain(trip, "bytes", "written twice, not the same");
    struct profile *again = NULL;
    const struct format_options options = {.strict = false};
    if (!trip->format->read((const uint8_t *)first.bytes, first.n, &options, NULL, &again, &err))
        complain(trip, "not read again", err.text);
    trip->again = again;
    if (again != NULL && (rule->cut == NULL || strstr(log.text, rule->cut) == NULL))
        compare_all(trip);
    profile_destroy(again);
    free(first.bytes);
    free(second.bytes);
}

static bool has_content(const struct profile *profile, uint32_t thread)
{
    for (size_t i = 0; i < profile->n_samples; i++) {
        if (profile->samples[i].thread == thread)
            return true;
    }
    for (uint32_t id = 1; id < profile->n_spans; id++) {
        if (profile->spans[id].thread == thread)
            return true;
    }
    return false;
}

void format_rounds_add(struct format_rounds *rounds, const char *name,
                       const struct profile *profile)
{
    for (size_t row = 0; format_table[row] != NULL; row++) {
        assert_true(row < FORMAT_ROUND_MAX);
        struct trip trip = {.rounds = rounds,
                            .round = &rounds->rounds[row],
                            .format = format_table[row],
                            .name = name,
                            .profile = profile};
        if (trip.format->read == NULL || trip.format->write == NULL)
            continue;
        if (!trip.format->is_one_thread || profile->n_threads == 1)
            round_trip(&trip);
        for (uint32_t id = 1; trip.format->is_one_thread && id < profile->n_threads; id++) {
            trip.thread = id;
            if (has_content(profile, id))
                round_trip(&trip);
        }
    }
}
