/* variance.c - see variance.h. A row is only touched in windows in which it has weight: those
 * between are zeros, which make two differences, one at each end. */
#include "compare/variance.h"

#include <stdlib.h>

#include "saturated.h"

/* Numbers of windows besides one for each sample. Fewer than 256 would tell the variance itself only to
 * a tenth. */
static const size_t windows_of_size[VARIANCE_SIZES] = {0, 4096, 1024, 256};

/* A row on its way through the windows. */
struct passage {
    size_t window; /* the last one with weight, + 1; 0 = none yet  */
    double weight; /* in it                                         */
    double before; /* in the one before it                          */
    double squares;
};

static double square(double x)
{
    return x * x;
}

/* The last window is complete; before the first of all there is nothing to compare it with. */
static void window_end(struct passage *passage)
{
    if (passage->window > 1)
        passage->squares += square(passage->weight - passage->before);
}

static void window_add(struct passage *passage, size_t window, double weight)
{
    if (passage->window != window + 1) {
        bool follows = passage->window == window && window > 0;
        window_end(passage);
        if (passage->window != 0 && !follows)
            passage->squares += square(passage->weight);
        passage->before = follows ? passage->weight : 0;
        passage->weight = 0;
        passage->window = window + 1;
    }
    passage->weight += weight;
}

struct weigher {
    const struct profile *profile;
    const struct row_sets *sets;
    struct fold_unit unit;
    struct run_weights *weights;
};

static double sample_weight(const struct weigher *weigher, size_t i)
{
    return (double)multiply_saturated(profile_value(weigher->profile, i, weigher->unit.kind),
                                      weigher->unit.multiplier) /
           (double)weigher->unit.divisor;
}

/* The weights; returns the number of samples that are not idle. */
static size_t samples_weigh(struct weigher *weigher)
{
    struct run_row *rows = weigher->weights->rows;
    size_t n_awake = 0;
    for (size_t i = 0; i < weigher->profile->n_samples; i++) {
        size_t n = 0;
        const uint32_t *of = row_sets_of(weigher->sets, &weigher->profile->samples[i], &n);
        double weight = n == 0 ? 0 : sample_weight(weigher, i);
        n_awake += n > 0;
        rows[0].weight += weight;
        for (size_t k = 0; k < n; k++)
            rows[of[k]].weight += weight;
    }
    return n_awake;
}

static void windows_walk(const struct weigher *weigher, size_t n_awake, size_t n_windows,
                         struct passage *passages)
{
    size_t place = 0;
    for (size_t i = 0; i < weigher->profile->n_samples; i++) {
        size_t n = 0;
        const uint32_t *of = row_sets_of(weigher->sets, &weigher->profile->samples[i], &n);
        if (n == 0)
            continue;
        size_t window = n_windows == n_awake
                            ? place
                            : (size_t)((double)place / (double)n_awake * (double)n_windows);
        double weight = sample_weight(weigher, i);
        for (size_t k = 0; k < n; k++)
            window_add(&passages[of[k]], window, weight);
        place++;
    }
}

static bool order_measure(const struct weigher *weigher, size_t n_awake, struct err *err)
{
    struct run_weights *weights = weigher->weights;
    for (unsigned size = 0; size < VARIANCE_SIZES; size++) {
        size_t n_windows =
            size == 0 || windows_of_size[size] >= n_awake ? n_awake : windows_of_size[size];
        struct passage *passages = calloc(weights->n, sizeof *passages);
        if (passages == NULL)
            return err_fail_memory(err);
        windows_walk(weigher, n_awake, n_windows, passages);
        for (uint32_t row = 1; row < weights->n; row++) {
            struct passage *passage = &passages[row];
            window_end(passage);
            if (passage->window != 0 && passage->window < n_windows)
                passage->squares += square(passage->weight);
            weights->rows[row].variances[size] = passage->squares / 2;
        }
        free(passages);
    }
    return true;
}

/* As if each point was drawn on its own, and all of them together given. */
static void draws_count(struct run_weights *weights)
{
    for (uint32_t row = 1; row < weights->n; row++) {
        double weight = weights->rows[row].weight;
        double part = weights->rows[0].weight > 0 ? weight / weights->rows[0].weight : 0;
        for (unsigned size = 0; size < VARIANCE_SIZES; size++)
            weights->rows[row].variances[size] = weights->point * weight * (1 - part);
    }
}

static enum variance_source source_of(const struct profile *profile, struct fold_unit unit,
                                      bool is_measured)
{
    if (is_measured)
        return VARIANCE_NONE;
    if (profile->has_times)
        return VARIANCE_ORDER;
    bool is_counted = unit.unit == PROFILE_UNIT_COUNT || unit.unit == PROFILE_UNIT_NONE;
    return is_counted || (unit.unit == PROFILE_UNIT_NS && profile->period != 0) ? VARIANCE_DRAWS
                                                                                : VARIANCE_UNKNOWN;
}

bool run_weights_init(struct run_weights *weights, const struct profile *profile,
                      const struct row_sets *sets, uint32_t n_rows, struct fold_unit unit,
                      bool is_measured, struct err *err)
{
    struct weigher weigher = {.profile = profile, .sets = sets, .unit = unit, .weights = weights};
    *weights = (struct run_weights){.n = n_rows, .source = source_of(profile, unit, is_measured)};
    weights->rows = calloc(n_rows, sizeof *weights->rows);
    if (weights->rows == NULL)
        return err_fail_memory(err);
    size_t n_awake = samples_weigh(&weigher);
    if (weights->source == VARIANCE_DRAWS) {
        weights->point = unit.unit == PROFILE_UNIT_NS ? (double)profile->period : 1;
        draws_count(weights);
    }
    if (weights->source != VARIANCE_ORDER || n_awake == 0)
        return true;
    weights->point = weights->rows[0].weight / (double)n_awake;
    return order_measure(&weigher, n_awake, err);
}

void run_weights_deinit(struct run_weights *weights)
{
    free(weights->rows);
    *weights = (struct run_weights){.rows = NULL};
}
