/* top_text.c - the table of `sampler top` for people: self and total as time and percent, a bar of
 * what it is sorted by, and names that fit the terminal. */
#include <inttypes.h>
#include <string.h>

#include "commands/top.h"
#include "view/cells.h"
#include "view/name_fit.h"
#include "view/rows_by.h"
#include "view/width.h"

#define BAR_COLUMNS ((size_t)6)
#define MOST_PLACE_COLUMNS ((size_t)24) /* of "file.c:123" before a function */

/* What stands in a row besides numbers. */
struct row_texts {
    struct arena *arena;
    struct name_cell *names;
    struct text *places; /* by line only, else NULL */
    size_t place_columns;
    size_t bar_columns; /* 0: none */
    uint64_t longest;   /* the weight of a bar of all columns */
};

/* ---- names ----------------------------------------------------------------------------------- */

/* Functions: those that look the same are told apart by where they are defined. */
static bool functions_fit(const struct top *top, struct row_texts *texts, size_t columns,
                          struct text mark)
{
    const struct profile *profile = top->input->profile;
    for (size_t i = 0; i < top->n_rows; i++) {
        struct name_cell *cell = &texts->names[i];
        cell->detail = row_place(profile, top->by, top->summary.rows[i].key, true, texts->arena);
        if (cell->detail.bytes == NULL)
            return false;
    }
    return names_fit(texts->names, top->n_rows, columns, mark, texts->arena);
}

static bool name_keep(struct row_texts *texts, size_t i, struct chars *name)
{
    texts->names[i].fitted = chars_keep(name, texts->arena);
    return texts->names[i].fitted.bytes != NULL;
}

/* Lines: the place in a column of its own. Where nothing is cut it has the whole path. */
static bool lines_fit(const struct top *top, struct row_texts *texts, size_t columns,
                      struct text mark)
{
    const struct profile *profile = top->input->profile;
    bool is_cut = columns != SIZE_MAX;
    for (size_t i = 0; i < top->n_rows; i++) {
        struct text whole =
            row_place(profile, top->by, top->summary.rows[i].key, is_cut, texts->arena);
        struct chars cut = {0};
        size_t most = is_cut ? MOST_PLACE_COLUMNS : SIZE_MAX;
        cut.no_memory |= whole.bytes == NULL || !path_fit(&cut, whole, most, mark);
        texts->places[i] = chars_keep(&cut, texts->arena);
        if (texts->places[i].bytes == NULL)
            return false;
        size_t taken = text_columns(texts->places[i]);
        texts->place_columns = taken > texts->place_columns ? taken : texts->place_columns;
    }
    size_t left = is_cut ? columns - texts->place_columns - 2 : SIZE_MAX;
    for (size_t i = 0; i < top->n_rows; i++) {
        struct chars name = {0};
        name.no_memory |= !name_fit(&name, texts->names[i].name, left, mark);
        if (!name_keep(texts, i, &name))
            return false;
    }
    return true;
}

/* Paths, and names with the number that tells them apart. */
static bool others_fit(const struct top *top, struct row_texts *texts, size_t columns,
                       struct text mark)
{
    for (size_t i = 0; i < top->n_rows; i++) {
        struct chars name = {0};
        char number[32] = "";
        uint64_t id = summary_row_number(top->input->profile, top->by, top->summary.rows[i].key);
        if (id != 0)
            snprintf(number, sizeof number, " (%" PRIu64 ")", id);
        size_t left = columns == SIZE_MAX ? SIZE_MAX : columns - strlen(number);
        name.no_memory |= !path_fit(&name, texts->names[i].name, left, mark) ||
                          !chars_append(&name, number, strlen(number));
        if (!name_keep(texts, i, &name))
            return false;
    }
    return true;
}

