/* recording.c - see recording.h.
 *
 * A recording that begins in memory lies there as it will lie in its file, the header's page and one
 * chunk. To place it, the file is written and mapped over that memory: no pointer changes, and what
 * is written afterwards goes to the file. What another thread writes between these two steps would
 * be lost; so it is placed by the thread that writes, and before there is a second one (a thread
 * made by a bare clone can be found a few microseconds too early for that).
 *
 * A store to a mapped page for which the disk has no block is a SIGBUS, so blocks are allocated
 * first and mapped then. Chunks are numbered by one atomic counter in the header; one that was
 * numbered and could not be allocated stays zero, or lies past the end of the file, and readers
 * skip it. */
#include "record/recording.h"

#include <errno.h>
#include <string.h>

#include "sys/fds.h"
#include "sys/line.h"
#include "sys/lock.h"
#include "sys/os.h"

#define NAME_ATTEMPTS 1000u
#define NAME_REST_BYTES                                                                            \
    32u /* "999.sampler" after the prefix, or "brief.sampler" after the folder */
#define APPEND_MARGIN_BYTES (UINT64_C(1) << 20)

/* False where the file size limit is in the way: to exceed it would send SIGXFSZ. any context */
SIGNAL_SAFE static bool size_is_allowed(uint64_t file_bytes)
{
    struct rlimit limit;
    return os_limit_get(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           file_bytes <= limit.rlim_cur;
}

/* Allocates the range on the disk, so that writing to its mapping cannot fail: by fallocate, or by
 * writing zeros where the file system has none. any context */
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

/* Maps the file's beginning in place of the memory at `over`, which a refusal leaves as it is: so
 * not by MAP_FIXED at once, which takes the memory away first. any context */
SIGNAL_SAFE static bool map_over(int fd, void *over, size_t n_bytes)
{
    void *mapped = os_map_file(fd, 0, n_bytes);
    if (mapped == NULL)
        return false;
    if (os_map_move(mapped, n_bytes, over))
        return true;
    os_unmap(mapped, n_bytes);
    return false;
}

/* Creates recording->path with the n_bytes at `content` in it, and maps it in place of them. False
 * with errno, and no file left behind. any context */
SIGNAL_SAFE static bool file_make(struct recording *recording, void *content, size_t n_bytes)
{
    struct stat file;
    int fd = os_open(recording->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_scarce = fds_are_scarce();
    if (!is_scarce)
        fd = fds_adopt(fd);
    if (fd >= 0 && os_fstat(fd, &file) == 0 && space_reserve(fd, 0, n_bytes) &&
        os_pwrite(fd, content, n_bytes, 0) == (long)n_bytes && map_over(fd, content, n_bytes)) {
        if (is_scarce) {
            os_close(fd);
            fd = -1;
        }
        recording->dev = file.st_dev;
        recording->ino = file.st_ino;
        __atomic_store_n(&recording->fd, fd, __ATOMIC_RELAXED);
        return true;
    }
    int saved_errno = errno;
    if (is_scarce)
        os_close(fd);
    else
        fds_close(fd);
    os_unlink(recording->path);
    errno = saved_errno;
    return false;
}

/* SETUP, HOOK */
static struct capture_header *header_make(const struct capture_header *header, size_t n_bytes)
{
    struct capture_header *made = os_map(n_bytes);
    if (made != NULL)
        *made = *header;
    return made;
}

/* SETUP, HOOK */
bool recording_open(struct recording *recording, const char *path,
                    const struct capture_header *header)
{
    if (strlen(path) >= sizeof recording->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    struct capture_header *made = header_make(header, CAPTURE_HEADER_BYTES);
    memcpy(recording->path, path, strlen(path) + 1);
    recording->fd = -1;
    if (made == NULL)
        return false;
    if (!file_make(recording, made, CAPTURE_HEADER_BYTES)) {
        os_unmap(made, CAPTURE_HEADER_BYTES);
        return false;
    }
    recording->state = RECORDING_IN_FILE;
    recording->number++;
    recording->stopped = false;
    recording->header = made;
    recording->header_mapped = CAPTURE_HEADER_BYTES;
    return true;
}

/* SETUP, HOOK */
bool recording_begin(struct recording *recording, const char *folder,
                     const struct capture_header *header)
{
    struct line prefix; /* put together where it stays: a child of fork writes to few pages */
    line_init(&prefix, recording->path, sizeof recording->path - NAME_REST_BYTES);
    line_add(&prefix, folder);
    line_add(&prefix, "/");
    recording->folder_bytes = prefix.length;
    line_add_number(&prefix, header->pid);
    line_add(&prefix, ".");
    recording->prefix_length = prefix.length;
    if (prefix.cut) {
        errno = ENAMETOOLONG;
        return false;
    }
    struct capture_header *made = header_make(header, CAPTURE_HEADER_BYTES + CAPTURE_CHUNK_BYTES);
    if (made == NULL)
        return false;
    recording->makes_folder = false;
    recording->fd = -1;
    recording->state = RECORDING_IN_MEMORY;
    recording->number++;
    recording->stopped = false;
    recording->header = made;
    recording->header_mapped = CAPTURE_HEADER_BYTES + CAPTURE_CHUNK_BYTES;
    return true;
}

/* any context */
SIGNAL_SAFE static struct capture_chunk *first_chunk(const struct recording *recording)
{
    return (void *)((uint8_t *)recording->header + CAPTURE_HEADER_BYTES);
}

/* The folder of the path, which was there when the recording began. any context */
SIGNAL_SAFE static bool folder_make(struct recording *recording)
{
    char *slash = &recording->path[recording->folder_bytes - 1];
    *slash = '\0';
    bool made = os_call(SYS_mkdirat, AT_FDCWD, recording->path, S_IRWXU) == 0;
    *slash = '/';
    return made;
}

/* Into a file of the first name that is free, all signals blocked by the only one who does it. any
 * context */
SIGNAL_SAFE static bool place_now(struct recording *recording)
{
    struct capture_header *header = recording->header;
    size_t n_bytes = CAPTURE_HEADER_BYTES + (header->n_chunks > 0 ? CAPTURE_CHUNK_BYTES : 0);
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        struct line name;
        line_init(&name, recording->path + recording->prefix_length,
                  sizeof recording->path - recording->prefix_length);
        line_add_number(&name, attempt);
        line_add(&name, ".sampler");
        if (file_make(recording, header, n_bytes))
            return true;
        if (errno == ENOENT && recording->makes_folder && folder_make(recording))
            continue;
        if (errno != EEXIST)
            break;
    }
    return false;
}

/* Errors that may be gone at the next sample. any context */
SIGNAL_SAFE static bool is_of_the_moment(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
}

/* any context */
bool recording_place(struct recording *recording)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved = 0;
    if (likely(__atomic_load_n(&recording->state, __ATOMIC_ACQUIRE) == RECORDING_IN_FILE))
        return true;
    os_sigmask(SIG_BLOCK, &all, &saved);
    uint32_t state = RECORDING_IN_MEMORY;
    for (unsigned n = 1;
         !__atomic_compare_exchange_n(&recording->state, &state, RECORDING_BEING_PLACED, false,
                                      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) &&
         state == RECORDING_BEING_PLACED;
         n++) {
        wait_a_moment(n);
        state = RECORDING_IN_MEMORY;
    }
    bool is_there = state == RECORDING_IN_FILE;
    if (state == RECORDING_IN_MEMORY) {
        is_there = place_now(recording);
        bool is_final = !is_there && !is_of_the_moment(errno);
        if (is_final) {
            recording->place_errno = errno;
            __atomic_store_n(&recording->stopped, true, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&recording->state,
                         is_there   ? RECORDING_IN_FILE
                         : is_final ? RECORDING_NOWHERE
                                    : RECORDING_IN_MEMORY,
                         __ATOMIC_RELEASE);
    }
    os_sigmask(SIG_SETMASK, &saved, NULL);
    return is_there;
}

/* HOOK, EXIT */
static int brief_open(struct recording *recording)
{
    char kept[NAME_REST_BYTES], *name = &recording->path[recording->folder_bytes];
    memcpy(kept, name, sizeof kept);
    memcpy(name, CAPTURE_BRIEF_NAME, sizeof CAPTURE_BRIEF_NAME);
    int fd = os_open(recording->path,
                     O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    memcpy(name, kept, sizeof kept);
    return fd;
}

/* HOOK, EXIT */
bool recording_append(struct recording *recording)
{
    struct capture_chunk *chunk = first_chunk(recording);
    uint32_t state = RECORDING_IN_MEMORY;
    if (!__atomic_compare_exchange_n(&recording->state, &state, RECORDING_NOWHERE, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        return false;
    struct capture_brief brief = {.magic = CAPTURE_BRIEF_MAGIC,
                                  .header_bytes = sizeof *recording->header,
                                  .records_bytes = chunk->committed_bytes};
    const struct iovec parts[] = {{.iov_base = &brief, .iov_len = sizeof brief},
                                  {.iov_base = recording->header, .iov_len = brief.header_bytes},
                                  {.iov_base = chunk + 1, .iov_len = brief.records_bytes}};
    uint64_t n_bytes = sizeof brief + brief.header_bytes + brief.records_bytes;
    struct stat file;
    bool is_in = false;
    int fd = brief_open(recording);
    if (fd >= 0) {
        /* What other processes may append in between is below the limit, too: at the limit, a write
         * is SIGXFSZ. The mode is ours, whatever the mask of the first to come here. */
        is_in = os_fstat(fd, &file) == 0 &&
                (file.st_size != 0 || os_call(SYS_fchmod, fd, 0600) == 0) &&
                size_is_allowed((uint64_t)file.st_size + APPEND_MARGIN_BYTES) &&
                os_call(SYS_writev, fd, parts, 3) == (long)n_bytes;
        os_close(fd);
    }
    if (!is_in)
        __atomic_store_n(&recording->state, RECORDING_IN_MEMORY, __ATOMIC_RELEASE);
    return is_in;
}

/* HOOK: a forked child, alone */
void recording_abandon(struct recording *recording)
{
    if (recording->header != NULL)
        os_unmap(recording->header, recording->header_mapped);
    recording->header = NULL;
    recording->state = RECORDING_NOWHERE;
    fds_close(recording->fd);
    recording->fd = -1;
}

/* any context */
SIGNAL_SAFE static bool is_our_file(const struct recording *recording, int fd)
{
    struct stat now;
    return os_fstat(fd, &now) == 0 && now.st_dev == recording->dev && now.st_ino == recording->ino;
}

/* Whether someone removed it, who wants no more of it. Some file systems count no links. any
 * context */
SIGNAL_SAFE static bool is_removed(const struct recording *recording, int fd)
{
    struct stat now;
    return os_fstat(fd, &now) == 0 && now.st_nlink == 0 &&
           os_call(SYS_faccessat, AT_FDCWD, recording->path, F_OK) != 0 && errno == ENOENT;
}

/* The descriptor; opened again if the program closed or reused its number, and then kept, unless
 * descriptors are scarce: *closes, the caller closes it. -1 when our file cannot be opened. any
 * context */
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
    /* Two threads may get here at once: the later one gives its own back. */
    if (!__atomic_compare_exchange_n(&recording->fd, &fd, again, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        fds_close(again);
        return is_our_file(recording, fd) ? fd : -1;
    }
    fds_forget(fd);
    return again;
}

/* any context */
SIGNAL_SAFE static struct capture_chunk *chunk_in_file(struct recording *recording)
{
    bool closes;
    int fd = file_of(recording, &closes);
    if (fd < 0)
        return NULL;
    uint64_t index = __atomic_fetch_add(&recording->header->n_chunks, 1, __ATOMIC_RELAXED);
    uint64_t offset = CAPTURE_HEADER_BYTES + index * CAPTURE_CHUNK_BYTES;
    struct capture_chunk *chunk = NULL;
    if (!is_removed(recording, fd) && space_reserve(fd, offset, CAPTURE_CHUNK_BYTES))
        chunk = os_map_file(fd, offset, CAPTURE_CHUNK_BYTES);
    if (closes)
        os_close(fd);
    if (chunk == NULL)
        __atomic_store_n(&recording->stopped, true, __ATOMIC_RELAXED);
    return chunk;
}

/* any context */
struct capture_chunk *recording_map_chunk(struct recording *recording, uint32_t stream,
                                          uint32_t sequence)
{
    if (recording->header == NULL || __atomic_load_n(&recording->stopped, __ATOMIC_RELAXED))
        return NULL;
    struct capture_chunk *chunk = NULL;
    if (recording->header->n_chunks == 0 &&
        __atomic_load_n(&recording->state, __ATOMIC_RELAXED) == RECORDING_IN_MEMORY) {
        recording->header->n_chunks = 1;
        recording->header_mapped = CAPTURE_HEADER_BYTES; /* the rest is the stream's */
        chunk = first_chunk(recording);
    } else if (recording_place(recording)) {
        chunk = chunk_in_file(recording);
    }
    if (chunk == NULL)
        return NULL;
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
