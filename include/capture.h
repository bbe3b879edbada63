/* capture.h - the recording: the one contract between capture (preload/) and everything that comes
 * after it (symbolize/).
 *
 * Plain fixed-width structs and numbers, no functions. docs/recording.md has the same in prose,
 * with an example. A change here is a commit of its own: CAPTURE_VERSION goes up, and a test keeps
 * reading the old version.
 *
 *   file   = header page | chunk | chunk | ...
 *   chunk  = struct capture_chunk | records | zero bytes up to CAPTURE_CHUNK_BYTES
 *   record = one tag byte (enum capture_tag) | fields
 *
 * Chunks    A chunk belongs to one stream, and a stream to one thread at a time: the thread named
 *           by the last THREAD_START in it. When a thread has ended, its stream (with its nodes)
 *           goes to a new thread, so a thousand short threads need few streams. The chunks of one
 *           stream, ordered by `sequence`, read as one sequence of records; no record straddles two
 *           chunks. Chunks of different streams alternate in the file as they were needed. A chunk
 *           of zeros (magic 0) was reserved and never used.
 * Validity  The file is valid at any time: a record is written after `committed_bytes`, then
 *           committed by one release store to it. A file truncated anywhere, or left by a program
 *           killed at any point, is read up to what was committed; only `end` in the header states
 *           that a recording is complete.
 * Numbers   Little-endian. `varint` is unsigned LEB128, `text` a varint length in bytes and that
 *           many bytes (no NUL).
 * Times     In units of `time_unit_ns`, on CLOCK_MONOTONIC. The time of a stream is the sum of the
 *           deltas of its records. */
#ifndef SAMPLER_CAPTURE_H
#define SAMPLER_CAPTURE_H

#include <stdint.h>

#define CAPTURE_MAGIC "SAMPLREC" /* 8 bytes, no NUL */
#define CAPTURE_VERSION 4u
/* Version 1 had zeros where version 2 has the fields from `weight_unit` on, and no tag above
 * SAMPLE_CREDIT; version 2 has no clock STAND_IN, one CLOCK record at most for each thread, and no
 * files of brief recordings; version 3 has no THREAD_COST, and start_cpu_ns is that of the first
 * sample instead of our first instruction. A reader of version 4 reads them as they are. */
#define CAPTURE_VERSION_OLDEST 1u
#define CAPTURE_EXTENSION ".sampler"           /* of a recording's file */
#define CAPTURE_CHILDREN_EXTENSION ".children" /* of the folder of its children's, NAME.sampler's */
#define CAPTURE_HEADER_BYTES 4096u /* the header page: struct capture_header, then zeros */
#define CAPTURE_CHUNK_BYTES 16384u
#define CAPTURE_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */

/* A file of brief recordings: of processes that ended before their first sample, which have one
 * chunk at most. One after the other, as they ended: struct capture_brief, the first header_bytes of
 * a header page, the records_bytes committed in the chunk. */
#define CAPTURE_BRIEF_MAGIC "SAMPBRIF" /* 8 bytes, no NUL */
#define CAPTURE_BRIEF_NAME "brief" CAPTURE_EXTENSION

struct capture_brief {
    char magic[8];
    uint32_t header_bytes;
    uint32_t records_bytes;
};

enum capture_arch { CAPTURE_X86_64 = 1, CAPTURE_AARCH64 = 2 };

/* How the clock of a recording, or of one thread, is driven.
 *   PERF       perf_event task-clock, kernel included
 *   PERF_USER  the same with exclude_kernel: ticks in the kernel come late
 *   TIMER      timer_create on the thread's CPU clock: never faster than the kernel's tick
 *   EVENT      a perf_event by name (INFO "event"), weights in its own unit
 *   WALL       elapsed time, running or blocked
 *   STAND_IN   PERF or PERF_USER, closed for as long as the thread switches often: a timer ticks */
enum capture_clock {
    CAPTURE_CLOCK_NONE = 0,
    CAPTURE_CLOCK_PERF = 1,
    CAPTURE_CLOCK_PERF_USER = 2,
    CAPTURE_CLOCK_TIMER = 3,
    CAPTURE_CLOCK_EVENT = 4,
    CAPTURE_CLOCK_WALL = 5,
    CAPTURE_CLOCK_STAND_IN = 6,
};

/* What the weights (period, grid steps) count. */
enum capture_unit {
    CAPTURE_UNIT_NS = 0,     /* cpu and wall */
    CAPTURE_UNIT_EVENTS = 1, /* occurrences of the event */
};

/* Why a child process is not in the recordings.
 *   STATIC  statically linked: nothing is preloaded into it
 *   SETUID  set-user-id, set-group-id or with capabilities
 *   ARCH    of another architecture
 *   ENV     started without our environment (--follow=none)
 *   LIBC    of another C library, such as musl, which cannot load ours */
