/* content.h - what the records of a real NYTProf stream add up to: the tables that Perl's reader makes of it, and what
 * our dump and our reader are made from.
 *
 * Shape     A table is an array of rows in the order of the file, and a map from keys to rows. Numbers of a file (fids,
 *           lines) are keys, never sizes of arrays: a file of 50 bytes may name line 4294967295. The maps are those of
 *           base/map.h, seeded, since a file chooses its keys.
 * Texts     Ids of `texts`, bytes as they stand in the file: nytprof_utf8 makes them readable.
 * Oddities  What is wrong but does no harm is counted, with the place of the first, and reported at the end.
 * Limits    What is kept is limited by the size of the file (nytprof_content_keep), as compressed data expands a
 *           thousandfold. */
#ifndef SAMPLER_NYTPROF_CONTENT_H
#define SAMPLER_NYTPROF_CONTENT_H

#include "arena.h"
#include "array.h"
#include "formats/format.h"
#include "formats/nytprof/stream.h"
#include "map.h"
#include "vector.h"

#define NYTPROF_FILE_IS_FAKE 0x80U /* flag of a fid whose name is no path */

struct nytprof_pair {
    uint32_t key;
    uint32_t value;
};

struct nytprof_process {
    uint32_t pid;
    uint32_t ppid;
    double start; /* seconds since the epoch                  */
    double end;   /* meaningful if has_end                    */
    bool has_end;
};

struct nytprof_file {
    uint32_t fid;
    uint32_t name;
    uint32_t flags;
    uint32_t size_bytes;
    uint32_t mtime;
    uint32_t eval_fid;
    uint32_t eval_line;
    bool is_defined; /* false: only used by other records     */
};

enum nytprof_level { NYTPROF_BY_LINE, NYTPROF_BY_BLOCK, NYTPROF_BY_SUB, NYTPROF_N_LEVELS };

struct nytprof_line {
    uint32_t fid;
    uint32_t line;
    int64_t count; /* of records, less the discounts        */
    double seconds;
};

struct nytprof_sub {
    uint32_t name;
    uint32_t fid; /* meaningful if has_fid                    */
    uint32_t first_line;
    uint32_t last_line; /* both meaningful if has_lines       */
    uint32_t depth;     /* deepest recursion                  */
    bool has_fid;
    bool has_lines;
    uint64_t calls; /* these four: sums over its edges        */
    double inclusive;
    double exclusive;
    double recursive;
};

/* All calls of one sub from one place. */
struct nytprof_edge {
    uint32_t sub; /* row in subs                              */
    uint32_t fid;
    uint32_t line;
    uint32_t depth;
    uint64_t count;
    double inclusive;
    double exclusive;
    double recursive;
};

struct nytprof_caller {
    uint32_t edge; /* row in edges */
    uint32_t name;
};

struct nytprof_source_line {
    uint32_t fid;
    uint32_t line;
    uint32_t text;
};

enum nytprof_oddity {
    NYTPROF_ODD_MINOR,
    NYTPROF_ODD_NO_EQUALS,
    NYTPROF_ODD_UNDEFINED_FID,
    NYTPROF_ODD_FID_TWICE,
    NYTPROF_ODD_SUB_TWICE,
    NYTPROF_ODD_END_WITHOUT_START,
    NYTPROF_ODD_START_WITHOUT_END,
    NYTPROF_ODD_DISCOUNT_TWICE,
    NYTPROF_N_ODDITIES
};

#define NYTPROF_FEW_FIDS 4096U /* most files have no higher ones */

struct nytprof_content {
    bool is_brief; /* only what a profile is made of: no sums of lines and no source text */
    bool has_better_than_edges; /* nor edges, if who reads them says so */
    struct err cut;             /* where the file was cut, if what stands before is taken */
    struct arena *arena;
    struct intern *texts;
    uint64_t limit_bytes; /* more is not kept of a file of this size   */
    uint64_t kept_bytes;

