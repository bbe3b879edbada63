/* folded.h - collapsed stacks, "main;run;step 17": one count, or two in .diff.folded (before,
 * after).
 *
 *   read.c         lines -> struct folded_content -> profile
 *   dump.c         the same, as JSON, with every bad line and its reason
 *   folded.c       the row of "folded" and its writer; the merging of stacks is in fold/
 *   diff_folded.c  the row of "diff-folded"
 *
 * The format has no owner: it is what stackcollapse-*.pl of the FlameGraph scripts write and
 * flamegraph.pl reads. docs/formats/folded.md and diff-folded.md say what others make of odd
 * lines, and what is read and written here. */
#ifndef SAMPLER_FOLDED_H
#define SAMPLER_FOLDED_H

#include "formats/format.h"
#include "vector.h"

extern const struct format format_folded;
extern const struct format format_diff_folded;

/* Why a line was left out, or (FOLDED_SUM_OVERFLOW) not taken as it stands. */
enum folded_fault {
    FOLDED_NO_COUNT,
    FOLDED_NOT_A_COUNT,    /* `word` */
    FOLDED_COUNT_OVERFLOW, /* over 2^64 - 1 */
    FOLDED_NO_STACK,
    FOLDED_SUM_OVERFLOW /* taken: the sum stays at 2^64 - 1 */
};

struct folded_bad_line {
    uint64_t line; /* from 1 */
    enum folded_fault fault;
    struct text word; /* in the file's bytes, not NUL-terminated */
};

VECTOR_DEFINE(folded_bad_lines, struct folded_bad_line)

/* Everything a file says. */
struct folded_content {
    struct profile *profile; /* one sample per distinct stack, in order of appearance */
    uint64_t n_lines, n_blank;
    uint64_t n_records; /* lines with a stack and its counts       */
    uint64_t n_merged;  /* of them, those of a stack seen before   */
    bool ends_with_newline;
    struct folded_bad_lines bad;
};

/* Reads any bytes; fails only for want of memory. `bad` refers to `data`. */
MUST_CHECK bool folded_parse(const uint8_t *data, size_t size_bytes, uint32_t n_columns,
                             struct folded_content *out, struct err *err);
void folded_content_deinit(struct folded_content *content);

#define FOLDED_FAULT_BYTES 80 /* room enough for a fault's text */

/* "line 7: "x" is not a count"; returns `out`. */
const char *folded_describe_bad(const struct folded_bad_line *bad, char *out, size_t out_bytes);

/* The same without the line number, as dumps show it; returns its length: it may hold NUL. */
size_t folded_describe_fault(const struct folded_bad_line *bad, char *out, size_t out_bytes);

/* Reading, writing and dumping for both formats; n_columns tells them apart. */
MUST_CHECK bool folded_read_columns(const uint8_t *data, size_t size_bytes, uint32_t n_columns,
                                    const struct format_options *options,
                                    const struct format_notes *notes, struct profile **out,
                                    struct err *err);
MUST_CHECK bool folded_dump_columns(const uint8_t *data, size_t size_bytes, uint32_t n_columns,
                                    struct sink *out, struct err *err);

struct fold;
/* Writes all lines of a fold, and notes what it lost. */
MUST_CHECK bool folded_write_fold(struct fold *fold, const struct format_notes *notes,
                                  struct sink *out, struct err *err, uint32_t n_columns);

#endif
