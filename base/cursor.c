/* cursor.c - the reads of cursor.h that are too long to inline. */
#include "cursor.h"

const char *cursor_text(struct cursor *c, size_t *length)
{
    const uint8_t *nul = c->failed ? NULL : memchr(c->pos, 0, cursor_left(c));
    if (nul == NULL) {
        cursor_fail(c);
        *length = 0;
        return NULL;
    }
    *length = (size_t)(nul - c->pos);
    return (const char *)cursor_bytes(c, *length + 1);
}

uint64_t cursor_uleb128(struct cursor *c)
{
    const uint8_t *start = c->pos;
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cursor_u8(c);
        uint64_t bits = byte & 0x7fU;
        bool lost = shift >= 64 ? bits != 0 : (bits << shift) >> shift != bits;
        if (c->failed || lost || shift > 63) {
            c->pos = start;
            return cursor_fail(c);
        }
        value |= bits << shift;
        if ((byte & 0x80U) == 0)
            return value;
    }
}

int64_t cursor_sleb128(struct cursor *c)
{
    const uint8_t *start = c->pos;
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cursor_u8(c);
        /* The tenth byte holds bit 63 alone: all its other bits must repeat it. */
        bool lost = shift == 63 && byte != 0 && byte != 0x7f;
        if (c->failed || lost || shift > 63) {
            c->pos = start;
            return cursor_fail(c);
        }
        value |= (uint64_t)(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0) {
            if (shift + 7 < 64 && (byte & 0x40U) != 0)
                value |= UINT64_MAX << (shift + 7);
            return (int64_t)value;
        }
    }
}
