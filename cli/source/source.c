/* source.c - see source.h. */
#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/sources.h"

#define MOST_BYTES ((off_t)256 << 20)
#define NS_PER_S UINT64_C(1000000000)

static bool lines_split(struct source *source, struct err *err)
{
    struct text text = source->text;
    for (size_t begin = 0; begin < text.length;) {
        const char *at = text.bytes + begin;
        const char *end = memchr(at, '\n', text.length - begin);
        size_t length = end == NULL ? text.length - begin : (size_t)(end - at);
        bool has_return = length > 0 && at[length - 1] == '\r';
        text_lines_push(&source->lines, (struct text){.bytes = at, .length = length - has_return});
        begin += length + 1;
    }
    return !source->lines.no_memory || err_fail_memory(err);
}

/* A file that shrinks meanwhile ends early. */
static bool bytes_read(int fd, size_t n, struct source *source, struct err *err)
{
    size_t n_read = 0;
    source->bytes = malloc(n + 1);
    if (source->bytes == NULL)
        return err_fail_memory(err);
    for (ssize_t got = 1; n_read < n && got > 0; n_read += got > 0 ? (size_t)got : 0)
        got = read(fd, source->bytes + n_read, n - n_read);
    source->text = (struct text){.bytes = source->bytes, .length = n_read};
    return lines_split(source, err);
}

/* Reads `path` if it is a file to be read; a device or a pipe is not opened for good. */
static bool path_try(const char *path, struct source *source, struct err *err)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return true;
    bool ok = true;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < MOST_BYTES) {
        source->mtime_ns =
            (uint64_t)status.st_mtim.tv_sec * NS_PER_S + (uint64_t)status.st_mtim.tv_nsec;
        snprintf(source->path, sizeof source->path, "%s", path);
        ok = bytes_read(fd, (size_t)status.st_size, source, err);
    }
    close(fd);
    return ok;
}

/* "/a/../b/./c.c" becomes "b/c.c": no end of it leads out of a folder, and none is said twice. */
static void path_make_plain(const char *path, char out[PATH_MAX])
{
    size_t used = 0;
    for (const char *at = path; *at != '\0';) {
        struct text part = {.bytes = at, .length = strcspn(at, "/")};
        at += part.length + (at[part.length] == '/');
        if (text_is(part, "..")) {
            while (used > 0 && out[--used] != '/')
                continue;
        } else if (part.length > 0 && !text_is(part, ".")) {
            if (used > 0)
                out[used++] = '/';
            memcpy(out + used, part.bytes, part.length);
            used += part.length;
        }
    }
    out[used] = '\0';
}

/* The longest end of `plain` that is below the folder; "" = the current one. */
static bool folder_try(const char *folder, size_t folder_length, const char *plain,
                       struct source *source, struct err *err)
{
    char path[PATH_MAX];
    bool ok = true;
    for (size_t at = 0; ok && source->path[0] == '\0' && plain[at] != '\0'; at++) {
        if ((at == 0 || plain[at - 1] == '/') &&
            snprintf(path, sizeof path, "%.*s%s%s", (int)folder_length, folder,
                     folder_length > 0 ? "/" : "", plain + at) < (int)sizeof path)
            ok = path_try(path, source, err);
    }
    return ok;
}

static bool folders_try(const char *folders, const char *plain, struct source *source,
                        struct err *err)
{
    bool ok = true;
    for (const char *at = folders; ok && source->path[0] == '\0' && *at != '\0';) {
        size_t length = strcspn(at, ":");
        ok = length == 0 || folder_try(at, length, plain, source, err);
        at += length;
        at += *at == ':';
    }
    return ok;
}

static bool profile_try(const struct profile *profile, struct text recorded, const char *path,
                        struct source *source, struct err *err)
{
    if (profile == NULL || !profile_source(profile, recorded, &source->text))
        return true;
    snprintf(source->path, sizeof source->path, "%s", path);
    return lines_split(source, err);
}

/* The recorded path, NUL-terminated and plain; false if it can be the path of no file. */
static bool paths_take(struct text recorded, char path[PATH_MAX], char plain[PATH_MAX])
{
    if (recorded.length == 0 || recorded.length >= PATH_MAX ||
        memchr(recorded.bytes, '\0', recorded.length) != NULL)
        return false;
    memcpy(path, recorded.bytes, recorded.length);
    path[recorded.length] = '\0';
    path_make_plain(path, plain);
    return true;
}

bool source_init(struct source *source, const struct profile *profile, struct text recorded,
                 const char *search_path, struct err *err)
{
    char path[PATH_MAX], plain[PATH_MAX];
    *source = (struct source){.bytes = NULL};
    if (!paths_take(recorded, path, plain))
        return true;
    bool ok = search_path == NULL || folders_try(search_path, plain, source, err);
    if (ok && source->path[0] == '\0')
        ok = profile_try(profile, recorded, path, source, err);
    if (ok && source->path[0] == '\0')
        ok = path_try(path, source, err);
    if (ok && source->path[0] == '\0' && search_path == NULL)
        ok = folder_try("", 0, plain, source, err);
    return ok;
}

bool source_init_below(struct source *source, struct text recorded, const char *search_path,
                       struct err *err)
{
    char path[PATH_MAX], plain[PATH_MAX];
    *source = (struct source){.bytes = NULL};
    if (!paths_take(recorded, path, plain))
        return true;
    return search_path != NULL ? folders_try(search_path, plain, source, err)
                               : folder_try("", 0, plain, source, err);
}

bool source_is_newer(const struct source *source, const struct profile *profile)
{
    return profile->start_realtime_ns != 0 && source->mtime_ns > profile->start_realtime_ns;
}

void source_deinit(struct source *source)
{
    text_lines_deinit(&source->lines);
    free(source->bytes);
    *source = (struct source){.bytes = NULL};
}

struct text source_line(const struct source *source, uint32_t number)
{
    return number == 0 || number > source->lines.n ? text_make("")
                                                   : source->lines.items[number - 1];
}
