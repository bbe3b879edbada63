/* cpuprofile.h - V8's .cpuprofile: what a file says, and how a profile is laid out for it.
 *
 *   reading   JSON -> cpuprofile_parse -> struct cpuprofile -> profile  (read.c)
 *                                                           -> dump     (dump.c)
 *   writing   profile -> struct cpuprofile_tree     \  .cpuprofile  (write.c)
 *                        struct cpuprofile_timeline  } .trace.json  (chrome_trace.c)
 *
 * docs/formats/cpuprofile.md and chrome-trace.md describe the formats. The format is V8's
 * (Profiler.Profile of the DevTools protocol); "the old layout", with `head`, is that of Chrome
 * before 2016 and of v8-profiler.
 *
 * Times     are microseconds, as doubles in files: exact up to 2^53.
 * Only files of this format include this. */
#ifndef SAMPLER_CPUPROFILE_H
#define SAMPLER_CPUPROFILE_H

#include "formats/format.h"
#include "model/convert.h"
#include "text/number_list.h"
#include "vector.h"

extern const struct format format_cpuprofile;
extern const struct format format_chrome_trace;

/* The functions of its row; formats/format.h says what each does. The dump is the plain reading
 * of a file: distinct stacks with samples and microseconds. */
MUST_CHECK bool cpuprofile_read(const uint8_t *data, size_t size_bytes,
                                const struct format_options *options,
                                const struct format_notes *notes, struct profile **out,
                                struct err *err);
MUST_CHECK bool cpuprofile_write(const struct profile *profile,
                                 const struct format_options *options,
                                 const struct format_notes *notes, struct sink *out,
                                 struct err *err);
MUST_CHECK bool cpuprofile_dump(const uint8_t *data, size_t size_bytes,
                                const struct format_notes *notes, struct sink *out,
                                struct err *err);

/* ---- reading ---- */

struct cpuprofile_node {
    int64_t id;
    uint32_t parent; /* index in `nodes`, CPUPROFILE_NO_NODE for roots      */
    uint32_t depth;  /* 0 for roots                                         */
    struct text name;
    struct text url;
    uint32_t line;   /* of the definition, from 1; 0 = unknown              */
    uint32_t column; /* from 1; 0 = unknown                                 */
};

#define CPUPROFILE_NO_NODE UINT32_MAX
#define CPUPROFILE_MAX_EXACT                                                                       \
    9007199254740991.0 /* 2^53 - 1: ids and times beyond are not what was meant */

#define CPUPROFILE_MAX_NODES ((size_t)INT32_MAX)

VECTOR_DEFINE(cpuprofile_nodes, struct cpuprofile_node)

/* A checked file: parents make a forest, every sample names a node, samples are in order of time.
 */
struct cpuprofile {
    struct arena *arena; /* texts                                        */
    struct cpuprofile_nodes nodes;
    uint32_t root;         /* the first root; its name is not shown        */
    bool is_old;           /* the `head` layout                            */
    bool is_evenly_spread; /* no times in the file                         */
    bool is_reordered;     /* samples were not in order of time            */
    bool has_deltas;       /* `times` are distances, the first from start_us */
    double start_us;
    double end_us;
    double first_us; /* of the samples; start_us if there are none */
    double last_us;
    struct number_list samples; /* index of the node                            */
    struct number_list times;   /* microseconds, as many as samples; none when evenly spread */
};

/* Fills `file`, which cpuprofile_deinit has to empty also after a failure. Borrows `data` for
 * the call: names are copied, so a caller short of memory may give the input back then.
 * ERR_FORMAT for what would make a viewer hang or guess: a node with two parents, a cycle, a
 * sample of no node. */
MUST_CHECK bool cpuprofile_parse(const uint8_t *data, size_t size_bytes, struct cpuprofile *file,
                                 struct err *err);
void cpuprofile_deinit(struct cpuprofile *file);

