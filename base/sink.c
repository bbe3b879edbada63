/* sink.c - see sink.h. One 64 KiB buffer in front of whatever takes the bytes: most writes are a
 * few bytes long. A buffer sink is that buffer, grown; the failing one counts what would have
 * been flushed. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "digits.h"

enum sink_kind { SINK_FILE, SINK_DIRECT, SINK_BUFFER, SINK_FAILING };

#define STAGE_BYTES ((size_t)64 * 1024)
#define MAX_ATTEMPTS 100 /* at a name that no other file has */
#define PROC_FD_BYTES 32

struct sink {
    enum sink_kind kind;
    int fd;
    char *path;      /* final name                                  */
    char *temporary; /* name while writing; NULL: it has none yet   */
    unsigned char *stage;
    size_t n_staged;
    size_t stage_bytes;
    uint64_t n_flushed;
    uint64_t limit_bytes;
    int sys_errno; /* 0 while all is well                         */
};

static struct sink *sink_create(enum sink_kind kind, struct err *err)
{
    struct sink *sink = calloc(1, sizeof *sink);
    unsigned char *stage = malloc(STAGE_BYTES);
    if (sink == NULL || stage == NULL) {
        free(sink);
        free(stage);
        err_fail_memory(err);
        return NULL;
    }
    *sink = (struct sink){.kind = kind, .fd = -1, .stage = stage, .stage_bytes = STAGE_BYTES};
    return sink;
}

static void sink_free(struct sink *sink)
{
    if (sink->fd > STDERR_FILENO)
        close(sink->fd);
    free(sink->path);
    free(sink->temporary);
    free(sink->stage);
    free(sink);
}

/* A name next to the final one, so that rename works and shows whole files only. */
static char *make_temporary_name(const char *path, unsigned attempt)
{
    char *name = NULL;
    return asprintf(&name, "%s.%d-%u.tmp", path, (int)getpid(), attempt) < 0 ? NULL : name;
}

static const char *proc_fd(int fd, char out[PROC_FD_BYTES])
{
    snprintf(out, PROC_FD_BYTES, "/proc/self/fd/%d", fd);
    return out;
}

/* A file that has no name until it is whole, so that nothing is left by a process that is killed; -1
 * where there are none (NFS), or where it could not be named at the end, as there is no /proc. */
