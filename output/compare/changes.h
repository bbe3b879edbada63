/* changes.h - rows of runs before and after, and which of them differ by more than chance.
 *
 * Numbers   Means over the runs of a side, in one unit; rows are matched by their names
 *           (same_name.h). A row that one side lacks is 0 there.
 *
 * Interval  Half the width of the 99 % interval of a change: where nothing changed, a change is
 *           larger than that once in a hundred rows. It holds
 *           - the error of sampling (variance.h), and one sample, as there are no halves of them;
 *             30 samples and less are counted as draws, too few to know better
 *           - what runs of one program differ by on their own. Several runs on a side show that: the
 *             pooled deviation from the means of the sides, by Student's t. One run on each side
 *             cannot, and a guess takes its place, which is also the least of it: as if a run were
 *             made of 100,000 pieces, each of which takes place or not by chance (standard deviation:
 *             0.3 % of a row that is all of the run, 3 % of one that is a hundredth). That is what
 *             functions that compute show from run to run on a quiet machine. Those that wait for
 *             memory, and those that depend on where code and stack lie, show several times as much.
 *
 * Whole     All rows together. Its sum is the time the program took, which is measured: nothing of
 *           it is chance of sampling. But all rows of a run are slower together where the machine is,
 *           so with one run on each side the guess for the whole is a standard deviation of 1.5 %
 *           (400 runs of 2 s of one program on a virtual machine, scripts/bench diff). Rows are not
 *           given that much: it would hide a function that became 5 % slower. */
#ifndef SAMPLER_CHANGES_H
#define SAMPLER_CHANGES_H

#include "compare/row_sets.h"
#include "model/notes.h"

struct change {
    uint32_t row;             /* of `names`; 0: the whole                 */
    struct row_origin origin; /* of a run after, if one has the row       */
    double before;
    double after;
    double interval; /* of after - before; INFINITY: unknown */
    bool is_beyond;  /* the change is larger than that       */
};

struct changes_request {
    const struct profile *const *before;
    const struct profile *const *after;
    size_t n_before; /* >= 1 */
    size_t n_after;  /* >= 1 */
    enum summary_by by;
    enum row_scope scope;
    bool is_normalized; /* as if each run had taken as long as those before on average */
};

struct changes {
    struct change *rows; /* the largest change first, up or down, then by name */
    size_t n;
    struct change whole;
    enum profile_unit unit;
    struct text measure; /* the name of what is summed, or "" */
    bool knows_runs;     /* several runs on a side show what runs differ by  */
    bool knows_chance;   /* false: all intervals but that of `whole` are INFINITY */
    struct row_names *names;
    struct profile **made; /* of profiles of spans */
    size_t n_made;
};

/* ERR_UNSUPPORTED: the profiles hold what cannot be compared. The profiles must outlive the result,
 * which the caller gives back with changes_deinit. */
MUST_CHECK bool changes_init(struct changes *changes, const struct changes_request *request,
                             const struct format_notes *notes, struct err *err);
void changes_deinit(struct changes *changes); /* takes zeros */

/* after - before */
static inline double change_of(const struct change *change)
{
    return change->after - change->before;
}

/* The change of its part of the whole, in percentage points. */
double change_points(const struct changes *changes, const struct change *change);

/* The name rows were matched by, as people read it. */
struct text change_name(const struct change *change, enum summary_by by);

/* Student's t: what a mean is off by, in standard deviations of it estimated with so many degrees of
 * freedom (>= 1), once in a hundred. */
double student_t_99(size_t freedom);

#endif