/* The second half of cpuprofile_parse (resolve.c). `children` and `parents` are pairs as stored: V8
 * lists the children of a node, Chrome's trace events name its parent, some files do both.
 * `stored_times`, deltas of the new layout or times of the old one, are taken over; NULL when the
 * file has none. */
struct cpuprofile_child {
    uint32_t parent; /* index of the node that lists it */
    int64_t id;
};
struct cpuprofile_parent {
    bool is_there;
    int64_t id;
};
VECTOR_DEFINE(cpuprofile_children, struct cpuprofile_child)
VECTOR_DEFINE(cpuprofile_parents, struct cpuprofile_parent)
MUST_CHECK bool cpuprofile_resolve(struct cpuprofile *file,
                                   const struct cpuprofile_children *children,
                                   const struct cpuprofile_parents *parents,
                                   struct number_list *stored_times, struct err *err);

/* The samples of a file in order of time. A sample lasts until the next, the last one to the end of
 * the file (or no time). */
struct cpuprofile_sample {
    uint32_t node; /* index */
    double begin_us;
    double end_us; /* >= begin_us */
};

struct cpuprofile_samples {
    const struct cpuprofile *file;
    size_t next;
    double next_us; /* when it begins; meaningful when next < n */
};

/* When sample `index` is, `before_us` being when the one before it is; that, after the last. */
static inline double cpuprofile_time_us(const struct cpuprofile *file, size_t index,
                                        double before_us)
{
    size_t n = file->samples.n;
    if (index >= n)
        return before_us;
    if (file->is_evenly_spread)
        return file->start_us + (double)index * ((file->end_us - file->start_us) / (double)n);
    double stored = number_list_at(&file->times, index);
    return file->has_deltas ? before_us + stored : stored;
}

static inline struct cpuprofile_samples cpuprofile_samples_make(const struct cpuprofile *file)
{
    return (struct cpuprofile_samples){.file = file,
                                       .next_us = cpuprofile_time_us(file, 0, file->start_us)};
}

/* False after the last. */
static inline bool cpuprofile_samples_next(struct cpuprofile_samples *samples,
                                           struct cpuprofile_sample *sample)
{
    const struct cpuprofile *file = samples->file;
    size_t index = samples->next;
    if (index == file->samples.n)
        return false;
    double begin_us = samples->next_us;
    samples->next = index + 1;
    samples->next_us = cpuprofile_time_us(file, index + 1, begin_us);
    double end_us = samples->next < file->samples.n ? samples->next_us : file->end_us;
    *sample = (struct cpuprofile_sample){.node = (uint32_t)number_list_at(&file->samples, index),
                                         .begin_us = begin_us,
                                         .end_us = end_us > begin_us ? end_us : begin_us};
    return true;
}

/* ---- writing ---- */

/* A node of the tree to be written. */
struct cpuprofile_out_node {
    uint32_t function; /* of the profile; 0 for root, idle, truncated; CPUPROFILE_OTHERS    */
    uint32_t parent;   /* index; the root is its own parent                                */
    uint32_t first_child, next_sibling; /* index; 0 = none                                 */
    uint32_t first_line; /* index in `lines`; 0 = none                                     */
    uint32_t n_children;
    uint64_t n_hits; /* samples with this node as leaf                                 */
};

struct cpuprofile_line {
    uint32_t line;
    uint32_t next; /* index; 0 = none */
    uint64_t n_hits;
};

VECTOR_DEFINE(cpuprofile_out_nodes, struct cpuprofile_out_node)
VECTOR_DEFINE(cpuprofile_lines, struct cpuprofile_line)

enum {
    CPUPROFILE_ROOT = 0,
    CPUPROFILE_IDLE = 1,
    CPUPROFILE_TRUNCATED = 2,
    CPUPROFILE_FIRST_REAL = 3
};

/* The calls of one thread, or of all: nodes merge what a viewer cannot tell apart (name, file,
 * line, column of the function). Made once, and read only from then on. */
