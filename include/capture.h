/* capture.h - the recording: the one contract between capture (preload/) and all that comes after
 * (symbolize/).
 *
 * Plain fixed-width structs and numbers, no functions. docs/recording.md tells the same in prose
 * with an example. Changing anything here is a commit of its own: CAPTURE_VERSION goes up, and a
 * test keeps reading the old one.
 *
 *   file   = header page | chunk | chunk | ...
 *   chunk  = struct capture_chunk | records | zero bytes up to CAPTURE_CHUNK_BYTES
 *   record = one tag byte (enum capture_tag) | fields
 *
 * A chunk belongs to one stream, a stream to one thread at a time: the thread named by the last
 * THREAD_START in it. When a thread has ended its stream (with its nodes) is handed to a new
 * thread, so a thousand short threads need few streams. The chunks of one stream, ordered by
 * `sequence`, read as one sequence of records; no record straddles two chunks. Chunks of different
 * streams alternate in the file as they were needed; a chunk of zeros (magic 0) was reserved and
 * never used.
 *
 * Complete at every instant: a record is written behind `committed_bytes`, then committed by one
 * release store of it. A file cut anywhere, or of a program killed at any point, is read up to what
 * was committed; only END tells a whole one.
 *
 * Numbers are little-endian. `varint` is unsigned LEB128, `text` a varint byte length and that many
 * bytes (no NUL). Times are in units of `time_unit_ns` on CLOCK_MONOTONIC; a stream's time runs on
 * by the deltas of its records. */
#ifndef SAMPLER_CAPTURE_H
#define SAMPLER_CAPTURE_H

#include <stdint.h>

#define CAPTURE_MAGIC "SAMPLREC" /* 8 bytes, no NUL */
#define CAPTURE_VERSION 2u
/* Version 1 had zeros where version 2 has the fields from `weight_unit` on, and no tag above
 * SAMPLE_CREDIT: a reader of version 2 reads it as it is. */
#define CAPTURE_VERSION_OLDEST 1u
#define CAPTURE_HEADER_BYTES 4096u /* the header page: struct capture_header, then zeros */
#define CAPTURE_CHUNK_BYTES 16384u
#define CAPTURE_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */

enum capture_arch { CAPTURE_X86_64 = 1, CAPTURE_AARCH64 = 2 };

/* How the clock of a recording, or of one thread, is driven. */
enum capture_clock {
    CAPTURE_CLOCK_NONE = 0,
    CAPTURE_CLOCK_PERF = 1,      /* perf_event task-clock, kernel included      */
    CAPTURE_CLOCK_PERF_USER = 2, /* the same with exclude_kernel: ticks in the kernel come late */
    CAPTURE_CLOCK_TIMER =
        3, /* timer_create on the thread's CPU clock: never faster than the tick  */
    CAPTURE_CLOCK_EVENT = 4, /* a perf_event by name (INFO "event"), weights in its own unit */
    CAPTURE_CLOCK_WALL = 5,  /* elapsed time, running or blocked                             */
};

/* What the weights (period, grid steps) count. */
enum capture_unit {
    CAPTURE_UNIT_NS = 0,     /* cpu and wall */
    CAPTURE_UNIT_EVENTS = 1, /* occurrences of the event */
};

/* Why a child process is not in the recordings. */
enum capture_child {
    CAPTURE_CHILD_STATIC = 1, /* statically linked: nothing is preloaded into it          */
    CAPTURE_CHILD_SETUID = 2, /* set-user-id, set-group-id or with capabilities           */
    CAPTURE_CHILD_ARCH = 3,   /* of another architecture                                  */
    CAPTURE_CHILD_ENV = 4,    /* started without our environment (--follow=none)          */
};

enum capture_end {
    CAPTURE_RUNNING = 0, /* no end was written: still running, killed, or crashed */
    CAPTURE_EXITED = 1,  /* exit, return from main, _exit, quick_exit: `exit_status` is set by those
                            that know it */
    CAPTURE_EXEC = 2,    /* replaced itself by another program */
};

/* Why a tick gave no full sample. One counter each in the header, all of them shown in the account.
 */
enum capture_loss {
    CAPTURE_LOST_NESTED,    /* a tick while a tick was handled    */
    CAPTURE_LOST_DISK,      /* no room for a new chunk (disk full, file size limit)      */
    CAPTURE_LOST_NODES,     /* the thread's stack table is full     */
    CAPTURE_LOST_NO_STREAM, /* a tick on a thread that has no stream */
    CAPTURE_LOST_TAIL, /* periods that passed between a thread's last sample and its end, and had no
                          stack to go to */
    CAPTURE_LOST_BLOCKED, /* ticks kept back so long by a thread that blocks our signal (raw system
                             calls) that their steps have no stack to go to */
    CAPTURE_N_LOSSES = 16 /* room to grow; unused ones are 0 */
};

/* Why a stack ends before the outermost frame; recorded as the root node (tag NODE_CUT) and so
 * weighed like any frame. */
enum capture_cut {
    CAPTURE_CUT_NO_RULE = 1,     /* code without CFI, and no credible frame pointer               */
    CAPTURE_CUT_BAD_MEMORY = 2,  /* the rule led to memory that is no stack or cannot be read     */
    CAPTURE_CUT_NO_PROGRESS = 3, /* the rule did not lead outward                                 */
    CAPTURE_CUT_TOO_DEEP = 4,    /* more frames than the limit                                    */
    CAPTURE_CUT_NODES_FULL = 5, /* stack table full: the sample stands at the part that was known */
};

