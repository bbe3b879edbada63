/* registry.c - see format.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "formats/folded/folded.h"
#include "formats/format.h"
#include "formats/htdump/htdump.h"
#include "formats/nytprof/nytprof.h"

const struct format *const format_table[] = {
    &format_folded,          &format_diff_folded,  &format_cpuprofile,
    &format_chrome_trace,    &format_easyprofiler, &format_nytprof,
    &format_nytprof_chunked, &format_htdump,       NULL,
};

const char *const format_keeps_words[] = {
    "samples", "times",     "lines",    "inlined", "threads",   "processes", "spans", "instants",
    "off-cpu", "bookmarks", "metadata", "modules", "addresses", "files",     "kinds", NULL,
};
_Static_assert(sizeof format_keeps_words / sizeof format_keeps_words[0] ==
                   __builtin_ctz(KEEPS_ALL_KINDS) + 2,
               "a word for each flag");

void format_note(const struct format_notes *notes, const char *format, ...)
{
    if (notes == NULL || notes->note == NULL)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    notes->note(notes->context, text);
}

const struct format *format_by_name(const char *name)
{
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        if (strcmp((*row)->name, name) == 0)
            return *row;
    }
    return NULL;
}

static bool path_has_extension(const char *path, const char *extension)
{
    size_t path_length = strlen(path), length = strlen(extension);
    return path_length > length && path[path_length - length - 1] == '.' &&
           strcmp(path + path_length - length, extension) == 0;
}

/* Of several that fit (.folded, .diff.folded) the longest says most. */
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
