/* diff_text.c - the changes for people. Rows that changed by more than chance are marked "*", and on a
 * terminal coloured: red what grew, green what shrank; all others are dim.
 *
 *   CPU time: 9.633 s before, 9.901 s after: +0.268 s (+2.8%)
 *    before    after    change  +- 99%    points  function
 *   4.401 s  4.633 s  +0.232 s  0.083 s *   +1.1  parse
 *   ...
 *   1 function changed beyond chance (99%): +0.232 s */
#include <math.h>

#include "diff/diff.h"
#include "view/cells.h"
#include "view/row_texts.h"
#include "view/rows_by.h"

#define POINTS_COLUMNS 6
#define MARK_COLUMNS 2

static uint64_t rounded(double weight)
{
    return (uint64_t)llround(fabs(weight));
}

/* With its sign. */
static void signed_print(FILE *out, struct weight_style style, double change)
{
    char text[48];
    text[0] = change < 0 ? '-' : '+';
    (void)weight_format(style, rounded(change), text + 1, sizeof text - 1);
    fprintf(out, "%*s", style.columns + 1, text);
}

/* ---- above ----------------------------------------------------------------------------------- */

static void print_runs(struct screen *screen, const struct diff *diff)
{
    size_t before = diff->sides.n_before, after = diff->sides.n_after;
    if (before > 1 || after > 1)
        fprintf(screen->out, ", mean of %zu run%s before and %zu after", before,
                before == 1 ? "" : "s", after);
    if (options_flag(diff->options, OPTION_NORMALIZE))
        fputs(", all runs as long as those before", screen->out);
    if (diff->inputs[0].is_part)
        fputs(", of what was asked for", screen->out);
}