struct capture_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* CAPTURE_HEADER_BYTES                                            */
    uint32_t chunk_bytes;  /* CAPTURE_CHUNK_BYTES                                             */
    uint32_t arch;         /* enum capture_arch                                               */
    uint32_t pid;
    uint32_t ppid;
    uint64_t period;        /* one grid step in `weight_unit`; nanoseconds for cpu             */
    uint32_t frequency_hz;  /* as asked                                                        */
    uint32_t clock;         /* enum capture_clock asked for; threads say what they got (CLOCK) */
    uint64_t time_unit_ns;  /* unit of all times and deltas in records                         */
    uint64_t start_time_ns; /* CLOCK_MONOTONIC                                                 */
    uint64_t start_realtime_ns; /* CLOCK_REALTIME at the same moment */
    uint64_t start_cpu_ns; /* CPU of the process before sampling began (ld.so, constructors)  */
    /* From here on changed while running, by atomic stores; each alone is true at any instant. */
    uint64_t n_chunks;         /* chunks reserved so far                                          */
    uint64_t end_time_ns;      /* CLOCK_MONOTONIC, 0 while running                                */
    uint64_t end_cpu_ns;       /* CPU of the process at the end: user + system of getrusage       */
    uint32_t end;              /* enum capture_end; written last of all                           */
    uint32_t exit_status;      /* of exit/_exit, where known                                      */
    uint64_t n_ticks;          /* handler runs for our clock                                      */
    uint64_t handler_ns;       /* wall time inside the handler (TSC), 0 = not measured            */
    uint64_t n_threads;        /* threads that got a stream                                       */
    uint64_t n_threads_missed; /* threads seen that could not be given a clock */
    uint64_t lost[CAPTURE_N_LOSSES]; /* ticks by enum capture_loss, in grid steps */
    uint64_t n_forks; /* children made by fork (each has its own recording)               */
    /* Since version 2. */
    uint64_t weight_unit;   /* enum capture_unit                                                */
    uint64_t paused_cpu_ns; /* CPU of the process while sampling was stopped (PAUSE): in end_cpu_ns,
                               in no weight */
    uint64_t n_threads_found;   /* threads not made by pthread_create that were found and covered;
                                   they are in n_threads too */
    uint64_t n_children_missed; /* children that cannot be recorded (CHILD)                     */
    uint64_t n_events; /* of weight_unit EVENTS: what the threads' counters had come to when they
                          were last read, at the end of each thread and of the process */
};

struct capture_chunk {
    uint32_t magic;           /* CAPTURE_CHUNK_MAGIC, stored last when the chunk is opened     */
    uint32_t stream;          /* from 0                                                        */
    uint32_t sequence;        /* 0, 1, 2 ... within the stream                                 */
    uint32_t committed_bytes; /* record bytes behind this struct that are valid; release store */
};

enum capture_tag {
    CAPTURE_PAD = 0, /* nothing; one byte  */
    CAPTURE_INFO =
        1, /* text key, text value: "command" (argv[0..] joined by NUL), "exe", "cwd",
              "host", "unwinder", "clock-fallback" (why), "event" (the event's name), "version"
            */
    CAPTURE_THREAD_START =
        2, /* varint tid, varint time since start_time_ns (absolute: sets the stream's time), varint
              cpu_ns of the thread when its sampling began, text name */
    CAPTURE_THREAD_NAME = 3, /* text name: the thread's name changed */
    CAPTURE_THREAD_END = 4,  /* varint time delta, varint cpu_ns of the thread  */
    CAPTURE_CLOCK = 5, /* varint enum capture_clock this thread got, varint errno of the better one
                          that failed  */
    CAPTURE_MODULE =
        6, /* varint id (from 1, per process), varint flags (enum capture_module_flag), varint
              start, varint end (mapped range), varint bias, varint dev, varint ino, varint
              size_bytes, varint mtime_s (0: no such file), text build_id (raw bytes), text path.
              May come twice for one id (same content) and in any stream, but always before the
              first node that names it is committed in any stream. */
    CAPTURE_MODULE_IMAGE =
        7, /* varint id, varint offset, text bytes: piece of a module that is no file (vdso) */
    CAPTURE_NODE = 8,     /* varint parent, varint module << 1 | exact, varint offset. Nodes are
                             numbered 1, 2, 3 ... per     stream in order of appearance; parent < node,
                             0 =     outermost frame. offset = pc - bias of the     module, or pc itself
                             where     module is 0 (code in no file). exact = 0: pc is a return     address,
                             look up     offset - 1; exact = 1: an interrupted pc, look up offset.     */
    CAPTURE_NODE_CUT = 9, /* varint enum capture_cut: a root node that stands for the unknown outer
                             part of a stack */
    CAPTURE_SAMPLE = 10,  /* varint time delta, varint node: weight one grid step  */
    CAPTURE_SAMPLE_WEIGHTED = 11, /* varint time delta, varint grid steps (may be 0), varint node */
    CAPTURE_SAMPLE_CREDIT = 12,   /* as SAMPLE_WEIGHTED, but no tick of its own: steps credited to a
                                     known stack (tail of a thread; a blocked thread's elapsed time);
                                     counts in weights, not in the number of samples */
    CAPTURE_THREAD_LABEL = 13, /* text: from here on the stream's thread bears this label, given by
                                  the program (sampler.h); empty = none                        */
    CAPTURE_CHILD = 14, /* varint time since start_time_ns, varint enum capture_child, text path: a
                           program that was started and cannot be recorded                 */
    CAPTURE_PAUSE = 15, /* varint time since start_time_ns, varint 1 = sampling stops here, 0 = goes
                           on; of the whole process, in the stream of the thread that asked       */
};

enum capture_module_flag {
    CAPTURE_MODULE_MAIN = 1, /* the program itself              */
    CAPTURE_MODULE_VDSO = 2, /* image follows as MODULE_IMAGE   */
};

#endif
