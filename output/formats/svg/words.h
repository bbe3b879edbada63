/* words.h - what the picture says in words: above the boxes, and of each of them. */
#ifndef SAMPLER_SVG_WORDS_H
#define SAMPLER_SVG_WORDS_H

#include "fold/weight_words.h"
#include "formats/svg/account.h"
#include "formats/svg/boxes.h"
#include "sink.h"

struct svg_words {
    const struct profile *profile;
    const struct svg_boxes *boxes;
    const struct svg_box *all; /* box 0 */
    struct weight_style style;
    struct svg_account account;
};

/* Both must outlive it. False when out of memory. */
MUST_CHECK bool svg_words_init(struct svg_words *words, const struct profile *profile,
                               const struct svg_boxes *boxes);

/* Of the function, whole; of box 0 "all". */
struct text svg_name_of(const struct svg_words *words, const struct svg_box *box);

/* What svg_write_... write is XML. */

/* What was run, or the files that are compared. */
void svg_write_heading(const struct svg_words *words, struct sink *out);

/* "1.234 s of CPU time · 99.9% of the 1.235 s used · 1234 samples" */
void svg_write_facts(const struct svg_words *words, struct sink *out);

/* The whole name, then in lines of their own numbers, file and line, program or library. */
void svg_write_title(const struct svg_words *words, const struct svg_box *box, struct sink *out);

/* What is said of a change in a box, "+35%", "new", "gone"; "" of what is within chance, or of one run. */
#define SVG_MARK_BYTES 32
void svg_mark_of(const struct svg_words *words, const struct svg_box *box,
                 char out[SVG_MARK_BYTES]);

#endif
