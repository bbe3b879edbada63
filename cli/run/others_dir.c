/* others_dir.c - see others_dir.h. */
#include "run/others_dir.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define OUTER_NAME "/.sampler-"
#define SECRET_DIGITS 32u

static const char *const parents[] = {"/var/tmp", "/tmp"};

static void link_path(const char *folder, char *out, size_t out_bytes)
{
    snprintf(out, out_bytes, "%s/" OTHERS_DIR_LINK, folder);
}

void others_dir_choose(const char *folder, char out[PATH_MAX])
{
    char link[PATH_MAX + sizeof OTHERS_DIR_LINK];
    uint64_t random[3];
    size_t n = sizeof parents / sizeof parents[0], i = 0;
    out[0] = '\0';
    link_path(folder, link, sizeof link);
    while (i < n && access(parents[i], W_OK | X_OK) != 0)
        i++;
    if (geteuid() != 0 || i == n || getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    snprintf(out, PATH_MAX, "%s" OUTER_NAME "%016" PRIx64 "/%016" PRIx64 "%016" PRIx64, parents[i],
             random[0], random[1], random[2]);
    if (symlink(out, link) != 0)
        out[0] = '\0';
}

/* Whether a link's target is such a folder, and not one that someone wants to be read or
 * removed. */
static bool is_ours(const char *path)
{
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        size_t length = strlen(parents[i]);
        const char *inner;
        if (strncmp(path, parents[i], length) == 0 &&
            strncmp(path + length, OUTER_NAME, sizeof OUTER_NAME - 1) == 0 &&
            (inner = strchr(path + length + 1, '/')) != NULL)
            return strspn(inner + 1, "0123456789abcdef") == SECRET_DIGITS &&
                   inner[1 + SECRET_DIGITS] == '\0';
    }
    return false;
}

bool others_dir_find(const char *folder, char out[PATH_MAX])
{
    char link[PATH_MAX + sizeof OTHERS_DIR_LINK];
    link_path(folder, link, sizeof link);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    return is_ours(out);
}

void others_dir_remove(const char *folder)
{
    char inner[PATH_MAX], link[PATH_MAX + sizeof OTHERS_DIR_LINK];
    if (!others_dir_find(folder, inner))
        return;
    DIR *dir = opendir(inner);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    link_path(folder, link, sizeof link);
    unlink(link);
    rmdir(inner);
    *strrchr(inner, '/') = '\0';
    rmdir(inner);
}
