/* changes.c - see changes.h. Runs are weighed one after another into sums by row; the statistics are
 * made of these at the end. */
#include "compare/changes.h"

#include <math.h>
#include <stdlib.h>

#include "compare/same_name.h"
#include "compare/variance.h"
#include "model/convert.h"

#define NORMAL_99 2.5758293035489004 /* standard deviations, both ends */
#define RUN_VARIANCE 1e-5            /* of a row, as part of row times whole: see the header */
#define WHOLE_VARIANCE (0.015 * 0.015)
#define FEW_POINTS 30.0

enum side { BEFORE, AFTER, N_SIDES };

/* A row on one side, over its runs. */
struct side_sums {
    double sum;
    double squares; /* of the runs' weights */
    double variances[VARIANCE_SIZES];
};

struct row_sums {
    struct side_sums sides[N_SIDES];
};

VECTOR_DEFINE(rows_sums, struct row_sums)

struct comparison {
    const struct changes_request *request;
    struct changes *changes;
    struct rows_sums rows; /* by row of row_names.h; 0 is the whole */
    double n_runs[N_SIDES];
    double point;     /* the heaviest of a run */
    double reference; /* what runs are normalized to; 0: as they are */
    bool is_unknown;  /* of some run the error of sampling is */
    bool as_counts;   /* in samples: not all runs know times  */
};

/* ---- what can be compared -------------------------------------------------------------------- */

static const struct profile *run_at(const struct changes_request *request, size_t i)
{
    return i < request->n_before ? request->before[i] : request->after[i - request->n_before];
}

static struct text measure_of(const struct profile *profile, struct fold_unit unit)
{
    bool is_kind = unit.kind < profile->n_kinds && profile->kinds[unit.kind].unit == unit.unit;
    return profile_text(profile, is_kind ? profile->kinds[unit.kind].name : 0);
}

/* "cpu" and "wall" are not the same time; nor are two events the same event. Other names of times
 * are words of formats. */
static bool measures_differ(enum profile_unit unit, struct text a, struct text b)
{
    bool is_named = unit != PROFILE_UNIT_NS || ((text_is(a, "cpu") || text_is(a, "wall")) &&
                                                (text_is(b, "cpu") || text_is(b, "wall")));
    return unit != PROFILE_UNIT_COUNT && is_named && a.length > 0 && b.length > 0 &&
           !text_equal(a, b);
}

static bool is_empty(const struct profile *profile)
{
    return profile->n_samples == 0 && profile->n_spans <= 1;
}

/* Whether all runs with samples have one unit; *first: one of them, the first run if there is none. */
static bool units_agree(const struct changes_request *request, bool as_ns,
                        const struct profile **first)
{
    *first = NULL;
    for (size_t i = 0; i < request->n_before + request->n_after; i++) {
        const struct profile *run = run_at(request, i);
        if (is_empty(run))
            continue;
        *first = *first == NULL ? run : *first;
        if (fold_unit_choose(run, as_ns).unit != fold_unit_choose(*first, as_ns).unit)
            return false;
    }
    *first = *first == NULL ? run_at(request, 0) : *first;
    return true;
}

static bool unit_choose(struct comparison *comparison, const struct format_notes *notes,
                        struct err *err)
{
    const struct changes_request *request = comparison->request;
    struct changes *changes = comparison->changes;
    const struct profile *first = NULL;
    comparison->as_counts = !units_agree(request, true, &first);
    if (comparison->as_counts) {
        if (!units_agree(request, false, &first))
            return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                            "the files count different things, which cannot be compared");
        format_note(notes, "some of the files hold no times; comparing samples");
    }
    struct fold_unit unit = fold_unit_choose(first, !comparison->as_counts);
    changes->unit = unit.unit;
    changes->measure = measure_of(first, unit);
    for (size_t i = 0; i < request->n_before + request->n_after; i++) {
        const struct profile *run = run_at(request, i);
        struct text other = measure_of(run, fold_unit_choose(run, !comparison->as_counts));
        if (!is_empty(run) && measures_differ(unit.unit, changes->measure, other))
            return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                            "'%.60s' cannot be compared with '%.60s'", changes->measure.bytes,
                            other.bytes);
    }
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void side_add(struct side_sums *side, const struct run_row *row, double scale)
{
    double weight = row->weight * scale;
    side->sum += weight;
    side->squares += weight * weight;
    for (unsigned size = 0; size < VARIANCE_SIZES; size++)
        side->variances[size] += row->variances[size] * scale * scale;
}

static double scale_of(const struct comparison *comparison, double whole)
{
    return comparison->reference > 0 && whole > 0 ? comparison->reference / whole : 1;
}

static void weights_add(struct comparison *comparison, enum side side,
                        const struct run_weights *weights)
{
    double scale = scale_of(comparison, weights->rows[0].weight);
    for (uint32_t row = 0; row < weights->n; row++)
        side_add(&comparison->rows.items[row].sides[side], &weights->rows[row], scale);
    comparison->point = fmax(comparison->point, weights->point * scale);
    comparison->is_unknown |= weights->source == VARIANCE_UNKNOWN;
}

