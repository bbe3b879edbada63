/* environment.h - the environment variables by which sampler-run tells the library what to do.
 *
 * Both sides take names, defaults and limits from here, so the default that the help states is the
 * library's. Users of plain LD_PRELOAD set them too. Those that only sampler-run and `sampler` read
 * (SAMPLER_THREADS and the like) are in cli/options/option_table.c alone.
 *
 *   variable               value                                           default
 *   SAMPLER_OUTPUT         pattern of the output file: %n command, %p pid,  %n.%p.folded
 *                          %h host, %r MPI or Slurm rank, %% percent       and %n.%p.sprofile
 *   SAMPLER_FORMAT         format of the output, else by its extension     folded
 *   SAMPLER_FREQUENCY      samples per second of CPU time, 1 to 100000     999
 *   SAMPLER_EVENT          cpu, wall or a kernel event (state/event.h)     cpu
 *   SAMPLER_PERIOD         events from one sample to the next              by event
 *   SAMPLER_CLOCK          auto, perf or timer                             auto
 *   SAMPLER_UNWINDER       table, libunwind or fp                          table
 *   SAMPLER_FOLLOW         all: children by fork and exec too;             all
 *                          none: this process only
 *   SAMPLER_QUIET          1: no closing lines                             0
 *   SAMPLER_KEEP           1: keep the recording                           0
 *   SAMPLER_PAUSED         1: begin stopped                                0
 *   SAMPLER_DELAY          seconds until sampling begins                   0
 *   SAMPLER_DURATION       seconds after which it stops                    never
 *   SAMPLER_TOGGLE         signal that stops sampling or resumes it:       none
 *                          USR2, SIGUSR2, 12, RTMIN+3
 *
 * Set by sampler-run, not by users:
 *   SAMPLER_RECORDING_DIR  recordings go there as PID.N.sampler, and sampler-run, not the library,
 *                          turns them into a profile
 *   SAMPLER_OTHERS_DIR     where a process that may not write there, being another user's by then,
 *                          leaves them instead
 *   SAMPLER_SINCE          what delay and duration count from, CLOCK_MONOTONIC in nanoseconds
 *   SAMPLER_CHECK          1: report whether the event is available and exit with one of
 *                          ENVIRONMENT_CHECK_...
 *
 * Set by the library where there is no sampler-run, for what the program starts:
 *   SAMPLER_TREE           the process that makes the profile of all, PID:NAMESPACE:HOST:FOLDER,
 *                          and where recordings go as PID.N.sampler (preload/process/tree.h)
 *
 * For tests and measurements:
 *   SAMPLER_TOOL           path of `sampler`                               next to the library
 *   SAMPLER_SIGNAL         number of the signal to use, 1 to 31            SIGPROF; see libsampler.7
 *   SAMPLER_MAX_NODES      stack nodes one stream remembers at a time      1048576
 *   SAMPLER_HANDLER        empty: take ticks, record nothing               sample
 *
 * Errors     a value that cannot be used is reported in one line on stderr; the default is used. */
#ifndef SAMPLER_ENVIRONMENT_H
#define SAMPLER_ENVIRONMENT_H

#define ENVIRONMENT_OUTPUT "SAMPLER_OUTPUT"
#define ENVIRONMENT_FORMAT "SAMPLER_FORMAT"
#define ENVIRONMENT_FREQUENCY "SAMPLER_FREQUENCY"
#define ENVIRONMENT_EVENT "SAMPLER_EVENT"
#define ENVIRONMENT_PERIOD "SAMPLER_PERIOD"
#define ENVIRONMENT_CLOCK "SAMPLER_CLOCK"
#define ENVIRONMENT_UNWINDER "SAMPLER_UNWINDER"
#define ENVIRONMENT_FOLLOW "SAMPLER_FOLLOW"
#define ENVIRONMENT_QUIET "SAMPLER_QUIET"
#define ENVIRONMENT_KEEP "SAMPLER_KEEP"
#define ENVIRONMENT_PAUSED "SAMPLER_PAUSED"
#define ENVIRONMENT_DELAY "SAMPLER_DELAY"
#define ENVIRONMENT_DURATION "SAMPLER_DURATION"
#define ENVIRONMENT_TOGGLE "SAMPLER_TOGGLE"
#define ENVIRONMENT_RECORDING_DIR "SAMPLER_RECORDING_DIR"
#define ENVIRONMENT_OTHERS_DIR "SAMPLER_OTHERS_DIR"
#define ENVIRONMENT_SINCE "SAMPLER_SINCE"
#define ENVIRONMENT_CHECK "SAMPLER_CHECK"
#define ENVIRONMENT_TREE "SAMPLER_TREE"

/* Where neither an output nor a format is given: one for viewers, and one with everything in it for
 * the commands of sampler, which has the same name but for its extension. */
#define ENVIRONMENT_OUTPUT_DEFAULT "%n.%p.folded"
#define ENVIRONMENT_PROFILE_EXTENSION ".sprofile"
#define ENVIRONMENT_PROFILE_DEFAULT "%n.%p" ENVIRONMENT_PROFILE_EXTENSION
#define ENVIRONMENT_FREQUENCY_DEFAULT 999
/* Above this a sample every 10 us would be mostly our own handler. */
#define ENVIRONMENT_FREQUENCY_MOST 100000
#define ENVIRONMENT_PERIOD_MOST (UINT64_C(1) << 48)

/* Exit statuses of a process started only to check. */
#define ENVIRONMENT_CHECK_FINE 3
#define ENVIRONMENT_CHECK_REFUSED 4

/* A number above as text. */
#define ENVIRONMENT_TEXT(number) ENVIRONMENT_TEXT_OF(number)
#define ENVIRONMENT_TEXT_OF(number) #number

#endif
