/* newest.c - see newest.h. */
#include "report/newest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "environment.h"
#include "text.h"

static bool is_newer(const struct stat *a, const char *a_name, const struct stat *b,
                     const char *b_name)
{
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    if (a->st_mtim.tv_nsec != b->st_mtim.tv_nsec)
        return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
    return strcmp(a_name, b_name) > 0;
}

/* Extensions without the dot. */
static bool is_meant(enum newest which, const char *name, mode_t mode)
{
    if (name[0] == '.')
        return false;
    if (S_ISDIR(mode))
        return path_has_extension(name, &CAPTURE_CHILDREN_EXTENSION[1]);
    return S_ISREG(mode) &&
           (path_has_extension(name, &CAPTURE_EXTENSION[1]) ||
            (which == NEWEST_RUN && path_has_extension(name, &ENVIRONMENT_PROFILE_EXTENSION[1])));
}

static bool fail_none(enum newest which, struct err *err)
{
    if (which == NEWEST_RECORDING)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "no RECORDING is named, and no " CAPTURE_EXTENSION
                        " file is in this folder; a program that is cut off leaves one");
    return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                    "no FILE is named, and no " ENVIRONMENT_PROFILE_EXTENSION
                    " file is in this folder; `sampler-run ./app` leaves one");
}

/* What one process and its children left belongs together. */
static void add_rest(struct newest_names *names)
{
    static const char *const both[] = {CAPTURE_EXTENSION, CAPTURE_CHILDREN_EXTENSION};
    const char *extension = strrchr(names->names[0], '.');
    struct newest_names found = {.n = 0};
    if (extension == NULL || strcmp(extension, ENVIRONMENT_PROFILE_EXTENSION) == 0)
        return;
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(found.names[found.n], sizeof found.names[0], "%.*s%s",
                         (int)(extension - names->names[0]), names->names[0], both[i]);
        found.n +=
            n > 0 && (size_t)n < sizeof found.names[0] && access(found.names[found.n], F_OK) == 0;
    }
    *names = found;
}

bool newest_find(enum newest which, struct newest_names *out, struct err *err)
{
    struct stat newest = {.st_size = 0};
    struct dirent *entry;
    DIR *folder = opendir(".");
    if (folder == NULL)
        return err_fail_errno(err, errno, "cannot look for a profile in this folder");
    bool found = false;
    while ((entry = readdir(folder)) != NULL) {
        struct stat st;
        if (strlen(entry->d_name) >= sizeof out->names[0] ||
            fstatat(dirfd(folder), entry->d_name, &st, 0) != 0 ||
            !is_meant(which, entry->d_name, st.st_mode))
            continue;
        if (found && !is_newer(&st, entry->d_name, &newest, out->names[0]))
            continue;
        snprintf(out->names[0], sizeof out->names[0], "%s", entry->d_name);
        newest = st;
        found = true;
    }
    closedir(folder);
    if (!found)
        return fail_none(which, err);
    out->n = 1;
    add_rest(out);
    return true;
}
