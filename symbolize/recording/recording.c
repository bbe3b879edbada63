/* recording.c - bytes, header and chunks; see recording.h.
 *
 * Two passes over the file: the 16 bytes in front of each chunk give the list of chunks, which is
 * sorted by stream and sequence; then each chunk is read whole, in that order. So the memory needed
 * is that of the tables, whatever the size of the file. */
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/facts.h"
#include "recording/reader.h"
#include "recording/records.h"

#define HEADER_MAX_BYTES (1u << 20)
#define CHUNK_MIN_BYTES 64u
#define CHUNK_MAX_BYTES (1u << 24)

/* A recording and the arena it lives in. */
struct recording_owner {
    struct recording recording;
    struct arena *arena;
    struct intern *labels;
    struct tables tables;
};

struct source {
    int fd; /* -1: `data` is the whole input  */
    const uint8_t *data;
    uint64_t size_bytes;
};

struct chunk_ref {
    uint32_t stream;
    uint32_t sequence;
    uint64_t offset; /* of the struct capture_chunk */
    uint32_t committed_bytes;
};

VECTOR_DEFINE(chunk_refs, struct chunk_ref)

/* Bytes read, fewer only at the end of the input or where it cannot be read. */
static size_t source_read(const struct source *source, uint64_t offset, void *out, size_t n)
{
    if (offset >= source->size_bytes)
        return 0;
    if (n > source->size_bytes - offset)
        n = (size_t)(source->size_bytes - offset);
    if (source->fd < 0) {
        memcpy(out, source->data + offset, n);
        return n;
    }
    size_t done = 0;
    while (done < n) {
        ssize_t got =
            pread(source->fd, (char *)out + done, n - done, (off_t)(offset + (uint64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* The sizes are checked before anything is allocated or skipped by them. A header may be longer
 * than ours: it then ends in fields we do not know. */
static bool header_read(const struct source *source, struct capture_header *header, struct err *err)
{
    struct capture_header raw = {0};
    size_t got = source_read(source, 0, &raw, sizeof raw);
    size_t n_magic = got < sizeof raw.magic ? got : sizeof raw.magic;
    if (memcmp(raw.magic, CAPTURE_MAGIC, n_magic) != 0)
        return err_fail(err, ERR_FORMAT, 0, "not a recording: it does not begin with %s",
                        CAPTURE_MAGIC);
    if (got < sizeof raw)
        return err_fail(err, ERR_TRUNCATED, got, "the header is cut: %zu of %zu bytes", got,
                        sizeof raw);
    if (raw.version < CAPTURE_VERSION_OLDEST || raw.version > CAPTURE_VERSION)
        return err_fail(err, ERR_VERSION, offsetof(struct capture_header, version),
                        "version %" PRIu32 ", this program reads %u to %u", raw.version,
                        CAPTURE_VERSION_OLDEST, CAPTURE_VERSION);
    if (raw.header_bytes < sizeof raw || raw.header_bytes > HEADER_MAX_BYTES)
        return err_fail(err, ERR_FORMAT, offsetof(struct capture_header, header_bytes),
                        "a header of %" PRIu32 " bytes cannot be", raw.header_bytes);
    if (raw.chunk_bytes < CHUNK_MIN_BYTES || raw.chunk_bytes > CHUNK_MAX_BYTES)
        return err_fail(err, ERR_FORMAT, offsetof(struct capture_header, chunk_bytes),
                        "chunks of %" PRIu32 " bytes cannot be", raw.chunk_bytes);
    *header = raw;
    return true;
}

/* A chunk that claims more than fits is read as far as it goes; one that is none is passed over, as
 * chunks lie at fixed distances. */
static void chunk_ref_add(struct reader *reader, struct chunk_refs *refs, uint64_t offset,
                          const struct capture_chunk *raw)
{
    if (raw->magic == 0)
        return; /* reserved, never used */
    if (raw->magic != CAPTURE_CHUNK_MAGIC) {
        reader_warn(reader, offset, "not a chunk: magic %08" PRIx32 ", skipped", raw->magic);
        return;
    }
    uint32_t room = reader->recording->header.chunk_bytes - (uint32_t)sizeof *raw;
    uint32_t committed_bytes = raw->committed_bytes;
    if (committed_bytes > room) {
        reader_warn(reader, offset, "%" PRIu32 " bytes committed in a chunk with room for %" PRIu32,
                    committed_bytes, room);
        committed_bytes = room;
    }
    const struct chunk_ref ref = {raw->stream, raw->sequence, offset, committed_bytes};
    reader->no_memory |= !chunk_refs_push(refs, ref);
}

/* A recording that came to its end knows how many chunks it has. */
static bool chunks_lack(const struct capture_header *header, uint64_t size_bytes)
{
    uint64_t present =
        size_bytes <= header->header_bytes
            ? 0
            : (size_bytes - header->header_bytes + header->chunk_bytes - 1) / header->chunk_bytes;
    return header->end != CAPTURE_RUNNING && present < header->n_chunks;
}

static void chunks_list(struct reader *reader, const struct source *source, struct chunk_refs *refs)
{
    const struct capture_header *header = &reader->recording->header;
    reader->recording->cut = chunks_lack(header, source->size_bytes);
    for (uint64_t offset = header->header_bytes; offset < source->size_bytes;
         offset += header->chunk_bytes) {
        struct capture_chunk raw;
        if (source_read(source, offset, &raw, sizeof raw) < sizeof raw) {
            reader->recording->cut = true;
            return;
        }
        chunk_ref_add(reader, refs, offset, &raw);
        if (reader->no_memory)
            return;
    }
}

static int chunk_ref_compare(const void *left, const void *right)
{
    const struct chunk_ref *a = left;
    const struct chunk_ref *b = right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* False: the stream ends here. */
static bool chunk_read(struct reader *reader, const struct source *source, uint8_t *buffer,
                       const struct chunk_ref *ref, struct stream_state *stream)
{
    uint64_t base = ref->offset + sizeof(struct capture_chunk);
    size_t got = source_read(source, base, buffer, ref->committed_bytes);
    bool whole = got == ref->committed_bytes;
    if (!whole)
        reader->recording->cut = true;
    struct cursor records = cursor_make(buffer, got);
    return records_read(reader, stream, &records, base, whole) && whole;
}

/* The chunks refs[0..n) of one stream, in order. */
static void stream_read(struct reader *reader, const struct source *source, uint8_t *buffer,
                        const struct chunk_ref *refs, size_t n)
{
    struct stream_state stream = {.first_node = (uint32_t)(reader->tables->nodes.n - 1)};
    uint32_t expected = 0;
    for (size_t i = 0; i < n && !reader->no_memory; i++) {
        if (i > 0 && refs[i].sequence == refs[i - 1].sequence) {
            reader_warn(reader, refs[i].offset,
                        "stream %" PRIu32 " has chunk %" PRIu32 " twice; the second is left out",
                        refs[i].stream, refs[i].sequence);
            continue;
        }
        if (refs[i].sequence != expected) {
            reader_warn(reader, refs[i].offset,
                        "stream %" PRIu32 " lacks chunk %" PRIu32 "; the rest of it is left out",
                        refs[i].stream, expected);
            return;
        }
        expected++;
        if (!chunk_read(reader, source, buffer, &refs[i], &stream))
            return;
    }
}

static void streams_read(struct reader *reader, const struct source *source,
                         const struct chunk_refs *refs)
{
    uint8_t *buffer = malloc(reader->recording->header.chunk_bytes);
    if (buffer == NULL) {
        reader->no_memory = true;
        return;
    }
    const struct chunk_ref *all = refs->items;
    for (size_t first = 0; first < refs->n && !reader->no_memory;) {
        size_t end = first + 1;
        while (end < refs->n && all[end].stream == all[first].stream)
            end++;
        stream_read(reader, source, buffer, all + first, end - first);
        first = end;
    }
    free(buffer);
}

static void reader_init(struct reader *reader, struct recording_owner *owner)
{
    *reader = (struct reader){
        .recording = &owner->recording, .arena = owner->arena, .tables = &owner->tables};
    owner->labels = intern_create(owner->arena);
    reader->labels = owner->labels;
    reader->no_memory = reader->labels == NULL;
    reader->time_unit_ns = owner->recording.header.time_unit_ns;
    if (reader->time_unit_ns == 0) {
        reader_warn(reader, offsetof(struct capture_header, time_unit_ns),
                    "the unit of time is 0; times are taken as nanoseconds");
        reader->time_unit_ns = 1;
    }
    reader->no_memory |= !nodes_extend(&reader->tables->nodes, 1);
}

/* What readers see: const pointers into the tables, whose owner is the recording's. */
static void recording_fill(struct recording_owner *owner)
{
    struct recording *recording = &owner->recording;
    const struct tables *tables = &owner->tables;
    recording->labels = owner->labels;
#define SHOW(table)                                                                                \
    recording->table = tables->table.items;                                                        \
    recording->n_##table = tables->table.n
    SHOW(modules);
    SHOW(nodes);
    SHOW(threads);
    SHOW(samples);
    SHOW(infos);
    SHOW(warnings);
    SHOW(children);
    SHOW(pauses);
#undef SHOW
}

static bool source_decode(const struct source *source, struct recording **out, struct err *err)
{
    struct capture_header header;
    if (!header_read(source, &header, err))
        return false;
    struct recording_owner *owner = calloc(1, sizeof *owner);
    struct arena *arena = arena_create();
    if (owner == NULL || arena == NULL) {
        free(owner);
        arena_destroy(arena);
        return err_fail_memory(err);
    }
    owner->arena = arena;
    owner->recording.header = header;
    struct reader reader;
    reader_init(&reader, owner);
    struct chunk_refs refs = {0};
    chunks_list(&reader, source, &refs);
    if (refs.n > 1)
        qsort(refs.items, refs.n, sizeof(struct chunk_ref), chunk_ref_compare);
    streams_read(&reader, source, &refs);
    chunk_refs_deinit(&refs);
    records_finish(&reader);
    recording_fill(owner);
    if (reader.no_memory || !facts_find(&owner->recording, arena)) {
        recording_destroy(&owner->recording);
        return err_fail_memory(err);
    }
    *out = &owner->recording;
    return true;
}

bool recording_read_memory(const void *data, size_t size_bytes, struct recording **out,
                           struct err *err)
{
    const struct source source = {.fd = -1, .data = data, .size_bytes = size_bytes};
    return source_decode(&source, out, err);
}

bool recording_read_file(const char *path, struct recording **out, struct err *err)
{
    /* O_NONBLOCK: a FIFO under that name must not hold us up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_fail_errno(err, errno, "cannot open the recording");
        return err_name_file(err, path);
    }
    struct stat status;
    bool done = false;
    if (fstat(fd, &status) != 0) {
        err_fail_errno(err, errno, "cannot read the recording");
    } else if (!S_ISREG(status.st_mode)) {
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "not a recording: not a regular file");
    } else {
        const struct source source = {.fd = fd, .size_bytes = (uint64_t)status.st_size};
        done = source_decode(&source, out, err);
    }
    close(fd);
    return done || err_name_file(err, path);
}

void recording_destroy(struct recording *recording)
{
    if (recording == NULL)
        return;
    struct recording_owner *owner = (struct recording_owner *)recording;
    modules_deinit(&owner->tables.modules);
    images_deinit(&owner->tables.images);
    nodes_deinit(&owner->tables.nodes);
    threads_deinit(&owner->tables.threads);
    samples_deinit(&owner->tables.samples);
    infos_deinit(&owner->tables.infos);
    warnings_deinit(&owner->tables.warnings);
    children_deinit(&owner->tables.children);
    pauses_deinit(&owner->tables.pauses);
    intern_destroy(owner->labels);
    arena_destroy(owner->arena);
    free(owner);
}
