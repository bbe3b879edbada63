/* profile.h - the profile: the only thing writers and readers of formats know.
 *
 *   profile_builder_*  ->  struct profile (immutable)  ->  writers, merge, diff, top
 *
 * Shape   Tables of plain structs named by uint32_t ids. Id 0 of every table is the "none" entry,
 *         which exists and is all zero, so tables[id] is always valid; real entries run from 1 to n
 *         - 1. Samples, instants and what else says "from 0" below have no ids and no "none" entry.
 * Texts   Ids of the interned string table: any bytes (UTF-8 is expected, not promised); 0 = "" =
 *         unknown.
 * Units   Times are nanoseconds since `start_time_ns` of the profile. Values carry their unit in
 *         `kinds`.
 * Order   stacks[i].parent < i. Samples by (thread, time, order of adding); spans by (thread,
 *         begin, longer first, order of adding). Everything else in order of adding.
 * Owner   A profile owns all of it and dies by profile_destroy. Immutable after
 *         profile_builder_finish, so any number of threads may read it.
 *
 * A profile may hold samples (sampling formats), spans (interval formats), or both. Writers that
 * need the other kind call profile_spans_to_samples or profile_samples_to_spans (convert.h, once
 * for all).
 *
 * Not here: anything a single format alone knows. What it cannot say in these tables goes to
 * `metadata` as text, or is lost and reported (registry/losses.h). */
#ifndef SAMPLER_PROFILE_H
#define SAMPLER_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "intern.h"

#define PROFILE_MAX_KINDS 4

enum profile_unit {
    PROFILE_UNIT_NONE,
    PROFILE_UNIT_COUNT, /* how often: samples, or what a format counts without telling what */
    PROFILE_UNIT_NS,    /* time, CPU or elapsed; the kind's name says which                 */
    PROFILE_UNIT_BYTES,
    PROFILE_UNIT_EVENTS /* of the kernel or the processor: "cache-misses"                   */
};

/* What one number of a sample means. The first kind is the one formats with a single number show.
 */
struct profile_kind {
    uint32_t name; /* text: "samples", "cpu", "before", "after" ... */
    enum profile_unit unit;
};

/* The path of code that a program made as it ran and of which its runtime said the names. */
#define PROFILE_JIT_MODULE "[jit]"

struct profile_module {
    uint32_t path;     /* text                                   */
    uint32_t build_id; /* text: lower-case hexadecimal           */
    uint64_t start;    /* mapped range; 0, 0 if unknown          */
    uint64_t end;
};

struct profile_function {
    uint32_t name;        /* text, as people should see it       */
    uint32_t system_name; /* text, as the symbol table has it    */
    uint32_t file;        /* text, of the definition             */
    uint32_t line;        /* of the definition, from 1; 0 = none */
    uint32_t column;      /* from 1; 0 = none                    */
    uint32_t module;
};

enum profile_frame_flag {
    PROFILE_FRAME_INLINED = 1, /* inlined into its parent frame                                */
    PROFILE_FRAME_CUT = 2,     /* stands for the unknown outer part of a stack, no real code   */
    PROFILE_FRAME_KERNEL = 4,
    PROFILE_FRAME_JIT = 8,
    PROFILE_FRAME_IDLE = 16,  /* stands for a thread that did not run ("(idle)")              */
    PROFILE_FRAME_LABEL = 32, /* outermost: what the program called its work (sampler.h)      */
};

struct profile_frame {
    uint32_t function;
    uint32_t line;    /* line being executed, from 1; 0 = none   */
    uint32_t column;  /* from 1; 0 = none                        */
    uint32_t flags;   /* enum profile_frame_flag                 */
    uint64_t address; /* vaddr in the function's module; 0 = none */
    uint32_t file;    /* text, of the line; 0 = the file of the function, of which nearly all are */
    uint32_t reserved; /* 0 */
};

/* A stack is its leaf frame and the stack below it. Stack 0 is the empty stack. */
struct profile_stack {
    uint32_t parent; /* the caller's stack; 0 = `frame` is the outermost */
    uint32_t frame;
};

struct profile_process {
    uint32_t name; /* text */
    uint64_t pid;
    uint64_t ppid;
    uint64_t start_ns;
    uint64_t end_ns;
};

struct profile_thread {
    uint32_t process;
    uint32_t name; /* text */
    uint64_t tid;
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t cpu_ns; /* CPU time by the thread's own clock; 0 = unknown */
};

struct profile_sample {
    uint32_t thread;
    uint32_t stack;
    uint64_t time_ns; /* when it was taken, if the profile has_times; of a format in which a
                         sample lasts until the next one, when it began                      */
};

