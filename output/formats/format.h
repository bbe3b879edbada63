/* format.h - the interface of a format: what registry/registry.h has a table of.
 *
 * A format is a row of names and functions. It sees bytes in memory and a sink, a const struct
 * profile or a builder, options and notes: it opens no file, prints nothing, and knows of no
 * other format. What it keeps of a profile (`keeps`) is tested by the round trips and drives
 * what is reported as lost. */
#ifndef SAMPLER_FORMAT_H
#define SAMPLER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "model/notes.h"
#include "model/profile.h"
#include "sink.h"

/* What survives writing and reading back. */
enum format_keeps {
    KEEPS_SAMPLES = 1u << 0, /* stacks with values                          */
    KEEPS_TIMES = 1u << 1,   /* times of samples                            */
    KEEPS_LINES = 1u << 2,   /* executed lines                              */
    KEEPS_INLINED = 1u << 3, /* which frames are inlined                    */
    KEEPS_THREADS = 1u << 4, /* threads with names                          */
    KEEPS_PROCESSES = 1u << 5,
    KEEPS_SPANS = 1u << 6,
    KEEPS_INSTANTS = 1u << 7,
    KEEPS_OFF_CPU = 1u << 8,
    KEEPS_BOOKMARKS = 1u << 9,
    KEEPS_METADATA = 1u << 10,
    KEEPS_MODULES = 1u << 11,
    KEEPS_ADDRESSES = 1u << 12,
    KEEPS_FILES = 1u << 13,    /* source file and line of functions           */
    KEEPS_ALL_KINDS = 1u << 14 /* more than one number per sample             */
};

/* What the user chose; one struct for all formats, each looks at what concerns it. */
struct format_options {
    bool count_ns;      /* formats with one number: nanoseconds instead of sampling periods       */
    bool split_threads; /* --threads split                                                        */
    bool merge_threads; /* --threads merge                                                        */
    uint32_t thread;    /* formats of one thread a file: which one, 0 = all, one after another    */
    bool strict;        /* reading: a bad part is an error instead of a warning                   */
    /* Reading: a reader that needs its input no more, and memory for the profile, calls this with
     * `input`; the caller may then free it. May be NULL. */
    void (*input_done)(void *input);
    void *input;
    bool no_compression; /* formats that can be compressed inside (nytprof): write them plain */
};

/* Adding a format NAME:
 *   1. docs/formats/NAME.md     layout, units, stack order, limits: written first
 *   2. output/formats/NAME/     NAME.c with the row, `const struct format format_NAME`, and how its
 *                               files are recognised; read.c, write.c, dump.c below the row; what
 *                               several of them share in common.c, so that nothing goes in circles
 *   3. output/CMakeLists.txt    its room, among the other formats: they never use each other
 *   4. registry/registry.c      its row in the table
 *   5. tests                    tests/unit/output/formats/test_NAME.c, golden files in
 *                               tests/data/NAME, tests/fuzz/fuzz_NAME.c; the round trips walk
 *                               the table */
struct format {
    const char *name; /* the word for -f                                               */
    const char *const *extensions; /* without the dot, longest first, NULL at the end */
    const char *about;  /* one line for `sampler formats`                                */
    uint32_t keeps;     /* enum format_keeps                                             */
    bool for_browsers;  /* a person looks at it in a browser; of two runs it shows what changed,
                           and gets how far that may be chance (compare/side_by_side.h) */
    bool is_one_thread; /* holds one thread: several go to a file each (--threads split), named
                           NAME.TID.EXTENSION, or into one (--threads merge) */

    /* How sure the first bytes of a file make us: 0 not ours, 100 certainly ours. NULL: never
     * recognised by content. */
    int (*sniff)(const uint8_t *head, size_t head_bytes);

    /* Reads a whole file in memory (borrowed for the call). NULL: no reader. */
    MUST_CHECK bool (*read)(const uint8_t *data, size_t size_bytes,
                            const struct format_options *options, const struct format_notes *notes,
                            struct profile **out, struct err *err);

    /* Writes a profile. Deterministic: no clock, no pointers, no locale. Never opens files. The
     * sink's own failure is reported by sink_close; this returns false only for what cannot be
     * written at all. NULL: no writer. */
    MUST_CHECK bool (*write)(const struct profile *profile, const struct format_options *options,
                             const struct format_notes *notes, struct sink *out, struct err *err);

    /* The whole content of a file as JSON (`sampler dump`). NULL: no reader. */
    MUST_CHECK bool (*dump)(const uint8_t *data, size_t size_bytes,
                            const struct format_notes *notes, struct sink *out, struct err *err);
};

#endif
