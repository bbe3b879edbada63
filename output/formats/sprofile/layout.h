/* layout.h - which tables a file has, and which columns each: one list that writer, reader and dump
 * walk, so that a column is added in one place.
 *
 * The numbers of enum sprofile_table and the order of the columns are the format. New columns come
 * after those there are, new tables after the last: a reader leaves alone what it does not know, and
 * takes columns that are missing for zeros. Anything else is a new SPROFILE_VERSION. */
#ifndef SAMPLER_SPROFILE_LAYOUT_H
#define SAMPLER_SPROFILE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

enum sprofile_table {
    SPROFILE_END = 0, /* the last block, without rows; its first_row counts the blocks before it */
    SPROFILE_TEXTS = 1, /* no columns but the lengths, then the bytes of all                      */
    SPROFILE_SCALARS = 2,
    SPROFILE_MODULES = 3,
    SPROFILE_FUNCTIONS = 4,
    SPROFILE_FRAMES = 5,
    SPROFILE_STACKS = 6,
    SPROFILE_PROCESSES = 7,
    SPROFILE_THREADS = 8,
    SPROFILE_METADATA = 9,
    SPROFILE_SAMPLES = 10, /* a column for the numbers of each kind after those listed */
    SPROFILE_SPANS = 11,
    SPROFILE_INSTANTS = 12,
    SPROFILE_OFF_CPUS = 13,
    SPROFILE_BOOKMARKS = 14,
    SPROFILE_N_TABLES
};

/* The one row of SPROFILE_SCALARS. */
struct sprofile_scalars {
    uint64_t start_time_ns;
    uint64_t start_realtime_ns;
    uint64_t duration_ns;
    uint64_t period;
    uint32_t has_times;
    uint32_t n_kinds;
    struct profile_kind kinds[PROFILE_MAX_KINDS];
};

struct sprofile_field {
    const char *name;
    uint16_t offset;    /* in the row                                               */
    uint8_t size_bytes; /* 4 or 8                                                   */
    uint8_t refers;     /* enum sprofile_table: its numbers are ids there; 0: numbers */
};

#define SPROFILE_MAX_FIELDS 14u

struct sprofile_layout {
    const char *name;
    size_t row_bytes;   /* of the struct in memory; 0: END and TEXTS                */
    uint32_t first_row; /* 1 for tables with an entry 0 that is not written, else 0 */
    uint32_t n_fields;
    struct sprofile_field fields[SPROFILE_MAX_FIELDS];
};

extern const struct sprofile_layout sprofile_layouts[SPROFILE_N_TABLES];

/* The numbers of one field of `n` rows, and back. Numbers too large for a field of 4 bytes are the
 * caller's to refuse (field_holds). */
void sprofile_gather(const void *rows, size_t row_bytes, const struct sprofile_field *field,
                     size_t n, uint64_t *numbers);
void sprofile_scatter(const uint64_t *numbers, const struct sprofile_field *field, size_t n,
                      void *rows, size_t row_bytes);

#endif
