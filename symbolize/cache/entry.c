/* entry.c - see entry.h. Of 51 MB of index LZ4 makes 21 MB, which unpack in 18 ms; zstd 15 MB and 70 ms,
 * deflate 16 MB and 110 ms: time is what a cache is for. */
#include "cache/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <limits.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cursor.h"
#include "number.h"
#include "vector.h"

#define MAGIC "SMPLKEEP"
#define MAGIC_BYTES 8u
#define CHECKSUM_BYTES 4u
#define VERSION 1u
#define CHUNK_ROW_BYTES 8u

/* What is larger is not kept, so that a head is never longer than this. */
#define INDEX_MOST_BYTES ((uint64_t)4 << 30)
#define HEAD_MOST_BYTES                                                                            \
    (INDEX_MOST_BYTES / ENTRY_CHUNK_BYTES * CHUNK_ROW_BYTES + PATH_MAX +                           \
     sizeof(struct cache_key) + 64)

static size_t n_chunks_of(uint64_t index_bytes)
{
    return (size_t)((index_bytes + ENTRY_CHUNK_BYTES - 1) / ENTRY_CHUNK_BYTES);
}

static size_t chunk_size(uint64_t index_bytes, size_t chunk)
{
    return (size_t)min_u64(ENTRY_CHUNK_BYTES, index_bytes - (uint64_t)chunk * ENTRY_CHUNK_BYTES);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What stands before the chunks. */
struct head {
    uint8_t *bytes; /* heap */
    uint64_t index_bytes;
    uint64_t chunks_offset;
    struct text path;
    struct cursor chunk_rows;
};

static int file_open(int folder, const struct cache_key *key)
{
    int fd = openat(folder, key->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (fd < 0 ||
        (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()))
        return fd;
    close(fd);
    return -1;
}

/* As many of the bytes as there are. */
static size_t bytes_read(int fd, uint64_t offset, void *out, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static bool head_parse(struct cursor c, const char *name, struct head *head)
{
    const uint8_t *magic = cursor_bytes(&c, MAGIC_BYTES);
    uint32_t checksum = cursor_u32le(&c);
    const uint8_t *checked = c.pos;
    uint32_t version = cursor_u32le(&c);
    head->index_bytes = cursor_u64le(&c);
    uint32_t name_bytes = cursor_u32le(&c);
    uint32_t path_bytes = cursor_u32le(&c);
    const uint8_t *name_found = cursor_bytes(&c, name_bytes);
    const uint8_t *path = cursor_bytes(&c, path_bytes);
    if (c.failed || memcmp(magic, MAGIC, MAGIC_BYTES) != 0 || version != VERSION ||
        name_bytes != strlen(name) || memcmp(name_found, name, name_bytes) != 0 ||
        path_bytes > PATH_MAX || head->index_bytes == 0 || head->index_bytes > INDEX_MOST_BYTES)
        return false;
    head->path = (struct text){(const char *)path, path_bytes};
    size_t rows_bytes = n_chunks_of(head->index_bytes) * CHUNK_ROW_BYTES;
    const uint8_t *rows = cursor_bytes(&c, rows_bytes);
    if (rows == NULL || libdeflate_crc32(0, checked, (size_t)(c.pos - checked)) != checksum)
        return false;
    head->chunk_rows = cursor_make(rows, rows_bytes);
    head->chunks_offset = cursor_offset(&c);
    return true;
}

/* `head` is to be given back in every case. */
static bool head_read(int fd, const struct cache_key *key, struct head *head)
{
    *head = (struct head){.bytes = NULL};
    head->bytes = fd < 0 ? NULL : malloc(HEAD_MOST_BYTES);
    if (head->bytes == NULL)
        return false;
    size_t n = bytes_read(fd, 0, head->bytes, HEAD_MOST_BYTES);
    return head_parse(cursor_make(head->bytes, n), key->name, head);
}

static void head_deinit(struct head *head)
{
    free(head->bytes);
}

/* One buffer for all: its memory stays in the processor's cache. */
static bool chunks_unpack(int fd, struct head *head, uint8_t *out)
{
    size_t n = n_chunks_of(head->index_bytes);
    size_t room = LZ4_COMPRESSBOUND(ENTRY_CHUNK_BYTES);
    char *packed = malloc(room);
    uint64_t offset = head->chunks_offset;
    bool ok = packed != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        size_t size = chunk_size(head->index_bytes, i);
        size_t packed_bytes = cursor_u32le(&head->chunk_rows);
        uint32_t checksum = cursor_u32le(&head->chunk_rows);
        ok = packed_bytes <= room && bytes_read(fd, offset, packed, packed_bytes) == packed_bytes &&
             libdeflate_crc32(0, packed, packed_bytes) == checksum &&
             LZ4_decompress_safe(packed, (char *)out, (int)packed_bytes, (int)size) == (int)size;
        offset += packed_bytes;
        out += size;
    }
    free(packed);
    return ok;
}

static bool index_read(int fd, struct head *head, struct cache_index *index)
{
    uint8_t *bytes = malloc(head->index_bytes);
    bool ok = bytes != NULL && chunks_unpack(fd, head, bytes);
    if (ok)
        *index = (struct cache_index){.bytes = bytes, .size_bytes = head->index_bytes};
    else
        free(bytes);
    return ok;
}

bool entry_read(int folder, const struct cache_key *key, struct cache_index *index)
{
    struct head head;
    int fd = file_open(folder, key);
    bool ok = head_read(fd, key, &head) && index_read(fd, &head, index);
    head_deinit(&head);
    if (ok)
        (void)futimens(fd, NULL); /* what was used longest ago goes first */
    if (fd >= 0)
        close(fd);
    return ok;
}

void entry_read_path(int folder, const struct cache_key *key, char *out, size_t out_bytes)
{
    struct head head;
    int fd = file_open(folder, key);
    out[0] = '\0';
    if (head_read(fd, key, &head))
        snprintf(out, out_bytes, "%.*s", (int)head.path.length, head.path.bytes);
    head_deinit(&head);
    if (fd >= 0)
        close(fd);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put(struct chars *out, const void *bytes, size_t n)
{
    if (n > 0)
        (void)chars_append(out, bytes, n); /* failure is sticky */
}

static void put_u32(struct chars *out, uint32_t value)
{
    put(out, &value, sizeof value); /* little-endian hosts only, as cursor.h */
}

static void head_put(struct chars *out, const struct cache_key *key, struct text path,
                     uint64_t index_bytes)
{
    put(out, MAGIC, MAGIC_BYTES);
    put_u32(out, 0); /* the checksum: checksum_put */
    put_u32(out, VERSION);
    put(out, &index_bytes, sizeof index_bytes);
    put_u32(out, (uint32_t)strlen(key->name));
    put_u32(out, (uint32_t)path.length);
    put(out, key->name, strlen(key->name));
    put(out, path.bytes, path.length);
}

/* The chunks to the end of `out`, and what they are to the rows, which are there already. */
static bool chunks_put(struct chars *out, size_t rows, const struct cache_index *index)
{
    size_t n = n_chunks_of(index->size_bytes);
    const int room = LZ4_COMPRESSBOUND(ENTRY_CHUNK_BYTES);
    for (size_t i = 0; i < n; i++) {
        if (!chars_reserve(out, (size_t)room))
            return false;
        char *packed = out->items + out->n;
        int n_packed = LZ4_compress_default((const char *)index->bytes + i * ENTRY_CHUNK_BYTES,
                                            packed, (int)chunk_size(index->size_bytes, i), room);
        if (n_packed <= 0)
            return false;
        size_t packed_bytes = (size_t)n_packed;
        uint32_t row[2] = {(uint32_t)n_packed, libdeflate_crc32(0, packed, packed_bytes)};
        out->n += packed_bytes;
        memcpy(out->items + rows + i * CHUNK_ROW_BYTES, row, sizeof row);
    }
    return true;
}

static void checksum_put(struct chars *out, size_t head_bytes)
{
    const size_t from = MAGIC_BYTES + CHECKSUM_BYTES;
    uint32_t checksum = libdeflate_crc32(0, out->items + from, head_bytes - from);
    memcpy(out->items + MAGIC_BYTES, &checksum, sizeof checksum);
}

/* The whole file; false: no memory. */
static bool entry_pack(struct chars *out, const struct cache_key *key, struct text path,
                       const struct cache_index *index)
{
    head_put(out, key, path, index->size_bytes);
    size_t rows = out->n;
    size_t head_bytes = rows + n_chunks_of(index->size_bytes) * CHUNK_ROW_BYTES;
    bool ok = !out->no_memory && chars_extend(out, head_bytes) && chunks_put(out, rows, index);
    if (ok)
        checksum_put(out, head_bytes);
    return ok;
}

static bool all_write(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

/* A name that no other writer has: by chance, as in containers that share a home processes have the
 * same numbers. */
static int temporary_create(int folder, char *name, size_t name_bytes)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return -1;
    snprintf(name, name_bytes, ENTRY_TEMPORARY "%016" PRIx64, number);
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool entry_place(int folder, const struct cache_key *key, const struct chars *packed)
{
    char name[sizeof ENTRY_TEMPORARY + 16];
    int fd = temporary_create(folder, name, sizeof name);
    if (fd < 0)
        return false;
    bool done = all_write(fd, packed->items, packed->n);
    done = close(fd) == 0 && done;
    done = done && renameat(folder, name, folder, key->name) == 0;
    if (!done)
        (void)unlinkat(folder, name, 0);
    return done;
}

bool entry_write(int folder, const struct cache_key *key, struct text path,
                 const struct cache_index *index)
{
    struct chars packed = {0};
    bool done = path.length <= PATH_MAX && index->size_bytes <= INDEX_MOST_BYTES &&
                entry_pack(&packed, key, path, index) && entry_place(folder, key, &packed);
    chars_deinit(&packed);
    return done;
}
