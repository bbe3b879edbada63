/* screen.h - what commands print for people, on a terminal or into a file.
 *
 *     screen_open(&screen, err)
 *     fprintf(screen->out, ...); screen_style(screen, STYLE_STRONG); ...
 *     screen_close(screen, err)                    shows it all
 *
 * On a terminal lines are made for its width, with colours (none if NO_COLOR is set or TERM is
 * "dumb"), and what is longer than the terminal is shown by a pager: SAMPLER_PAGER, else PAGER,
 * else less if there is one; "cat" or an empty value: none. Elsewhere nothing is cut and there are
 * no colours: lines are for grep and awk. */
#ifndef SAMPLER_CLI_SCREEN_H
#define SAMPLER_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "err.h"
#include "intern.h"

enum screen_style {
    STYLE_PLAIN,
    STYLE_HEADING,
    STYLE_HOT,  /* much   */
    STYLE_WARM, /* some   */
    STYLE_DIM,  /* little */
    STYLE_BAR,
    STYLE_LESS, /* than before */
    N_STYLES
};

struct screen {
    FILE *out;      /* gathers what is printed                                           */
    size_t columns; /* SIZE_MAX: as many as it takes                                     */
    bool is_terminal;
    bool is_utf8; /* the user's locale: bars and marks of one column may be written    */
    bool has_color;
    size_t rows; /* of the terminal; the rest is screen.c's own */
    char *text;
    size_t text_bytes;
};

MUST_CHECK bool screen_open(struct screen *screen, struct err *err);

/* Shows what was printed, on stdout or by the pager, and frees all. */
MUST_CHECK bool screen_close(struct screen *screen, struct err *err);

/* From here on. On what has no colours: nothing. */
void screen_style(struct screen *screen, enum screen_style style);

/* What stands for something left out. */
struct text screen_mark(const struct screen *screen);

/* `part` (0 to 1) of `columns` filled, blanks behind. */
void screen_bar(struct screen *screen, double part, size_t columns);

/* Cleaned (width.h). */
void screen_text(struct screen *screen, struct text text);

#endif
