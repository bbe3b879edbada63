/* svg.c - the format "svg": its row in the table. */
#include "formats/svg/svg.h"

#include <string.h>

#include "formats/svg/write.h"

static const char *const extensions[] = {"svg", NULL};

/* Any picture of this kind, for a clear word, as there is no reader. */
static int svg_sniff(const uint8_t *head, size_t head_bytes)
{
    static const char begin[] = "<svg ";
    if (memmem(head, head_bytes, SVG_SIGN, strlen(SVG_SIGN)) != NULL)
        return 100;
    return head_bytes > 0 && head[0] == '<' &&
                   memmem(head, head_bytes, begin, strlen(begin)) != NULL
               ? 60
               : 0;
}

const struct format format_svg = {
    .name = "svg",
    .extensions = extensions,
    .about = "a flame graph as a picture; also of two runs; in browsers with zoom and search",
    .keeps = KEEPS_SAMPLES | KEEPS_MODULES,
    .for_browsers = true,
    .sniff = svg_sniff,
    .write = svg_write,
};
