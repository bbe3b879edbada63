/* list.h - what the files of `sampler list` share: functions and their lines, before anybody sees
 * them.
 *
 * The sums are those of output/fold/summary.h, by function and by line: what `sampler top` shows. */
#ifndef SAMPLER_CLI_LIST_H
#define SAMPLER_CLI_LIST_H

#include <stddef.h>

#include "fold/summary.h"
#include "list/list_code.h"
#include "options/options.h"
#include "source/source.h"
#include "view/input.h"

struct list {
    const struct options *options;
    const struct input *input;
    const char *asked; /* FUNC; NULL: some whose source is here, see choose_unasked       */
    struct summary functions;
    uint64_t *own_self;               /* by function: its self with --my-code. NULL: not known    */
    struct summary lines;             /* by function, file (its own first), line    */
    const struct summary_row **meant; /* of `functions`, in order                   */
    size_t n_meant;
    size_t n_shown;                     /* of them                                  */
    const struct summary_row *left_out; /* NULL: none. The first function that was
                                           asked for, or has more self than those
                                           shown, and has nothing to show           */
    bool left_out_leads;                /* it comes before all those that are shown */
    size_t n_left_out;
    uint64_t left_out_self; /* of all these */
    bool with_code;         /* --asm: instructions, and not lines                  */
    uint8_t *has_code;      /* with it: by function, whether addresses are known   */
    struct list_code code;  /* with it: of the functions shown                     */
};

/* Lines of a function that are of one file. */
struct list_part {
    uint32_t file;                  /* text; 0 = unknown                           */
    const struct summary_row *rows; /* by line; line 0: of no known line */
    size_t n;
};

/* Puts lines in the order of struct list. */
void list_lines_sort(struct summary *lines);

/* The next part of a function: begin with zeros. False after the last. */
bool list_part_next(const struct list *list, uint32_t function, struct list_part *part);

/* Whether any line of a function is known. */
bool list_has_lines(const struct list *list, uint32_t function);

struct json;

/* Of a function: its instructions, for programs (list_code_json.c). */
MUST_CHECK bool list_code_json(const struct list *list, struct json *json, uint32_t function,
                               struct err *err);

/* For people (view/screen.h). */
MUST_CHECK bool list_print_text(const struct list *list, struct err *err);

/* For programs; the man page says what is in it. */
MUST_CHECK bool list_print_json(const struct list *list, struct err *err);

#endif
