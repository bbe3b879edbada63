/* format_names.h - the formats a profile can be written in, by name and extension only.
 *
 * For sampler-run, which has to refuse an output nobody can write before it starts the command,
 * and must not load the writers (C++, zlib) for that. The formats themselves are output/'s; a
 * test compares its table with this one. */
#ifndef SAMPLER_CLI_FORMAT_NAMES_H
#define SAMPLER_CLI_FORMAT_NAMES_H

#include "err.h"

#define FORMAT_MAX_EXTENSIONS 2

struct format_name {
    const char *name;
    const char *extensions[FORMAT_MAX_EXTENSIONS + 1]; /* without the point; NULL after the last */
    const char *output; /* the pattern of an output in that format that was given no name */
};

/* Those with a writer, in the order of output's table; ends in a row without a name. */
extern const struct format_name format_names[];

/* The format of an output: the one called `name` (of --format) if that is not NULL, else by the
 * extension of `path`, the longest that fits. NULL with *err when there is none; err->text lists
 * those there are. */
const char *format_name_for_writing(const char *path, const char *name, struct err *err);

/* The pattern of an output in the format called `name` for which no name was given; NULL when there
 * is no such format. */
const char *format_default_output(const char *name);

#endif
