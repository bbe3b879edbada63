/* variance.h - what each row of a run weighs, and how far that may be off because it was sampled.
 *
 * Samples stand on a grid: one for each period of a thread's time. How much of its weight a row has by
 * the chance of where the grid lies depends on the program. If it runs many functions in each period,
 * samples are like draws from an urn; if a function runs for many periods at a time, only the two at
 * its ends can go either way, which is far less. The order of the samples tells which it is: they are
 * put into windows of equal size, and the variance of a row's sum is
 *
 *     1/2 * sum of (weight in a window - weight in the one before)^2
 *
 * (Wolter, Introduction to Variance Estimation, chapter 8: estimators for systematic samples.) With one
 * sample to a window that is the variance of draws. Larger windows are closer to the truth unless the
 * program does something else in each; what it does in turns only adds. So of several sizes the
 * smallest variance is the one to take, but over all runs together (changes.c), or it would be chosen
 * for its own error. */
#ifndef SAMPLER_VARIANCE_H
#define SAMPLER_VARIANCE_H

#include "compare/row_sets.h"
#include "fold/fold.h"

#define VARIANCE_SIZES 4u /* of windows */

/* Where the variance comes from. */
enum variance_source {
    VARIANCE_UNKNOWN, /* sums of samples whose number nobody knows                                 */
    VARIANCE_NONE,  /* every call was measured                                                   */
    VARIANCE_DRAWS, /* samples without times, by their number                                    */
    VARIANCE_ORDER  /* samples with times                                                        */
};

struct run_row {
    double weight;
    double variances[VARIANCE_SIZES]; /* of `weight`, by size; in its unit squared */
};

struct run_weights {
    struct run_row *rows; /* by row of row_names.h; row 0 is all together, without a variance */
    uint32_t n;
    double point; /* what a sample weighs, on average; 0: nothing was sampled, or unknown */
    enum variance_source source;
};

/* Weighs the samples of `profile`, which `sets` is of, in `unit`. `is_measured`: they were made of
 * spans. To be given back with run_weights_deinit. */
MUST_CHECK bool run_weights_init(struct run_weights *weights, const struct profile *profile,
                                 const struct row_sets *sets, uint32_t n_rows,
                                 struct fold_unit unit, bool is_measured, struct err *err);
void run_weights_deinit(struct run_weights *weights);

#endif
