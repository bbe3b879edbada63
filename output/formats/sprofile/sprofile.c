/* sprofile.c - the format "sprofile": its row in the table, and how its files are recognised. */
#include "formats/sprofile/sprofile.h"

#include <string.h>

#include "formats/sprofile/dump.h"
#include "formats/sprofile/read.h"
#include "formats/sprofile/write.h"

static int sprofile_sniff(const uint8_t *head, size_t head_bytes)
{
    bool ours = head_bytes >= SPROFILE_MAGIC_BYTES &&
                memcmp(head, SPROFILE_MAGIC, SPROFILE_MAGIC_BYTES) == 0;
    return ours ? 100 : 0;
}

static const char *const extensions[] = {"sprofile", NULL};

const struct format format_sprofile = {
    .name = "sprofile",
    .extensions = extensions,
    .about = "everything, in one compact file: what the commands of sampler work on",
    .keeps = KEEPS_SAMPLES | KEEPS_TIMES | KEEPS_LINES | KEEPS_INLINED | KEEPS_THREADS |
             KEEPS_PROCESSES | KEEPS_SPANS | KEEPS_INSTANTS | KEEPS_OFF_CPU | KEEPS_BOOKMARKS |
             KEEPS_METADATA | KEEPS_MODULES | KEEPS_ADDRESSES | KEEPS_FILES | KEEPS_ALL_KINDS,
    .sniff = sprofile_sniff,
    .read = sprofile_read,
    .write = sprofile_write,
    .dump = sprofile_dump,
};
