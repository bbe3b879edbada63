/* format_names.h - the formats a profile can be written in, by name and extension only.
 *
 * For sampler-run, which has to refuse an output nobody can write before it starts the command,
 * and must not load the writers (C++, zlib) for that. The formats themselves are output/'s; a
 * test compares its table with this one. */
#ifndef SAMPLER_CLI_FORMAT_NAMES_H
#define SAMPLER_CLI_FORMAT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

#define FORMAT_MAX_EXTENSIONS 2

struct format_name {
    const char *name;
    const char *extensions[FORMAT_MAX_EXTENSIONS + 1]; /* without the point; NULL after the last */
    bool for_browsers;                                 /* a person looks at it in a browser */
    const char *output; /* the pattern of an output in that format that was given no name */
};

/* Those with a writer, in the order of output's table; ends in a row without a name. */
extern const struct format_name format_names[];

/* Pipes, terminals and "-": what takes bytes but has no folder and no extension. */
bool path_is_stream(const char *path);

/* The format of an output: the one called `name` (of --format) if that is not NULL, else by the
 * extension of `path`, the longest that fits, else folded where `path` is a stream. NULL with *err
 * when there is none; err->text lists those there are. */
const char *format_name_for_writing(const char *path, const char *name, struct err *err);

/* The pattern of an output in the format called `name` for which no name was given; NULL when there
 * is no such format. */
const char *format_default_output(const char *name);

/* Whether a file of that name, or format if one is given, is for browsers. */
bool format_is_for_browsers(const char *path, const char *name);

/* The name of a file in the current folder that is made of `input`, in the format called `name`
 * (NULL: folded): "out/x.7.sprofile" in cpuprofile is x.7.cpuprofile. ERR_USAGE where there is no
 * such format, ERR_LIMIT where the buffer is too small. */
MUST_CHECK bool format_output_of(const char *input, const char *name, char *out, size_t out_bytes,
                                 struct err *err);

#endif
