/* list_print.c - what rows of lines and of instructions have in common; see list_text.h. */
#include "list/list_text.h"
#include "view/name_fit.h"
#include "view/width.h"

int listing_weight_columns(const struct listing *listing)
{
    return listing->style.columns + (listing->has_percent ? PERCENT_COLUMNS + 1 : 0);
}

void listing_print_number(struct listing *listing, uint64_t weight)
{
    struct screen *screen = &listing->screen;
    screen_heat(screen, part_of(weight, listing->of_function));
    if (weight == 0) {
        fprintf(screen->out, "%*s", listing_weight_columns(listing), ".");
    } else {
        if (listing->has_percent) {
            percent_print(screen->out, weight, listing->list->functions.weighed.all);
            fputc(' ', screen->out);
        }
        weight_print(screen->out, listing->style, weight);
    }
    screen_style(screen, STYLE_PLAIN);
    fputs("  ", screen->out);
}

/* Blanks for tabs, without the indentation. */
static struct text text_expand(struct listing *listing, struct text line)
{
    struct chars *out = &listing->text;
    size_t column = 0;
    out->n = 0;
    while (line.length > 0) {
        struct glyph glyph = glyph_next(line);
        if (*line.bytes == '\t')
            glyph = (struct glyph){.bytes = "        ",
                                   .n_bytes = LIST_TAB_COLUMNS - column % LIST_TAB_COLUMNS,
                                   .n_taken = 1,
                                   .columns = LIST_TAB_COLUMNS - column % LIST_TAB_COLUMNS};
        chars_append(out, glyph.bytes, glyph.n_bytes);
        column += glyph.columns;
        line = text_from(line, glyph.n_taken);
    }
    struct text text = {.bytes = out->n > 0 ? out->items : "", .length = out->n};
    return text_from(text, listing->indent < out->n ? listing->indent : out->n);
}

/* Cut on the right. */
void listing_print_text(struct listing *listing, struct text line, size_t columns)
{
    struct screen *screen = &listing->screen;
    struct text text = text_expand(listing, line);
    if (text_columns(text) <= columns) {
        screen_text(screen, text);
        return;
    }
    struct text mark = screen_mark(screen);
    columns -= text_columns(mark);
    for (struct glyph glyph = glyph_next(text); glyph.columns <= columns;
         glyph = glyph_next(text)) {
        (void)fwrite(glyph.bytes, 1, glyph.n_bytes, screen->out);
        columns -= glyph.columns;
        text = text_from(text, glyph.n_taken);
    }
    screen_text(screen, mark);
}

bool listing_print_name(struct listing *listing, uint32_t function, size_t used)
{
    struct chars fitted = {0};
    struct text name = summary_row_name(listing->list->input->profile, SUMMARY_BY_FUNCTION,
                                        (struct summary_key){.id = function});
    bool ok = name_fit(&fitted, name, columns_left(&listing->screen, used),
                       screen_mark(&listing->screen));
    if (ok)
        screen_text(&listing->screen, chars_text(&fitted));
    chars_deinit(&fitted);
    return ok;
}

bool listing_print_path(struct listing *listing, struct text path)
{
    struct chars fitted = {0};
    bool ok =
        path_fit(&fitted, path, columns_left(&listing->screen, 0), screen_mark(&listing->screen));
    if (ok)
        screen_text(&listing->screen, chars_text(&fitted));
    fputc('\n', listing->screen.out);
    chars_deinit(&fitted);
    return ok;
}

void listing_print_sum(struct listing *listing, const char *word, uint64_t weight)
{
    char text[32];
    (void)weight_format(listing->style, weight, text, sizeof text);
    fprintf(listing->screen.out, "%s %s (%.1f%%)", word, text,
            100 * part_of(weight, listing->list->functions.weighed.all));
}

void listing_print_heading(struct listing *listing, const char *last)
{
    struct screen *screen = &listing->screen;
    int columns = listing_weight_columns(listing);
    screen_style(screen, STYLE_HEADING);
    fprintf(screen->out, "%*s  %*s  %*s", columns, "self", columns, "total",
            listing->number_columns, last);
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}