enum capture_child {
    CAPTURE_CHILD_STATIC = 1,
    CAPTURE_CHILD_SETUID = 2,
    CAPTURE_CHILD_ARCH = 3,
    CAPTURE_CHILD_ENV = 4,
    CAPTURE_CHILD_LIBC = 5,
};

/* How a recording ended.
 *   RUNNING  no end was written: still running, killed, or crashed
 *   EXITED   exit, return from main, _exit, quick_exit: `exit_status` is set by those that know it
 *   EXEC     replaced itself by another program */
enum capture_end {
    CAPTURE_RUNNING = 0,
    CAPTURE_EXITED = 1,
    CAPTURE_EXEC = 2,
};

/* Why grid steps have no sample, or one without its whole stack. One counter each in the header, in
 * grid steps; the account shows all of them.
 *   NESTED     a tick while a tick was handled
 *   DISK       no room for a new chunk: disk full, file size limit
 *   NODES      no number is left for a node, or, before 2026-11, the thread's stack table was full:
 *              the samples are there, at the part of their stack that was known
 *   NO_STREAM  a tick in a thread that has no stream; not counted by this version
 *   TAIL       passed between a thread's last sample and its end, with no stack to go to
 *   BLOCKED    held back so long by a thread that blocks our signal (by raw system calls) that no
 *              stack fits them, or used by one that did so all its life
 *   ALL_BLOCKED  the same, of a thread that blocks all signals, as those that libc makes for itself
 *              do; since 2026-11 */
enum capture_loss {
    CAPTURE_LOST_NESTED,
    CAPTURE_LOST_DISK,
    CAPTURE_LOST_NODES,
    CAPTURE_LOST_NO_STREAM,
    CAPTURE_LOST_TAIL,
    CAPTURE_LOST_BLOCKED,
    CAPTURE_LOST_ALL_BLOCKED,
    CAPTURE_N_LOSSES = 16 /* room to grow; unused ones are 0 */
};

/* Why a stack ends before the outermost frame. Recorded as the root node (tag NODE_CUT), and so
 * weighed like any frame.
 *   NO_RULE      code without CFI, and no credible frame pointer
 *   BAD_MEMORY   the rule led to memory that is no stack or cannot be read
 *   NO_PROGRESS  the rule did not lead outward
 *   TOO_DEEP     more frames than the limit
 *   NODES_FULL   the stack table is full: the sample stands at the part that was known */
enum capture_cut {
    CAPTURE_CUT_NO_RULE = 1,
    CAPTURE_CUT_BAD_MEMORY = 2,
    CAPTURE_CUT_NO_PROGRESS = 3,
    CAPTURE_CUT_TOO_DEEP = 4,
    CAPTURE_CUT_NODES_FULL = 5,
};

struct capture_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* CAPTURE_HEADER_BYTES */
    uint32_t chunk_bytes;  /* CAPTURE_CHUNK_BYTES */
    uint32_t arch;         /* enum capture_arch */
    uint32_t pid;
    uint32_t ppid;
    uint64_t period;            /* one grid step in `weight_unit`; nanoseconds for cpu */
    uint32_t frequency_hz;      /* as requested */
    uint32_t clock;             /* enum capture_clock requested; of each thread: CLOCK */
    uint64_t time_unit_ns;      /* unit of all times and deltas in records */
    uint64_t start_time_ns;     /* CLOCK_MONOTONIC */
    uint64_t start_realtime_ns; /* CLOCK_REALTIME at the same moment */
    uint64_t start_cpu_ns;      /* CPU time before our code began (exec, ld.so; fork) */

    /* From here on changed while running, by atomic stores: each field is valid on its own at any
     * time, two of them need not fit each other. */
    uint64_t n_chunks;         /* chunks reserved so far */
    uint64_t end_time_ns;      /* CLOCK_MONOTONIC, 0 while running */
    uint64_t end_cpu_ns;       /* CPU time of the process at the end: user + system of getrusage */
    uint32_t end;              /* enum capture_end; written last of all */
    uint32_t exit_status;      /* of exit or _exit, where known */
    uint64_t n_ticks;          /* handler runs for our clock */
    uint64_t handler_ns;       /* elapsed time inside the handler, 0 = not measured */
    uint64_t n_threads;        /* threads that got a stream */
    uint64_t n_threads_missed; /* threads seen that could not be given a slot or a clock */
    uint64_t lost[CAPTURE_N_LOSSES]; /* grid steps by enum capture_loss */
    uint64_t n_forks;                /* children made by fork; each has its own recording */

    /* Since version 2. */
    uint64_t weight_unit;     /* enum capture_unit */
    uint64_t paused_cpu_ns;   /* CPU time while stopped (PAUSE), in stops that are over; at the end,
                                 * in all. In end_cpu_ns, in no weight */
    uint64_t n_threads_found; /* of n_threads, those not made by pthread_create */
    uint64_t n_children_missed; /* children that cannot be recorded (CHILD) */
    uint64_t n_events;          /* unit EVENTS: the counters of all threads, as last read */

    /* Of version 4, since 2026-11. */
    uint64_t end_ppid; /* the parent at the end: another one if `ppid` had gone; 0 = not known */
    /* CPU time of the children it had waited for, with all they had waited for, at the end. */
    uint64_t end_children_cpu_ns;
    uint64_t end_peak_bytes; /* the most memory it ever had, resident; 0 = not known */
};

