/* block.c - see block.h. libdeflate packs and unpacks whole blocks two to three times as fast as zlib
 * does; its (un)packers are made once, as making one costs more than a small block. */
#include "formats/sprofile/block.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "formats/sprofile/sprofile.h"

/* Samples pack hardly better at higher levels (their columns have little left to find), which take
 * several times as long. */
#define LEVEL 1

#define HEADER_CRC_BYTES (SPROFILE_BLOCK_HEADER_BYTES - 4)

/* ---- writing ---- */

struct block_writer {
    struct sink *sink;
    struct libdeflate_compressor *packer;
    uint8_t *packed;
    size_t packed_room;
    uint64_t n_blocks;
};

bool block_writer_create(struct sink *sink, struct block_writer **out, struct err *err)
{
    struct block_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return err_fail_memory(err);
    writer->sink = sink;
    writer->packer = libdeflate_alloc_compressor(LEVEL);
    if (writer->packer == NULL) {
        free(writer);
        return err_fail_memory(err);
    }
    *out = writer;
    return true;
}

void block_writer_destroy(struct block_writer *writer)
{
    if (writer == NULL)
        return;
    libdeflate_free_compressor(writer->packer);
    free(writer->packed);
    free(writer);
}

static void put_u32(uint8_t *out, uint32_t value)
{
    memcpy(out, &value, sizeof value); /* little-endian hosts only, as cursor.h */
}

static void header_write(struct block_writer *writer, enum sprofile_table table, uint64_t first_row,
                         uint32_t n_rows, uint32_t stored_bytes, uint32_t content_bytes)
{
    uint8_t header[SPROFILE_BLOCK_HEADER_BYTES];
    put_u32(header, SPROFILE_BLOCK_MAGIC);
    put_u32(header + 4, table);
    memcpy(header + 8, &first_row, sizeof first_row);
    put_u32(header + 16, n_rows);
    put_u32(header + 20, stored_bytes);
    put_u32(header + 24, content_bytes);
    put_u32(header + 28, libdeflate_crc32(0, header, HEADER_CRC_BYTES));
    sink_write(writer->sink, header, sizeof header);
    writer->n_blocks++;
}

bool block_write(struct block_writer *writer, enum sprofile_table table, uint64_t first_row,
                 uint32_t n_rows, const uint8_t *content, size_t content_bytes, struct err *err)
{
    if (content_bytes > UINT32_MAX - UINT32_MAX / 256)
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "a text of 4 GiB or more");
    size_t room = libdeflate_zlib_compress_bound(writer->packer, content_bytes);
    if (room > writer->packed_room) {
        uint8_t *larger = realloc(writer->packed, room);
        if (larger == NULL)
            return err_fail_memory(err);
        writer->packed = larger;
        writer->packed_room = room;
    }
    uint32_t stored_bytes = (uint32_t)libdeflate_zlib_compress(
        writer->packer, content, content_bytes, writer->packed, writer->packed_room);
    header_write(writer, table, first_row, n_rows, stored_bytes, (uint32_t)content_bytes);
    sink_write(writer->sink, writer->packed, stored_bytes);
    return true;
}

void block_write_end(struct block_writer *writer)
{
    header_write(writer, SPROFILE_END, writer->n_blocks, 0, 0, 0);
}

/* ---- reading ---- */

struct block_reader {
    const uint8_t *data;
    size_t size_bytes;
    size_t offset; /* of the next header */
    uint64_t n_blocks;
    bool is_damaged;
    bool at_end;
    struct libdeflate_decompressor *unpacker;
    uint8_t *content;
    size_t content_room;
};

bool block_reader_create(const uint8_t *data, size_t size_bytes, struct block_reader **out,
                         struct err *err)
{
    struct block_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return err_fail_memory(err);
    *reader = (struct block_reader){
        .data = data, .size_bytes = size_bytes, .offset = SPROFILE_HEADER_BYTES};
    reader->unpacker = libdeflate_alloc_decompressor();
    if (reader->unpacker == NULL) {
        free(reader);
        return err_fail_memory(err);
    }
    *out = reader;
    return true;
}

void block_reader_destroy(struct block_reader *reader)
{
    if (reader == NULL)
        return;
    libdeflate_free_decompressor(reader->unpacker);
    free(reader->content);
    free(reader);
}

struct header {
    uint32_t table;
    uint64_t first_row;
    uint32_t n_rows;
    uint32_t stored_bytes;
    uint32_t content_bytes;
};

/* False where there is no block. */
static bool header_read(const struct block_reader *reader, size_t offset, struct header *out)
{
    if (reader->size_bytes - offset < SPROFILE_BLOCK_HEADER_BYTES)
        return false;
    const uint8_t *start = reader->data + offset;
    struct cursor in = cursor_make(start, SPROFILE_BLOCK_HEADER_BYTES);
    if (cursor_u32le(&in) != SPROFILE_BLOCK_MAGIC)
        return false;
    out->table = cursor_u32le(&in);
    out->first_row = cursor_u64le(&in);
    out->n_rows = cursor_u32le(&in);
    out->stored_bytes = cursor_u32le(&in);
    out->content_bytes = cursor_u32le(&in);
    return cursor_u32le(&in) == libdeflate_crc32(0, start, HEADER_CRC_BYTES);
}

