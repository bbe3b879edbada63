/* options.h - what the environment asks of the library.
 *
 *   SAMPLER_OUTPUT         pattern of the output file            %n.%p.folded
 *                          %n command, %p pid, %h host, %r MPI or Slurm rank, %% percent
 *   SAMPLER_FREQUENCY      samples per second of CPU time        999      (1..100000)
 *   SAMPLER_EVENT          cpu, wall or an event (event.h)       cpu
 *   SAMPLER_PERIOD         events from one sample to the next    by event
 *   SAMPLER_CLOCK          auto, perf or timer                   auto
 *   SAMPLER_UNWINDER       table, libunwind or fp                table
 *   SAMPLER_FOLLOW         all: children by fork and exec too; none: this process only    all
 *   SAMPLER_QUIET          1: no closing line                    0
 *   SAMPLER_KEEP           1: keep the recording                 0
 *   SAMPLER_TOOL           path of `sampler`                     found beside the library
 *   SAMPLER_RECORDING_DIR  set by sampler-run: recordings go there as PID.N.sampler and are turned
 *                          into a profile by it, not by the library
 *   SAMPLER_SIGNAL         number of the signal to use, 1 to 31  SIGPROF
 *                          (SIGRTMIN in Go programs, which take SIGPROF for themselves)
 *   SAMPLER_PAUSED         1: stopped at first                   0
 *   SAMPLER_DELAY          seconds until sampling begins         0
 *   SAMPLER_DURATION       seconds after which it stops          never
 *   SAMPLER_SINCE          set by sampler-run: what those count from, CLOCK_MONOTONIC in ns
 *   SAMPLER_TOGGLE         signal that stops it or makes it go on: USR2, SIGUSR2, 12, RTMIN+3
 *   SAMPLER_MAX_NODES      stack table limit of one stream       1048576
 *   SAMPLER_CHECK          1: say whether the event can be had and end, with OPTIONS_CHECK_...
 *   SAMPLER_HANDLER        empty: take ticks, record nothing (what a benchmark compares with)
 *
 * A value that cannot be used is said in one line on stderr, and the default is used. Names with
 * the prefix SAMPLER_ that are not listed here belong to the tools.
 * Context    options_read: SETUP. Afterwards constant. */
#ifndef SAMPLER_PRELOAD_STATE_OPTIONS_H
#define SAMPLER_PRELOAD_STATE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "state/event.h"
#include "unwind/unwind.h"

enum options_clock { OPTIONS_CLOCK_AUTO, OPTIONS_CLOCK_PERF, OPTIONS_CLOCK_TIMER };

/* What is measured: the unit of weights follows from it. */
enum options_measure { OPTIONS_CPU, OPTIONS_WALL, OPTIONS_EVENT };

/* Exit statuses of a process that was only to check (SAMPLER_CHECK). */
#define OPTIONS_CHECK_FINE 3
#define OPTIONS_CHECK_REFUSED 4

struct options {
    const char *output; /* borrowed from the environment as it was at the start: copied */
    const char *tool;
    const char *recording_dir; /* NULL: none */
    uint64_t period_ns; /* of time, also where events are counted: how long things may take */
    uint64_t step;      /* of the grid, what a sample weighs: period_ns, or events */
    enum options_measure measure;
    struct event event;    /* of OPTIONS_EVENT                          */
    const char *event_bad; /* why the event asked for is none; NULL: it is one */
    bool check;
    uint32_t frequency_hz;
    uint32_t max_nodes;
    uint64_t delay_ns;
    uint64_t duration_ns; /* 0: no end */
    uint64_t since_ns;    /* 0: now */
    int signo;
    int toggle_signo; /* 0: none */
    enum options_clock clock;
    enum unwind_engine unwinder;
    bool follow;
    bool quiet;
    bool keep;
    bool empty_handler;
    bool paused; /* sampling is stopped at first */
};

void options_read(struct options *options);

/* The name of an engine, as SAMPLER_UNWINDER has it. */
const char *options_unwinder_name(enum unwind_engine engine);

#endif
