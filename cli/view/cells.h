/* cells.h - what tables and trees for people have in common: the line above them, weights in a row,
 * and where a function is defined. */
#ifndef SAMPLER_CLI_CELLS_H
#define SAMPLER_CLI_CELLS_H

#include "arena.h"
#include "fold/summary.h"
#include "fold/weight_words.h"
#include "vector.h"
#include "view/input.h"
#include "view/screen.h"

/* A terminal with room for more than the numbers that matter most. */
#define WIDE_COLUMNS ((size_t)100)

/* What a name has at least, however narrow the terminal is. */
#define LEAST_NAME_COLUMNS ((size_t)16)

#define PERCENT_COLUMNS 6

/* 0 to 1; of nothing: 0. */
double part_of(uint64_t weight, uint64_t all);

/* "CPU time: 0.361 s of 0.644 s (56.1%)": what the percentages below are of. */
void print_title(struct screen *screen, const struct input *input, const struct weighed *weighed);

/* Of the style's width, to the right. */
void weight_print(FILE *out, struct weight_style style, uint64_t weight);

/* "27.6%", PERCENT_COLUMNS wide. Of nothing: 0. */
void percent_print(FILE *out, uint64_t weight, uint64_t all);

/* In place of rows, of a function that was asked for. */
void print_no_samples_in_function(struct screen *screen, const struct input *input);

/* The colour of numbers that are this part (0 to 1) of what they are compared with. */
void screen_heat(struct screen *screen, double part);

/* " 56.1% 0.361 s  ", coloured by how much of all it is. */
void print_weight(struct screen *screen, struct weight_style style, uint64_t weight, uint64_t all);
size_t weight_cell_columns(struct weight_style style);

/* What the numbers of a row leave of the screen for its name. SIZE_MAX: nothing is cut. */
size_t columns_left(const struct screen *screen, size_t used);

/* A line that says something about the ones above it. */
void print_remark(struct screen *screen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "file.c:123": where the function of a row (by function or line) is defined, or the line of it that
 * ran; without a file the module; may be empty. `is_short`: the file without its folders. NULL bytes
 * when out of memory. */
struct text row_place(const struct profile *profile, enum summary_by by, struct summary_key key,
                      bool is_short, struct arena *arena);

/* Moves the characters to the arena; NULL bytes if there is no memory, or was none on the way. */
struct text chars_keep(struct chars *chars, struct arena *arena);

#endif
