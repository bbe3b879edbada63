/* name.c - see name.h. */
#include "fold/name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/utf8.h"

bool bytes_append(struct array *out, const char *bytes, size_t length)
{
    if (length == 0)
        return true;
    if (out->n_reserved - out->n < length) {
        size_t n_reserved;
        if (__builtin_add_overflow(out->n, length, &n_reserved) || n_reserved > SIZE_MAX / 2)
            return false;
        n_reserved += n_reserved / 2 + 64;
        char *items = realloc(out->items, n_reserved);
        if (items == NULL)
            return false;
        out->items = items;
        out->n_reserved = n_reserved;
    }
    memcpy((char *)out->items + out->n, bytes, length);
    out->n += length;
    return true;
}

/* C0, DEL, and C1 in its two bytes (U+0085 is a line end to some readers). */
static bool is_control(const char *bytes, size_t n)
{
    unsigned char first = (unsigned char)bytes[0];
    return first < 0x20 || first == 0x7f ||
           (n == 2 && first == 0xc2 && (unsigned char)bytes[1] < 0xa0);
}

static bool clean_append(struct array *out, const char *bytes, size_t length)
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
            if (!bytes_append(out, bytes + copied, i - copied) ||
                !bytes_append(out, instead, strlen(instead)))
                return false;
            copied = i + n;
        }
        i += n;
    }
    return bytes_append(out, bytes + copied, length - copied);
}

/* U+FEFF in front of the first name would be the file's byte order mark. */
static bool starts_with_mark(const char *bytes, size_t length)
{
    return length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
}

bool fold_name_clean(struct array *out, const char *bytes, size_t length)
{
    out->n = 0;
    if (!clean_append(out, bytes, length))
        return false;
    char *clean = out->items;
    size_t start = 0, end = out->n;
    for (size_t n = 1; n != 0 && start < end; start += n)
        n = clean[start] == ' ' ? 1 : starts_with_mark(clean + start, end - start) ? 3 : 0;
    while (end > start && clean[end - 1] == ' ')
        end--;
    if (start == end) {
        out->n = 0;
        return bytes_append(out, "[unknown]", strlen("[unknown]"));
    }
    memmove(clean, clean + start, end - start);
    out->n = end - start;
    return true;
}

static size_t digits_before(const char *bytes, size_t end)
{
    size_t start = end;
    while (start > 0 && bytes[start - 1] >= '0' && bytes[start - 1] <= '9')
        start--;
    return end - start;
}

size_t fold_name_number(const char *bytes, size_t length)
{
    size_t start = length - digits_before(bytes, length);
    if (start > 0 && bytes[start - 1] == '.')
        start -= 1 + digits_before(bytes, start - 1);
    bool is_number = start < length && bytes[start] != '.';
    return is_number && start > 1 && bytes[start - 1] == ' ' ? start - 1 : 0;
}