static int nameless_open(const char *path)
{
    char proc[PROC_FD_BYTES];
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int fd = folder == NULL ? -1 : open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(folder);
    if (fd >= 0 && access(proc_fd(fd, proc), F_OK) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int temporary_open(const char *path, char **name)
{
    int fd = nameless_open(path);
    for (unsigned attempt = 0; fd < 0 && attempt < MAX_ATTEMPTS; attempt++) {
        free(*name);
        *name = make_temporary_name(path, attempt);
        if (*name == NULL)
            return -1;
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/* Names what has no name yet. False with errno. */
static bool name_file(struct sink *sink)
{
    char proc[PROC_FD_BYTES];
    bool is_taken = true;
    for (unsigned attempt = 0; sink->temporary == NULL && is_taken && attempt < MAX_ATTEMPTS;
         attempt++) {
        char *name = make_temporary_name(sink->path, attempt);
        if (name == NULL)
            return false;
        if (linkat(AT_FDCWD, proc_fd(sink->fd, proc), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            sink->temporary = name;
        } else {
            int sys_errno = errno;
            free(name);
            errno = sys_errno;
            is_taken = sys_errno == EEXIST;
        }
    }
    return sink->temporary != NULL;
}

/* The permissions of the file that is replaced, as if it were written over: what was for its owner's eyes stays so. */
static void keep_mode(int fd, const char *path)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        (void)fchmod(fd, st.st_mode & 0777);
}

/* Of a file that is not to be. */
static void discard(struct sink *sink)
{
    if (sink->fd >= 0 && sink->temporary != NULL)
        unlink(sink->temporary);
    if (sink->fd > STDERR_FILENO)
        close(sink->fd);
    sink->fd = -1;
}

/* Pipes, devices, sockets: what cannot be replaced by a rename. A folder is none of them:
 * sink_create_file refuses it. */
static bool path_is_direct(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool sink_create_file(const char *path, struct sink **out, struct err *err)
{
    struct sink *sink = sink_create(SINK_FILE, err);
    if (sink == NULL)
        return false;
    if (strcmp(path, "-") == 0) {
        sink->kind = SINK_DIRECT;
        sink->fd = STDOUT_FILENO;
    } else if (path_is_direct(path)) {
        sink->kind = SINK_DIRECT;
        sink->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        sink->fd = temporary_open(path, &sink->temporary);
    }
    int sys_errno = errno;
    struct stat st;
    if (sink->fd >= 0 && sink->kind == SINK_FILE && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        discard(sink);
        sys_errno = EISDIR;
    }
    sink->path = strdup(path);
    if (sink->fd < 0 || sink->path == NULL) {
        discard(sink);
        err_fail_errno(err, sys_errno, "cannot write");
        err_name_file(err, path);
        sink_free(sink);
        return false;
    }
    if (sink->kind == SINK_FILE)
        keep_mode(sink->fd, path);
    *out = sink;
    return true;
}

bool sink_create_buffer(struct sink **out, struct err *err)
{
    struct sink *sink = sink_create(SINK_BUFFER, err);
    if (sink != NULL)
        *out = sink;
    return sink != NULL;
}

bool sink_create_failing(uint64_t limit_bytes, struct sink **out, struct err *err)
{
    struct sink *sink = sink_create(SINK_FAILING, err);
    if (sink == NULL)
        return false;
    sink->limit_bytes = limit_bytes;
    *out = sink;
    return true;
}

static void write_all(struct sink *sink, const unsigned char *data, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t n = write(sink->fd, data, size_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            sink->sys_errno = errno;
            return;
        }
        data += n;
        size_bytes -= (size_t)n;
    }
}

/* Bytes leave the stage, or are counted against the limit. After a failure nothing does. */
static void flush(struct sink *sink)
{
    if (sink->sys_errno != 0)
        return;
    if (sink->kind == SINK_FILE || sink->kind == SINK_DIRECT)
        write_all(sink, sink->stage, sink->n_staged);
    else if (sink->kind == SINK_FAILING && sink->n_flushed + sink->n_staged > sink->limit_bytes)
        sink->sys_errno = ENOSPC;
    sink->n_flushed += sink->n_staged;
    sink->n_staged = 0;
}

static bool buffer_reserve(struct sink *sink, size_t more_bytes)
{
    size_t size_bytes = sink->stage_bytes;
    while (size_bytes - sink->n_staged < more_bytes) {
        if (__builtin_mul_overflow(size_bytes, (size_t)2, &size_bytes))
            return false;
    }
    unsigned char *stage =
        size_bytes == sink->stage_bytes ? sink->stage : realloc(sink->stage, size_bytes);
    if (stage == NULL)
        return false;
    sink->stage = stage;
    sink->stage_bytes = size_bytes;
    return true;
}

bool sink_write(struct sink *sink, const void *data, size_t size_bytes)
{
    if (sink->sys_errno != 0)
        return false;
    if (sink->kind == SINK_BUFFER && !buffer_reserve(sink, size_bytes)) {
        sink->sys_errno = ENOMEM;
        return false;
    }
    if (sink->stage_bytes - sink->n_staged < size_bytes)
        flush(sink);
    const unsigned char *bytes = data;
    while (size_bytes > 0 && sink->sys_errno == 0) {
        size_t room = sink->stage_bytes - sink->n_staged;
        size_t n = size_bytes < room ? size_bytes : room;
        memcpy(sink->stage + sink->n_staged, bytes, n);
        sink->n_staged += n;
        bytes += n;
        size_bytes -= n;
        if (sink->n_staged == sink->stage_bytes && sink->kind != SINK_BUFFER)
            flush(sink);
    }
    return sink->sys_errno == 0;
}

bool sink_text(struct sink *sink, const char *text)
{
    return sink_write(sink, text, strlen(text));
}

/* Twice only for what does not fit a small buffer: nearly every call is a few numbers. */
bool sink_format(struct sink *sink, const char *format, ...)
{
    char small[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n < 0)
        return false;
    if ((size_t)n < sizeof small)
        return sink_write(sink, small, (size_t)n);
    char *big = malloc((size_t)n + 1);
    if (big == NULL) {
        sink->sys_errno = ENOMEM;
        return false;
    }
    va_start(args, format);
    vsnprintf(big, (size_t)n + 1, format, args);
    va_end(args);
    bool ok = sink_write(sink, big, (size_t)n);
    free(big);
    return ok;
}

bool sink_u64(struct sink *sink, uint64_t value)
{
    char digits[DIGITS_MAX];
    char *end = digits + sizeof digits;
    char *first = digits_before(end, value);
    return sink_write(sink, first, (size_t)(end - first));
}

bool sink_u8(struct sink *sink, uint8_t value)
{
    return sink_write(sink, &value, sizeof value);
}

bool sink_u16le(struct sink *sink, uint16_t value)
{
    return sink_write(sink, &value, sizeof value);
}

bool sink_u32le(struct sink *sink, uint32_t value)
{
    return sink_write(sink, &value, sizeof value);
}

bool sink_u64le(struct sink *sink, uint64_t value)
{
    return sink_write(sink, &value, sizeof value);
}

uint64_t sink_offset(const struct sink *sink)
{
    return sink->n_flushed + sink->n_staged;
}

bool sink_failed(const struct sink *sink)
{
    return sink->sys_errno != 0;
}

const void *sink_buffer(const struct sink *sink, size_t *size_bytes)
{
    *size_bytes = sink->n_staged;
    return sink->stage;
}

bool sink_close(struct sink *sink, struct err *err)
{
    if (sink->kind != SINK_BUFFER)
        flush(sink);
    if (sink->kind == SINK_FILE && sink->sys_errno == 0 && !name_file(sink))
        sink->sys_errno = errno;
    if (sink->kind == SINK_FILE && sink->sys_errno == 0) {
        /* close may be what reports a full disk or quota (NFS): before the rename, so that a file
         * under its final name is whole. */
        int fd = sink->fd;
        sink->fd = -1;
        if (close(fd) != 0 || rename(sink->temporary, sink->path) != 0)
            sink->sys_errno = errno;
    }
    bool ok = sink->sys_errno == 0;
    if (!ok) {
        if (sink->temporary != NULL)
            unlink(sink->temporary);
        err_fail_errno(err, sink->sys_errno, "cannot write");
        if (sink->path != NULL)
            err_name_file(err, sink->path);
    }
    sink_free(sink);
    return ok;
}

void sink_abandon(struct sink *sink)
{
    if (sink == NULL)
        return;
    if (sink->temporary != NULL)
        unlink(sink->temporary);
    sink_free(sink);
}
