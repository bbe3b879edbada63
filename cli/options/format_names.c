/* format_names.c - see format_names.h. */
#include "options/format_names.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "append.h"
#include "options/options.h"
#include "text.h"

const struct format_name format_names[] = {
    {"folded", {"collapsed", "folded"}, false, "%n.%p.folded"},
    {"diff-folded", {"diff.folded"}, false, "%n.%p.diff.folded"},
    {"cpuprofile", {"cpuprofile"}, false, "%n.%p.cpuprofile"},
    {"chrome-trace", {"trace.json"}, false, "%n.%p.trace.json"},
    {"easyprofiler", {"prof"}, false, "%n.%p.prof"},
    {"nytprof", {"nytprof"}, false, "%n.%p.nytprof"},
    {"nytprof-chunked", {"nytprofc"}, false, "%n.%p.nytprofc"},
    {"htdump", {"htdump"}, false, "%n.%p.htdump"},
    {"sprofile", {"sprofile"}, false, "%n.%p.sprofile"},
    {"html", {"html"}, true, "%n.%p.html"},
    {"svg", {"svg"}, true, "%n.%p.svg"},
    {NULL, {NULL}, false, NULL},
};

static const struct format_name *row_by_name(const char *name)
{
    for (const struct format_name *row = format_names; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0)
            return row;
    }
    return NULL;
}

static const char *by_name(const char *name)
{
    const struct format_name *row = row_by_name(name);
    return row == NULL ? NULL : row->name;
}

const char *format_default_output(const char *name)
{
    const struct format_name *row = row_by_name(name);
    return row == NULL ? NULL : row->output;
}

/* Of .folded and .diff.folded the longer one says more. `length` is that of the extension. */
static const char *by_path(const char *path, size_t *length)
{
    const char *best = NULL;
    size_t best_length = 0;
    for (const struct format_name *row = format_names; row->name != NULL; row++) {
        for (const char *const *extension = row->extensions; *extension != NULL; extension++) {
            if (strlen(*extension) > best_length && path_has_extension(path, *extension)) {
                best = row->name;
                best_length = strlen(*extension);
            }
        }
    }
    *length = best_length;
    return best;
}

bool path_is_stream(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

const char *format_name_for_writing(const char *path, const char *name, struct err *err)
{
    size_t length = 0;
    const char *found = name != NULL ? by_name(name) : by_path(path, &length);
    if (found == NULL && name == NULL && path_is_stream(path))
        found = "folded";
    if (found != NULL)
        return found;
    char names[256] = "";
    char near[64];
    size_t used = 0;
    for (const struct format_name *row = format_names; row->name != NULL; row++)
        append(names, sizeof names, &used, "%s%s", used > 0 ? "|" : "", row->name);
    if (name == NULL)
        err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                 "%.100s: no format has this extension; name one with -f: %s", path, names);
    else if (word_nearest(name, names, near, sizeof near) != NULL)
        err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "--format: '%.60s' is unknown; nearest is '%s'",
                 name, near);
    else
        err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "--format: '%.60s' is none of %s", name, names);
    return NULL;
}

bool format_is_for_browsers(const char *path, const char *name)
{
    struct err ignored = ERR_INIT;
    const char *format = format_name_for_writing(path, name, &ignored);
    const struct format_name *row = format == NULL ? NULL : row_by_name(format);
    return row != NULL && row->for_browsers;
}

bool format_output_of(const char *input, const char *name, char *out, size_t out_bytes,
                      struct err *err)
{
    const char *format = format_name_for_writing("-", name, err);
    const struct format_name *row = format != NULL ? row_by_name(format) : NULL;
    if (row == NULL)
        return false;
    const char *slash = strrchr(input, '/');
    const char *base = slash != NULL ? slash + 1 : input;
    size_t extension_length = 0;
    size_t length = strlen(base);
    if (by_path(base, &extension_length) != NULL)
        length -= extension_length + 1;
    int n = snprintf(out, out_bytes, "%.*s.%s", (int)length, base, row->output + strlen("%n.%p."));
    return (n >= 0 && (size_t)n < out_bytes) ||
           err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.100s: the file name is too long", base);
}
