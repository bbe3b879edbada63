/* list_text.c - functions and their lines for people.
 *
 *   work
 *   self 0.30 s (16.0%), total 1.50 s (80.0%)
 *   /src/work.c
 *      self     total  line
 *         .         .    12  static int work(int n)
 *    0.30 s    0.30 s    14      for (int i = 0; i < n; i++)
 *         .    1.20 s    15          sum += step(i);
 *
 * From the line of the definition to a little behind the last one with samples; where there are none
 * for long, the middle is left out. What all lines shown are moved to the right by is left out, too:
 * a terminal has few columns. */
#include "list/list_text.h"

#include "number.h"

#define BEHIND 2u /* lines shown after the last one with samples */
#define GAP 0u    /* in place of a line's number: lines are left out */

/* ---- which lines ----------------------------------------------------------------------------- */

/* Those between two lines, which are shown themselves. */
static void between_push(struct listing *listing, uint32_t from, uint32_t to)
{
    uint32_t n = to - from - 1;
    for (uint32_t line = from + 1; line < to; line++) {
        if (n > 2 * LIST_CONTEXT + 1 && line == from + 1 + LIST_CONTEXT) {
            line_numbers_push(&listing->numbers, GAP);
            line = to - LIST_CONTEXT;
        }
        if (line <= listing->source.lines.n)
            line_numbers_push(&listing->numbers, line);
    }
}

/* `rows`: with lines, ascending. */
static void numbers_make(struct listing *listing, const struct summary_row *rows, size_t n,
                         uint32_t definition)
{
    uint32_t first = rows[0].key.line;
    uint32_t before = first > LIST_CONTEXT ? first - LIST_CONTEXT - 1 : 0;
    bool has_source = listing->source.path[0] != '\0';
    if (definition != 0 && definition <= first)
        before = definition - 1;
    listing->numbers.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t line = rows[i].key.line;
        if (has_source)
            between_push(listing, before, line);
        line_numbers_push(&listing->numbers, line);
        before = line;
    }
    for (uint32_t i = 0; i < BEHIND && before < listing->source.lines.n; i++)
        line_numbers_push(&listing->numbers, ++before);
}

static size_t lead_columns(struct text line)
{
    size_t columns = 0;
    for (size_t i = 0; i < line.length; i++) {
        if (line.bytes[i] != ' ' && line.bytes[i] != '\t')
            return columns;
        columns += line.bytes[i] == '\t' ? LIST_TAB_COLUMNS - columns % LIST_TAB_COLUMNS : 1;
    }
    return SIZE_MAX; /* nothing but blanks */
}