    uint32_t minor;
    uint64_t n_records[256]; /* by tag                                 */
    double ticks_per_second; /* 0: not known (yet)                     */
    double overhead_ticks;
    double duration_seconds; /* sum over ended processes               */
    double last_end;         /* of the last process end, if there was one */
    double line_seconds;
    uint64_t n_line_records;
    uint64_t n_discounted;
    uint32_t n_discounts; /* waiting for the next time: each takes one from its count */

    struct array attributes;              /* of struct nytprof_pair, one per key    */
    struct array options;                 /* the same                               */
    struct array processes;               /* of struct nytprof_process, as started  */
    struct array files;                   /* of struct nytprof_file, as met         */
    struct array lines[NYTPROF_N_LEVELS]; /* of struct nytprof_line    */
    struct array subs;                    /* of struct nytprof_sub     */
    struct array edges;                   /* of struct nytprof_edge    */
    struct array callers;                 /* of struct nytprof_caller  */
    struct array source;                  /* of struct nytprof_source_line */

    struct map attribute_rows;              /* (key, 0)                     */
    struct map option_rows;                 /* (key, 0)                     */
    struct map process_rows;                /* (pid, 0) -> the latest       */
    struct map file_rows;                   /* (fid, 0)                     */
    struct map line_rows[NYTPROF_N_LEVELS]; /* (fid, line)     */
    struct map sub_rows;                    /* (name, 0)       */
    struct map edge_rows;                   /* (sub, fid:line) */
    struct map caller_rows;                 /* (edge, name)    */
    struct map source_rows;                 /* (fid, line)     */

    uint64_t defined_fids[NYTPROF_FEW_FIDS / 64]; /* bits */

    uint64_t oddities[NYTPROF_N_ODDITIES];
    uint64_t odd_offset[NYTPROF_N_ODDITIES]; /* of the first           */
    uint32_t odd_number[NYTPROF_N_ODDITIES]; /* its fid or pid         */
};

/* `size_bytes` of the file, from which the limit of what is kept follows. */
MUST_CHECK bool nytprof_content_init(struct nytprof_content *content, size_t size_bytes,
                                     bool is_brief, struct err *err);
void nytprof_content_deinit(struct nytprof_content *content); /* also after a failed init */

/* Adds one record. False: out of memory, beyond the limit, or a file that makes no sense (times
 * without ticks_per_sec, a foreign nv_size). */
MUST_CHECK bool nytprof_content_add(struct nytprof_content *content,
                                    const struct nytprof_record *record, struct err *err);

/* To be called when there is no next record, for whatever reason *err has. True if it has none, or
 * the file was cut behind some content: *err is then as new, and content->cut says where. */
MUST_CHECK bool nytprof_content_finish(struct nytprof_content *content, struct err *err);

/* One note for each kind of oddity. */
void nytprof_content_notes(const struct nytprof_content *content, const struct format_notes *notes);

/* False if the file was cut or there is any oddity but a newer minor version. */
MUST_CHECK bool nytprof_content_is_sound(const struct nytprof_content *content, struct err *err);

/* Counts `n_bytes` more as kept; false when that is beyond the limit. */
MUST_CHECK bool nytprof_content_keep(struct nytprof_content *content, size_t n_bytes,
                                     uint64_t offset, struct err *err);

/* The id of a text, counted as kept if it is new. */
MUST_CHECK bool nytprof_content_text(struct nytprof_content *content, struct text text,
                                     uint32_t *id, struct err *err);

/* The row of a sub of this name, NULL if there is none. */
const struct nytprof_sub *nytprof_content_sub(const struct nytprof_content *content, uint32_t name);
const struct nytprof_file *nytprof_content_file(const struct nytprof_content *content,
                                                uint32_t fid);
/* The value of an attribute, or "" if it is not there. */
struct text nytprof_content_attribute(const struct nytprof_content *content, const char *key);

/* A text in UTF-8: as it is if it is UTF-8 already, otherwise each byte as U+0000-00FF, written to
 * *buffer, which grows as needed and is the caller's to free. False when out of memory. */
MUST_CHECK bool nytprof_utf8(struct text text, struct chars *buffer, struct text *out);

#endif
