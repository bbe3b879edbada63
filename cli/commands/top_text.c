/* top_text.c - the table of `sampler top` for people: self and total as time and percent, a bar of
 * what it is sorted by, and names that fit the terminal. */
#include <inttypes.h>
#include <string.h>

#include "commands/top.h"
#include "view/name_fit.h"
#include "view/screen.h"
#include "view/weight.h"
#include "view/width.h"

#define HOT 0.1 /* of all: what is coloured as much, as some, as little */
#define WARM 0.02
#define COOL 0.001
#define BAR_COLUMNS ((size_t)6)
#define LEAST_NAME_COLUMNS ((size_t)16)
#define WIDE_COLUMNS ((size_t)100)      /* a terminal with room for lines and bars */
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

static double part_of(uint64_t weight, uint64_t all)
{
    return all == 0 ? 0 : (double)weight / (double)all;
}

static void print_weight(struct screen *screen, struct weight_style style, uint64_t weight,
                         uint64_t all)
{
    double part = part_of(weight, all);
    if (part >= WARM || part < COOL)
        screen_style(screen, part >= HOT ? STYLE_HOT : part >= WARM ? STYLE_WARM : STYLE_DIM);
    percent_print(screen->out, weight, all);
    fputc(' ', screen->out);
    weight_print(screen->out, style, weight);
    screen_style(screen, STYLE_PLAIN);
    fputs("  ", screen->out);
}

/* "CPU time: 0.361 s of 0.644 s (56.1%)": what the percentages below are of. */
static void print_title(const struct top *top, struct screen *screen)
{
    const struct summary *summary = &top->summary;
    char weight[32];
    struct weight_style style = weight_style_for(summary->unit, top->input->whole);
    screen_text(screen,
                measure_words(summary->unit, profile_text(top->input->profile, summary->measure)));
    (void)weight_format(style, summary->all, weight, sizeof weight);
    fprintf(screen->out, ": %s", weight);
    if (top->input->is_part) {
        (void)weight_format(style, top->input->whole, weight, sizeof weight);
        fprintf(screen->out, " of %s (%.1f%%)", weight,
                100 * part_of(summary->all, top->input->whole));
    }
    fputc('\n', screen->out);
}

/* "file.c:123": the line of a row, or where its function is defined. */
static bool place_append(const struct top *top, const struct summary_row *row, bool is_short,
                         struct chars *out)
{
    const struct profile *profile = top->input->profile;
    const struct profile_function *function = &profile->functions[row->id];
    uint32_t line = top->by == SUMMARY_BY_LINE ? row->line : function->line;
    struct text file = profile_text(profile, function->file);
    char number[16] = "";
    if (file.length == 0)
        file = profile_text(profile, profile->modules[function->module].path);
    if (is_short)
        file = text_base_name(file);
    if (line != 0 && file.length > 0)
        snprintf(number, sizeof number, ":%" PRIu32, line);
    return text_append_clean(out, file) && chars_append(out, number, strlen(number));
}

