/* index.h - functions, inlined calls and lines of a whole module, in one block of bytes.
 *
 *   dwarf_index_build  all of the module's DWARF -> the block
 *   dwarf_index_find   the block, ascending addresses -> their chains
 *
 * Block     No pointers in it: places are offsets from its start, so that it can be written to a
 *           file and mapped again. All numbers are little-endian.
 *
 *             struct index_header
 *             struct index_piece    functions[]   ascending, disjoint; offset: in trees
 *             struct index_piece    lines[]       ascending, disjoint; offset: in lines
 *             struct index_origin   origins[]
 *             uint32_t              texts[]       offset in text bytes; [0] is ""
 *             trees, lines, text bytes
 *
 * Tree      One function with what was inlined into it, in the order of the DWARF. Numbers are
 *           LEB128, signed ones folded (0, -1, 1, -2 ...).
 *             function:  origin, entry, ranges
 *             call:      depth (1: inlined into the function itself), origin, text of the file,
 *                        line and column of the call, ranges; a depth of 0 ends the tree
 *             ranges:    their number, then for each: start, signed, from the end of the range
 *                        written before (0 at first), and length
 * Lines     A block of up to INDEX_BLOCK_ROWS rows: address of the first, number of rows, then for
 *           each: a head (flags, bytes from the row before, all bits set: the rest follows), line,
 *           signed, from the line before, [column], [text of the file, signed, from the one before].
 *           Each block begins with file, line and column 0.
 * Trust     What is read from a block is checked: a wrong one gives wrong names, not more. */
#ifndef SAMPLER_DWARF_INDEX_H
#define SAMPLER_DWARF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/chain.h"
#include "err.h"
#include "files/elf_file.h"
#include "intern.h"

struct index_header {
    char magic[8];
    uint64_t size_bytes; /* of the block                     */
    uint32_t n_damaged;  /* units without their functions, or pieces without any unit */
    uint32_t n_functions;
    uint32_t n_lines;
    uint32_t n_origins;
    uint32_t n_texts;
    uint32_t trees_bytes;
    uint32_t lines_bytes;
    uint32_t texts_bytes;
};

struct index_piece {
    uint64_t start;
    uint32_t size_bytes;
    uint32_t offset;
};

/* A function as written: its name and where. */
struct index_origin {
    uint32_t name; /* text; 0 = none */
    uint32_t decl_file;
    uint32_t decl_line;
    uint32_t unmangled; /* chain.h */
};

struct index_line {
    uint32_t file; /* text */
    uint32_t line;
    uint32_t column;
};

#define INDEX_MAGIC "SMPLNDX1"
#define INDEX_BLOCK_ROWS 64u
#define INDEX_LINE_FILE 1u
#define INDEX_LINE_COLUMN 2u
#define INDEX_LINE_STEP_SHIFT 2
#define INDEX_LINE_STEP_MAX 31u /* so that a head is one byte */

struct dwarf_index {
    uint8_t *block; /* heap, aligned as malloc does */
    size_t size_bytes;
};

enum index_outcome {
    INDEX_DONE,
    INDEX_NOT_FOR_US, /* of a kind that is rare, or packed bytes are damaged: libdw may know better */
    INDEX_TOO_LARGE, /* asks for more time or memory than a file of its size is worth, from anyone */
    INDEX_NO_MEMORY,
};

/* Damage   Stays in its unit: the unit has no functions then, but the ranges and lines it stated, so
 *          that its addresses are no other unit's and the symbol table can name them. A damaged line
 *          table costs the unit its lines and names of files. Behind a unit whose length is wrong
 *          there is nothing. Wrong checksums of packed sections cost all, as anything in them may be
 *          another text than it was.
 * Bounds   Offsets and counts are checked against what is there, references followed 16 deep,
 *          nesting 512 deep. Sections have at most some ten times the bytes of the file
 *          (sections.h), what is made of them in time and memory is paid for (work.h): a file of
 *          1 MB, whatever is in it, costs less than 2 s and 1 GB. Memory else: the sections but
 *          .debug_info, a ring, and the block twice at most.
 * Threads  One of its own while it runs. */
enum index_outcome dwarf_index_build(const struct elf_file *file, struct dwarf_index *index);
void dwarf_index_deinit(struct dwarf_index *index);

/* True of a block that this version of us has built, now or at another time. */
bool dwarf_index_is_valid(const struct dwarf_index *index);

uint32_t dwarf_index_n_damaged(const struct dwarf_index *index);

struct dwarf_names_result {
    struct chain *chains;        /* one per address, zero on entry        */
    struct chain_frames *frames; /* appended to                           */
    struct intern *texts;
};

/* `vaddrs` sorted and distinct. An address no function covers but that has a line gets one frame
 * without name. Returns false only when out of memory. */
MUST_CHECK bool dwarf_index_find(const struct dwarf_index *index, const uint64_t *vaddrs, size_t n,
                                 const struct dwarf_names_result *result);

#endif
