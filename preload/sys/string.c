/* string.c - the functions of <string.h> that the handler and the compiler call, for this library
 * alone.
 *
 * They have libc's names, since compilers call memcpy and memset on their own, and are hidden, so
 * that the linker binds all of the library's calls to these. libc's are slots in the GOT: with a
 * program that defines its own memcpy (an instrumented one, one of its own runtime) the handler
 * would call that.
 *
 * Made for pieces of a few to a few hundred bytes, which is what the library copies: moves of up to
 * 16 bytes, the last one overlapping the one before instead of a loop over the rest. memcpy moves
 * upward only. The others go byte by byte: names and lines of /proc. Compiled without the knowledge
 * that a loop over bytes is a memcpy, or it would call itself (preload/CMakeLists.txt). Sanitized
 * builds leave this file out: their runtime has to see these calls.
 *
 * Context    any. */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "sys/context.h"
#include "sys/segment.h"

typedef uint32_t half __attribute__((may_alias, aligned(1)));
typedef uint64_t word __attribute__((may_alias, aligned(1)));
typedef uint64_t pair __attribute__((vector_size(16), may_alias, aligned(1)));

#define LOAD(type, at) (*(const type *)(const void *)(at))
#define STORE(type, at, value) (*(type *)(void *)(at) = (value))

/* Reads both ends before it writes any. */
SIGNAL_SAFE static inline void move_small(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n >= sizeof(word)) {
        word first = LOAD(word, from), last = LOAD(word, from + n - sizeof(word));
        STORE(word, to, first);
        STORE(word, to + n - sizeof(word), last);
    } else if (n >= sizeof(half)) {
        half first = LOAD(half, from), last = LOAD(half, from + n - sizeof(half));
        STORE(half, to, first);
        STORE(half, to + n - sizeof(half), last);
    } else if (n > 0) {
        uint8_t first = from[0], middle = from[n / 2], last = from[n - 1];
        to[0] = first;
        to[n / 2] = middle;
        to[n - 1] = last;
    }
}

SIGNAL_SAFE static inline void move_up(uint8_t *to, const uint8_t *from, size_t n)
{
    pair last = LOAD(pair, from + n - sizeof(pair));
    size_t at = 0;
    for (; at + 4 * sizeof(pair) < n; at += 4 * sizeof(pair)) {
        pair a = LOAD(pair, from + at), b = LOAD(pair, from + at + sizeof(pair));
        pair c = LOAD(pair, from + at + 2 * sizeof(pair));
        pair d = LOAD(pair, from + at + 3 * sizeof(pair));
        STORE(pair, to + at, a);
        STORE(pair, to + at + sizeof(pair), b);
        STORE(pair, to + at + 2 * sizeof(pair), c);
        STORE(pair, to + at + 3 * sizeof(pair), d);
    }
    for (; at + sizeof(pair) < n; at += sizeof(pair))
        STORE(pair, to + at, LOAD(pair, from + at));
    STORE(pair, to + n - sizeof(pair), last);
}

SIGNAL_SAFE static inline void move_down(uint8_t *to, const uint8_t *from, size_t n)
{
    pair first = LOAD(pair, from);
    for (size_t left = n; left > sizeof(pair); left -= sizeof(pair))
        STORE(pair, to + left - sizeof(pair), LOAD(pair, from + left - sizeof(pair)));
    STORE(pair, to, first);
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

SIGNAL_SAFE void *memmove(void *to, const void *from, size_t n)
{
    if (n < sizeof(pair))
        move_small(to, from, n);
    else if ((uintptr_t)to <= (uintptr_t)from)
        move_up(to, from, n);
    else
        move_down(to, from, n);
    return to;
}

SIGNAL_SAFE void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    if (n < sizeof(pair))
        move_small(to, from, n);
    else
        move_up(to, from, n);
    return to;
}

SIGNAL_SAFE void *memset(void *to, int byte, size_t n)
{
    uint8_t *at = to, *end = at + n;
    word all = (uint8_t)byte * UINT64_C(0x0101010101010101);
    pair both = {all, all};
    if (n < sizeof(word)) {
        for (; at < end; at++)
            *at = (uint8_t)byte;
        return to;
    }
    for (; (size_t)(end - at) >= sizeof(pair); at += sizeof(pair))
        STORE(pair, at, both);
    if ((size_t)(end - at) > sizeof(word))
        STORE(word, at, all);
    STORE(word, end - sizeof(word), all);
    return to;
}

SIGNAL_SAFE int memcmp(const void *one, const void *other, size_t n)
{
    const uint8_t *a = one, *b = other;
    size_t at = 0;
    while (at + sizeof(word) <= n && LOAD(word, a + at) == LOAD(word, b + at))
        at += sizeof(word);
    for (; at < n; at++)
        if (a[at] != b[at])
            return a[at] - b[at];
    return 0;
}

/* memcmp as clang calls it where only equality matters. */
SIGNAL_SAFE int bcmp(const void *one, const void *other, size_t n)
{
    return memcmp(one, other, n);
}

SIGNAL_SAFE void *memchr(const void *bytes, int byte, size_t n)
{
    const uint8_t *at = bytes;
    for (; n > 0; n--, at++)
        if (*at == (uint8_t)byte)
            return address_pointer((uintptr_t)at);
    return NULL;
}

SIGNAL_SAFE size_t strlen(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0')
        n++;
    return n;
}

SIGNAL_SAFE size_t strnlen(const char *text, size_t n_max)
{
    size_t n = 0;
    while (n < n_max && text[n] != '\0')
        n++;
    return n;
}

SIGNAL_SAFE char *strstr(const char *text, const char *wanted)
{
    size_t n = strlen(wanted);
    for (;; text++) {
        size_t same = 0;
        while (same < n && text[same] == wanted[same]) /* ends at the text's NUL */
            same++;
        if (same == n)
            return address_pointer((uintptr_t)text);
        if (*text == '\0')
            return NULL;
    }
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
