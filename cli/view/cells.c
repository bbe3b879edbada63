/* cells.c - see cells.h. */
#include "view/cells.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "view/width.h"

#define HOT 0.1 /* of all: what is coloured as much, as some, as little */
#define WARM 0.02
#define COOL 0.001

double part_of(uint64_t weight, uint64_t all)
{
    return all == 0 ? 0 : (double)weight / (double)all;
}

void print_title(struct screen *screen, const struct input *input, const struct weighed *weighed)
{
    char weight[32];
    struct weight_style style = weight_style_for(weighed->unit, input->whole);
    screen_text(screen,
                measure_words(weighed->unit, profile_text(input->profile, weighed->measure)));
    (void)weight_format(style, weighed->all, weight, sizeof weight);
    fprintf(screen->out, ": %s", weight);
    if (input->is_part) {
        (void)weight_format(style, input->whole, weight, sizeof weight);
        fprintf(screen->out, " of %s (%.1f%%)", weight, 100 * part_of(weighed->all, input->whole));
    }
    fputc('\n', screen->out);
}

void weight_print(FILE *out, struct weight_style style, uint64_t weight)
{
    char text[32];
    (void)weight_format(style, weight, text, sizeof text);
    fprintf(out, "%*s", style.columns, text);
}

void percent_print(FILE *out, uint64_t weight, uint64_t all)
{
    double percent = all == 0 ? 0 : 100.0 * (double)weight / (double)all;
    fprintf(out, "%*.1f%%", PERCENT_COLUMNS - 1, percent);
}

void print_no_samples_in_function(struct screen *screen, const struct input *input)
{
    fprintf(screen->out, "no samples in this function%s\n",
            input->is_part ? ", or what the options ask for has none of them" : "");
}

void screen_heat(struct screen *screen, double part)
{
    if (part >= WARM || part < COOL)
        screen_style(screen, part >= HOT ? STYLE_HOT : part >= WARM ? STYLE_WARM : STYLE_DIM);
}

void print_weight(struct screen *screen, struct weight_style style, uint64_t weight, uint64_t all)
{
    screen_heat(screen, part_of(weight, all));
    percent_print(screen->out, weight, all);
    fputc(' ', screen->out);
    weight_print(screen->out, style, weight);
    screen_style(screen, STYLE_PLAIN);
    fputs("  ", screen->out);
}

size_t weight_cell_columns(struct weight_style style)
{
    return PERCENT_COLUMNS + 1 + (size_t)style.columns + 2;
}

size_t columns_left(const struct screen *screen, size_t used)
{
    if (screen->columns == SIZE_MAX)
        return SIZE_MAX;
    return screen->columns < used + LEAST_NAME_COLUMNS ? LEAST_NAME_COLUMNS
                                                       : screen->columns - used;
}

void print_remark(struct screen *screen, const char *format, ...)
{
    va_list args;
    screen_style(screen, STYLE_DIM);
    va_start(args, format);
    vfprintf(screen->out, format, args);
    va_end(args);
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

struct text row_place(const struct profile *profile, enum summary_by by, struct summary_key key,
                      bool is_short, struct arena *arena)
{
    const struct profile_function *function = &profile->functions[key.id];
    uint32_t line = by == SUMMARY_BY_LINE ? key.line : function->line;
    struct text file = profile_text(profile, key.file != 0 ? key.file : function->file);
    struct chars place = {0};
    char number[16] = "";
    if (file.length == 0)
        file = profile_text(profile, profile->modules[function->module].path);
    if (is_short)
        file = text_base_name(file);
    if (line != 0 && file.length > 0)
        snprintf(number, sizeof number, ":%" PRIu32, line);
    bool ok = text_append_clean(&place, file) && chars_append(&place, number, strlen(number));
    place.no_memory |= !ok;
    return chars_keep(&place, arena);
}

struct text chars_keep(struct chars *chars, struct arena *arena)
{
    struct text kept = {.bytes = NULL, .length = 0};
    if (!chars->no_memory)
        kept.bytes = arena_text(arena, chars->n > 0 ? chars->items : "", chars->n);
    if (kept.bytes != NULL)
        kept.length = chars->n;
    chars_deinit(chars);
    return kept;
}
