/* newest.c - see newest.h. */
#include "report/newest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
static bool is_meant(enum newest which, const char *name)
{
    return name[0] != '.' &&
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

bool newest_find(enum newest which, char *name, size_t name_bytes, struct err *err)
{
    struct stat newest = {.st_size = 0};
    struct dirent *entry;
    DIR *folder = opendir(".");
    if (folder == NULL)
        return err_fail_errno(err, errno, "cannot look for a profile in this folder");
    bool found = false;
    while ((entry = readdir(folder)) != NULL) {
        struct stat st;
        if (!is_meant(which, entry->d_name) || strlen(entry->d_name) >= name_bytes ||
            fstatat(dirfd(folder), entry->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (found && !is_newer(&st, entry->d_name, &newest, name))
            continue;
        snprintf(name, name_bytes, "%s", entry->d_name);
        newest = st;
        found = true;
    }
    closedir(folder);
    return found || fail_none(which, err);
}
