/* merge.c - see merge.h.
 *
 * What is common is found first (kinds, time axis), since the builder wants it before the first
 * sample; then the profiles are added one by one. A clock that is the same in two files cannot
 * be proved: if the difference between wall clock and monotonic clock agrees within a second, it
 * is one boot of one machine as far as it matters. */
#include "model/merge.h"

#include <stdlib.h>

#include "model/convert.h"
#include "model/copy.h"
#include "model/row_table.h"
#include "number.h"
#include "saturated.h"

#define SAME_CLOCK_NS 1000000000

struct merged_kind {
    struct text name;
    enum profile_unit unit;
};

struct merging {
    const struct profile *const *profiles;
    struct profile **converted; /* samples made from spans, or NULL; owned */
    size_t n;
    struct profile_builder *builder;
    struct row_table metadata; /* of struct profile_metadata */
    struct merged_kind kinds[PROFILE_MAX_KINDS];
    uint32_t n_kinds;
    bool in_ns; /* one kind: profile_sample_ns */
    uint64_t start_time_ns, start_realtime_ns;
    bool by_monotonic, by_realtime;
};

static const struct profile *profile_at(const struct merging *merging, size_t index)
{
    const struct profile *converted = merging->converted[index];
    return converted != NULL ? converted : merging->profiles[index];
}

/* The kind of `profile` that goes with `kind`: same unit and name, else the only one of the unit;
 * n_kinds if there is none. */
static uint32_t kind_match(const struct profile *profile, const struct merged_kind *kind)
{
    uint32_t n_of_unit = 0, of_unit = profile->n_kinds;
    for (uint32_t i = 0; i < profile->n_kinds; i++) {
        if (profile->kinds[i].unit != kind->unit)
            continue;
        if (text_equal(profile_text(profile, profile->kinds[i].name), kind->name))
            return i;
        n_of_unit++;
        of_unit = i;
    }
    return n_of_unit == 1 ? of_unit : profile->n_kinds;
}

/* Two kinds of one unit in the first profile must not both stand for one kind of the other. */
static bool kind_is_common(const struct merging *merging, const struct profile *first,
                           uint32_t index, const struct merged_kind *kind)
{
    uint32_t n_of_unit = 0;
    for (uint32_t i = 0; i < first->n_kinds; i++)
        n_of_unit += first->kinds[i].unit == first->kinds[index].unit;
    for (size_t i = 0; i < merging->n; i++) {
        const struct profile *profile = profile_at(merging, i);
        if (profile->n_samples == 0)
            continue;
        uint32_t match = kind_match(profile, kind);
        if (match == profile->n_kinds ||
            (n_of_unit > 1 &&
             !text_equal(profile_text(profile, profile->kinds[match].name), kind->name)))
            return false;
    }
    return true;
}

/* Whether each profile with samples can give nanoseconds (profile_sample_ns) without inventing
 * them: a kind in ns, or counts of a known period. */
static bool all_know_time(const struct merging *merging)
{
    for (size_t i = 0; i < merging->n; i++) {
        const struct profile *profile = profile_at(merging, i);
        bool has_ns = profile_kind_find(profile, PROFILE_UNIT_NS) < profile->n_kinds;
        bool has_count = profile_kind_find(profile, PROFILE_UNIT_COUNT) < profile->n_kinds;
        if (profile->n_samples > 0 && !has_ns && !(has_count && profile->period != 0))
            return false;
    }
    return true;
}

static bool kinds_align(struct merging *merging, const struct format_notes *notes, struct err *err)
{
    const struct profile *first = NULL;
    for (size_t i = 0; i < merging->n && first == NULL; i++)
        first = profile_at(merging, i)->n_samples > 0 ? profile_at(merging, i) : NULL;
    if (first == NULL)
        return true;
    uint32_t n_dropped = 0;
    for (uint32_t i = 0; i < first->n_kinds; i++) {
        const struct merged_kind kind = {.name = profile_text(first, first->kinds[i].name),
                                         .unit = first->kinds[i].unit};
        if (kind_is_common(merging, first, i, &kind))
            merging->kinds[merging->n_kinds++] = kind;
        else
            n_dropped++;
    }
    if (merging->n_kinds == 0) {
        if (!all_know_time(merging))
            return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                            "the profiles have no kind of number in common");
        merging->in_ns = true;
        merging->n_kinds = 1;
        merging->kinds[0] =
            (struct merged_kind){.name = text_make("time"), .unit = PROFILE_UNIT_NS};
        format_note(notes, "the profiles count different things: merged as time");
    } else if (n_dropped > 0) {
        format_note(notes, "%u kinds of numbers that not all profiles have are left out",
                    (unsigned)n_dropped);
    }
    return true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return max_u64(a, b) - min_u64(a, b);
}

