/* easyprofiler.h - an EasyProfiler .prof file, parsed: what reader and dump share.
 *
 *   bytes -> easyprofiler_parse -> struct easyprofiler_file -> easyprofiler_read -> profile
 *                                                           -> easyprofiler_dump -> JSON
 *   profile -> easyprofiler_write -> bytes
 *
 * Layout    docs/formats/easyprofiler.md.
 * Shape     Texts and records are views into the input, which must outlive the file. Blocks are
 *           named by numbers from 1, thread by thread in the order they are stored; 0 = none.
 * Tree      A block is stored when it ends, so the blocks in it are those with the numbers just
 *           before its own: how many they are is all that the tree needs.
 * Memory    A small multiple of the input's size, whatever its counts claim. Of a block only its
 *           place is kept, 10 bytes; the rest is read from its record when asked for.
 * Times     All in nanoseconds, converted the way EasyProfiler converts them. */
#ifndef SAMPLER_EASYPROFILER_H
#define SAMPLER_EASYPROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"
#include "vector.h"

#define EASYPROFILER_SIGNATURE 0x45617379U /* also the mark after threads and bookmarks */
#define EASYPROFILER_VERSION(major, minor, patch)                                                  \
    ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(patch))

enum {
    EASYPROFILER_MAX_LEVELS = 255, /* its own reader refuses a deeper tree                       */
    EASYPROFILER_MAX_RECORD = 65535,

    /* Bytes of a record after its size field, without the texts at its end. */
    EASYPROFILER_DESCRIPTOR_BYTES = 16,
    EASYPROFILER_BLOCK_BYTES = 20,
    EASYPROFILER_SWITCH_BYTES = 24, /* 20 before version 1.3 */
    EASYPROFILER_VALUE_BYTES = 34,
    EASYPROFILER_BOOKMARK_BYTES = 12,
};

enum easyprofiler_type {
    EASYPROFILER_EVENT,
    EASYPROFILER_BLOCK,
    EASYPROFILER_VALUE,
};

enum easyprofiler_data {
    EASYPROFILER_BOOL,
    EASYPROFILER_CHAR,
    EASYPROFILER_I8,
    EASYPROFILER_U8,
    EASYPROFILER_I16,
    EASYPROFILER_U16,
    EASYPROFILER_I32,
    EASYPROFILER_U32,
    EASYPROFILER_I64,
    EASYPROFILER_U64,
    EASYPROFILER_FLOAT,
    EASYPROFILER_DOUBLE,
    EASYPROFILER_STRING,
    EASYPROFILER_N_DATA,
};

struct easyprofiler_descriptor {
    const char *name; /* NULL: a hole in the table, every other field is 0 */
    uint16_t name_length;
    uint16_t file_length;
    uint32_t id; /* as stored; blocks refer to the position instead */
    int32_t line;
    uint32_t color; /* 0xAARRGGBB */
    uint8_t type;   /* enum easyprofiler_type, or what no known version writes */
    uint8_t status;
    uint16_t file_start; /* of the file's text, counted from `name` */
};

struct easyprofiler_block {
    uint64_t begin_ns; /* as stored, not raised to the begin of the file */
    uint64_t end_ns;   /* >= begin_ns: a block that ends before it begins is taken as an instant */
    const uint8_t *record; /* after the size field */
    uint32_t descriptor;   /* position in the table, never a hole */
};

/* Where a block is, and how many others are in it. There are as many as blocks: packed. */
struct __attribute__((packed)) easyprofiler_place {
    uint64_t offset : 48; /* of its record, after the size field */
    uint32_t n_within;
};

#define EASYPROFILER_OFFSET_MAX ((UINT64_C(1) << 48) - 1)

struct easyprofiler_switch {
    uint64_t begin_ns;
    uint64_t end_ns; /* may be before begin_ns */
    uint64_t to_tid;
    const char *process;
    size_t process_length;
};

/* One thread section of the file. */
struct easyprofiler_section {
    uint64_t tid;
    const char *name; /* NULL when its name_size is 0 */
    uint32_t name_length;
    uint32_t order; /* in the file */
    uint32_t first_switch;
    uint32_t n_switches;
    uint32_t first_block; /* a number; those of a thread's sections follow one another */
    uint32_t n_blocks;
    uint64_t blocks_offset; /* of the first one's size field */
};

/* All sections of one id. */
struct easyprofiler_thread {
    uint64_t tid;
    const char *name; /* never NULL */
    uint32_t name_length;
    uint32_t first_section;
    uint32_t n_sections;
    uint32_t first_block;
    uint32_t n_blocks;
    uint32_t n_levels; /* of its tree; 1 also without blocks */
    uint64_t begin_ns; /* of its blocks, as stored; UINT64_MAX without blocks */
    uint64_t end_ns;   /* 0 without blocks */
};

struct easyprofiler_bookmark {
    uint64_t position_ns;
    const char *text;
    size_t text_length;
    uint32_t color;
};

