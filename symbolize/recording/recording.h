/* recording.h - reader of what include/capture.h describes.
 *
 *   file or bytes -> header -> chunks sorted by (stream, sequence) -> records -> tables below
 *
 * Any prefix  A recording that is still being written, or was cut anywhere, yields all that was
 *             committed in the bytes present.
 * Errors      Only what makes everything unusable: no whole header, another type of file, another
 *             version. Anything else that is damaged becomes a warning and costs at most the rest
 *             of its own stream, because nodes are numbered by their order in it.
 * Bounds      By the bytes present: no count of the file is believed before its bytes are there. A
 *             file is read with pread, a chunk at a time, so that one that shrinks meanwhile gives
 *             a shorter recording and not a fault.
 * Owner       The recording owns all it shows; it dies by recording_destroy. Immutable. */
#ifndef SAMPLER_RECORDING_H
#define SAMPLER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "err.h"
#include "intern.h"
#include "saturated.h"

struct recording_module {
    uint32_t id;    /* as the recording numbers it                          */
    uint32_t flags; /* enum capture_module_flag                             */
    uint64_t start; /* mapped range, half-open                              */
    uint64_t end;
    uint64_t bias; /* pc - vaddr                                           */
    uint64_t dev;  /* identity of the file; all zero: no such file          */
    uint64_t ino;
    uint64_t size_bytes;
    uint64_t mtime_s;
    struct text build_id; /* raw bytes, may be empty                              */
    struct text path;
    struct text image; /* of a module that is no file; empty if there is none  */
};

/* Nodes of all streams in one table; nodes[0] is the "none" entry. */
struct recording_node {
    uint32_t parent;   /* index in nodes, < this one; 0 = outermost             */
    uint32_t module;   /* index in modules + 1; 0 = code in no module           */
    uint8_t exact;     /* 1: look up `offset`, 0: look up `offset` - 1          */
    uint8_t cut;       /* enum capture_cut, 0 = a frame; no frame else is set   */
    uint8_t stack_cut; /* why the outermost node of its stack stands for an unknown rest; 0: no */
    uint8_t unknown;   /* 1: named a module the recording does not hold         */
    uint64_t offset;   /* pc - bias of the module, or the pc                    */
};

struct recording_thread {
    uint64_t tid;
    struct text name;      /* the last one it had                                  */
    uint64_t start_ns;     /* since the recording's start                          */
    uint64_t end_ns;       /* of its end, or of its last sample                    */
    uint64_t start_cpu_ns; /* of the thread, from where on it is known what it used */
    uint64_t end_cpu_ns;   /* meaningful when `ended`                              */
    uint64_t begin_cpu_ns; /* of what it used: by libc and the kernel, to begin it */
    uint64_t own_cpu_ns;   /* and by our own code in it; both in no sample         */
    uint32_t clock;        /* enum capture_clock it got; STAND_IN if it ever was   */
    uint32_t clock_errno;  /* of the better clock that failed, 0 = none            */
    bool ended;
};

enum recording_sample_kind { RECORDING_TICK, RECORDING_CREDIT };

struct recording_sample {
    uint64_t time_ns; /* since the recording's start                          */
    uint64_t steps;   /* weight in periods, may be 0                          */
    uint32_t thread;  /* index in threads                                     */
    uint32_t node;    /* index in nodes, 0 = the empty stack                  */
    uint32_t label;   /* of the thread, in labels; 0 = none                   */
    enum recording_sample_kind kind;
};

/* A program that was started and cannot be recorded. */
struct recording_child {
    uint64_t time_ns; /* since the recording's start */
    uint32_t why;     /* enum capture_child          */
    struct text path;
};

/* Sampling of the process stopped, or resumed. */
struct recording_pause {
    uint64_t time_ns; /* since the recording's start */
    bool stops;
};

struct recording_info {
    struct text key;
    struct text value;
};

struct recording_warning {
    uint64_t offset; /* in the file, ERR_NO_OFFSET if it has none            */
    struct text text;
};