struct cpuprofile_tree {
    const struct profile *profile;
    struct cpuprofile_out_nodes nodes;
    struct cpuprofile_lines lines; /* entry 0 unused */
    uint32_t *node_of_stack;       /* index by stack id */
    bool is_cut;     /* some stack was deeper than CPUPROFILE_MAX_DEPTH: its outer part is gone */
    bool has_idle;   /* the timeline needs the idle node                                      */
    bool has_others; /* some node had more than CPUPROFILE_MAX_CHILDREN                       */
};

#define CPUPROFILE_MAX_DEPTH 4000u /* frames; speedscope fails at 5000, VS Code at 6000 */

/* Viewers fail on more. The last of them stands for all functions there is no room for. */
#define CPUPROFILE_MAX_CHILDREN 100000u
#define CPUPROFILE_OTHERS UINT32_MAX /* its function */

/* Which samples: of `thread`, or of all when `is_all`. */
struct cpuprofile_selection {
    bool is_all;
    uint32_t thread;
};

MUST_CHECK bool cpuprofile_tree_init(struct cpuprofile_tree *tree, const struct profile *profile,
                                     struct cpuprofile_selection selection, struct err *err);
void cpuprofile_tree_deinit(struct cpuprofile_tree *tree);

/* Whether a node stands in the file: the made-up ones do when they are needed. */
static inline bool cpuprofile_has_node(const struct cpuprofile_tree *tree, uint32_t index)
{
    return index == CPUPROFILE_IDLE        ? tree->has_idle
           : index == CPUPROFILE_TRUNCATED ? tree->is_cut
                                           : true;
}

/* Ids in the file run from 1, without those that do not stand in it. */
static inline uint64_t cpuprofile_node_id(const struct cpuprofile_tree *tree, uint32_t index)
{
    uint64_t id = (uint64_t)index + 1;
    id -= index > CPUPROFILE_IDLE && !tree->has_idle;
    id -= index > CPUPROFILE_TRUNCATED && !tree->is_cut;
    return id;
}

/* Name, url, scriptId ... of a node as members of the object begun in `json`, "callFrame" included.
 */
struct json;
void cpuprofile_write_call_frame(struct json *json, const struct cpuprofile_tree *tree,
                                 uint32_t index);

/* The time line of convert.h as V8 tells it: an entry lasts until the next, so an idle one stands
 * where the thread did not run. Threads come one after another when all are selected. Two runs give
 * the same. */
enum cpuprofile_line_state {
    CPUPROFILE_LINE_RUNS,
    CPUPROFILE_LINE_SLICE_WAITS, /* after the idle entry just given */
    CPUPROFILE_LINE_ENDED,
};

struct cpuprofile_timeline {
    const struct cpuprofile_tree *tree;
    struct profile_timeline line;
    struct profile_slice slice;
    enum cpuprofile_line_state state;
    bool has_begun;
    uint32_t thread;    /* of the last slice                               */
    uint64_t from_ns;   /* the thread's first slice, in the profile ...    */
    uint64_t to_ns;     /* ... and on the line as given                     */
    uint64_t cursor_ns; /* end of what was given, since the profile's start */
};

struct cpuprofile_entry {
    uint32_t node;     /* index in tree->nodes                                     */
    uint64_t begin_ns; /* since the profile's start                                */
};

void cpuprofile_timeline_init(struct cpuprofile_timeline *timeline,
                              const struct cpuprofile_tree *tree,
                              struct cpuprofile_selection selection);

/* False at the end. The last entry is the closing one, at the root: it ends the one before. */
bool cpuprofile_timeline_next(struct cpuprofile_timeline *timeline, struct cpuprofile_entry *entry);

/* Notes what of the profile is different in the file. `last_us`: of its last entry. */
void cpuprofile_note_changes(const struct cpuprofile_tree *tree, uint64_t last_us,
                             const struct format_notes *notes);

/* Microseconds on the axis of the file for a time since the profile's start: never 0, which hides
 * the profile in DevTools, nor 2^53 or more, which no reader takes. */
uint64_t cpuprofile_axis_us(const struct profile *profile, uint64_t time_ns);

#endif
