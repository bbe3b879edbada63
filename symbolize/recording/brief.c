/* brief.c - see brief.h.
 *
 * A part is put back into the layout of a recording (header, one chunk) and read as one. */
#include "recording/brief.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES (sizeof CAPTURE_BRIEF_MAGIC - 1)
#define HEADER_MIN_BYTES 64u
#define CHUNK_MIN_BYTES 64u

/* The bytes from here on up to the next part, all of them if there is none. */
static size_t bytes_to_next(const uint8_t *at, size_t n_bytes)
{
    const uint8_t *next =
        n_bytes < 2 ? NULL : memmem(at + 1, n_bytes - 1, CAPTURE_BRIEF_MAGIC, MAGIC_BYTES);
    return next == NULL ? n_bytes : (size_t)(next - at);
}

/* Whether a part begins here, or what is left of one at the end of the file. */
static bool is_begin(const uint8_t *at, size_t n_bytes)
{
    size_t n = n_bytes < MAGIC_BYTES ? n_bytes : MAGIC_BYTES;
    return memcmp(at, CAPTURE_BRIEF_MAGIC, n) == 0;
}

/* The part at `at`, as a recording; *n_used: its bytes. */
static bool part_read(const uint8_t *at, size_t n_bytes, uint64_t offset, struct recordings *out,
                      size_t *n_used, struct err *err)
{
    struct capture_brief brief;
    struct capture_header header = {0};
    *n_used = n_bytes;
    if (n_bytes < sizeof brief || !is_begin(at, n_bytes)) {
        *n_used = bytes_to_next(at, n_bytes);
        return err_fail(err, ERR_FORMAT, offset, "expected the next recording, %s",
                        CAPTURE_BRIEF_MAGIC);
    }
    memcpy(&brief, at, sizeof brief);
    uint64_t n_wanted = sizeof brief + (uint64_t)brief.header_bytes + brief.records_bytes;
    /* Its sizes are right if it ends where another begins; a magic inside it may be a file's name. */
    if (brief.header_bytes < HEADER_MIN_BYTES || brief.header_bytes > CAPTURE_HEADER_BYTES ||
        brief.records_bytes > CAPTURE_CHUNK_BYTES || n_wanted > n_bytes ||
        (n_wanted < n_bytes && !is_begin(at + n_wanted, n_bytes - (size_t)n_wanted))) {
        *n_used = bytes_to_next(at, n_bytes);
        return err_fail(err, ERR_TRUNCATED, offset,
                        "a recording of %" PRIu64 " bytes, where %zu are left", n_wanted, *n_used);
    }
    *n_used = (size_t)n_wanted;
    const uint8_t *from = at + sizeof brief;
    size_t n_known = brief.header_bytes < sizeof header ? brief.header_bytes : sizeof header;
    memcpy(&header, from, n_known);
    struct capture_chunk chunk = {.magic = CAPTURE_CHUNK_MAGIC,
                                  .committed_bytes = brief.records_bytes};
    uint32_t chunk_bytes = (uint32_t)sizeof chunk + brief.records_bytes;
    header.header_bytes = sizeof header;
    header.chunk_bytes = chunk_bytes < CHUNK_MIN_BYTES ? CHUNK_MIN_BYTES : chunk_bytes;
    header.n_chunks = 1;
    uint8_t *whole = calloc(1, sizeof header + header.chunk_bytes);
    if (whole == NULL)
        return err_fail_memory(err);
    memcpy(whole, &header, sizeof header);
    memcpy(whole + sizeof header, &chunk, sizeof chunk);
    memcpy(whole + sizeof header + sizeof chunk, from + brief.header_bytes, brief.records_bytes);
    struct recording *recording = NULL;
    bool ok = recording_read_memory(whole, sizeof header + header.chunk_bytes, &recording, err);
    free(whole);
    if (!ok)
        return false;
    if (recordings_push(out, recording))
        return true;
    recording_destroy(recording);
    return err_fail_memory(err);
}

static bool parts_read(const uint8_t *bytes, size_t n_bytes, struct recordings *out,
                       struct err *err)
{
    bool ok = true;
    for (size_t at = 0, n_used; at < n_bytes; at += n_used)
        ok = part_read(bytes + at, n_bytes - at, at, out, &n_used, err) && ok;
    return ok;
}

/* Whether the file begins as one of brief recordings; its bytes, to be freed by the caller. */
static bool brief_load(int fd, uint8_t **bytes, size_t *n_bytes, int *error)
{
    struct stat status;
    char magic[MAGIC_BYTES];
    *bytes = NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        pread(fd, magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
        memcmp(magic, CAPTURE_BRIEF_MAGIC, sizeof magic) != 0)
        return false;
    size_t size = (size_t)status.st_size, done = 0;
    *bytes = malloc(size);
    while (*bytes != NULL && done < size) {
        ssize_t got = pread(fd, *bytes + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            *error = errno;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    *n_bytes = done;
    return true;
}

bool recordings_read_file(const char *path, struct recordings *own, struct recordings *brief,
                          struct err *err)
{
    uint8_t *bytes = NULL;
    size_t n_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int error = 0;
    bool is_brief = fd >= 0 && brief_load(fd, &bytes, &n_bytes, &error);
    if (fd >= 0)
        close(fd);
    if (is_brief) {
        bool ok = bytes == NULL ? err_fail_memory(err) : parts_read(bytes, n_bytes, brief, err);
        free(bytes);
        if (error != 0)
            ok = err_fail_errno(err, error, "cannot read all of it");
        return ok || err_name_file(err, path);
    }
    struct recording *recording = NULL;
    if (!recording_read_file(path, &recording, err))
        return false;
    if (recordings_push(own, recording))
        return true;
    recording_destroy(recording);
    return err_fail_memory(err);
}

void recordings_destroy(struct recordings *all)
{
    for (size_t i = 0; i < all->n; i++)
        recording_destroy(all->items[i]);
    recordings_deinit(all);
}
