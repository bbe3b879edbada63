/* easyprofiler.c - the format "easyprofiler": its row in the table, and how its files are
 * recognised. */
#include "formats/easyprofiler/easyprofiler.h"

#include <string.h>

/* A big-endian file is claimed too, since only this reader can say what is wrong with it; its
 * version begins with a small number, a text that begins with "Easy" continues with letters. */
static int sniff(const uint8_t *head, size_t head_bytes)
{
    static const uint8_t signature[4] = {0x79, 0x73, 0x61, 0x45};
    static const uint8_t big_endian[4] = {0x45, 0x61, 0x73, 0x79};
    if (head_bytes < 5)
        return 0;
    if (memcmp(head, signature, sizeof signature) == 0)
        return 100;
    return memcmp(head, big_endian, sizeof big_endian) == 0 && head[4] < ' ' ? 60 : 0;
}

static const char *const extensions[] = {"prof", NULL};

const struct format format_easyprofiler = {
    .name = "easyprofiler",
    .extensions = extensions,
    .about = "EasyProfiler .prof: reads 0.1.0 to 2.1.0, writes 2.1.0",
    .keeps = KEEPS_THREADS | KEEPS_SPANS | KEEPS_INSTANTS | KEEPS_OFF_CPU | KEEPS_BOOKMARKS |
             KEEPS_FILES,
    .sniff = sniff,
    .read = easyprofiler_read,
    .write = easyprofiler_write,
    .dump = easyprofiler_dump,
};
