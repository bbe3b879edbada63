/* others_dir.c - see others_dir.h. */
#include "run/others_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* As in /tmp, nobody removes or renames another's files; and only root lists them. */
#define MODE_INNER (S_ISVTX | S_IRWXU | S_IWGRP | S_IXGRP | S_IWOTH | S_IXOTH)
#define MODE_OUTER (S_IRWXU | S_IXGRP | S_IXOTH)

#define OUTER_NAME "/.sampler-"

static const char *const parents[] = {"/var/tmp", "/tmp"};

static void link_path(const char *folder, char *out, size_t out_bytes)
{
    snprintf(out, out_bytes, "%s/" OTHERS_DIR_LINK, folder);
}

static bool create_in(const char *parent, const char *link, char out[PATH_MAX])
{
    uint64_t secret[2];
    char outer[64];
    snprintf(outer, sizeof outer, "%s" OUTER_NAME "XXXXXX", parent);
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret || mkdtemp(outer) == NULL)
        return false;
    snprintf(out, PATH_MAX, "%s/%016" PRIx64 "%016" PRIx64, outer, secret[0], secret[1]);
    bool is_made = mkdir(out, S_IRWXU) == 0;
    if (is_made && chmod(out, MODE_INNER) == 0 && chmod(outer, MODE_OUTER) == 0 &&
        symlink(out, link) == 0)
        return true;
    if (is_made)
        rmdir(out);
    rmdir(outer);
    return false;
}

void others_dir_create(const char *folder, char out[PATH_MAX])
{
    char link[PATH_MAX + sizeof OTHERS_DIR_LINK];
    link_path(folder, link, sizeof link);
    for (size_t i = 0; geteuid() == 0 && i < sizeof parents / sizeof parents[0]; i++)
        if (create_in(parents[i], link, out))
            return;
    out[0] = '\0';
}

/* Whether a link's target is a folder that we made, and not one that someone wants to be read or
 * removed. */
static bool is_ours(const char *path)
{
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        size_t length = strlen(parents[i]);
        const char *inner;
        if (strncmp(path, parents[i], length) == 0 &&
            strncmp(path + length, OUTER_NAME, sizeof OUTER_NAME - 1) == 0 &&
            (inner = strchr(path + length + 1, '/')) != NULL)
            return strspn(inner + 1, "0123456789abcdef") == 32 && inner[33] == '\0';
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
