/* boxes.h - a flame graph laid out: which function lies on which path of callers, where, and how wide.
 *
 * Of one run   a box is as wide as its total, the weight of the samples with this path; weights are
 *              those of fold/weighing.h
 * Of two runs  (profile_is_side_by_side) as wide as its totals before and after together, so that
 *              nothing of either is missing
 *
 * Children lie side by side over their caller, the widest first. Box 0 stands for all. What is too
 * narrow to be seen, or too far up, is left out with all that lies over it. */
#ifndef SAMPLER_SVG_BOXES_H
#define SAMPLER_SVG_BOXES_H

#include "compare/intervals.h"
#include "model/profile.h"

#define SVG_WIDTH_PX 1200
#define SVG_NARROWEST_PX 0.1
#define SVG_MOST_LEVELS 4000

struct svg_box {
    uint32_t function; /* of box 0: 0                                           */
    uint32_t level;    /* 0: box 0                                              */
    double start;      /* 0 to 1, from the left                                 */
    double width;      /* 0 to 1                                                */
    uint64_t total;    /* of two runs: after                                    */
    uint64_t self;     /* of one run                                            */
    uint64_t before;   /* of two runs: total                                    */
    double interval;   /* of two runs: of the change (changes.h); INFINITY: unknown */
};

VECTOR_DEFINE(svg_box_list, struct svg_box)

struct svg_boxes {
    struct svg_box_list list; /* callers before those they call */
    uint32_t n_levels;
    uint32_t n_left_out;
    double share_left_out; /* of the width, 0 to 1 */
    bool is_cut;           /* some because they are too far up */
    bool is_of_two;
    uint64_t idle; /* of one run: weight that is in no box */
    enum profile_unit unit;
    struct text measure; /* the name of what is summed, or ""; of the profile or of `intervals` */
    struct intervals intervals;
    uint64_t *self; /* by function, on all paths; of two runs before and after together */
};

/* `profile` must outlive the boxes, which the caller gives back with svg_boxes_deinit. */
MUST_CHECK bool svg_boxes_init(struct svg_boxes *boxes, const struct profile *profile,
                               struct err *err);
void svg_boxes_deinit(struct svg_boxes *boxes);

#endif