struct capture_chunk {
    uint32_t magic;           /* CAPTURE_CHUNK_MAGIC, stored last when the chunk is opened */
    uint32_t stream;          /* from 0 */
    uint32_t sequence;        /* 0, 1, 2 ... within the stream */
    uint32_t committed_bytes; /* record bytes after this struct that are valid; release store */
};

/* The records and their fields. `time` is since start_time_ns; that of THREAD_START is the stream's
 * time from there on, to which each `delta` adds.
 *
 *   PAD              none; one byte
 *   INFO             text key, text value: "command" (argv joined by NUL), "exe" (without a sample: the
 *                    path it was executed by), and, with the first sample: "cwd", "host",
 *                    "uid" (effective, decimal), "unwinder", "event" (its name), "version",
 *                    "stopped" (why sampling ended before the process did), "unwaited" (children
 *                    that had ended and were not waited for when it did, each decimal and a blank)
 *   THREAD_START     varint tid, varint time, varint CPU ns of the thread from which on the
 *                    recording knows what it used, text name
 *   THREAD_NAME      text name: the thread has a new one
 *   THREAD_END       varint delta, varint CPU ns of the thread
 *   THREAD_COST      varint CPU ns that libc and the kernel took to begin the thread, varint CPU ns
 *                    that our own code took in it, where it began, ended or called exec, and at the
 *                    process's first sample: both since the last such record, and in no weight.
 *                    Only where CPU time is measured
 *   CLOCK            varint enum capture_clock that ticks from here on, varint errno of the better
 *                    one that failed. What it is expected to be, until a thread's first tick
 *   MODULE           varint id (from 1, of the process), varint flags (enum capture_module_flag),
 *                    varint start, varint end (of the mapping), varint bias, varint dev, varint
 *                    ino, varint size in bytes, varint mtime in s (0 = no such file), text build id
 *                    (raw bytes), text path. May come twice for one id (same content) and in any
 *                    stream, but always before the first node that names it is committed in any
 *                    stream
 *   MODULE_IMAGE     varint id, varint offset, text bytes: a piece of an ELF file in place of the
 *                    module's own, which is none (vdso), or at the end of the process had gone, was
 *                    another, or may go soon: the whole file, or one made of its exported symbols
 *                    and its .eh_frame. Pieces may be missing, and read as zeros
 *   NODE             varint parent, varint module << 1 | exact, varint offset. Nodes are numbered
 *                    1, 2, 3 ... in each stream in order of appearance; parent < node, 0 = this is
 *                    an outermost frame. offset = pc - bias of the module, or pc itself where
 *                    module is 0 (code in no file). exact = 0: pc is a return address, look up
 *                    offset - 1; exact = 1: an interrupted pc, look up offset
 *   NODE_CUT         varint enum capture_cut: a root node that stands for the unknown outer part of
 *                    a stack
 *   SAMPLE           varint delta, varint node: weight one grid step
 *   SAMPLE_WEIGHTED  varint delta, varint grid steps (may be 0), varint node
 *   SAMPLE_CREDIT    as SAMPLE_WEIGHTED, but without a tick of its own: steps credited to a known
 *                    stack (the tail of a thread, elapsed time of a blocked one). Counts in
 *                    weights, not in the number of samples
 *   THREAD_LABEL     text: from here on the thread bears this label, given by the program
 *                    (sampler.h); empty = none
 *   CHILD            varint time, varint enum capture_child, text path: a program was started and
 *                    cannot be recorded
 *   PAUSE            varint time, varint 1 = sampling stops here, 0 = resumes; of the whole
 *                    process, in the stream of the thread that asked for it */
enum capture_tag {
    CAPTURE_PAD = 0,
    CAPTURE_INFO = 1,
    CAPTURE_THREAD_START = 2,
    CAPTURE_THREAD_NAME = 3,
    CAPTURE_THREAD_END = 4,
    CAPTURE_CLOCK = 5,
    CAPTURE_MODULE = 6,
    CAPTURE_MODULE_IMAGE = 7,
    CAPTURE_NODE = 8,
    CAPTURE_NODE_CUT = 9,
    CAPTURE_SAMPLE = 10,
    CAPTURE_SAMPLE_WEIGHTED = 11,
    CAPTURE_SAMPLE_CREDIT = 12,
    CAPTURE_THREAD_LABEL = 13,
    CAPTURE_CHILD = 14,
    CAPTURE_PAUSE = 15,
    CAPTURE_THREAD_COST = 16,
};

enum capture_module_flag {
    CAPTURE_MODULE_MAIN = 1, /* the program itself */
    CAPTURE_MODULE_VDSO = 2, /* its image follows as MODULE_IMAGE */
};

#endif
