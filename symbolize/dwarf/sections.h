/* sections.h - the sections of debug information of one file, as bytes.
 *
 *   find   which there are, how long, packed or not; where code lies
 *   load   one of the small ones, whole: unpacked, or as it lies in the file
 *
 * .debug_info, by far the largest, is not loaded but read as a stream (info_stream.h).
 *
 * Takes     Sections as they are and those packed with zlib (SHF_COMPRESSED). Anything else, and what
 *           calls for other files (a dwz file, .dwo) is not for us: libdw reads that.
 * Bounds    All sections together have at most SECTIONS_FREE_BYTES, and SECTIONS_RATIO_MAX times as
 *           many bytes as the file: packers make a fifth of them, files made to make a thousandth.
 * Owner     Bytes live until the section is dropped. The file is mapped once more for us alone, so
 *           that pages read can be given back without hurting libelf; it must outlive us. */
#ifndef SAMPLER_DWARF_SECTIONS_H
#define SAMPLER_DWARF_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/elf_file.h"

enum section_id {
    SECTION_INFO,
    SECTION_ABBREV,
    SECTION_LINE,
    SECTION_STR,
    SECTION_LINE_STR,
    SECTION_RANGES,
    SECTION_RNGLISTS,
    SECTION_ADDR,
    SECTION_STR_OFFSETS,
    N_SECTIONS
};

struct section {
    const uint8_t *packed; /* in the file; zlib's bytes if `is_packed`            */
    size_t packed_bytes;
    bool is_packed;
    bool pages_ours;      /* `packed` lies in our own mapping of the file        */
    const uint8_t *bytes; /* NULL until loaded                                   */
    size_t size_bytes;    /* unpacked, as stated; the unpacked bytes are as many */
    void *unpacked;       /* what to give back, NULL if nothing                  */
    bool no_memory;       /* why it did not load                                 */
};

#define SECTIONS_FREE_BYTES ((uint64_t)16 << 20)
#define SECTIONS_RATIO_MAX 32u

struct sections {
    struct section of[N_SECTIONS];
    uint64_t code_start; /* all executable sections lie in [code_start, code_end) */
    uint64_t code_end;
    uint64_t total_bytes; /* unpacked                                            */
    void *map;            /* of the whole file, NULL if there is none */
    size_t map_bytes;
};

enum sections_outcome {
    SECTIONS_FOUND,
    SECTIONS_FOREIGN,   /* not for us             */
    SECTIONS_TOO_LARGE, /* to be worth unpacking  */
};

/* The sections are to be dropped in every case. */
enum sections_outcome sections_find(struct sections *sections, const struct elf_file *file);
void sections_drop(struct sections *sections);

/* A section that is not there loads as one of 0 bytes. Strings end in NUL, also the last one.
 * False: damaged, or no memory. */
bool section_load(struct section *section);
void section_drop(struct section *section);

/* Tells the system that packed bytes [start, end) were read for the last time. */
void section_pages_drop(const struct section *section, const uint8_t *start, const uint8_t *end);

#endif
