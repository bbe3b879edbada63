/* colors.h - colours of boxes, as classes of the picture's style, for light and dark surroundings.
 *
 * Of one run   a hue for each of the heaviest programs and libraries, grey for the rest; neighbours of one
 *              hue differ a little in lightness, so that boxes stay apart
 * Of two runs  orange grew and blue shrank, the stronger the larger a part of it; pale is within chance
 *
 * Both as the html page has them (formats/html/viewer/views/color.js, change_color.js). */
#ifndef SAMPLER_SVG_COLORS_H
#define SAMPLER_SVG_COLORS_H

#include "formats/svg/boxes.h"
#include "sink.h"

#define SVG_N_HUES 8

/* A program or library with a hue of its own. */
struct svg_hue {
    uint32_t module;
    uint64_t self; /* of its functions */
};

struct svg_colors {
    struct svg_hue hues[SVG_N_HUES]; /* the heaviest first */
    size_t n_hues;
    uint8_t *rank; /* by module: its hue, SVG_N_HUES: grey */
};

/* The caller gives them back with svg_colors_deinit. */
MUST_CHECK bool svg_colors_init(struct svg_colors *colors, const struct svg_boxes *boxes,
                                const struct profile *profile, struct err *err);
void svg_colors_deinit(struct svg_colors *colors);

/* The class of a box, two letters and a NUL. */
#define SVG_CLASS_BYTES 3
void svg_class_of(const struct svg_colors *colors, const struct svg_boxes *boxes,
                  const struct profile *profile, const struct svg_box *box,
                  char out[SVG_CLASS_BYTES]);

/* Of a program or library by its rank, and of a change: what a legend shows. */
void svg_class_of_rank(size_t rank, char out[SVG_CLASS_BYTES]);
void svg_class_of_change(double before, double after, double interval, char out[SVG_CLASS_BYTES]);

/* Whether a change is more than chance; of what is unknown nobody can say that it is less. */
bool svg_is_beyond(double before, double after, double interval);

/* Rules for all classes that pictures of one or of two runs may have. */
void svg_colors_write(struct sink *out, bool is_of_two);

#endif
