/* label.c - see label.h. */
#include "formats/svg/label.h"

#include <stdlib.h>

#include "text/short_name.h"
#include "text/utf8.h"

#define MARK "\u2026"
#define LEAST_COLUMNS 3

static struct text mark(void)
{
    return text_make(MARK);
}

static size_t count_characters(struct text text)
{
    size_t n = 0;
    bool is_valid;
    for (size_t i = 0; i < text.length; n++)
        i += utf8_next(text.bytes + i, text.length - i, &is_valid);
    return n;
}

/* Bytes of the first `n` characters. */
static size_t bytes_of(struct text text, size_t n)
{
    size_t bytes = 0;
    bool is_valid;
    for (; n > 0 && bytes < text.length; n--)
        bytes += utf8_next(text.bytes + bytes, text.length - bytes, &is_valid);
    return bytes;
}

static void append(struct chars *out, struct text text)
{
    chars_append(out, text.bytes, text.length);
}

/* What is left out is one character here. */
static void append_with_marks(struct chars *out, struct text name)
{
    for (size_t i = 0; i < name.length;) {
        bool is_mark = text_starts(text_from(name, i), "<...>");
        append(out, is_mark ? text_make("<" MARK ">") : (struct text){name.bytes + i, 1});
        i += is_mark ? strlen("<...>") : 1;
    }
}

static bool shorten(struct chars *out, struct text name)
{
    size_t room = 3 * name.length + 1; /* "<>" becomes "<...>" */
    char *short_name = malloc(room);
    if (short_name == NULL)
        return false;
    bool is_shorter = memchr(name.bytes, '\0', name.length) == NULL &&
                      short_name_make(name.bytes, short_name, room);
    append_with_marks(out, is_shorter ? text_make(short_name) : name);
    free(short_name);
    return !out->no_memory;
}

/* From the first "::" after which the rest has room for a mark in front; NULL: none. */
static const char *end_that_fits(struct text name, size_t columns)
{
    size_t n_left = count_characters(name);
    bool is_valid;
    for (struct text rest = name; rest.length > 0; n_left--) {
        if (text_starts(rest, "::") && n_left + 1 <= columns)
            return rest.bytes;
        rest = text_from(rest, utf8_next(rest.bytes, rest.length, &is_valid));
    }
    return NULL;
}

static void cut(struct chars *out, struct text name, size_t columns)
{
    const char *end = end_that_fits(name, columns);
    if (end != NULL) {
        append(out, mark());
        append(out, text_from(name, (size_t)(end - name.bytes)));
        return;
    }
    size_t last = name.length;
    while (last > 0 && !text_starts(text_from(name, last), "::"))
        last--;
    size_t room = columns - 1;
    if (last > 0 && columns >= 6) {
        append(out, mark());
        name = text_from(name, last);
        room--;
    }
    append(out, (struct text){name.bytes, bytes_of(name, room)});
    append(out, mark());
}

bool svg_label_fit(struct chars *out, struct text name, size_t columns)
{
    struct chars short_name = {.items = NULL};
    out->n = 0;
    bool ok = columns < LEAST_COLUMNS || shorten(&short_name, name);
    struct text text = chars_text(&short_name);
    if (ok && columns >= LEAST_COLUMNS) {
        if (count_characters(text) <= columns)
            append(out, text);
        else
            cut(out, text, columns);
    }
    chars_deinit(&short_name);
    return ok && !out->no_memory;
}