static bool samples_add(struct comparison *comparison, enum side side,
                        const struct profile *samples, bool is_measured, struct err *err)
{
    const struct changes_request *request = comparison->request;
    struct row_names *names = comparison->changes->names;
    struct row_sets *sets = NULL;
    struct run_weights weights;
    if (!row_sets_create(names, samples, request->by, request->scope, &sets, err))
        return false;
    uint32_t n_rows = row_names_count(names);
    struct fold_unit unit = fold_unit_choose(samples, !comparison->as_counts);
    bool ok = run_weights_init(&weights, samples, sets, n_rows, unit, is_measured, err);
    if (ok && rows_sums_extend(&comparison->rows, n_rows))
        weights_add(comparison, side, &weights);
    run_weights_deinit(&weights);
    row_sets_destroy(sets);
    if (!ok || !comparison->rows.no_memory)
        return ok;
    err_fail_memory(err);
    return false;
}

static bool run_add(struct comparison *comparison, enum side side, const struct profile *run,
                    struct err *err)
{
    struct changes *changes = comparison->changes;
    const struct profile *samples;
    struct profile *made;
    if (!profile_with_samples(run, &samples, &made, err))
        return false;
    if (made != NULL)
        changes->made[changes->n_made++] = made;
    comparison->n_runs[side]++;
    return samples_add(comparison, side, samples, made != NULL, err);
}

/* What runs before weigh on average, for normalizing. */
static bool reference_find(struct comparison *comparison, struct err *err)
{
    const struct changes_request *request = comparison->request;
    for (size_t i = 0; request->is_normalized && i < request->n_before; i++) {
        struct summary summary;
        if (!summary_init(&summary, request->before[i], SUMMARY_BY_COMMAND, err))
            return false;
        double whole = (double)summary.weighed.all;
        if (comparison->as_counts && request->before[i]->period != 0)
            whole /= (double)request->before[i]->period;
        comparison->reference += whole / (double)request->n_before;
        summary_deinit(&summary);
    }
    return true;
}

/* Runs after first: rows are shown as they are named and placed there. */
static bool runs_add(struct comparison *comparison, struct err *err)
{
    const struct changes_request *request = comparison->request;
    bool ok = reference_find(comparison, err);
    for (size_t i = 0; ok && i < request->n_after; i++)
        ok = run_add(comparison, AFTER, request->after[i], err);
    for (size_t i = 0; ok && i < request->n_before; i++)
        ok = run_add(comparison, BEFORE, request->before[i], err);
    return ok;
}

/* ---- statistics ------------------------------------------------------------------------------ */

double student_t_99(size_t freedom)
{
    static const double table[] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499,
                                   3.355,  3.250, 3.169, 3.106, 3.055, 3.012, 2.977,
                                   2.947,  2.921, 2.898, 2.878, 2.861, 2.845};
    if (freedom <= sizeof table / sizeof table[0])
        return table[freedom - 1];
    const double z = NORMAL_99; /* the first term of Cornish and Fisher's expansion */
    return z + (z * z * z + z) / (4 * (double)freedom);
}

/* Of the means' difference, by the order of samples: of each size of windows over all runs, the
 * smallest, but not less than so few draws would have. */
static double sampling_variance(const struct comparison *comparison, const struct row_sums *row)
{
    double smallest = INFINITY, points = 0, least_runs = INFINITY;
    for (unsigned size = 0; size < VARIANCE_SIZES; size++) {
        double variance = 0;
        for (enum side side = BEFORE; side < N_SIDES; side++)
            variance += row->sides[side].variances[size] /
                        (comparison->n_runs[side] * comparison->n_runs[side]);
        smallest = fmin(smallest, variance);
    }
    if (comparison->point <= 0)
        return smallest;
    for (enum side side = BEFORE; side < N_SIDES; side++) {
        points += row->sides[side].sum / comparison->point;
        least_runs = fmin(least_runs, comparison->n_runs[side]);
    }
    double least = fmin(points, FEW_POINTS) * comparison->point * comparison->point;
    return fmax(smallest, least / (least_runs * least_runs));
}

static double mean_of(const struct comparison *comparison, const struct row_sums *row,
                      enum side side)
{
    return row->sides[side].sum / comparison->n_runs[side];
}

static size_t freedom_of(const struct comparison *comparison)
{
    return (size_t)(comparison->n_runs[BEFORE] + comparison->n_runs[AFTER]) - N_SIDES;
}

/* What runs differ by on their own, without having seen it. */
static double assumed_variance(const struct comparison *comparison, const struct row_sums *row,
                               bool is_whole)
{
    bool is_seen = freedom_of(comparison) > 0;
    double variance = 0;
    for (enum side side = BEFORE; side < N_SIDES; side++) {
        double row_mean = mean_of(comparison, row, side);
        double whole_mean = mean_of(comparison, &comparison->rows.items[0], side);
        double assumed = is_whole && !is_seen ? WHOLE_VARIANCE : RUN_VARIANCE;
        variance += assumed * row_mean * whole_mean / comparison->n_runs[side];
    }
    return variance;
}

