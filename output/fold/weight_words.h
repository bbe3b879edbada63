/* weight_words.h - numbers of a profile as people read them: one unit and one width for a whole table.
 *
 * Times are seconds, or milliseconds where all is less than a second; counts are whole numbers. */
#ifndef SAMPLER_WEIGHT_WORDS_H
#define SAMPLER_WEIGHT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

struct weight_style {
    enum profile_unit unit;
    bool is_ms;
    int columns; /* of each number, with its unit */
};

/* For numbers up to `largest`. */
struct weight_style weight_style_for(enum profile_unit unit, uint64_t largest);

/* "1.881 s", without blanks in front. Returns the columns. */
int weight_format(struct weight_style style, uint64_t weight, char *out, size_t out_bytes);

/* What is measured: "CPU time", "wall time", "samples", the name of an event. `measure` is the name
 * of the kind, which may be empty. */
struct text measure_words(enum profile_unit unit, struct text measure);

#endif
