/* htdump.c - the format "htdump": its row in the table, and how its files are recognised. */
#include "formats/htdump/htdump.h"

#include <string.h>

static uint32_t u32_read(const uint8_t *bytes, bool is_big_endian)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return is_big_endian ? __builtin_bswap32(value) : value;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Without byte order event (HawkTracer to 0.5): a class description, of a class with HawkTracer's
 * prefix. */
static bool begins_with_class(const uint8_t *head, size_t head_bytes)
{
    return head_bytes >= 27 && u32_read(head, false) == 2 && memcmp(head + 24, "HT_", 3) == 0;
}

int htdump_sniff(const uint8_t *head, size_t head_bytes)
{
    if (begins_with_class(head, head_bytes))
        return 90;
    if (head_bytes < 25 || head[20] > 1 || !is_zero(head + 1, 19))
        return 0;
    uint32_t next = u32_read(head + 21, head[20] == 1);
    if (head[0] == 0)
        return next == 2 ? 100 : 0;
    return head[0] == 2 && next == 3 ? 90 : 0; /* HawkTracer 0.6 */
}

static const char *const extensions[] = {"htdump", NULL};

const struct format format_htdump = {
    .name = "htdump",
    .extensions = extensions,
    .about = "HawkTracer event stream",
    .keeps = KEEPS_SAMPLES | KEEPS_TIMES | KEEPS_LINES | KEEPS_INLINED | KEEPS_THREADS |
             KEEPS_PROCESSES | KEEPS_SPANS | KEEPS_INSTANTS | KEEPS_OFF_CPU | KEEPS_BOOKMARKS |
             KEEPS_METADATA | KEEPS_MODULES | KEEPS_ADDRESSES | KEEPS_FILES | KEEPS_ALL_KINDS,
    .sniff = htdump_sniff,
    .read = htdump_read,
    .write = htdump_write,
    .dump = htdump_dump,
};
