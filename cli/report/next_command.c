/* next_command.c - see next_command.h. Many a first run is made by the path of a build folder: the
 * line must work there too, so the program's own path stands in where PATH would not find it. */
#include "report/next_command.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append.h"
#include "environment.h"
#include "options/shell_word.h"
#include "text.h"

static bool is_same_file(const char *path, const struct stat *own)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_dev == own->st_dev && st.st_ino == own->st_ino;
}

/* Whether a shell that is told `sampler` runs this very program. */
static bool is_in_path(const char *self)
{
    const char *folders = getenv("PATH");
    struct stat own;
    if (folders == NULL || stat(self, &own) != 0)
        return false;
    while (*folders != '\0') {
        char path[PATH_MAX];
        size_t length = strcspn(folders, ":");
        int n = snprintf(path, sizeof path, "%.*s/sampler", (int)length, folders);
        if (n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0)
            return is_same_file(path, &own);
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* As short as it can be typed: from the folder the user is in, where that is above it. */
static const char *self_from_here(const char *self, char *out, size_t out_bytes)
{
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof folder) == NULL)
        return self;
    size_t length = strlen(folder);
    if (strncmp(self, folder, length) != 0 || self[length] != '/')
        return self;
    const char *rest = self + length + 1;
    int n = snprintf(out, out_bytes, "%s%s", strchr(rest, '/') == NULL ? "./" : "", rest);
    return n > 0 && (size_t)n < out_bytes ? out : self;
}

/* The newest profile of the folder the user is in needs no name (newest.h). */
static bool is_taken_without_name(const char *path)
{
    static const char *const extension = &ENVIRONMENT_PROFILE_EXTENSION[1]; /* without the dot */
    const char *name = strrchr(path, '/');
    char folder[PATH_MAX];
    if (!path_has_extension(path, extension))
        return false;
    if (name == NULL)
        return path[0] != '.';
    size_t length = (size_t)(name - path);
    return name[1] != '.' && getcwd(folder, sizeof folder) != NULL && strlen(folder) == length &&
           memcmp(folder, path, length) == 0;
}

const char *next_command(const char *path, char *out, size_t out_bytes)
{
    char self[PATH_MAX];
    char near[PATH_MAX];
    struct stat st;
    size_t used = 0;
    out[0] = '\0';
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    for (const char *c = path; *c != '\0'; c++)
        if (char_is_control(*c)) /* shows as something else (messages.h) */
            return out;
    if (n <= 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return out;
    self[n] = '\0';
    const char *program = is_in_path(self) ? "sampler" : self_from_here(self, near, sizeof near);
    append_shell_word(program, out, out_bytes, &used);
    append(out, out_bytes, &used, " top");
    if (!is_taken_without_name(path)) {
        append(out, out_bytes, &used, " ");
        append_shell_word(path, out, out_bytes, &used);
    }
    if (used + 1 >= out_bytes) /* cut: not a command any more */
        out[0] = '\0';
    return out;
}