/* The same as several runs show it, error of sampling included. */
static double runs_variance(const struct comparison *comparison, const struct row_sums *row)
{
    double squares = 0, runs = 0;
    for (enum side side = BEFORE; side < N_SIDES; side++) {
        double mean = mean_of(comparison, row, side);
        squares += row->sides[side].squares - mean * row->sides[side].sum;
        runs += 1 / comparison->n_runs[side];
    }
    return fmax(squares, 0) / (double)freedom_of(comparison) * runs;
}

static double interval_of(const struct comparison *comparison, const struct row_sums *row,
                          bool is_whole)
{
    double interval = INFINITY;
    if (is_whole || !comparison->is_unknown) {
        double variance = assumed_variance(comparison, row, is_whole);
        if (!is_whole)
            variance += sampling_variance(comparison, row);
        interval = NORMAL_99 * sqrt(variance);
    }
    if (freedom_of(comparison) > 0) {
        double seen = student_t_99(freedom_of(comparison)) * sqrt(runs_variance(comparison, row));
        interval = isinf(interval) ? seen : fmax(interval, seen);
    }
    double one = comparison->point / fmin(comparison->n_runs[BEFORE], comparison->n_runs[AFTER]);
    return is_whole ? interval : interval + one;
}

/* ---- the result ------------------------------------------------------------------------------ */

static struct change change_make(const struct comparison *comparison, uint32_t row)
{
    const struct row_sums *sums = &comparison->rows.items[row];
    struct change change = {
        .row = row,
        .origin = row_names_origin(comparison->changes->names, row),
        .before = mean_of(comparison, sums, BEFORE),
        .after = mean_of(comparison, sums, AFTER),
        .interval = interval_of(comparison, sums, row == 0),
    };
    change.is_beyond = fabs(change_of(&change)) > change.interval;
    return change;
}

static int changes_order(const void *left, const void *right, void *context)
{
    const struct change *a = left, *b = right;
    const enum summary_by *by = context;
    double by_size = fabs(change_of(b)) - fabs(change_of(a));
    if (by_size != 0)
        return by_size > 0 ? 1 : -1;
    int by_name = text_compare(change_name(a, *by), change_name(b, *by));
    return by_name != 0 ? by_name
                        : (a->origin.key.line > b->origin.key.line) -
                              (a->origin.key.line < b->origin.key.line);
}

static bool rows_make(struct comparison *comparison, struct err *err)
{
    struct changes *changes = comparison->changes;
    changes->rows = calloc(comparison->rows.n, sizeof *changes->rows);
    if (changes->rows == NULL)
        return err_fail_memory(err);
    changes->whole = change_make(comparison, 0);
    for (uint32_t row = 1; row < comparison->rows.n; row++) {
        struct change change = change_make(comparison, row);
        if (change.before > 0 || change.after > 0)
            changes->rows[changes->n++] = change;
    }
    enum summary_by by = comparison->request->by;
    qsort_r(changes->rows, changes->n, sizeof *changes->rows, changes_order, &by);
    changes->knows_runs = freedom_of(comparison) > 0;
    changes->knows_chance = changes->knows_runs || !comparison->is_unknown;
    return true;
}

bool changes_init(struct changes *changes, const struct changes_request *request,
                  const struct format_notes *notes, struct err *err)
{
    struct comparison comparison = {.request = request, .changes = changes};
    *changes = (struct changes){.rows = NULL};
    changes->made = calloc(request->n_before + request->n_after, sizeof(struct profile *));
    if (changes->made == NULL)
        return err_fail_memory(err);
    bool ok = unit_choose(&comparison, notes, err) && row_names_create(&changes->names, err) &&
              runs_add(&comparison, err) && rows_make(&comparison, err);
    rows_sums_deinit(&comparison.rows);
    if (!ok)
        changes_deinit(changes);
    return ok;
}

void changes_deinit(struct changes *changes)
{
    for (size_t i = 0; i < changes->n_made; i++)
        profile_destroy(changes->made[i]);
    free(changes->made);
    free(changes->rows);
    row_names_destroy(changes->names);
    *changes = (struct changes){.rows = NULL};
}

static double part_of(double weight, double all)
{
    return all > 0 ? weight / all : 0;
}

double change_points(const struct changes *changes, const struct change *change)
{
    return 100 * (part_of(change->after, changes->whole.after) -
                  part_of(change->before, changes->whole.before));
}

struct text change_name(const struct change *change, enum summary_by by)
{
    struct text name = summary_row_name(change->origin.profile, by, change->origin.key);
    if (by == SUMMARY_BY_FUNCTION || by == SUMMARY_BY_LINE || by == SUMMARY_BY_LABEL)
        return same_name_of_function(name);
    return by == SUMMARY_BY_MODULE ? text_base_name(name) : name;
}
