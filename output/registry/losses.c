/* losses.c - see registry/losses.h. */
#include "registry/losses.h"

#include <stdio.h>
#include <string.h>

#include "fold/diff.h"

/* Flags of all frames that samples or spans may have. */
static uint32_t frame_flags(const struct profile *profile)
{
    uint32_t flags = 0;
    for (uint32_t i = 1; i < profile->n_frames; i++)
        flags |= profile->frames[i].flags;
    return flags;
}

static bool has_inlined(const struct profile *profile)
{
    return (frame_flags(profile) & PROFILE_FRAME_INLINED) != 0;
}

static bool has_modules(const struct profile *profile)
{
    return profile->n_modules > 1;
}

static bool has_addresses(const struct profile *profile)
{
    for (uint32_t i = 1; i < profile->n_frames; i++) {
        if (profile->frames[i].address != 0)
            return true;
    }
    return false;
}

/* One thread has nothing to be told from. */
static bool has_named_threads(const struct profile *profile)
{
    for (uint32_t i = 1; profile->n_threads > 2 && i < profile->n_threads; i++) {
        if (profile->threads[i].name != 0)
            return true;
    }
    return false;
}

static bool has_processes(const struct profile *profile)
{
    return profile->n_processes > 2;
}

/* More than a count and a time of each sample. */
static bool has_more_numbers(const struct profile *profile)
{
    if (profile->n_samples == 0 || profile->n_kinds < 2)
        return false;
    const struct profile_kind *kinds = profile->kinds;
    bool is_pair = (kinds[0].unit == PROFILE_UNIT_COUNT && kinds[1].unit == PROFILE_UNIT_NS) ||
                   (kinds[0].unit == PROFILE_UNIT_NS && kinds[1].unit == PROFILE_UNIT_COUNT);
    return profile->n_kinds > 2 || !is_pair;
}

static bool has_spans_beside_samples(const struct profile *profile)
{
    return profile->n_spans > 1 && profile->n_samples != 0;
}

static bool has_spans_alone(const struct profile *profile)
{
    return profile->n_spans > 1 && profile->n_samples == 0;
}

static bool has_instants(const struct profile *profile)
{
    return profile->n_instants != 0;
}

static bool has_off_cpu(const struct profile *profile)
{
    return profile->n_off_cpus != 0;
}

static bool has_bookmarks(const struct profile *profile)
{
    return profile->n_bookmarks != 0;
}

/* Said when the profile has it and the format keeps none of `unless`. */
static const struct loss {
    uint32_t unless;
    bool for_stack_counts; /* also of formats that are but stacks with counts */
    bool (*is_in)(const struct profile *profile);
    const char *words;
} losses[] = {
    {KEEPS_INLINED, false, has_inlined, "which frames are inlined"},
    {KEEPS_MODULES, false, has_modules, "modules"},
    {KEEPS_ADDRESSES, false, has_addresses, "addresses"},
    {KEEPS_THREADS, false, has_named_threads, "names of threads"},
    /* Formats with threads alone put the process in the thread's name, and say so. */
    {KEEPS_PROCESSES | KEEPS_THREADS, false, has_processes, "processes"},
    {KEEPS_ALL_KINDS, true, has_more_numbers, "more than one number of each sample"},
    {KEEPS_SPANS, true, has_spans_beside_samples, "spans besides the samples"},
    {KEEPS_SPANS, true, has_spans_alone,
     "single spans (samples of their self times stand for them)"},
    {KEEPS_INSTANTS, true, has_instants, "events and values"},
    {KEEPS_OFF_CPU, true, has_off_cpu, "times off the processor"},
    {KEEPS_BOOKMARKS, true, has_bookmarks, "bookmarks"},
};

static bool is_stack_counts(const struct format *format)
{
    return (format->keeps & (KEEPS_TIMES | KEEPS_FILES | KEEPS_SPANS)) == 0;
}

const char *losses_describe(const struct profile *profile, const struct format *format, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        const struct loss *loss = &losses[i];
        bool is_shown =
            loss->unless == KEEPS_ALL_KINDS && format->for_browsers && profile_is_diff(profile);
        if (is_shown || (format->keeps & loss->unless) != 0 ||
            (is_stack_counts(format) && !loss->for_stack_counts) || !loss->is_in(profile))
            continue;
        int n = used == 0
                    ? snprintf(out, LOSSES_BYTES, "%s does not keep: %s", format->name, loss->words)
                    : snprintf(out + used, LOSSES_BYTES - used, ", %s", loss->words);
        if (n > 0 && (size_t)n < LOSSES_BYTES - used)
            used += (size_t)n;
    }
    return out;
}

void losses_note(const struct profile *profile, const struct format *format,
                 const struct format_notes *notes)
{
    char text[LOSSES_BYTES];
    if (losses_describe(profile, format, text)[0] != '\0')
        format_note(notes, "%s", text);
}
