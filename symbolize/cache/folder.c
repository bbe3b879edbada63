/* folder.c - see folder.h. */
#include "cache/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/entry.h"

#define OWN_NAME "sampler"
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* Whoever writes an entry is done within a second; what is older than that was left behind. */
#define LEFT_BEHIND_S 3600

/* The folder that holds ours; false: there is no home. */
static bool parent_path(char *out, size_t out_bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int n = -1;
    if (cache != NULL && cache[0] == '/')
        n = snprintf(out, out_bytes, "%s", cache);
    else if (home != NULL && home[0] == '/')
        n = snprintf(out, out_bytes, "%s/.cache", home);
    return n > 0 && (size_t)n < out_bytes;
}

bool cache_folder_path(char *out, size_t out_bytes)
{
    char parent[PATH_MAX];
    if (!parent_path(parent, sizeof parent))
        return false;
    int n = snprintf(out, out_bytes, "%s/" OWN_NAME, parent);
    return n > 0 && (size_t)n < out_bytes;
}

static bool is_own(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_uid == geteuid();
}

static bool is_private(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* -1: it is not there. ~/.cache is made if it is not, its own folder is not. */
static int parent_open(const char *path, bool create)
{
    int parent = open(path, OPEN_FLAGS);
    if (parent < 0 && errno == ENOENT && create && mkdir(path, 0700) == 0)
        parent = open(path, OPEN_FLAGS);
    return parent;
}

static int open_in(int parent, bool create, struct err *err)
{
    /* Where it is not ours, what is made there would be in the way of whose it is. */
    if (create && is_own(parent) && mkdirat(parent, OWN_NAME, 0700) != 0 && errno != EEXIST) {
        err_fail_errno(err, errno, "cannot be made");
        return -1;
    }
    int folder = openat(parent, OWN_NAME, OPEN_FLAGS | O_NOFOLLOW);
    if (folder < 0) {
        err_fail_errno(err, errno, "cannot be opened");
        return -1;
    }
    if (is_own(folder) && is_private(folder))
        return folder;
    err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
             is_own(folder) ? "others may write to it; chmod 700 makes it safe to use"
                            : "belongs to another user; it is not used");
    close(folder);
    return -1;
}

int cache_folder_open(bool create, struct err *err)
{
    char path[PATH_MAX];
    if (!parent_path(path, sizeof path)) {
        err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                 "neither XDG_CACHE_HOME nor HOME is an absolute path");
        return -1;
    }
    int parent = parent_open(path, create);
    int folder = -1;
    if (parent < 0)
        err_fail_errno(err, errno, "cannot be opened");
    else
        folder = open_in(parent, create, err);
    if (parent >= 0)
        close(parent);
    if (folder < 0) {
        (void)cache_folder_path(path, sizeof path);
        err_name_file(err, path);
    }
    return folder;
}

/* ---- what is in it --------------------------------------------------------------------------- */

static bool is_left_behind(const char *name, const struct stat *status)
{
    return strncmp(name, ENTRY_TEMPORARY, strlen(ENTRY_TEMPORARY)) == 0 &&
           status->st_mtim.tv_sec < time(NULL) - LEFT_BEHIND_S;
}

static void file_look_at(int folder, const char *name, struct cache_files *files)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return;
    if (is_left_behind(name, &status))
        (void)unlinkat(folder, name, 0);
    if (!cache_key_is(name))
        return;
    struct cache_file file = {.size_bytes = (uint64_t)status.st_size, .used = status.st_mtim};
    memcpy(file.key.name, name, strlen(name) + 1);
    cache_files_push(files, file);
}

static int later_first(const void *left, const void *right)
{
    const struct cache_file *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec > b->used.tv_sec ? -1 : 1;
    if (a->used.tv_nsec != b->used.tv_nsec)
        return a->used.tv_nsec > b->used.tv_nsec ? -1 : 1;
    return strcmp(a->key.name, b->key.name);
}

bool cache_folder_list(int folder, struct cache_files *files)
{
    /* A descriptor of its own: reading moves the place in the folder, and closing closes it. */
    int fd = openat(folder, ".", OPEN_FLAGS);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    const struct dirent *found;
    while ((found = readdir(dir)) != NULL)
        file_look_at(folder, found->d_name, files);
    closedir(dir);
    if (files->n > 1)
        qsort(files->items, files->n, sizeof *files->items, later_first);
    return !files->no_memory;
}

struct cache_removed cache_folder_trim(int folder, uint64_t limit_bytes)
{
    struct cache_files files = {0};
    struct cache_removed removed = {0, 0};
    uint64_t kept_bytes = 0;
    bool listed = cache_folder_list(folder, &files);
    for (size_t i = 0; listed && i < files.n; i++) {
        kept_bytes += files.items[i].size_bytes;
        if (kept_bytes <= limit_bytes || unlinkat(folder, files.items[i].key.name, 0) != 0)
            continue;
        removed.n++;
        removed.size_bytes += files.items[i].size_bytes;
    }
    cache_files_deinit(&files);
    return removed;
}
