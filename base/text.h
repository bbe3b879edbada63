/* text.h - a text with its length, and the small questions all components ask about one.
 *
 * A `struct text` is a view: it owns nothing and may hold any byte, NUL included. Texts of a
 * table (intern.h) and of an arena have a NUL after them; views into a file do not. `bytes` is
 * never NULL, not even of an empty text, so memcmp and printf's %.*s take every one. */
#ifndef SAMPLER_BASE_TEXT_H
#define SAMPLER_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    const char *bytes;
    size_t length; /* without the NUL, if there is one */
};

/* A view of a C string. */
static inline struct text text_make(const char *cstring)
{
    return (struct text){.bytes = cstring, .length = strlen(cstring)};
}

static inline bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Whether a text is this word, begins with it, ends in it. */
static inline bool text_is(struct text text, const char *word)
{
    return text_equal(text, text_make(word));
}

static inline bool text_starts(struct text text, const char *word)
{
    struct text start = text_make(word);
    return text.length >= start.length && memcmp(text.bytes, word, start.length) == 0;
}

static inline bool text_ends(struct text text, const char *word)
{
    struct text end = text_make(word);
    return text.length >= end.length &&
           memcmp(text.bytes + text.length - end.length, word, end.length) == 0;
}

/* By bytes, as memcmp; of two that begin alike the shorter one first. */
static inline int text_compare(struct text a, struct text b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* All from `at` on; `at` <= length. */
static inline struct text text_from(struct text text, size_t at)
{
    return (struct text){.bytes = text.bytes + at, .length = text.length - at};
}

/* What follows the last slash of a path; all of it where there is none. Of a path that ends in a
 * slash nothing: such names do not occur where this is asked. */
static inline struct text text_base_name(struct text path)
{
    size_t at = path.length;
    while (at > 0 && path.bytes[at - 1] != '/')
        at--;
    return text_from(path, at);
}

/* Whether a path ends in "." and `extension`, which may hold dots itself ("diff.folded"). */
static inline bool path_has_extension(const char *path, const char *extension)
{
    struct text text = text_make(path);
    size_t length = strlen(extension);
    return text_ends(text, extension) && text.length > length &&
           path[text.length - length - 1] == '.';
}

/* Characters of ASCII; none depends on a locale, as those of <ctype.h> do. */
static inline bool char_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool char_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool char_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

#endif
