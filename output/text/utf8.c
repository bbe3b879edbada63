/* utf8.c - see utf8.h. Unicode 15, table 3-7 (well-formed byte sequences). */
#include "text/utf8.h"

struct lead {
    size_t n; /* bytes of the character; 0 = cannot begin one */
    unsigned char second_min, second_max;
};

static struct lead lead_of(unsigned char byte)
{
    if (byte >= 0xc2 && byte <= 0xdf)
        return (struct lead){2, 0x80, 0xbf};
    if (byte >= 0xe0 && byte <= 0xef)
        return (struct lead){3, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf};
    if (byte >= 0xf0 && byte <= 0xf4)
        return (struct lead){4, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf};
    return (struct lead){0, 0, 0};
}

size_t utf8_next(const char *bytes, size_t left, bool *is_valid)
{
    const unsigned char *b = (const unsigned char *)bytes;
    *is_valid = b[0] < 0x80;
    if (*is_valid)
        return 1;
    struct lead lead = lead_of(b[0]);
    if (lead.n == 0 || left < 2 || b[1] < lead.second_min || b[1] > lead.second_max)
        return 1;
    for (size_t i = 2; i < lead.n; i++) {
        if (i == left || b[i] < 0x80 || b[i] > 0xbf)
            return i;
    }
    *is_valid = true;
    return lead.n;
}

bool utf8_is_valid(const char *bytes, size_t length)
{
    bool is_valid = true;
    for (size_t i = 0; i < length && is_valid;)
        i += utf8_next(bytes + i, length - i, &is_valid);
    return is_valid;
}
