/* header.c - the header line, and which of the two NYTProf dialects follows it. Declared in
 * formats/nytprof/stream.h. */
#include <string.h>

#include "formats/nytprof/stream.h"

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

/* Skips blanks, then reads a number of 32 bits. */
static bool read_number(const uint8_t **pos, const uint8_t *end, uint32_t *number)
{
    const uint8_t *p = *pos;
    while (p < end && is_blank(*p))
        p++;
    const uint8_t *digits = p;
    uint64_t value = 0;
    while (p < end && *p >= '0' && *p <= '9' && value <= UINT32_MAX)
        value = value * 10 + (uint64_t)(*p++ - '0');
    if (p == digits || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    *pos = p;
    return true;
}

size_t nytprof_header(const uint8_t *data, size_t size_bytes, uint32_t *major, uint32_t *minor)
{
    static const char word[] = "NYTProf";
    const size_t n_word = sizeof word - 1;
    if (size_bytes <= n_word || memcmp(data, word, n_word) != 0 || !is_blank(data[n_word]))
        return 0;
    /* A longer first line is no header of anybody's; and a scan without end of a big file of
     * something else would be slow. */
    size_t n_head = size_bytes < 4096 ? size_bytes : 4096;
    const uint8_t *newline = memchr(data, '\n', n_head);
    const uint8_t *pos = data + n_word;
    if (newline == NULL || !read_number(&pos, newline, major) || pos == newline ||
        !is_blank(*pos) || !read_number(&pos, newline, minor))
        return 0;
    return (size_t)(newline - data) + 1;
}

static bool is_chunk_tag(const uint8_t *head, size_t head_bytes, uint64_t at)
{
    return at < head_bytes && head[at] != 0 && strchr("SDCEF", head[at]) != NULL;
}

/* Seconds since the epoch, of 1972 to 2514. */
static bool is_time(const uint8_t *head, size_t head_bytes, size_t at)
{
    double seconds;
    if (head_bytes < sizeof seconds || at > head_bytes - sizeof seconds)
        return false;
    memcpy(&seconds, head + at, sizeof seconds);
    return seconds >= 0x1p26 && seconds < 0x1p34;
}

static bool is_chunk(const uint8_t *head, size_t head_bytes, size_t p)
{
    uint8_t tag = head[p];
    if (tag == '\n' || tag == 'D' || tag == 'E' || tag == 'F' || tag == 'C')
        return true;
    if (tag != 'S' && tag != 'P')
        return false;
    if (head_bytes - p >= 5) {
        uint32_t n_payload;
        memcpy(&n_payload, head + p + 1, sizeof n_payload);
        bool fits = is_chunk_tag(head, head_bytes, (uint64_t)p + 5 + n_payload);
        bool real_process = tag == 'P' && is_time(head, head_bytes, p + 3);
        if (fits && (tag == 'S' || n_payload == 16) && !real_process)
            return true;
    }
    return tag == 'P' && is_chunk_tag(head, head_bytes, (uint64_t)p + 17) &&
           is_time(head, head_bytes, p + 9);
}

enum nytprof_dialect nytprof_dialect_of(const uint8_t *head, size_t head_bytes)
{
    uint32_t major;
    uint32_t minor;
    size_t p = nytprof_header(head, head_bytes, &major, &minor);
    if (p == 0)
        return NYTPROF_NONE;
    while (p < head_bytes && (head[p] == '#' || head[p] == ':' || head[p] == '!')) {
        const uint8_t *newline = memchr(head + p, '\n', head_bytes - p);
        if (newline == NULL)
            return NYTPROF_REAL;
        p = (size_t)(newline - head) + 1;
    }
    return p < head_bytes && is_chunk(head, head_bytes, p) ? NYTPROF_CHUNKED : NYTPROF_REAL;
}
