/* html.c - the format "html": its row in the table. */
#include "formats/html/html.h"

#include "formats/html/read.h"
#include "formats/html/write.h"

static const char *const extensions[] = {"html", NULL};

const struct format format_html = {
    .name = "html",
    .extensions = extensions,
    .about = "a page to look at, in one file: flame graph, search, account; opens in any browser",
    .keeps = KEEPS_SAMPLES | KEEPS_TIMES | KEEPS_LINES | KEEPS_INLINED | KEEPS_THREADS |
             KEEPS_PROCESSES | KEEPS_SPANS | KEEPS_INSTANTS | KEEPS_OFF_CPU | KEEPS_BOOKMARKS |
             KEEPS_METADATA | KEEPS_MODULES | KEEPS_ADDRESSES | KEEPS_FILES | KEEPS_ALL_KINDS,
    .for_browsers = true,
    .sniff = html_sniff,
    .read = html_read,
    .write = html_write,
    .dump = html_dump,
};