static void measure(struct listing *listing)
{
    const struct line_numbers *numbers = &listing->numbers;
    listing->indent = SIZE_MAX;
    for (size_t i = 0; i < numbers->n; i++) {
        size_t columns = lead_columns(source_line(&listing->source, numbers->items[i]));
        listing->indent = columns < listing->indent ? columns : listing->indent;
    }
    char last[16];
    int columns = snprintf(last, sizeof last, "%u", numbers->items[numbers->n - 1]);
    listing->number_columns = columns < 4 ? 4 : columns; /* "line" stands above them */
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_line(struct listing *listing, const struct summary_row *row, uint32_t number)
{
    struct screen *screen = &listing->screen;
    size_t taken =
        2 * ((size_t)listing_weight_columns(listing) + 2) + (size_t)listing->number_columns + 2;
    struct text text = source_line(&listing->source, number);
    listing_print_number(listing, row == NULL ? 0 : row->self);
    listing_print_number(listing, row == NULL ? 0 : row->total);
    screen_style(screen, STYLE_DIM);
    fprintf(screen->out, "%*u", listing->number_columns, number);
    screen_style(screen, STYLE_PLAIN);
    if (text.length > 0) {
        fputs("  ", screen->out);
        listing_print_text(listing, text, columns_left(screen, taken));
    }
    fputc('\n', screen->out);
}

/* Samples of the function that no line is known of. */
static void print_unknown(struct listing *listing, const struct summary_row *row)
{
    listing_print_number(listing, row->self);
    listing_print_number(listing, row->total);
    print_remark(&listing->screen, "%*s  no line is known", listing->number_columns, "?");
}

static void print_rows(struct listing *listing, const struct summary_row *rows, size_t n)
{
    const struct line_numbers *numbers = &listing->numbers;
    struct screen *screen = &listing->screen;
    const struct summary_row *end = rows + n;
    for (size_t i = 0; i < numbers->n; i++) {
        uint32_t number = numbers->items[i];
        bool is_sampled = rows < end && rows->key.line == number;
        if (number == GAP)
            print_remark(screen, "%*s",
                         2 * (listing_weight_columns(listing) + 2) + listing->number_columns,
                         "...");
        else
            print_line(listing, is_sampled ? rows : NULL, number);
        rows += is_sampled;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Which file it is that is shown, and whether it can be the one that was compiled. */
static bool print_file(struct listing *listing, struct text recorded, uint32_t last)
{
    const struct source *source = &listing->source;
    struct screen *screen = &listing->screen;
    if (source->path[0] == '\0') {
        bool ok = listing_print_path(listing, recorded.length > 0 ? recorded
                                                                  : text_make("[no source file]"));
        if (recorded.length > 0)
            print_remark(screen, "it is not here; --source-path DIR says where the sources are");
        return ok;
    }
    if (!listing_print_path(listing, text_make(source->path)))
        return false;
    if (!text_is(recorded, source->path)) {
        fputs("in place of ", screen->out);
        screen_text(screen, recorded);
        fputc('\n', screen->out);
    }
    if (last > source->lines.n)
        print_remark(screen, "another version: it has %zu lines, the one compiled %u or more",
                     source->lines.n, last);
    else if (source_is_newer(source, listing->list->input->profile))
        print_remark(screen, "changed after the run began: its lines may be others by now");
    return true;
}

static bool part_print(struct listing *listing, const struct list_part *part, uint32_t definition)
{
    const struct list *list = listing->list;
    const struct summary_row *unknown = part->rows[0].key.line == 0 ? part->rows : NULL;
    const struct summary_row *rows = part->rows + (unknown != NULL);
    size_t n = part->n - (unknown != NULL);
    uint32_t last = part->rows[part->n - 1].key.line;
    if (!print_file(listing, profile_text(list->input->profile, part->file), last))
        return false;
    listing->numbers.n = 0;
    if (n > 0) {
        numbers_make(listing, rows, n, definition);
        if (listing->numbers.no_memory)
            return false;
        measure(listing);
    }
    listing_print_heading(listing, "line");
    print_rows(listing, rows, n);
    if (unknown != NULL)
        print_unknown(listing, unknown);
    return !listing->text.no_memory;
}

static bool part_show(struct listing *listing, const struct list_part *part, uint32_t definition,
                      struct err *err)
{
    const struct list *list = listing->list;
    const struct profile *profile = list->input->profile;
    if (!source_init(&listing->source, profile, profile_text(profile, part->file),
                     list->options->values[OPTION_SOURCE_PATH], err))
        return false;
    bool ok = part_print(listing, part, definition);
    if (!ok)
        err_fail_memory(err);
    source_deinit(&listing->source);
    return ok;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool function_show(struct listing *listing, const struct summary_row *row, struct err *err)
{
    const struct profile *profile = listing->list->input->profile;
    const struct profile_function *function = &profile->functions[row->key.id];
    struct screen *screen = &listing->screen;
    struct list_part part = {.rows = NULL};
    fputc('\n', screen->out);
    screen_style(screen, STYLE_HEADING);
    bool ok = listing_print_name(listing, row->key.id, 0);
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
    if (!ok) {
        err_fail_memory(err);
        return false;
    }
    listing_print_sum(listing, "self", row->self);
    listing_print_sum(listing, ", total", row->total);
    fputc('\n', screen->out);
    listing->of_function = row->total;
    if (listing->list->with_code)
        return list_code_show(listing, row, err);
    while (ok && list_part_next(listing->list, row->key.id, &part))
        ok = part_show(listing, &part, part.file == function->file ? function->line : 0, err);
    return ok;
}

/* Functions without anything to show: above the others where the first of them is, so that nobody
 * takes what is shown for the hottest. */
static void print_left_out(struct listing *listing)
{
    const struct list *list = listing->list;
    struct screen *screen = &listing->screen;
    const char *what = list->asked != NULL ? "no lines are known for" : "no source is here for";
    what = list->with_code ? "no addresses are known for" : what;
    if (list->left_out == NULL)
        return;
    fputc('\n', screen->out);
    listing_print_sum(listing, what, list->left_out_self);
    fputs(" self in ", screen->out);
    screen_text(screen,
                summary_row_name(list->input->profile, SUMMARY_BY_FUNCTION, list->left_out->key));
    if (list->n_left_out > 1)
        fprintf(screen->out, " and %zu more function%s", list->n_left_out - 1,
                list->n_left_out == 2 ? "" : "s");
    fputc('\n', screen->out);
}

static void print_not_shown(struct listing *listing)
{
    const struct list *list = listing->list;
    if (list->asked != NULL && list->n_meant > list->n_shown)
        print_remark(&listing->screen, "functions that match and are left out: %zu; -n 0 shows all",
                     list->n_meant - list->n_shown);
}

static bool functions_show(struct listing *listing, struct err *err)
{
    const struct list *list = listing->list;
    const struct weighed *weighed = &list->functions.weighed;
    bool ok = true;
    listing->style = weight_style_for(weighed->unit, weighed->all);
    listing->has_percent = listing->screen.columns >= WIDE_COLUMNS;
    listing->number_columns = 4;
    print_title(&listing->screen, list->input, weighed);
    if (list->n_meant == 0 && list->asked != NULL)
        print_no_samples_in_function(&listing->screen, list->input);
    else if (list->n_meant == 0)
        fputs("no samples\n", listing->screen.out);
    if (list->left_out_leads)
        print_left_out(listing);
    for (size_t i = 0; ok && i < list->n_shown; i++)
        ok = function_show(listing, list->meant[i], err);
    if (!list->left_out_leads)
        print_left_out(listing);
    print_not_shown(listing);
    return ok;
}

bool list_print_text(const struct list *list, struct err *err)
{
    struct listing listing = {.list = list};
    if (!screen_open(&listing.screen, err))
        return false;
    bool ok = functions_show(&listing, err);
    chars_deinit(&listing.text);
    line_numbers_deinit(&listing.numbers);
    struct err closing = ERR_INIT;
    return screen_close(&listing.screen, ok ? err : &closing) && ok;
}