struct profile_span {
    uint32_t thread;
    uint32_t frame;
    uint32_t parent; /* enclosing span, 0 = none; parent < span */
    uint64_t begin_ns;
    uint64_t end_ns; /* >= begin_ns                             */
};

enum profile_value_type {
    PROFILE_VALUE_NONE,
    PROFILE_VALUE_BOOL,
    PROFILE_VALUE_I64,
    PROFILE_VALUE_U64,
    PROFILE_VALUE_F64,
    PROFILE_VALUE_TEXT
};

/* Something at one moment of a thread: an event (type NONE) or a value. */
struct profile_instant {
    uint32_t thread;
    uint32_t frame; /* place: name, file, line              */
    uint32_t span;  /* innermost span of the thread around it, 0 = none; found at finish */
    enum profile_value_type type;
    uint64_t time_ns;
    union {
        int64_t i64;
        uint64_t u64; /* also bool 0, 1 and text: id */
        double f64;
    } value;
};

/* A time a thread was off the processor. */
struct profile_off_cpu {
    uint32_t thread;
    uint32_t to_process; /* text: name of the process that ran instead */
    uint64_t to_tid;
    uint64_t begin_ns;
    uint64_t end_ns;
};

struct profile_bookmark {
    uint32_t text;
    uint32_t color; /* 0xAARRGGBB */
    uint64_t time_ns;
};

struct profile_metadata {
    uint32_t key;   /* text; keys in use are listed in docs/formats/README.md */
    uint32_t value; /* text */
};

/* The numbers of one kind, as narrow as they can be; read them with profile_value. Memory is what
 * limits how many samples a profile can have, and nearly all numbers are 1 or one period. */
struct profile_column {
    const void *numbers;   /* uint32_t or uint64_t, one for each sample         */
    const uint64_t *large; /* those of 32-bit numbers with PROFILE_LARGE_VALUE  */
    uint64_t same;         /* all of them, if number_bytes is 0                 */
    unsigned number_bytes; /* 0, 4 or 8                                         */
};

/* In a 32-bit number: the other bits are an index in `large`. */
#define PROFILE_LARGE_VALUE 0x80000000u

struct profile {
    const struct intern *texts;
    uint32_t n_kinds; /* 1..PROFILE_MAX_KINDS when there are samples */
    struct profile_kind kinds[PROFILE_MAX_KINDS];
    bool has_times;             /* samples carry times                                     */
    uint64_t start_time_ns;     /* on the profiled machine's monotonic clock; 0 = unknown  */
    uint64_t start_realtime_ns; /* since the epoch; 0 = unknown                            */
    uint64_t duration_ns;
    uint64_t period; /* of sampling, in ns; 0 = none, or measured and not sampled */

    const struct profile_module *modules;
    const struct profile_function *functions;
    const struct profile_frame *frames;
    const struct profile_stack *stacks;
    const struct profile_process *processes;
    const struct profile_thread *threads;
    const struct profile_sample *samples; /* from 0: samples have no ids, no "none" entry */
    struct profile_column columns[PROFILE_MAX_KINDS]; /* by kind */
    const struct profile_span *spans;
    const struct profile_instant *instants;   /* from 0 */
    const struct profile_off_cpu *off_cpus;   /* from 0 */
    const struct profile_bookmark *bookmarks; /* from 0 */
    const struct profile_metadata *metadata;  /* from 0 */
    uint32_t n_modules, n_functions, n_frames, n_stacks, n_processes, n_threads, n_spans;
    size_t n_samples, n_instants, n_off_cpus, n_bookmarks, n_metadata;
};

void profile_destroy(struct profile *profile); /* takes NULL */

static inline struct text profile_text(const struct profile *profile, uint32_t id)
{
    return intern_text(profile->texts, id);
}

/* Of sample `index`, `kind` < n_kinds. */
static inline uint64_t profile_value(const struct profile *profile, size_t index, uint32_t kind)
{
    const struct profile_column *column = &profile->columns[kind];
    if (column->number_bytes == sizeof(uint32_t)) {
        uint32_t number = ((const uint32_t *)column->numbers)[index];
        return number < PROFILE_LARGE_VALUE ? number : column->large[number - PROFILE_LARGE_VALUE];
    }
    return column->number_bytes == 0 ? column->same : ((const uint64_t *)column->numbers)[index];
}

/* Whether a thread with this stack did not run ("(idle)"). */
static inline bool profile_stack_is_idle(const struct profile *profile, uint32_t stack)
{
    return (profile->frames[profile->stacks[stack].frame].flags & PROFILE_FRAME_IDLE) != 0;
}

/* The file of the line that a frame executes: code of one function can lie in several (#include in
 * its midst, #line, defaults of a class's members). Text; 0 = unknown. */
