/* xml_write.c - see xml_write.h. */
#include "text/xml_write.h"

#include <string.h>

#include "text/utf8.h"

/* What stands for the character of `n` bytes; NULL: itself. */
static const char *instead_of(const char *bytes, size_t n)
{
    switch (bytes[0]) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        break;
    }
    bool is_non_character = n == 3 && memcmp(bytes, "\xef\xbf", 2) == 0 &&
                            ((unsigned char)bytes[2] == 0xbe || (unsigned char)bytes[2] == 0xbf);
    return char_is_control(bytes[0]) || is_non_character ? UTF8_REPLACEMENT : NULL;
}

void xml_text(struct sink *out, struct text text)
{
    size_t copied = 0;
    for (size_t i = 0; i < text.length;) {
        bool is_valid;
        size_t n = utf8_next(text.bytes + i, text.length - i, &is_valid);
        const char *instead = is_valid ? instead_of(text.bytes + i, n) : UTF8_REPLACEMENT;
        if (instead != NULL) {
            sink_write(out, text.bytes + copied, i - copied);
            sink_text(out, instead);
            copied = i + n;
        }
        i += n;
    }
    sink_write(out, text.bytes + copied, text.length - copied);
}
