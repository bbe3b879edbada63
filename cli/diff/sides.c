/* sides.c - see sides.h. */
#include "diff/sides.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vector.h"

VECTOR_DEFINE(side_paths, char *)

static bool path_add(struct side_paths *paths, const char *path, struct err *err)
{
    char *copy = strdup(path);
    if (copy != NULL && side_paths_push(paths, copy))
        return true;
    free(copy);
    err_fail_memory(err);
    return false;
}

static bool matches_add(struct side_paths *paths, const char *pattern, struct err *err)
{
    glob_t found;
    int result = access(pattern, F_OK) == 0 ? GLOB_NOMATCH : glob(pattern, 0, NULL, &found);
    if (result == GLOB_NOMATCH) /* a missing file is the reader's to complain about */
        return strpbrk(pattern, "*?[") != NULL && access(pattern, F_OK) != 0
                   ? err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "'%.200s': no file matches", pattern)
                   : path_add(paths, pattern, err);
    if (result != 0)
        return err_fail(err, ERR_IO, ERR_NO_OFFSET, "'%.200s': cannot look for files", pattern);
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = path_add(paths, found.gl_pathv[i], err);
    globfree(&found);
    return ok;
}

static bool count_check(const struct options *options, struct err *err)
{
    if (!options_flag(options, OPTION_AGAINST) && options->n_operands != 2)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "diff compares two files, BEFORE and AFTER; several runs of each are "
                        "BEFORE... --against AFTER...");
    if (options_flag(options, OPTION_AGAINST) && options->n_first == 0)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "no file before --against; usage: sampler diff BEFORE... --against "
                        "AFTER...");
    return true;
}

bool sides_init(struct sides *sides, const struct options *options, struct err *err)
{
    struct side_paths paths = {0};
    size_t n_first = options_flag(options, OPTION_AGAINST) ? options->n_first : 1;
    *sides = (struct sides){.paths = NULL};
    bool ok = count_check(options, err);
    for (size_t i = 0; ok && i < options->n_operands; i++) {
        if (i == n_first)
            sides->n_before = paths.n;
        ok = matches_add(&paths, options->operands[i], err);
    }
    sides->paths = paths.items;
    sides->n_before = ok ? sides->n_before : paths.n;
    sides->n_after = paths.n - sides->n_before;
    return ok;
}

void sides_deinit(struct sides *sides)
{
    for (size_t i = 0; i < sides->n_before + sides->n_after; i++)
        free(sides->paths[i]);
    vector_free(sides->paths);
    *sides = (struct sides){.paths = NULL};
}
