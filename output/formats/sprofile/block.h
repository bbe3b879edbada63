/* block.h - blocks: rows of one table, packed, with a header that finds damage.
 *
 *   header  u32 magic "BLCK" | u32 table | u64 first_row | u32 n_rows | u32 stored_bytes
 *           | u32 content_bytes | u32 CRC-32 of the 28 bytes before
 *   then    stored_bytes of zlib data, which unpack to content_bytes (Adler-32 included)
 *
 * Little-endian. A block whose header or data is wrong is skipped: the next one is looked for by its
 * magic and CRC, and first_row tells which rows are missing. The file is whole when its last block
 * is END, whose first_row is the number of blocks before it.
 *
 * Limits    SPROFILE_BLOCK_ROWS rows, and as much content as the stored bytes can unpack to, so that
 *           a reader needs little memory and a hostile header gets no more. */
#ifndef SAMPLER_SPROFILE_BLOCK_H
#define SAMPLER_SPROFILE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "formats/sprofile/layout.h"
#include "sink.h"

#define SPROFILE_BLOCK_MAGIC 0x4b434c42u /* "BLCK" */
#define SPROFILE_BLOCK_HEADER_BYTES 32u
#define SPROFILE_BLOCK_ROWS 65536u

/* zlib packs at most 1032 to 1 (zlib's technical notes). */
#define SPROFILE_MOST_PACKING 1032u

/* ---- writing ---- */

struct block_writer;

/* `sink` is kept. */
MUST_CHECK bool block_writer_create(struct sink *sink, struct block_writer **out, struct err *err);
void block_writer_destroy(struct block_writer *writer); /* takes NULL */

/* One block. False for content of 4 GiB and more, and out of memory. */
MUST_CHECK bool block_write(struct block_writer *writer, enum sprofile_table table,
                            uint64_t first_row, uint32_t n_rows, const uint8_t *content,
                            size_t content_bytes, struct err *err);

/* The last block of the file. */
void block_write_end(struct block_writer *writer);

/* ---- reading ---- */

struct block {
    uint64_t offset; /* of its header in the file                                */
    uint32_t table;  /* enum sprofile_table, or one that this version does not know */
    uint64_t first_row;
    uint32_t n_rows;
    const uint8_t *content; /* unpacked; valid until the next call */
    size_t content_bytes;
};

enum block_result {
    BLOCK_READ,    /* *block is set                                                       */
    BLOCK_DAMAGED, /* *err says what and where; the next call goes on after the damage    */
    BLOCK_LAST,    /* END has been read, or the damaged file has no more                  */
    BLOCK_FAILED   /* out of memory                                                       */
};

struct block_reader;

/* `data`, a whole file with its header, is kept. */
MUST_CHECK bool block_reader_create(const uint8_t *data, size_t size_bytes,
                                    struct block_reader **out, struct err *err);
void block_reader_destroy(struct block_reader *reader); /* takes NULL */

/* The next block. *err is filled for DAMAGED and FAILED; the caller clears it. */
enum block_result block_next(struct block_reader *reader, struct block *block, struct err *err);

#endif
