/* session.h - one recording of one process: where it goes, its beginning, its end.
 *
 *   start.c: session_begin -> ticks -> session_end -> report.c
 *   a forked child: session_restart -> the same from there
 *
 * What everything else asks about it (phase, settings) is in state/run.h.
 *
 * Order      an end changes the phase first, then waits for handlers at work (see run.h), then
 *            writes the ends of the threads, and last of all `end` in the header: a reader that
 *            sees `end` sees everything. A handler that does not come to an end within 200 ms keeps
 *            its stream, and that thread has no end in the recording.
 * Context    stated at each function. */
#ifndef SAMPLER_SESSION_H
#define SAMPLER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "state/run.h"

/* What the CPU clocks of the process and of the calling thread showed when our code began to run:
 * what passes from there to the first sample is our own cost. */
struct session_entry {
    uint64_t process_cpu_ns, thread_cpu_ns;
};

/* SETUP, HOOK */
struct session_entry session_enter(void);

/* Opens the recording and makes the calling thread its first; registry lock held, our signal
 * blocked. False when there is no recording (reported on stderr). SETUP */
bool session_begin(const struct session_entry *entry);

/* In a forked child, or where the recording was removed for an exec that failed; the calling thread
 * is the only one, and it holds the registry lock. Lets go of the recording and begins another (a
 * child only when children are followed). HOOK */
void session_restart(const struct session_entry *entry, bool is_child);

/* Settles all threads and writes the end; `status` < 0: not known. Only the first call does
 * anything. Returns whether there is a recording to report. EXIT; HOOK before a seccomp filter */
bool session_end(int status);

/* A recording that is still in memory is appended to the run's file of brief ones, and has ended.
 * False when it has a file of its own, belongs to no run, or nothing could be appended. HOOK, EXIT */
bool session_append_brief(void);

/* Ended for good, in a program in which none of our system calls may happen any more: hooks step
 * aside. HOOK */
void session_leave(void);

/* Around exec: pause settles all threads and marks the end as EXEC; resume takes the mark back (the
 * exec failed). HOOK */
void session_pause_for_exec(void);
void session_resume(void);

/* What threads have used since their last sample is credited, and the header states how much CPU
 * time that accounts for, as it does at the end; unmark takes that back, as the process may be
 * killed later. HOOK */
uint64_t session_mark_so_far(void);
void session_unmark(uint64_t mark);

/* Whether the calling thread is the only one sampled. any context but SIGNAL */
bool session_has_one_thread(void);

#endif