static void print_whole(struct screen *screen, const struct diff *diff, struct weight_style style)
{
    const struct change *whole = &diff->changes.whole;
    char before[32], after[32];
    screen_text(screen, measure_words(diff->changes.unit, diff->changes.measure));
    print_runs(screen, diff);
    (void)weight_format(style, rounded(whole->before), before, sizeof before);
    (void)weight_format(style, rounded(whole->after), after, sizeof after);
    fprintf(screen->out, ": %s before, %s after: ", before, after);
    style.columns = 0;
    signed_print(screen->out, style, change_of(whole));
    if (whole->before > 0)
        fprintf(screen->out, " (%+.1f%%)", 100 * change_of(whole) / whole->before);
    fputc('\n', screen->out);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_heading(struct screen *screen, const struct diff *diff, struct weight_style style)
{
    int columns = style.columns;
    screen_style(screen, STYLE_HEADING);
    fprintf(screen->out, "%*s  %*s  %*s  ", columns, "before", columns, "after", columns + 1,
            "change");
    if (diff->changes.knows_chance)
        fprintf(screen->out, "%*s%*s  ", columns + screen->is_utf8, /* bytes of one column: 2 */
                screen->is_utf8 ? "\u00b1 99%" : "+-99%", MARK_COLUMNS, "");
    fprintf(screen->out, "%*s  %s%s", POINTS_COLUMNS, "points", rows_by_word(diff->by),
            diff->by_total ? ", with what it called" : "");
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

static void print_row(struct screen *screen, const struct diff *diff, struct weight_style style,
                      const struct row_texts *texts, size_t i)
{
    const struct change *row = &diff->changes.rows[i];
    if (diff->changes.knows_chance)
        screen_style(screen, !row->is_beyond      ? STYLE_DIM
                             : change_of(row) > 0 ? STYLE_HOT
                                                  : STYLE_LESS);
    weight_print(screen->out, style, rounded(row->before));
    fputs("  ", screen->out);
    weight_print(screen->out, style, rounded(row->after));
    fputs("  ", screen->out);
    signed_print(screen->out, style, change_of(row));
    fputs("  ", screen->out);
    if (diff->changes.knows_chance) {
        weight_print(screen->out, style, rounded(row->interval));
        fputs(row->is_beyond ? " *  " : "    ", screen->out);
    }
    fprintf(screen->out, "%+*.1f  ", POINTS_COLUMNS, change_points(&diff->changes, row));
    row_texts_print(screen, texts, i);
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

static size_t name_columns(const struct screen *screen, const struct diff *diff,
                           struct weight_style style)
{
    size_t weight = (size_t)style.columns + 2;
    size_t used = 3 * weight + 1 + POINTS_COLUMNS + 2;
    return columns_left(screen, diff->changes.knows_chance ? used + weight + MARK_COLUMNS : used);
}

static bool texts_make(const struct diff *diff, struct row_texts *texts, size_t columns,
                       struct text mark, struct arena *arena)
{
    struct row_about *rows = arena_array(arena, diff->n_rows + 1, sizeof *rows);
    if (rows == NULL)
        return false;
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct change *row = &diff->changes.rows[i];
        rows[i] = (struct row_about){.profile = row->origin.profile,
                                     .key = row->origin.key,
                                     .name = change_name(row, diff->by)};
    }
    return row_texts_make(texts, rows, diff->n_rows, diff->by, columns, mark, arena);
}

static bool print_rows(struct screen *screen, const struct diff *diff, struct weight_style style,
                       struct err *err)
{
    struct row_texts texts;
    struct arena *arena = arena_create();
    size_t columns = name_columns(screen, diff, style);
    if (arena == NULL || !texts_make(diff, &texts, columns, screen_mark(screen), arena)) {
        arena_destroy(arena);
        return err_fail_memory(err);
    }
    print_heading(screen, diff, style);
    for (size_t i = 0; i < diff->n_rows; i++)
        print_row(screen, diff, style, &texts, i);
    if (diff->changes.n > diff->n_rows)
        print_remark(screen, "%zu more; -n 0 shows all", diff->changes.n - diff->n_rows);
    arena_destroy(arena);
    return true;
}

/* ---- below ----------------------------------------------------------------------------------- */

static void print_verdict(struct screen *screen, const struct diff *diff, struct weight_style style)
{
    struct diff_verdict verdict = diff->verdict;
    const char *word = rows_by_word(diff->by);
    const char *plural = diff->by == SUMMARY_BY_PROCESS ? "es" : "s";
    if (!diff->changes.knows_chance) {
        print_remark(screen, "what is chance is not known: the files hold sums, and not how many "
                             "samples they are of");
        return;
    }
    if (verdict.n == 0) {
        fprintf(screen->out, "no %s changed beyond chance (99%%)\n", word);
    } else {
        fprintf(screen->out, "%zu %s%s changed beyond chance (99%%)%s", verdict.n, word,
                verdict.n == 1 ? "" : plural,
                diff->by_total && verdict.n > 1 ? ""
                : verdict.n == 1                ? ": "
                                                : ", together ");
        style.columns = 0;
        if (!diff->by_total || verdict.n == 1) /* those called are in their callers */
            signed_print(screen->out, style, verdict.sum);
        fputc('\n', screen->out);
    }
    if (diff->changes.knows_runs)
        return;
    print_remark(screen, "one run each: what runs differ by on their own is a guess;");
    print_remark(screen, "several runs show it: sampler diff BEFORE... --against AFTER...");
}

bool diff_print_text(const struct diff *diff, struct err *err)
{
    struct screen screen;
    bool ok = true;
    const struct change *whole = &diff->changes.whole;
    if (!screen_open(&screen, err))
        return false;
    struct weight_style style =
        weight_style_for(diff->changes.unit, rounded(fmax(whole->before, whole->after)));
    print_whole(&screen, diff, style);
    if (diff->changes.n > 0)
        ok = print_rows(&screen, diff, style, err);
    if (diff->changes.n > 0)
        print_verdict(&screen, diff, style);
    return screen_close(&screen, err) && ok;
}
