/* sprofile.h - Sampler's own format: everything a profile holds, in one compact file that needs
 * nothing else to be read. docs/formats/sprofile.md has the layout byte by byte.
 *
 *   file  = magic "SPROFILE" | u32 version | u32 0 | block...
 *   block = header (block.h) | rows of one table, column by column (column.h), deflated
 *
 * Why        The other formats are other people's and each leaves something out. This one is what
 *            a run leaves behind to answer the next question from, so it has all tables of
 *            model/profile.h. It is column by column since equal things then stand together and
 *            pack well, and in blocks since a damaged one then costs its own rows only.
 * Order      A row refers to rows that stand earlier in the file.
 * Browsers   The packing is zlib's, which browsers undo by themselves (DecompressionStream), and the
 *            columns are plain enough to be read by a page of script.
 * Not here   Anything computed from other rows: which span lies in which, sums, indexes. */
#ifndef SAMPLER_SPROFILE_H
#define SAMPLER_SPROFILE_H

#include "formats/format.h"

#define SPROFILE_MAGIC "SPROFILE" /* 8 bytes, no NUL */
#define SPROFILE_MAGIC_BYTES 8u
#define SPROFILE_VERSION 1u
#define SPROFILE_HEADER_BYTES 16u

extern const struct format format_sprofile;

#endif