VECTOR_DEFINE(easyprofiler_sections, struct easyprofiler_section)
VECTOR_DEFINE(easyprofiler_switches, struct easyprofiler_switch)
VECTOR_DEFINE(easyprofiler_places, struct easyprofiler_place)
VECTOR_DEFINE(easyprofiler_bookmarks, struct easyprofiler_bookmark)

struct easyprofiler_file {
    const uint8_t *data; /* the input */
    double ns_per_tick;  /* 0: times are ns */
    uint32_t version;
    uint64_t pid; /* 0 where the version has none */
    uint64_t frequency_hz;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t n_records; /* blocks and switches there are */
    uint32_t n_descriptors;
    struct easyprofiler_descriptor *descriptors;
    struct easyprofiler_sections sections;   /* by (tid, order)  */
    struct easyprofiler_switches switches;   /* in file order    */
    struct easyprofiler_places places;       /* [0] is no block  */
    struct easyprofiler_bookmarks bookmarks; /* in file order    */
    uint32_t n_threads;
    struct easyprofiler_thread *threads; /* ascending by tid */
};

/* Parses a whole file in memory (borrowed until the destroy). What EasyProfiler would not mind, or
 * what leaves the rest usable, is noted; with `strict` it is an error. */
MUST_CHECK bool easyprofiler_parse(const uint8_t *data, size_t size_bytes, bool strict,
                                   const struct format_notes *notes, struct easyprofiler_file **out,
                                   struct err *err);
void easyprofiler_file_destroy(struct easyprofiler_file *file); /* takes NULL */

/* A time of the file in ns. In the very steps EasyProfiler takes, so that equal files give equal
 * numbers; a time beyond 64 bits becomes the largest one. */
static inline uint64_t easyprofiler_to_ns(const struct easyprofiler_file *file, uint64_t ticks)
{
    if (file->ns_per_tick == 0)
        return ticks;
    double ns = (double)ticks * file->ns_per_tick;
    return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

/* Gathers sections to threads and numbers their blocks, with the tree EasyProfiler shows; false
 * when out of memory. easyprofiler_parse does it once all records are known to be right. */
bool easyprofiler_gather(struct easyprofiler_file *file);

/* `number` is one of the file's. */
struct easyprofiler_block easyprofiler_block_at(const struct easyprofiler_file *file,
                                                uint32_t number);

static inline uint32_t easyprofiler_n_within(const struct easyprofiler_file *file, uint32_t number)
{
    return file->places.items[number].n_within;
}

/* The blocks of a thread, outer ones before those in them, without recursion. */
struct easyprofiler_walk {
    const struct easyprofiler_file *file;
    struct ids pending; /* numbers still to come, the next one last   */
    struct ids around;  /* the last one shown and those around it      */
};

struct easyprofiler_walk easyprofiler_walk_make(const struct easyprofiler_file *file,
                                                const struct easyprofiler_thread *thread);
void easyprofiler_walk_deinit(struct easyprofiler_walk *walk);

/* Whether it ended too soon, for want of memory. */
static inline bool easyprofiler_walk_failed(const struct easyprofiler_walk *walk)
{
    return walk->pending.no_memory || walk->around.no_memory;
}

/* The next block, 0 = the end; *level from 0. */
uint32_t easyprofiler_walk_next(struct easyprofiler_walk *walk, uint32_t *level);

/* The begin EasyProfiler shows: not before the begin of the file, for what ends after that. */
uint64_t easyprofiler_shown_begin(const struct easyprofiler_file *file, uint64_t begin_ns,
                                  uint64_t end_ns);

/* The name given at run time; of length 0 if there is none. */
struct text easyprofiler_runtime_name(const struct easyprofiler_block *block);

struct easyprofiler_value {
    uint8_t type; /* enum easyprofiler_data, or an unknown one */
    bool is_array;
    uint64_t id;         /* groups values of one variable; 0 = grouped by name */
    const uint8_t *data; /* `data_bytes` of them */
    uint16_t data_bytes;
};

/* The value of a block whose own descriptor is of type EASYPROFILER_VALUE. */
struct easyprofiler_value easyprofiler_block_value(const struct easyprofiler_block *block);

/* Bytes of one element; 0 for strings and unknown types. */
size_t easyprofiler_data_bytes(uint8_t type);

/* One element of a value: element i is at data + i * easyprofiler_data_bytes(type). */
struct easyprofiler_number {
    enum profile_value_type type; /* BOOL, I64, U64, F64 */
    union {
        int64_t i64;
        uint64_t u64;
        double f64;
    } as;
};
struct easyprofiler_number easyprofiler_number_at(uint8_t type, const uint8_t *data);

extern const struct format format_easyprofiler;

MUST_CHECK bool easyprofiler_read(const uint8_t *data, size_t size_bytes,
                                  const struct format_options *options,
                                  const struct format_notes *notes, struct profile **out,
                                  struct err *err);
MUST_CHECK bool easyprofiler_write(const struct profile *profile,
                                   const struct format_options *options,
                                   const struct format_notes *notes, struct sink *out,
                                   struct err *err);
MUST_CHECK bool easyprofiler_dump(const uint8_t *data, size_t size_bytes,
                                  const struct format_notes *notes, struct sink *out,
                                  struct err *err);

#endif