/* Later warnings are counted, not kept. */
#define RECORDING_MAX_WARNINGS 100

/* What weighs: CPU time; elapsed time of threads; or events. Of the latter two the weights, what
 * there was to account for and what was lost are elapsed time or numbers of events, and the
 * process's CPU time is not looked at. */
enum measure { MEASURE_CPU, MEASURE_WALL, MEASURE_EVENTS };

/* What follows from the rest and several ask for, worked out once (facts.c). */
struct recording_facts {
    enum measure measure;
    bool cpu_known;       /* it has an end, or is running                                        */
    bool children_known;  /* of the next: it has an end that states it, or is running            */
    uint64_t children_ns; /* CPU time of the children it had waited for, with theirs, at the end */
    bool is_running;      /* recording_note_running was called                                   */
    bool ends_stopped;    /* sampling was stopped at its last word                               */
    uint64_t cpu_ns;      /* the process used from the recording's start to its end; 0: not known */
    uint64_t length_ns;   /* from its start to its end, or to the last thing it knows of         */
    uint64_t stopped_ns;  /* of it, while sampling was stopped                                   */
    /* CPU time of all threads after their own last record: the part of libc and the kernel in the end
     * of a thread, which is in the CPU time of the process and in no thread's; 0: not known. */
    uint64_t thread_exit_ns;
    uint64_t own_ns; /* own_cpu_ns of all threads */
    /* What the kernel used to remove the process, after end_cpu_ns; 0 unless process_exits_find
     * (account/process_exits.h) found it in the figures of those that waited for it. */
    uint64_t process_exit_ns;
    const char *command; /* its words joined by blanks; "" if not recorded                      */
};

struct recording {
    struct recording_facts facts;
    struct capture_header header; /* as it stood when it was read                         */
    bool cut;                     /* the file ends before the recording did               */
    const struct recording_module *modules;
    const struct recording_node *nodes;
    const struct recording_thread *threads;
    const struct recording_sample *samples; /* per stream in order of recording           */
    const struct recording_info *infos;
    const struct recording_warning *warnings;
    const struct recording_child *children; /* in no order                               */
    const struct recording_pause *pauses;   /* in order of time                          */
    const struct intern *labels;            /* texts given by the program; 0 is none     */
    size_t n_modules, n_nodes, n_threads, n_samples, n_infos, n_warnings, n_children, n_pauses;
    size_t n_warnings_dropped; /* beyond RECORDING_MAX_WARNINGS                        */
};

/* Where names and lines of a node are looked up: a return address lies after its call. */
static inline uint64_t recording_node_vaddr(const struct recording_node *node)
{
    return node->exact || node->offset == 0 ? node->offset : node->offset - 1;
}

/* Both borrow their input for the call. */
MUST_CHECK bool recording_read_file(const char *path, struct recording **out, struct err *err);
MUST_CHECK bool recording_read_memory(const void *data, size_t size_bytes, struct recording **out,
                                      struct err *err);
void recording_destroy(struct recording *recording); /* takes NULL */

/* The process has not ended, and has used `cpu_ns` up to now, the children it waited for
 * `children_ns`. Its own is left unknown where sampling is stopped in it: how much it had used by then
 * nobody knows. */
void recording_note_running(struct recording *recording, uint64_t cpu_ns, uint64_t children_ns);

/* The value of an INFO record, the last one of that key; empty text if there is none. */
struct text recording_info_get(const struct recording *recording, const char *key);

/* Nanoseconds, or events, that a sample stands for. */
static inline uint64_t recording_weight(const struct recording *recording,
                                        const struct recording_sample *sample)
{
    return multiply_saturated(sample->steps, recording->header.period);
}

/* Nanoseconds of the recording's length during which sampling was stopped; `length_ns` is that
 * length. */
uint64_t recording_paused_ns(const struct recording *recording, uint64_t length_ns);

#endif