static bool chars_keep(struct chars *chars, struct arena *arena, struct text *out)
{
    const char *kept = NULL;
    if (!chars->no_memory)
        kept = arena_text(arena, chars->n > 0 ? chars->items : "", chars->n);
    if (kept != NULL)
        *out = (struct text){.bytes = kept, .length = chars->n};
    chars_deinit(chars);
    return kept != NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Functions: those that look the same are told apart by where they are defined. */
static bool functions_fit(const struct top *top, struct row_texts *texts, size_t columns,
                          struct text mark)
{
    for (size_t i = 0; i < top->n_rows; i++) {
        struct chars place = {0};
        bool ok = place_append(top, &top->summary.rows[i], true, &place);
        if (!chars_keep(&place, texts->arena, &texts->names[i].detail) || !ok)
            return false;
    }
    return names_fit(texts->names, top->n_rows, columns, mark, texts->arena);
}

/* Lines: the place in a column of its own. Where nothing is cut it has the whole path. */
static bool lines_fit(const struct top *top, struct row_texts *texts, size_t columns,
                      struct text mark)
{
    size_t most = columns == SIZE_MAX ? SIZE_MAX : MOST_PLACE_COLUMNS;
    for (size_t i = 0; i < top->n_rows; i++) {
        struct chars place = {0}, cut = {0};
        bool ok = place_append(top, &top->summary.rows[i], columns != SIZE_MAX, &place);
        const struct text whole = {.bytes = place.n > 0 ? place.items : "", .length = place.n};
        ok = ok && path_fit(&cut, whole, most, mark);
        chars_deinit(&place);
        if (!chars_keep(&cut, texts->arena, &texts->places[i]) || !ok)
            return false;
        size_t taken = text_columns(texts->places[i]);
        texts->place_columns = taken > texts->place_columns ? taken : texts->place_columns;
    }
    size_t left = columns == SIZE_MAX ? SIZE_MAX : columns - texts->place_columns - 2;
    for (size_t i = 0; i < top->n_rows; i++) {
        struct chars name = {0};
        bool ok = name_fit(&name, texts->names[i].name, left, mark);
        if (!chars_keep(&name, texts->arena, &texts->names[i].fitted) || !ok)
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
        uint64_t id = summary_row_number(top->input->profile, top->by, &top->summary.rows[i]);
        if (id != 0)
            snprintf(number, sizeof number, " (%" PRIu64 ")", id);
        size_t left = columns == SIZE_MAX ? SIZE_MAX : columns - strlen(number);
        bool ok = path_fit(&name, texts->names[i].name, left, mark) &&
                  chars_append(&name, number, strlen(number));
        if (!chars_keep(&name, texts->arena, &texts->names[i].fitted) || !ok)
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
            summary_row_name(top->input->profile, top->by, &top->summary.rows[i]);
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
    size_t weight = PERCENT_COLUMNS + 1 + (size_t)style.columns + 2;
    size_t used = weight + (bar_columns > 0 ? bar_columns + 2 : 0);
    if (!summary_is_of_samples(top->by))
        used += weight;
    if (screen->columns == SIZE_MAX)
        return SIZE_MAX;
    return screen->columns < used + LEAST_NAME_COLUMNS ? LEAST_NAME_COLUMNS
                                                       : screen->columns - used;
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
    fputs(top->by_word, screen->out);
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

static void print_row(const struct top *top, struct screen *screen, struct weight_style style,
                      const struct row_texts *texts, size_t i)
{
    const struct summary *summary = &top->summary;
    const struct summary_row *row = &summary->rows[i];
    print_weight(screen, style, row->self, summary->all);
    if (texts->bar_columns > 0) {
        screen_style(screen, STYLE_BAR);
        screen_bar(screen, part_of(row->self, texts->longest), texts->bar_columns);
        screen_style(screen, STYLE_PLAIN);
        fputs("  ", screen->out);
    }
    if (!summary_is_of_samples(top->by))
        print_weight(screen, style, row->total, summary->all);
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
    struct weight_style style = weight_style_for(summary->unit, summary->all);
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
    if (summary->n > top->n_rows) {
        screen_style(screen, STYLE_DIM);
        fprintf(screen->out, "%zu more; -n 0 shows all", summary->n - top->n_rows);
        screen_style(screen, STYLE_PLAIN);
        fputc('\n', screen->out);
    }
    arena_destroy(texts.arena);
    return true;
}

bool top_print_text(const struct top *top, struct err *err)
{
    struct screen screen;
    bool ok = true;
    if (!screen_open(&screen, err))
        return false;
    print_title(top, &screen);
    if (top->summary.n == 0)
        fputs(top->summary.idle == 0 ? "no samples\n" : "no samples of threads that ran\n",
              screen.out);
    else
        ok = print_rows(top, &screen, err);
    return screen_close(&screen, err) && ok;
}