static bool texts_make(const struct top *top, struct row_texts *texts, size_t columns,
                       struct text mark)
{
    texts->names = arena_array(texts->arena, top->n_rows + 1, sizeof *texts->names);
    if (top->by == SUMMARY_BY_LINE)
        texts->places = arena_array(texts->arena, top->n_rows + 1, sizeof *texts->places);
    if (texts->names == NULL || (top->by == SUMMARY_BY_LINE && texts->places == NULL))
        return false;
    for (size_t i = 0; i < top->n_rows; i++)
        texts->names[i].name =
            summary_row_name(top->input->profile, top->by, top->summary.rows[i].key);
    if (top->by == SUMMARY_BY_FUNCTION)
        return functions_fit(top, texts, columns, mark);
    if (top->by == SUMMARY_BY_LINE)
        return lines_fit(top, texts, columns, mark);
    return others_fit(top, texts, columns, mark);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Columns for names: what numbers and bar leave. */
static size_t name_columns(const struct top *top, const struct screen *screen,
                           struct weight_style style, size_t bar_columns)
{
    size_t weight = weight_cell_columns(style);
    size_t used = weight + (bar_columns > 0 ? bar_columns + 2 : 0);
    return columns_left(screen, summary_is_of_samples(top->by) ? used : used + weight);
}

static size_t bar_columns(const struct top *top, const struct screen *screen)
{
    bool is_narrow = top->by == SUMMARY_BY_LINE && screen->columns < WIDE_COLUMNS;
    return screen->is_terminal && !is_narrow ? BAR_COLUMNS : 0;
}

static void print_heading(const struct top *top, struct screen *screen, struct weight_style style,
                          size_t bar)
{
    int columns = PERCENT_COLUMNS + 1 + style.columns;
    screen_style(screen, STYLE_HEADING);
    fprintf(screen->out, "%*s  ", columns, summary_is_of_samples(top->by) ? "" : "self");
    if (bar > 0)
        fprintf(screen->out, "%*s  ", (int)bar, "");
    if (!summary_is_of_samples(top->by))
        fprintf(screen->out, "%*s  ", columns, "total");
    fputs(rows_by_word(top->by), screen->out);
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

static void print_row(const struct top *top, struct screen *screen, struct weight_style style,
                      const struct row_texts *texts, size_t i)
{
    const struct summary *summary = &top->summary;
    const struct summary_row *row = &summary->rows[i];
    print_weight(screen, style, row->self, summary->weighed.all);
    if (texts->bar_columns > 0) {
        screen_style(screen, STYLE_BAR);
        screen_bar(screen, part_of(row->self, texts->longest), texts->bar_columns);
        screen_style(screen, STYLE_PLAIN);
        fputs("  ", screen->out);
    }
    if (!summary_is_of_samples(top->by))
        print_weight(screen, style, row->total, summary->weighed.all);
    if (texts->places != NULL) {
        size_t blanks = texts->place_columns - text_columns(texts->places[i]);
        screen_text(screen, texts->places[i]);
        fprintf(screen->out, "%*s  ", (int)blanks, "");
    }
    screen_text(screen, texts->names[i].fitted);
    fputc('\n', screen->out);
}

static uint64_t longest_bar(const struct top *top)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < top->n_rows; i++)
        longest = top->summary.rows[i].self > longest ? top->summary.rows[i].self : longest;
    return longest;
}

static bool print_rows(const struct top *top, struct screen *screen, struct err *err)
{
    const struct summary *summary = &top->summary;
    struct weight_style style = weight_style_for(summary->weighed.unit, summary->weighed.all);
    struct row_texts texts = {.arena = arena_create(),
                              .bar_columns = bar_columns(top, screen),
                              .longest = longest_bar(top)};
    size_t columns = name_columns(top, screen, style, texts.bar_columns);
    if (texts.arena == NULL || !texts_make(top, &texts, columns, screen_mark(screen))) {
        arena_destroy(texts.arena);
        return err_fail_memory(err);
    }
    print_heading(top, screen, style, texts.bar_columns);
    for (size_t i = 0; i < top->n_rows; i++)
        print_row(top, screen, style, &texts, i);
    if (summary->n > top->n_rows)
        print_remark(screen, "%zu more; -n 0 shows all", summary->n - top->n_rows);
    arena_destroy(texts.arena);
    return true;
}

bool top_print_text(const struct top *top, struct err *err)
{
    struct screen screen;
    bool ok = true;
    if (!screen_open(&screen, err))
        return false;
    print_title(&screen, top->input, &top->summary.weighed);
    if (top->summary.n == 0)
        fputs(top->summary.weighed.idle == 0 ? "no samples\n" : "no samples of threads that ran\n",
              screen.out);
    else
        ok = print_rows(top, &screen, err);
    return screen_close(&screen, err) && ok;
}
