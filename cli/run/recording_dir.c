/* recording_dir.c - see recording_dir.h. */
#include "run/recording_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "number.h"
#include "run/others_dir.h"
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
    if (a->pid != b->pid)
        return compare_u64(a->pid, b->pid);
    return a->is_others != b->is_others ? (int)a->is_others - (int)b->is_others
                                        : compare_u64(a->number, b->number);
}

/* What other users put there need not be what it is called: a pipe would hold up whoever opens it. */
static bool is_file(DIR *dir, const char *name)
{
    struct stat st;
    return fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static bool list_add(struct recording_files *files, const char *folder, const char *name,
                     bool is_others, struct err *err)
{
    struct recording_file file = {.is_others = is_others};
    if (!name_parse(name, &file.pid, &file.number))
        return true;
    if (asprintf(&file.path, "%s/%s", folder, name) < 0)
        return err_fail_memory(err);
    if (recording_files_push(files, file))
        return true;
    free(file.path);
    return err_fail_memory(err);
}

static bool list_add_folder(struct recording_files *files, const char *folder, bool is_others,
                            struct err *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL && is_others && errno == ENOENT)
        return true; /* no process became another user's */
    if (dir == NULL) {
        err_fail_errno(err, errno, "cannot read");
        return err_name_file(err, folder);
    }
    bool ok = true;
    const struct dirent *entry;
    while (ok && (entry = readdir(dir)) != NULL)
        if (!is_others || is_file(dir, entry->d_name))
            ok = list_add(files, folder, entry->d_name, is_others, err);
    closedir(dir);
    return ok;
}

/* A process that gave up root in between has files of the same name in both folders. */
static void list_renumber(struct recording_list *list)
{
    for (size_t i = 1; i < list->n; i++) {
        const struct recording_file *before = &list->files[i - 1];
        if (before->pid == list->files[i].pid && before->number >= list->files[i].number)
            list->files[i].number = before->number + 1;
    }
}

bool recording_dir_list(const char *folder, struct recording_list *out, struct err *err)
{
    char others[PATH_MAX];
    struct recording_files files = {0};
    bool ok = list_add_folder(&files, folder, false, err) &&
              (!others_dir_find(folder, others) || list_add_folder(&files, others, true, err));
    struct recording_list list = {.files = files.items, .n = files.n};
    if (!ok) {
        recording_list_free(&list);
        return false;
    }
    if (list.n > 1)
        qsort(list.files, list.n, sizeof *list.files, file_compare);
    list_renumber(&list);
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

/* A new file with the same bytes, which is ours. False with errno, and none is left behind. */
static bool copy_new(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    ssize_t n = -1;
    while (out >= 0 && (n = sendfile(out, in, NULL, (size_t)1 << 30)) > 0) {
    }
    bool ok = n == 0;
    int copy_errno = errno;
    if (out >= 0 && close(out) != 0 && ok) {
        copy_errno = errno;
        ok = false;
    }
    if (out >= 0 && !ok)
        unlink(to);
    if (in >= 0)
        close(in);
    errno = copy_errno;
    return ok;
}

/* rename within one file system, which `parent` and the folder in it share; link first, since
 * rename would replace. What other users own is copied, so that it is ours, on any file system. */
static bool move_new(const char *from, bool is_others, const char *to, struct err *err)
{
    if (is_others ? copy_new(from, to) : link(from, to) == 0) {
        unlink(from);
        return true;
    }
    if (!is_others && errno != EEXIST && access(to, F_OK) != 0 && rename(from, to) == 0)
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
        n = asprintf(&to, "%s/%s.%" PRIu64 "%s.%s", parent, name, pid, number, CAPTURE_BRIEF_NAME);
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
        bool ok = move_new(file->path, file->is_others, to, err);
        free(to);
        if (!ok)
            return false;
    }
    return true;
}

/* Recordings are files in it; folders in it are none of ours and keep it alive. */
void recording_dir_remove(const char *folder)
{
    others_dir_remove(folder);
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
