/* width.c - see width.h. */
#include "view/width.h"

#include <locale.h>
#include <wchar.h>

#include "text.h"
#include "text/utf8.h"

static bool is_unicode_known;

void width_init(void)
{
    is_unicode_known = setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

/* Of valid UTF-8. */
static wchar_t code_point(const char *bytes, size_t n)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    wchar_t code = (unsigned char)bytes[0] & masks[n];
    for (size_t i = 1; i < n; i++)
        code = (code << 6) | ((unsigned char)bytes[i] & 0x3f);
    return code;
}

struct glyph glyph_next(struct text text)
{
    bool is_valid = false;
    size_t n = utf8_next(text.bytes, text.length, &is_valid);
    if (!is_valid || (n == 1 && char_is_control(text.bytes[0])))
        return (struct glyph){.bytes = "?", .n_bytes = 1, .n_taken = n, .columns = 1};
    int columns = is_unicode_known && n > 1 ? wcwidth(code_point(text.bytes, n)) : 1;
    if (columns < 0) /* a control character beyond ASCII, or one that is none */
        return (struct glyph){.bytes = "?", .n_bytes = 1, .n_taken = n, .columns = 1};
    return (struct glyph){
        .bytes = text.bytes, .n_bytes = n, .n_taken = n, .columns = (size_t)columns};
}

size_t text_columns(struct text text)
{
    size_t columns = 0;
    while (text.length > 0) {
        struct glyph glyph = glyph_next(text);
        columns += glyph.columns;
        text = text_from(text, glyph.n_taken);
    }
    return columns;
}

bool text_append_clean(struct chars *out, struct text text)
{
    while (text.length > 0) {
        struct glyph glyph = glyph_next(text);
        if (!chars_append(out, glyph.bytes, glyph.n_bytes))
            return false;
        text = text_from(text, glyph.n_taken);
    }
    return true;
}
