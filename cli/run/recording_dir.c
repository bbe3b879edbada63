/* recording_dir.c - see recording_dir.h. */
#include "run/recording_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "number.h"
#include "vector.h"

VECTOR_DEFINE(recording_files, struct recording_file)

/* An absolute path, since the programs of the command may be anywhere when they open it. */
bool recording_dir_create(const char *parent, char *out, size_t out_bytes, struct err *err)
{
    char absolute[PATH_MAX];
    if (realpath(parent, absolute) == NULL) {
        err_fail_errno(err, errno, "cannot write there");
        return err_name_file(err, parent);
    }
    char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/.sampler-XXXXXX",
             strcmp(absolute, "/") == 0 ? "" : absolute);
    if (strlen(folder) + 64 > out_bytes)
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.150s: the path is too long", parent);
    if (mkdtemp(folder) == NULL) {
        err_fail_errno(err, errno, "cannot write there");
        return err_name_file(err, parent);
    }
    memcpy(out, folder, strlen(folder) + 1);
    return true;
}

/* "123.0.sampler" -> 123, 0; that of brief ones is 0, 0. */
static bool name_parse(const char *name, uint64_t *pid, uint64_t *number)
{
    char *end = NULL;
    *pid = *number = 0;
    if (strcmp(name, CAPTURE_BRIEF_NAME) == 0)
        return true;
    if (name[0] < '0' || name[0] > '9')
        return false;
    *pid = strtoull(name, &end, 10);
    if (end[0] != '.' || end[1] < '0' || end[1] > '9')
        return false;
    *number = strtoull(end + 1, &end, 10);
    return strcmp(end, CAPTURE_EXTENSION) == 0;
}

static int file_compare(const void *left, const void *right)
{
    const struct recording_file *a = left;
    const struct recording_file *b = right;
    return a->pid != b->pid ? compare_u64(a->pid, b->pid) : compare_u64(a->number, b->number);
}

static bool list_add(struct recording_files *files, const char *folder, const char *name,
                     struct err *err)
{
    struct recording_file file;
    if (!name_parse(name, &file.pid, &file.number))
        return true;
    if (asprintf(&file.path, "%s/%s", folder, name) < 0)
        return err_fail_memory(err);
    if (recording_files_push(files, file))
        return true;
    free(file.path);
    return err_fail_memory(err);
}

bool recording_dir_list(const char *folder, struct recording_list *out, struct err *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        err_fail_errno(err, errno, "cannot read");
        return err_name_file(err, folder);
    }
    struct recording_files files = {0};
    bool ok = true;
    const struct dirent *entry;
    while (ok && (entry = readdir(dir)) != NULL)
        ok = list_add(&files, folder, entry->d_name, err);
    closedir(dir);
    struct recording_list list = {.files = files.items, .n = files.n};
    if (!ok) {
        recording_list_free(&list);
        return false;
    }
    if (list.n > 1)
        qsort(list.files, list.n, sizeof *list.files, file_compare);
    *out = list;
    return true;
}

void recording_list_free(struct recording_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->files[i].path);
    free(list->files);
    *list = (struct recording_list){0};
}

/* rename within one file system, which `parent` and the folder in it share; link first, since
 * rename would replace. */
static bool move_new(const char *from, const char *to, struct err *err)
{
    if (link(from, to) == 0) {
        unlink(from);
        return true;
    }
    if (errno != EEXIST && access(to, F_OK) != 0 && rename(from, to) == 0)
        return true; /* a file system without hard links */
    err_fail_errno(err, errno, "cannot keep the recording");
    return err_name_file(err, to);
}

static char *kept_path(const struct recording_file *file, const char *parent, const char *name,
                       uint64_t pid)
{
    char number[32] = "";
    char *to = NULL;
    int n;
    if (file->number > 0)
        snprintf(number, sizeof number, ".%" PRIu64, file->number);
    if (file->pid == 0)
        n = asprintf(&to, "%s/%s.%" PRIu64 ".%s", parent, name, pid, CAPTURE_BRIEF_NAME);
    else
        n = asprintf(&to, "%s/%s.%" PRIu64 "%s.sampler", parent, name, file->pid, number);
    return n < 0 ? NULL : to;
}

bool recording_dir_keep(const struct recording_list *list, const char *parent, const char *name,
                        uint64_t pid, struct err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct recording_file *file = &list->files[i];
        char *to = kept_path(file, parent, name, pid);
        if (to == NULL)
            return err_fail_memory(err);
        bool ok = move_new(file->path, to, err);
        free(to);
        if (!ok)
            return false;
    }
    return true;
}

/* Recordings are files in it; folders in it are none of ours and keep it alive. */
void recording_dir_remove(const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}
