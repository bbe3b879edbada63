/* chunked.h - a file of the chunked NYTProf dialect, taken apart.
 *
 * Layout and variants: docs/formats/nytprof-chunked.md. Texts are views of the file, which must
 * outlive this. Context: one thread at a time, not signal safe. */
#ifndef SAMPLER_NYTPROF_CHUNKED_H
#define SAMPLER_NYTPROF_CHUNKED_H

#include "array.h"
#include "err.h"
#include "intern.h"

/* Name of the sub our writer puts above the outermost ones: the dialect has edges only. */
#define NYTPROF_CHUNKED_ROOT "(root)"

struct chunked_pair {
    struct text key;
    struct text value;
    size_t order; /* in the file */
};

struct chunked_chunk {
    uint32_t n_payload;
    uint8_t tag;
};

enum chunked_process_layout {
    CHUNKED_NO_PROCESS,
    CHUNKED_TIME_FIRST, /* u64 microseconds, u32 pid, u32 ppid  */
    CHUNKED_PID_FIRST,  /* u32 pid, u32 ppid, double seconds    */
    CHUNKED_RAW         /* the same without a length in front   */
};

enum chunked_sub_layout {
    CHUNKED_NO_SUBS,
    CHUNKED_NAMES,     /* u32 sid, u32 flags, name                                        */
    CHUNKED_RANGES,    /* u32 sid, u32 fid, u32 first line, u32 last line, name           */
    CHUNKED_STATEMENTS /* u8 1, u32 fid, u32 line, u64 ns; a zero byte at the end         */
};

struct chunked_file {
    uint32_t fid;
    uint32_t flags;
    uint32_t size_bytes;
    uint32_t mtime;
    struct text path;
};

struct chunked_sub {
    uint32_t sid;
    uint32_t flags; /* CHUNKED_NAMES                            */
    uint32_t fid;   /* these three: CHUNKED_RANGES              */
    uint32_t first_line;
    uint32_t last_line;
    enum chunked_sub_layout layout;
    struct text name;
};

/* A row of `S`: fid, line, calls. Of `C`: caller, callee, calls; in a file with CHUNKED_RANGES fid,
 * line, sid. */
struct chunked_row {
    uint32_t words[3];
    uint64_t inclusive_ticks;
    uint64_t exclusive_ticks;
};

struct chunked_statement {
    uint32_t fid;
    uint32_t line;
    uint64_t time_ns;
};

struct chunked_content {
    uint32_t minor;
    bool has_blank_line;
    enum chunked_process_layout process_layout;
    enum chunked_sub_layout sub_layout; /* of the last `D` */
    uint32_t pid;
    uint32_t ppid;
    uint64_t start_us;       /* since the epoch */
    uint64_t trailing_bytes; /* behind `E`      */
    struct array attributes; /* of struct chunked_pair: by key, one each, the last in the file */
    struct array options;    /* the same                                                       */
    struct array comments;   /* of struct text                                                 */
    struct array chunks;     /* of struct chunked_chunk                                        */
    struct array files;      /* of struct chunked_file                                         */
    struct array lines;      /* of struct chunked_row, from S                                  */
    struct array subs;       /* of struct chunked_sub                                          */
    struct array calls;      /* of struct chunked_row, from C                                  */
    struct array statements; /* of struct chunked_statement                                    */
};

/* Fills *content, which chunked_content_deinit frees, also after a failure. */
MUST_CHECK bool chunked_content_parse(const uint8_t *data, size_t size_bytes,
                                      struct chunked_content *content, struct err *err);
void chunked_content_deinit(struct chunked_content *content);

/* The value of an attribute, or "". */
struct text chunked_content_attribute(const struct chunked_content *content, const char *key);

#endif
