/* recording.c - see recording.h. */
#include "record/recording.h"

#include <errno.h>
#include <string.h>

#include "sys/fds.h"
#include "sys/os.h"

/* False when the file size limit stands in the way: passing it would send SIGXFSZ. any context */
SIGNAL_SAFE static bool size_is_allowed(uint64_t file_bytes)
{
    struct rlimit limit;
    return os_limit_get(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           file_bytes <= limit.rlim_cur;
}

/* Gives the range blocks on the disk, so that writing to its mapping cannot fail. any context */
SIGNAL_SAFE static bool space_reserve(int fd, uint64_t offset, uint64_t n_bytes)
{
    static const uint8_t zeros[CAPTURE_HEADER_BYTES];
    if (!size_is_allowed(offset + n_bytes)) {
        errno = EFBIG;
        return false;
    }
    if (os_fallocate(fd, offset, n_bytes) == 0)
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR && errno != EPERM)
        return false;
    for (uint64_t done = 0; done < n_bytes;) {
        uint64_t left = n_bytes - done;
        long n = os_pwrite(fd, zeros, left < sizeof zeros ? left : sizeof zeros, offset + done);
        if (n <= 0 && errno != EINTR)
            return false;
        done += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

/* SETUP, HOOK */
bool recording_open(struct recording *recording, const char *path,
                    const struct capture_header *header)
{
    struct stat file;
    if (strlen(path) >= sizeof recording->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = os_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_scarce = fds_are_scarce();
    if (!is_scarce)
        fd = fds_adopt(fd);
    if (fd >= 0 && os_fstat(fd, &file) == 0 && space_reserve(fd, 0, CAPTURE_HEADER_BYTES)) {
        struct capture_header *mapped = os_map_file(fd, 0, CAPTURE_HEADER_BYTES);
        if (mapped != NULL) {
            *mapped = *header;
            if (is_scarce) {
                os_close(fd);
                fd = -1;
            }
            recording->fd = fd;
            recording->dev = file.st_dev;
            recording->ino = file.st_ino;
            recording->stopped = false;
            memcpy(recording->path, path, strlen(path) + 1);
            recording->header = mapped;
            return true;
        }
    }
    int saved_errno = errno;
    if (is_scarce)
        os_close(fd);
    else
        fds_close(fd);
    unlink(path);
    errno = saved_errno;
    return false;
}

/* HOOK: a forked child, alone */
void recording_abandon(struct recording *recording)
{
    if (recording->header != NULL)
        os_unmap(recording->header, CAPTURE_HEADER_BYTES);
    recording->header = NULL;
    fds_close(recording->fd);
    recording->fd = -1;
}

/* any context */
SIGNAL_SAFE static bool is_our_file(const struct recording *recording, int fd)
{
    struct stat now;
    return os_fstat(fd, &now) == 0 && now.st_dev == recording->dev && now.st_ino == recording->ino;
}

/* The descriptor, opened anew if the program closed or reused its number, or if it is to have them
 * all but for this moment (*closes); -1 when our file cannot be had. any context */
SIGNAL_SAFE static int file_of(struct recording *recording, bool *closes)
{
    int fd = __atomic_load_n(&recording->fd, __ATOMIC_RELAXED);
    *closes = false;
    if (is_our_file(recording, fd))
        return fd;
    int again = os_open(recording->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (again < 0)
        return -1;
    *closes = fds_are_scarce() && is_our_file(recording, again);
    if (*closes)
        return again;
    again = fds_adopt(again);
    if (again < 0 || !is_our_file(recording, again)) {
        fds_close(again);
        return -1;
    }
    /* Two threads may come here at once: the one that is late gives its own back. */
    if (!__atomic_compare_exchange_n(&recording->fd, &fd, again, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        fds_close(again);
        return is_our_file(recording, fd) ? fd : -1;
    }
    fds_forget(fd);
    return again;
}

/* any context */
struct capture_chunk *recording_map_chunk(struct recording *recording, uint32_t stream,
                                          uint32_t sequence)
{
    if (recording->header == NULL || __atomic_load_n(&recording->stopped, __ATOMIC_RELAXED))
        return NULL;
    bool closes;
    int fd = file_of(recording, &closes);
    if (fd < 0)
        return NULL;
    uint64_t index = __atomic_fetch_add(&recording->header->n_chunks, 1, __ATOMIC_RELAXED);
    uint64_t offset = CAPTURE_HEADER_BYTES + index * CAPTURE_CHUNK_BYTES;
    struct capture_chunk *chunk = NULL;
    if (space_reserve(fd, offset, CAPTURE_CHUNK_BYTES))
        chunk = os_map_file(fd, offset, CAPTURE_CHUNK_BYTES);
    if (closes)
        os_close(fd);
    if (chunk == NULL) {
        __atomic_store_n(&recording->stopped, true, __ATOMIC_RELAXED);
        return NULL;
    }
    chunk->stream = stream;
    chunk->sequence = sequence;
    __atomic_store_n(&chunk->magic, CAPTURE_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return chunk;
}

/* any context */
void recording_unmap_chunk(struct capture_chunk *chunk)
{
    os_unmap(chunk, CAPTURE_CHUNK_BYTES);
}