/* Where time 0 of the result is, and by which clock the profiles are placed on it (merge.h). */
static void axis_choose(struct merging *merging)
{
    bool has_monotonic = true, has_realtime = true, is_one_clock = true;
    uint64_t first_monotonic = UINT64_MAX, first_realtime = UINT64_MAX;
    const struct profile *first = merging->profiles[0];
    for (size_t i = 0; i < merging->n; i++) {
        const struct profile *at = merging->profiles[i];
        has_monotonic = has_monotonic && at->start_time_ns != 0;
        has_realtime = has_realtime && at->start_realtime_ns != 0;
        /* The wall clock's lead over the monotonic clock, modulo 2^64. */
        uint64_t lead_ns = at->start_realtime_ns - at->start_time_ns;
        uint64_t first_lead_ns = first->start_realtime_ns - first->start_time_ns;
        is_one_clock = is_one_clock && distance(lead_ns, first_lead_ns) < SAME_CLOCK_NS;
        first_monotonic = min_u64(first_monotonic, at->start_time_ns);
        first_realtime = min_u64(first_realtime, at->start_realtime_ns);
    }
    merging->by_monotonic = has_monotonic && (!has_realtime || is_one_clock);
    merging->by_realtime = !merging->by_monotonic && has_realtime;
    merging->start_time_ns = merging->by_monotonic ? first_monotonic : 0;
    merging->start_realtime_ns = has_realtime ? first_realtime : 0;
}

static uint64_t shift_of(const struct merging *merging, const struct profile *profile)
{
    if (merging->by_monotonic)
        return profile->start_time_ns - merging->start_time_ns;
    if (merging->by_realtime)
        return profile->start_realtime_ns - merging->start_realtime_ns;
    return 0;
}

static void scalars_set(struct merging *merging, const struct format_notes *notes)
{
    struct profile_scalars *scalars = profile_builder_scalars(merging->builder);
    bool is_first = true, some_have_times = false, has_ns = false;
    for (uint32_t kind = 0; kind < merging->n_kinds; kind++)
        has_ns = has_ns || merging->kinds[kind].unit == PROFILE_UNIT_NS;
    scalars->has_times = true;
    for (size_t i = 0; i < merging->n; i++) {
        const struct profile *at = profile_at(merging, i);
        uint64_t end_ns = add_saturated(shift_of(merging, at), at->duration_ns);
        scalars->duration_ns = max_u64(scalars->duration_ns, end_ns);
        if (at->n_samples == 0)
            continue;
        scalars->has_times = scalars->has_times && at->has_times;
        some_have_times = some_have_times || at->has_times;
        if (is_first)
            scalars->period = at->period;
        else if (scalars->period != at->period && !has_ns)
            scalars->period = 0;
        is_first = false;
    }
    if (some_have_times && !scalars->has_times)
        format_note(notes, "times of samples are left out: not all profiles have them");
    if (merging->in_ns)
        scalars->period = 0;
    scalars->n_kinds = merging->n_kinds;
    for (uint32_t kind = 0; kind < merging->n_kinds; kind++) {
        struct text name = merging->kinds[kind].name;
        scalars->kinds[kind].name = profile_add_text(merging->builder, name.bytes, name.length);
        scalars->kinds[kind].unit = merging->kinds[kind].unit;
    }
    scalars->start_time_ns = merging->start_time_ns;
    scalars->start_realtime_ns = merging->start_realtime_ns;
}

