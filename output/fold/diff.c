/* diff.c - see diff.h. Both profiles go into one fold with two columns, so stacks are matched by
 * being the same path of names. Most of the file decides which numbers can be compared. */
#include "fold/diff.h"

#include "fold/fold.h"

const char *const profile_diff_kinds[] = {"before", "after"};

bool profile_is_diff(const struct profile *profile)
{
    return profile->n_kinds == 2 &&
           text_is(profile_text(profile, profile->kinds[0].name), profile_diff_kinds[0]) &&
           text_is(profile_text(profile, profile->kinds[1].name), profile_diff_kinds[1]);
}

static const char *unit_name(enum profile_unit unit)
{
    static const char *const names[] = {
        [PROFILE_UNIT_NONE] = "numbers without unit",
        [PROFILE_UNIT_COUNT] = "counts",
        [PROFILE_UNIT_NS] = "nanoseconds",
        [PROFILE_UNIT_BYTES] = "bytes",
        [PROFILE_UNIT_EVENTS] = "events",
    };
    return names[unit];
}

static bool units_choose(const struct profile *const profiles[2], bool count_ns,
                         struct fold_unit units[2], const struct format_notes *notes,
                         struct err *err)
{
    for (int side = 0; side < 2; side++)
        units[side] = fold_unit_choose(profiles[side], count_ns);
    for (int side = 0; side < 2; side++) {
        /* Nothing can be compared with anything. */
        if (profiles[side]->n_samples == 0 && profiles[side]->n_spans == 1)
            units[side] =
                (struct fold_unit){.multiplier = 1, .divisor = 1, .unit = units[1 - side].unit};
    }
    bool divided = units[0].divisor != 1 && units[1].divisor != 1;
    if (units[0].unit != units[1].unit || (divided && profiles[0]->period != profiles[1]->period)) {
        for (int side = 0; side < 2; side++)
            units[side] = fold_unit_choose(profiles[side], true);
        if (units[0].unit != units[1].unit)
            return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                            "%s before cannot be compared with %s after", unit_name(units[0].unit),
                            unit_name(units[1].unit));
        format_note(notes, "the profiles differ in what they count; comparing %s",
                    unit_name(units[0].unit));
    }
    return true;
}

bool profile_diff(const struct profile *before, const struct profile *after, bool count_ns,
                  const struct format_notes *notes, struct profile **out, struct err *err)
{
    const struct profile *const profiles[2] = {before, after};
    struct fold_unit units[2];
    struct fold *fold = NULL;
    if (!units_choose(profiles, count_ns, units, notes, err) ||
        !fold_create(2, FOLD_CLEAN, &fold, err))
        return false;
    const struct fold_roots roots = {.processes = fold_needs_process_roots(before) ||
                                                  fold_needs_process_roots(after)};
    bool ok = fold_add(fold, 0, before, units[0], roots, err) &&
              fold_add(fold, 1, after, units[1], roots, err) &&
              fold_to_profile(fold, profile_diff_kinds, units[0].unit, out, err);
    fold_destroy(fold);
    return ok;
}
