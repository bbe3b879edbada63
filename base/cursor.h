/* cursor.h - reading bytes: bounded, byte order explicit, failure sticky.
 *
 * Parsing reads like the description of the format, with one check per record instead of one per
 * field:
 *
 *     struct cursor c = cursor_make(data, size_bytes);
 *     record.id = cursor_u32le(&c);
 *     record.name = cursor_text(&c, &record.length);
 *     if (c.failed) return err_fail(err, ERR_TRUNCATED, c.fail_offset, ...);
 *
 * Failure   After a failed read every later one returns 0 or NULL, `failed` stays true, and
 *           `fail_offset` is where the first failed read began.
 * Owner     Views point into the input and live as long as it does; the cursor owns nothing.
 * Context   Any thread, one cursor each. */
#ifndef SAMPLER_BASE_CURSOR_H
#define SAMPLER_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *start; /* offset 0                               */
    const uint8_t *pos;   /* start <= pos <= end                    */
    const uint8_t *end;
    uint64_t fail_offset; /* meaningful when failed                 */
    bool failed;
};

static inline struct cursor cursor_make(const void *data, size_t size_bytes)
{
    const uint8_t *start = data;
    return (struct cursor){.start = start, .pos = start, .end = start + size_bytes};
}

static inline uint64_t cursor_offset(const struct cursor *c)
{
    return (uint64_t)(c->pos - c->start);
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->pos);
}

static inline bool cursor_at_end(const struct cursor *c)
{
    return c->pos == c->end;
}

/* Marks the cursor failed here (if it is not failed yet); returns 0, so that a read can end in
 * it. */
static inline unsigned cursor_fail(struct cursor *c)
{
    if (!c->failed) {
        c->failed = true;
        c->fail_offset = cursor_offset(c);
    }
    return 0;
}

/* A view of the next `n` bytes, or NULL (failed) when there are not as many. */
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
    if (c->failed || cursor_left(c) < n) {
        cursor_fail(c);
        return NULL;
    }
    const uint8_t *view = c->pos;
    c->pos += n;
    return view;
}

static inline void cursor_skip(struct cursor *c, size_t n)
{
    (void)cursor_bytes(c, n);
}

/* memcpy and not a cast, as nothing in a file is aligned; compilers make one load of it. */
#define CURSOR_DEFINE_READ(name, type, convert)                                                    \
    static inline type cursor_##name(struct cursor *c)                                             \
    {                                                                                              \
        type value;                                                                                \
        const uint8_t *view = cursor_bytes(c, sizeof value);                                       \
        if (view == NULL)                                                                          \
            return 0;                                                                              \
        memcpy(&value, view, sizeof value);                                                        \
        return (type)convert(value);                                                               \
    }
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cursor.h: only little-endian hosts are supported"
#endif
#define CURSOR_SAME(value) (value)
CURSOR_DEFINE_READ(u8, uint8_t, CURSOR_SAME)
CURSOR_DEFINE_READ(u16le, uint16_t, CURSOR_SAME)
CURSOR_DEFINE_READ(u32le, uint32_t, CURSOR_SAME)
CURSOR_DEFINE_READ(u64le, uint64_t, CURSOR_SAME)
CURSOR_DEFINE_READ(u16be, uint16_t, __builtin_bswap16)
CURSOR_DEFINE_READ(u32be, uint32_t, __builtin_bswap32)
CURSOR_DEFINE_READ(u64be, uint64_t, __builtin_bswap64)
#undef CURSOR_SAME
#undef CURSOR_DEFINE_READ

/* A text that ends in NUL: returns its start and sets *length (without the NUL); NULL (failed) if
 * no NUL follows. */
const char *cursor_text(struct cursor *c, size_t *length);

/* LEB128 (DWARF 5, 7.6). A value that does not fit 64 bits fails and leaves the cursor where the
 * number began; padding with 0x80 bytes is accepted up to ten bytes in all. */
uint64_t cursor_uleb128(struct cursor *c);
int64_t cursor_sleb128(struct cursor *c);

#endif
