/* top_text.c - the table of `sampler top` for people: self and total as time and percent, a bar of
 * what it is sorted by, and names that fit the terminal. */
#include "commands/top.h"
#include "view/cells.h"
#include "view/row_texts.h"
#include "view/rows_by.h"

#define BAR_COLUMNS ((size_t)6)

/* What stands in a row besides numbers. */
struct row_looks {
    struct row_texts texts;
    size_t bar_columns; /* 0: none */
    uint64_t longest;   /* the weight of a bar of all columns */
};

static bool texts_make(const struct top *top, struct row_texts *texts, size_t columns,
                       struct text mark, struct arena *arena)
{
    const struct profile *profile = top->input->profile;
    struct row_about *rows = arena_array(arena, top->n_rows + 1, sizeof *rows);
    if (rows == NULL)
        return false;
    for (size_t i = 0; i < top->n_rows; i++) {
        struct summary_key key = top->summary.rows[i].key;
        rows[i] = (struct row_about){.profile = profile,
                                     .key = key,
                                     .name = summary_row_name(profile, top->by, key),
                                     .number = summary_row_number(profile, top->by, key)};
    }
    return row_texts_make(texts, rows, top->n_rows, top->by, columns, mark, arena);
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
                      const struct row_looks *looks, size_t i)
{
    const struct summary *summary = &top->summary;
    const struct summary_row *row = &summary->rows[i];
    print_weight(screen, style, row->self, summary->weighed.all);
    if (looks->bar_columns > 0) {
        screen_style(screen, STYLE_BAR);
        screen_bar(screen, part_of(row->self, looks->longest), looks->bar_columns);
        screen_style(screen, STYLE_PLAIN);
        fputs("  ", screen->out);
    }
    if (!summary_is_of_samples(top->by))
        print_weight(screen, style, row->total, summary->weighed.all);
    row_texts_print(screen, &looks->texts, i);
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
    struct row_looks looks = {.bar_columns = bar_columns(top, screen), .longest = longest_bar(top)};
    struct arena *arena = arena_create();
    size_t columns = name_columns(top, screen, style, looks.bar_columns);
    if (arena == NULL || !texts_make(top, &looks.texts, columns, screen_mark(screen), arena)) {
        arena_destroy(arena);
        return err_fail_memory(err);
    }
    print_heading(top, screen, style, looks.bar_columns);
    for (size_t i = 0; i < top->n_rows; i++)
        print_row(top, screen, style, &looks, i);
    if (summary->n > top->n_rows)
        print_remark(screen, "%zu more; -n 0 shows all", summary->n - top->n_rows);
    arena_destroy(arena);
    return top_print_hint(top, screen, err);
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
