/* row_texts.c - see row_texts.h. */
#include "view/row_texts.h"

#include <inttypes.h>
#include <string.h>

#include "view/cells.h"
#include "view/name_fit.h"
#include "view/width.h"

#define MOST_PLACE_COLUMNS ((size_t)24) /* of "file.c:123" before a function */

struct fitting {
    struct row_texts *texts;
    const struct row_about *rows;
    size_t n;
    enum summary_by by;
    size_t columns;
    struct text mark;
    struct arena *arena;
};

/* Functions: those that look the same are told apart by where they are defined. */
static bool functions_fit(const struct fitting *fitting)
{
    struct name_cell *cells = arena_array(fitting->arena, fitting->n + 1, sizeof *cells);
    if (cells == NULL)
        return false;
    for (size_t i = 0; i < fitting->n; i++) {
        const struct row_about *row = &fitting->rows[i];
        cells[i].name = row->name;
        cells[i].detail = row_place(row->profile, fitting->by, row->key, true, fitting->arena);
        if (cells[i].detail.bytes == NULL)
            return false;
    }
    if (!names_fit(cells, fitting->n, fitting->columns, fitting->mark, fitting->arena))
        return false;
    for (size_t i = 0; i < fitting->n; i++)
        fitting->texts->names[i] = cells[i].fitted;
    return true;
}

static bool name_keep(const struct fitting *fitting, size_t i, struct chars *name)
{
    fitting->texts->names[i] = chars_keep(name, fitting->arena);
    return fitting->texts->names[i].bytes != NULL;
}

/* Lines: the place in a column of its own. Where nothing is cut it has the whole path. */
static bool lines_fit(const struct fitting *fitting)
{
    struct row_texts *texts = fitting->texts;
    bool is_cut = fitting->columns != SIZE_MAX;
    for (size_t i = 0; i < fitting->n; i++) {
        const struct row_about *row = &fitting->rows[i];
        struct text whole = row_place(row->profile, fitting->by, row->key, is_cut, fitting->arena);
        struct chars cut = {0};
        size_t most = is_cut ? MOST_PLACE_COLUMNS : SIZE_MAX;
        cut.no_memory |= whole.bytes == NULL || !path_fit(&cut, whole, most, fitting->mark);
        texts->places[i] = chars_keep(&cut, fitting->arena);
        if (texts->places[i].bytes == NULL)
            return false;
        size_t taken = text_columns(texts->places[i]);
        texts->place_columns = taken > texts->place_columns ? taken : texts->place_columns;
    }
    size_t left = is_cut ? fitting->columns - texts->place_columns - 2 : SIZE_MAX;
    for (size_t i = 0; i < fitting->n; i++) {
        struct chars name = {0};
        name.no_memory |= !name_fit(&name, fitting->rows[i].name, left, fitting->mark);
        if (!name_keep(fitting, i, &name))
            return false;
    }
    return true;
}

/* Paths, and names with the number that tells them apart. */
static bool others_fit(const struct fitting *fitting)
{
    for (size_t i = 0; i < fitting->n; i++) {
        const struct row_about *row = &fitting->rows[i];
        struct chars name = {0};
        char number[32] = "";
        if (row->number != 0)
            snprintf(number, sizeof number, " (%" PRIu64 ")", row->number);
        size_t columns = fitting->columns;
        size_t left = columns == SIZE_MAX ? SIZE_MAX : columns - strlen(number);
        name.no_memory |= !path_fit(&name, row->name, left, fitting->mark) ||
                          !chars_append(&name, number, strlen(number));
        if (!name_keep(fitting, i, &name))
            return false;
    }
    return true;
}

bool row_texts_make(struct row_texts *texts, const struct row_about *rows, size_t n,
                    enum summary_by by, size_t columns, struct text mark, struct arena *arena)
{
    const struct fitting fitting = {.texts = texts,
                                    .rows = rows,
                                    .n = n,
                                    .by = by,
                                    .columns = columns,
                                    .mark = mark,
                                    .arena = arena};
    *texts = (struct row_texts){.names = arena_array(arena, n + 1, sizeof *texts->names)};
    if (by == SUMMARY_BY_LINE)
        texts->places = arena_array(arena, n + 1, sizeof *texts->places);
    if (texts->names == NULL || (by == SUMMARY_BY_LINE && texts->places == NULL))
        return false;
    if (by == SUMMARY_BY_FUNCTION)
        return functions_fit(&fitting);
    return by == SUMMARY_BY_LINE ? lines_fit(&fitting) : others_fit(&fitting);
}

void row_texts_print(struct screen *screen, const struct row_texts *texts, size_t i)
{
    if (texts->places != NULL) {
        size_t blanks = texts->place_columns - text_columns(texts->places[i]);
        screen_text(screen, texts->places[i]);
        fprintf(screen->out, "%*s  ", (int)blanks, "");
    }
    screen_text(screen, texts->names[i]);
}