static void samples_add(struct merging *merging, const struct profile *profile,
                        const struct profile_map *map, uint64_t shift_ns)
{
    uint32_t from[PROFILE_MAX_KINDS] = {0};
    for (uint32_t kind = 0; kind < merging->n_kinds && !merging->in_ns; kind++)
        from[kind] = kind_match(profile, &merging->kinds[kind]);
    for (size_t i = 0; i < profile->n_samples; i++) {
        struct profile_sample sample = profile->samples[i];
        sample.thread = map->threads[sample.thread];
        sample.stack = map->stacks[sample.stack];
        sample.time_ns = add_saturated(sample.time_ns, shift_ns);
        uint64_t values[PROFILE_MAX_KINDS] = {0};
        if (merging->in_ns)
            values[0] = profile_sample_ns(profile, i);
        for (uint32_t kind = 0; kind < merging->n_kinds && !merging->in_ns; kind++)
            values[kind] = profile_value(profile, i, from[kind]);
        profile_add_sample(merging->builder, &sample, values);
    }
}

static bool metadata_add(struct merging *merging, const struct profile *profile)
{
    for (size_t i = 0; i < profile->n_metadata; i++) {
        struct text key = profile_text(profile, profile->metadata[i].key);
        struct text value = profile_text(profile, profile->metadata[i].value);
        const struct profile_metadata entry = {
            .key = profile_add_text(merging->builder, key.bytes, key.length),
            .value = profile_add_text(merging->builder, value.bytes, value.length)};
        size_t n_before = merging->metadata.rows.n;
        if (row_table_add(&merging->metadata, &entry, sizeof entry) == 0)
            return false;
        if (merging->metadata.rows.n > n_before)
            profile_add_metadata(merging->builder, key.bytes, value.bytes, value.length);
    }
    return true;
}

static bool profile_add(struct merging *merging, const struct profile *profile, struct err *err)
{
    uint64_t shift_ns = shift_of(merging, profile);
    struct profile_map map;
    if (!profile_map_init(&map, merging->builder, profile, shift_ns, err))
        return false;
    samples_add(merging, profile, &map, shift_ns);
    profile_copy_spans(merging->builder, profile, &map, shift_ns);
    profile_copy_events(merging->builder, profile, &map, shift_ns);
    profile_map_deinit(&map);
    return metadata_add(merging, profile) || err_fail_memory(err);
}

/* Profiles of spans alone become profiles of samples if there are profiles of samples alone. */
static bool spans_convert(struct merging *merging, const struct format_notes *notes,
                          struct err *err)
{
    bool some_only_samples = false;
    size_t n_converted = 0;
    for (size_t i = 0; i < merging->n; i++) {
        const struct profile *at = merging->profiles[i];
        some_only_samples = some_only_samples || (at->n_samples > 0 && at->n_spans == 1);
    }
    for (size_t i = 0; i < merging->n && some_only_samples; i++) {
        const struct profile *at = merging->profiles[i];
        if (at->n_samples > 0 || at->n_spans == 1)
            continue;
        if (!profile_spans_to_samples(at, &merging->converted[i], err))
            return false;
        n_converted++;
    }
    if (n_converted > 0)
        format_note(notes, "spans of %zu profiles are taken as samples of their self time",
                    n_converted);
    return true;
}

static bool all_add(struct merging *merging, const struct format_notes *notes, struct profile **out,
                    struct err *err)
{
    if (!row_table_init(&merging->metadata, sizeof(struct profile_metadata)))
        return err_fail_memory(err);
    if (!spans_convert(merging, notes, err) || !kinds_align(merging, notes, err) ||
        !profile_builder_create(&merging->builder, err))
        return false;
    axis_choose(merging);
    scalars_set(merging, notes);
    for (size_t i = 0; i < merging->n; i++) {
        if (!profile_add(merging, profile_at(merging, i), err))
            return false;
    }
    struct profile_builder *builder = merging->builder;
    merging->builder = NULL;
    return profile_builder_finish(builder, out, err);
}

bool profile_merge(const struct profile *const *profiles, size_t n,
                   const struct format_notes *notes, struct profile **out, struct err *err)
{
    struct merging merging = {.profiles = profiles, .n = n};
    merging.converted = calloc(n, sizeof(struct profile *));
    if (merging.converted == NULL)
        return err_fail_memory(err);
    bool ok = all_add(&merging, notes, out, err);
    profile_builder_destroy(merging.builder);
    row_table_deinit(&merging.metadata);
    for (size_t i = 0; i < n; i++)
        profile_destroy(merging.converted[i]);
    free(merging.converted);
    return ok;
}
