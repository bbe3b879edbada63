/* source.h - the text of a source file, found from the path that debug information names.
 *
 * The path is that of the machine that compiled, so files are looked for as debuggers do:
 *
 *   --source-path DIR:DIR  below each of these folders the longest end of the path that is there:
 *                          DIR/build/redis/src/dict.c, DIR/redis/src/dict.c, DIR/src/dict.c ...
 *   the profile            what --embed-source put there (model/sources.h)
 *   the path               as it is
 *   without --source-path  the same ends below the current folder
 *
 * What is found in a folder may be another version of the file: the reader is told which one it is
 * (path, mtime_ns). */
#ifndef SAMPLER_CLI_SOURCE_H
#define SAMPLER_CLI_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "intern.h"
#include "model/profile.h"
#include "vector.h"

VECTOR_DEFINE(text_lines, struct text)

struct source {
    char path[PATH_MAX];     /* of the file read; "" = none was found                         */
    uint64_t mtime_ns;       /* since the epoch; 0 = the text is the profile's                */
    char *bytes;             /* of the file; NULL = the text is the profile's                 */
    struct text text;        /* all of it                                                     */
    struct text_lines lines; /* without their ends; views of `text`                           */
};

/* Only regular files that can be read and are smaller than 256 MiB are taken. None found is no
 * error. `profile` is borrowed for the source's life; NULL: only files count. `search_path`: the value
 * of --source-path or NULL. False when out of memory. The caller gives the source back in every case. */
MUST_CHECK bool source_init(struct source *source, const struct profile *profile,
                            struct text recorded, const char *search_path, struct err *err);
void source_deinit(struct source *source); /* takes zeros */

/* The same without the profile's text and without the path as it is: only what lies below one of the
 * folders, or below the current one if `search_path` is NULL. ".." in `recorded` leads out of none. */
MUST_CHECK bool source_init_below(struct source *source, struct text recorded,
                                  const char *search_path, struct err *err);

/* Whether it was changed after the run began, so that its lines may be others. */
bool source_is_newer(const struct source *source, const struct profile *profile);

/* Line `number`, from 1; "" where the file has none. */
struct text source_line(const struct source *source, uint32_t number);

#endif
