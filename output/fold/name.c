/* name.c - see fold/name.h. */
#include "fold/name.h"

#include <string.h>

#include "text.h"
#include "text/utf8.h"

/* C0, DEL, and C1 in its two bytes (U+0085 is a line end to some readers). */
static bool is_control(const char *bytes, size_t n)
{
    return char_is_control(bytes[0]) ||
           (n == 2 && bytes[0] == '\xc2' && (unsigned char)bytes[1] < 0xa0);
}

static void clean_append(struct chars *out, const char *bytes, size_t length)
{
    size_t copied = 0;
    for (size_t i = 0; i < length;) {
        bool is_valid;
        size_t n = utf8_next(bytes + i, length - i, &is_valid);
        const char *instead = !is_valid                  ? UTF8_REPLACEMENT
                              : is_control(bytes + i, n) ? " "
                              : bytes[i] == ';'          ? ":"
                                                         : NULL;
        if (instead != NULL) {
            chars_append(out, bytes + copied, i - copied);
            chars_append(out, instead, strlen(instead));
            copied = i + n;
        }
        i += n;
    }
    chars_append(out, bytes + copied, length - copied);
}

bool fold_name_clean(struct chars *out, const char *bytes, size_t length)
{
    out->n = 0;
    clean_append(out, bytes, length);
    if (out->no_memory)
        return false;
    char *clean = out->items;
    size_t start = 0, end = out->n;
    /* U+FEFF in front of the first name would be the file's byte order mark. */
    for (size_t n = 1; n != 0 && start < end; start += n)
        n = clean[start] == ' ' ? 1 : utf8_mark_bytes(clean + start, end - start);
    while (end > start && clean[end - 1] == ' ')
        end--;
    if (start == end) {
        out->n = 0;
        return chars_append(out, "[unknown]", strlen("[unknown]"));
    }
    memmove(clean, clean + start, end - start);
    out->n = end - start;
    return true;
}

static size_t n_digits_before(const char *bytes, size_t end)
{
    size_t start = end;
    while (start > 0 && char_is_digit(bytes[start - 1]))
        start--;
    return end - start;
}

size_t fold_name_number(const char *bytes, size_t length)
{
    size_t start = length - n_digits_before(bytes, length);
    if (start > 0 && bytes[start - 1] == '.')
        start -= 1 + n_digits_before(bytes, start - 1);
    bool is_number = start < length && bytes[start] != '.';
    return is_number && start > 1 && bytes[start - 1] == ' ' ? start - 1 : 0;
}
