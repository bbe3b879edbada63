/* list_text.h - what the listings of lines and of instructions have in common. */
#ifndef SAMPLER_CLI_LIST_TEXT_H
#define SAMPLER_CLI_LIST_TEXT_H

#include "list/list.h"
#include "vector.h"
#include "view/cells.h"
#include "view/screen.h"

#define LIST_TAB_COLUMNS 8u
#define LIST_CONTEXT 5u /* lines without samples shown on each side of what is left out */

VECTOR_DEFINE(line_numbers, uint32_t)

struct listing {
    const struct list *list;
    struct screen screen;
    struct weight_style style;
    bool has_percent;
    uint64_t of_function;        /* what numbers of its lines are coloured by */
    struct chars text;           /* of a line, while it is printed            */
    struct source source;        /* of the part in work                       */
    struct line_numbers numbers; /* to print, of the part in work       */
    size_t indent;               /* columns that all of them have free  */
    int number_columns;          /* of a line's number, or an address   */
};

/* Of a number of a line. */
int listing_weight_columns(const struct listing *listing);

/* Above the numbers: "self", "total", and `last` above a line's number or address. */
void listing_print_heading(struct listing *listing, const char *last);

/* One of these; 0 is a dot. */
void listing_print_number(struct listing *listing, uint64_t weight);

/* Without the indentation of the listing, cut on the right. */
void listing_print_text(struct listing *listing, struct text line, size_t columns);

/* Of a function of the profile, in what `used` columns leave of the screen; false when out of memory. */
MUST_CHECK bool listing_print_name(struct listing *listing, uint32_t function, size_t used);

/* A line with a path, cut in the middle; false when out of memory. */
MUST_CHECK bool listing_print_path(struct listing *listing, struct text path);

/* "self 0.30 s (16.0%)". */
void listing_print_sum(struct listing *listing, const char *word, uint64_t weight);

/* Below the heading of a function: its instructions (list_code_text.c). */
MUST_CHECK bool list_code_show(struct listing *listing, const struct summary_row *row,
                               struct err *err);

#endif