static inline uint32_t profile_frame_file(const struct profile *profile,
                                          const struct profile_frame *frame)
{
    return frame->file != 0 ? frame->file : profile->functions[frame->function].file;
}

/* The line, for formats in which a function has one file; 0: unknown, or of another file. */
static inline uint32_t profile_frame_line_in_file(const struct profile_frame *frame)
{
    return frame->file == 0 ? frame->line : 0;
}

/* The label a stack is under: the function of its outermost frame if that is one, else 0. */
uint32_t profile_stack_label(const struct profile *profile, uint32_t stack);

/* ---- building ----
 *
 *     profile_builder_create(&builder, err)
 *     profile_builder_scalars(builder)->n_kinds = 1; ...      before the first sample
 *     function.name = profile_add_text(builder, bytes, n);    rows before those that refer to them
 *     frame.function = profile_add_function(builder, &function); ...
 *     profile_add_sample(builder, &sample, values);
 *     profile_builder_finish(builder, &profile, err)
 *
 * Failure   Out of memory, table full, wrong row: sticky, as in a cursor. The adding functions then
 *           return 0 and profile_builder_finish reports it, so a reader checks once, at the end.
 * Equal     modules, functions, frames and stacks get equal ids; processes, threads, samples ...
 *           are added as they come. A frame's file that is its function's is made 0.
 * Id 0      An added row never gets it, even if all zero: a frame without a name is not "no frame",
 *           and a stack of it is not the empty stack.
 * Ids       handed in must be 0 or from this builder; a wrong one is a failure, so that no file
 *           makes a writer read beyond a table.
 * Thread 0  is the thread of formats that know none: writers walk the samples, not only threads 1
 *           to n - 1. */
struct profile_builder;

MUST_CHECK bool profile_builder_create(struct profile_builder **out, struct err *err);
void profile_builder_destroy(struct profile_builder *builder); /* takes NULL */

/* Each returns the id, or 0 after a failure. All rows and texts are borrowed for the call. */
uint32_t profile_add_text(struct profile_builder *builder, const char *bytes, size_t length);
uint32_t profile_add_cstring(struct profile_builder *builder, const char *text);
struct text profile_builder_text(const struct profile_builder *builder, uint32_t id);
uint32_t profile_add_module(struct profile_builder *builder, const struct profile_module *module);
uint32_t profile_add_function(struct profile_builder *builder,
                              const struct profile_function *function);
uint32_t profile_add_frame(struct profile_builder *builder, const struct profile_frame *frame);
uint32_t profile_add_stack(struct profile_builder *builder, uint32_t parent, uint32_t frame);

/* Short form for formats that know only names: function and frame in one. */
uint32_t profile_add_named_frame(struct profile_builder *builder, const char *name, size_t length);

uint32_t profile_add_process(struct profile_builder *builder,
                             const struct profile_process *process);
uint32_t profile_add_thread(struct profile_builder *builder, const struct profile_thread *thread);

/* `values` has as many numbers as there are kinds; borrowed. */
void profile_add_sample(struct profile_builder *builder, const struct profile_sample *sample,
                        const uint64_t *values);

/* `n` of them: values[k][i] is the number of kind k of sample i. Quicker than one by one. */
void profile_add_samples(struct profile_builder *builder, size_t n,
                         const struct profile_sample *samples, const uint64_t *const *values);

/* Spans of a thread in any order; `parent` is ignored and computed from containment at finish (a
 * child lies within its parent; of equal ones the earlier added is the outer). Returns nothing, as
 * ids are known only after finish. So does the `span` of an instant. */
void profile_add_span(struct profile_builder *builder, const struct profile_span *span);
void profile_add_instant(struct profile_builder *builder, const struct profile_instant *instant);
void profile_add_off_cpu(struct profile_builder *builder, const struct profile_off_cpu *off_cpu);
void profile_add_bookmark(struct profile_builder *builder, const struct profile_bookmark *bookmark);
void profile_add_metadata(struct profile_builder *builder, const char *key, const char *value,
                          size_t value_length);

/* What the profile has once: set it before the first sample, which fixes the number of kinds.
 * The fields are those of struct profile. */
struct profile_scalars {
    uint32_t n_kinds;
    struct profile_kind kinds[PROFILE_MAX_KINDS];
    bool has_times;
    uint64_t start_time_ns;
    uint64_t start_realtime_ns;
    uint64_t duration_ns;
    uint64_t period;
};
struct profile_scalars *profile_builder_scalars(struct profile_builder *builder);

/* Sorts, finds which span lies in which, gives back spare memory. Linear but for the sorting, which
 * is a radix sort and left out where rows came in order. Takes the builder in every case. */
MUST_CHECK bool profile_builder_finish(struct profile_builder *builder, struct profile **out,
                                       struct err *err);

#endif
