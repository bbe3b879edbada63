/* registry.c - see registry/registry.h. */
#include "registry/registry.h"

#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "formats/folded/folded.h"
#include "formats/htdump/htdump.h"
#include "formats/html/html.h"
#include "formats/nytprof/nytprof.h"
#include "formats/sprofile/sprofile.h"
#include "formats/svg/svg.h"
#include "text.h"

const struct format *const format_table[] = {
    &format_folded,
    &format_diff_folded,
    &format_cpuprofile,
    &format_chrome_trace,
    &format_easyprofiler,
    &format_nytprof,
    &format_nytprof_chunked,
    &format_htdump,
    &format_sprofile,
    &format_html,
    &format_svg,
    NULL,
};

const char *const format_keeps_words[] = {
    "samples", "times",     "lines",    "inlined", "threads",   "processes", "spans", "instants",
    "off-cpu", "bookmarks", "metadata", "modules", "addresses", "files",     "kinds", NULL,
};
_Static_assert(sizeof format_keeps_words / sizeof format_keeps_words[0] ==
                   __builtin_ctz(KEEPS_ALL_KINDS) + 2,
               "a word for each flag");

const struct format *format_by_name(const char *name)
{
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        if (strcmp((*row)->name, name) == 0)
            return *row;
    }
    return NULL;
}

const struct format *format_by_path(const char *path)
{
    const struct format *best = NULL;
    size_t best_length = 0;
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        for (const char *const *extension = (*row)->extensions; *extension != NULL; extension++) {
            size_t length = strlen(*extension);
            if (length > best_length && path_has_extension(path, *extension)) {
                best = *row;
                best_length = length;
            }
        }
    }
    return best;
}

const struct format *format_by_content(const uint8_t *head, size_t head_bytes)
{
    const struct format *best = NULL;
    int best_score = 0;
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        int score = (*row)->sniff == NULL ? 0 : (*row)->sniff(head, head_bytes);
        if (score > best_score) {
            best = *row;
            best_score = score;
        }
    }
    return best;
}
