/* rows.h - a block's content as rows: what reader and dump share.
 *
 * The columns of a table come out as an array of the structs of model/profile.h, with ids as they
 * stand in the file. */
#ifndef SAMPLER_SPROFILE_ROWS_H
#define SAMPLER_SPROFILE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/sprofile/block.h"
#include "text.h"

/* Room for the rows of one block, used again for the next. */
struct sprofile_rows {
    const struct sprofile_layout
        *layout; /* of the block                                          */
    uint32_t n;
    void *rows;                          /* n structs; NULL for texts                             */
    uint64_t *values[PROFILE_MAX_KINDS]; /* of samples: n numbers of each kind                    */
    uint64_t *numbers;                   /* of texts: their lengths; else of no meaning           */
    const char *bytes;                   /* of texts: all, one after the other                    */
};

MUST_CHECK bool sprofile_rows_init(struct sprofile_rows *rows, struct err *err);
void sprofile_rows_deinit(struct sprofile_rows *rows);

/* Unpacks a block of a table that this version knows, other than END. Columns beyond those it knows
 * are left alone, missing ones are zeros. False, with the offset of the block, when the content is
 * not what the header says. The bytes of texts are the block's. */
MUST_CHECK bool sprofile_rows_unpack(struct sprofile_rows *rows, const struct block *block,
                                     struct err *err);

/* The first bytes of a file: its magic and a version we read. */
MUST_CHECK bool sprofile_header_check(const uint8_t *data, size_t size_bytes, struct err *err);

#endif
