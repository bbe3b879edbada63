/* code_file.c - see code_file.h. Read and not mapped: the program may still run, and cut it. */
#include "jit/code_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* The largest seen has 100 MB; of a file without end, say one with a hole, no part is worth reading. */
#define MAX_BYTES ((off_t)1 << 30)

/* NULL: it may be read. */
static const char *why_not(const struct stat *status, const struct code_file_owner *owner)
{
    if (!S_ISREG(status->st_mode))
        return "it is no regular file";
    if (status->st_uid != owner->uid && status->st_uid != 0 && status->st_uid != geteuid())
        return "it belongs to another user than the program ran as";
    if (status->st_nlink != 1)
        return "it has another name as well";
    if (status->st_size > MAX_BYTES)
        return "it is larger than 1 GiB";
    /* File systems keep times to the tick before, some to the second before. */
    uint64_t written_s = (uint64_t)status->st_mtim.tv_sec;
    if (written_s + 1 < owner->start_realtime_ns / SECOND_NS)
        return "it is older than the program";
    if (written_s > owner->end_realtime_ns / SECOND_NS + 1)
        return "it was written after the program had ended";
    return NULL;
}

static bool all_read(int fd, char *bytes, size_t size_bytes, size_t *n)
{
    ssize_t got = 1;
    for (*n = 0; *n < size_bytes && got != 0; *n += (size_t)got) {
        got = read(fd, bytes + *n, size_bytes - *n);
        if (got < 0 && errno != EINTR)
            return false;
        got = got < 0 ? 0 : got;
    }
    return true;
}

enum code_file_outcome code_file_read(const char *path, const struct code_file_owner *owner,
                                      char **bytes, size_t *n, const char **why)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        *why = errno == ELOOP ? "it is a symbolic link" : strerror(errno);
        return errno == ENOENT || errno == ENOTDIR ? CODE_FILE_NONE : CODE_FILE_REFUSED;
    }
    *why = fstat(fd, &status) == 0 ? why_not(&status, owner) : strerror(errno);
    if (*why != NULL) {
        close(fd);
        return CODE_FILE_REFUSED;
    }
    *bytes = malloc((size_t)status.st_size + 1);
    bool done = *bytes != NULL && all_read(fd, *bytes, (size_t)status.st_size, n);
    if (!done)
        *why = strerror(errno);
    close(fd);
    if (done)
        return CODE_FILE_READ;
    free(*bytes);
    return CODE_FILE_REFUSED;
}