/* To the first header from `offset` on, or the end of the file. */
static void resynchronize(struct block_reader *reader, size_t offset)
{
    static const uint8_t magic[] = {'B', 'L', 'C', 'K'};
    struct header header;
    while (offset < reader->size_bytes) {
        const uint8_t *at =
            memmem(reader->data + offset, reader->size_bytes - offset, magic, sizeof magic);
        if (at == NULL)
            break;
        offset = (size_t)(at - reader->data);
        if (header_read(reader, offset, &header)) {
            reader->offset = offset;
            return;
        }
        offset++;
    }
    reader->offset = reader->size_bytes;
}

/* Continues where the damaged block should end, if one begins there, else at the first from `start`
 * on. */
static enum block_result damaged(struct block_reader *reader, size_t start, size_t stored_bytes)
{
    struct header header;
    reader->is_damaged = true;
    if (start <= reader->size_bytes && stored_bytes <= reader->size_bytes - start &&
        header_read(reader, start + stored_bytes, &header))
        reader->offset = start + stored_bytes;
    else
        resynchronize(reader, start);
    return BLOCK_DAMAGED;
}

static bool content_reserve(struct block_reader *reader, size_t n)
{
    if (n <= reader->content_room)
        return true;
    uint8_t *larger = realloc(reader->content, n);
    if (larger == NULL)
        return false;
    reader->content = larger;
    reader->content_room = n;
    return true;
}

static bool content_unpack(struct block_reader *reader, const uint8_t *stored,
                           const struct header *header)
{
    size_t n_read = 0;
    enum libdeflate_result result =
        libdeflate_zlib_decompress_ex(reader->unpacker, stored, header->stored_bytes,
                                      reader->content, header->content_bytes, &n_read, NULL);
    return result == LIBDEFLATE_SUCCESS && n_read == header->stored_bytes;
}

/* At a place where no header is: the file ends too early, or it is damaged. */
static enum block_result no_header(struct block_reader *reader, struct err *err)
{
    size_t offset = reader->offset;
    if (offset >= reader->size_bytes || reader->size_bytes - offset < SPROFILE_BLOCK_HEADER_BYTES)
        err_fail(err, ERR_TRUNCATED, offset, "the file ends here, without its last block");
    else
        err_fail(err, ERR_FORMAT, offset, "expected a block (\"BLCK\", with its checksum)");
    return damaged(reader, offset + 1, 0);
}

static enum block_result end_read(struct block_reader *reader, const struct header *header,
                                  struct err *err)
{
    size_t offset = reader->offset, next = offset + SPROFILE_BLOCK_HEADER_BYTES;
    reader->at_end = true;
    if (header->first_row != reader->n_blocks && !reader->is_damaged)
        err_fail(err, ERR_FORMAT, offset, "the file had %" PRIu64 " blocks, and has %" PRIu64,
                 header->first_row, reader->n_blocks);
    else if (next != reader->size_bytes)
        err_fail(err, ERR_FORMAT, next, "%zu bytes after the last block",
                 reader->size_bytes - next);
    else
        return BLOCK_LAST;
    return BLOCK_DAMAGED;
}

enum block_result block_next(struct block_reader *reader, struct block *block, struct err *err)
{
    struct header header;
    size_t offset = reader->offset;
    if (reader->at_end || (reader->is_damaged && offset >= reader->size_bytes))
        return BLOCK_LAST;
    if (offset > reader->size_bytes || !header_read(reader, offset, &header))
        return no_header(reader, err);
    if (header.table == SPROFILE_END)
        return end_read(reader, &header, err);
    size_t start = offset + SPROFILE_BLOCK_HEADER_BYTES;
    reader->n_blocks++;
    if (header.stored_bytes > reader->size_bytes - start) {
        err_fail(err, ERR_TRUNCATED, offset, "the file ends in a block of %" PRIu32 " bytes",
                 header.stored_bytes);
        return damaged(reader, start, header.stored_bytes);
    }
    if (header.n_rows > SPROFILE_BLOCK_ROWS ||
        header.content_bytes / SPROFILE_MOST_PACKING > header.stored_bytes) {
        err_fail(err, ERR_LIMIT, offset, "a block of %" PRIu32 " rows in %" PRIu32 " bytes",
                 header.n_rows, header.content_bytes);
        return damaged(reader, start, header.stored_bytes);
    }
    if (!content_reserve(reader, (size_t)header.content_bytes + 1)) {
        err_fail_memory(err);
        return BLOCK_FAILED;
    }
    if (!content_unpack(reader, reader->data + start, &header)) {
        err_fail(err, ERR_FORMAT, offset, "a block that does not unpack");
        return damaged(reader, start, header.stored_bytes);
    }
    reader->offset = start + header.stored_bytes;
    *block = (struct block){.offset = offset,
                            .table = header.table,
                            .first_row = header.first_row,
                            .n_rows = header.n_rows,
                            .content = reader->content,
                            .content_bytes = header.content_bytes};
    return BLOCK_READ;
}
