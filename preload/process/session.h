/* session.h - one recording of one process: where it goes, its beginning, its end.
 *
 *   start.c: session_begin -> ticks -> session_end -> report.c
 *   a forked child: session_restart -> the same
 *
 * Context    stated at each function. session_phase, session_recording, session_options: any. */
#ifndef SAMPLER_PRELOAD_PROCESS_SESSION_H
#define SAMPLER_PRELOAD_PROCESS_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/recording.h"
#include "state/options.h"
#include "sys/context.h"

enum session_phase {
    SESSION_OFF,     /* nothing is recorded (not started, switched off, failed)    */
    SESSION_RUNNING, /* ticks become samples                                       */
    SESSION_PAUSED,  /* ticks are ignored: about to exec; what they stood for is counted later */
    SESSION_ENDED    /* ticks are ignored for good; memory stays for late ones     */
};

struct session {
    struct options options; /* constant after SETUP                                        */
    struct recording recording;
    uint32_t phase;     /* enum session_phase; atomic, sequentially consistent         */
    uint32_t is_off;    /* sampling is stopped (control.h); atomic, sequentially consistent */
    pid_t pid;          /* of the process the recording is of                          */
    bool is_fork_child; /* began in a forked child                                     */
    uint32_t n_streams; /* given out so far; atomic                                    */
    uint64_t n_samples; /* of all threads; atomic                                      */
    char output[RECORDING_PATH_MAX]; /* where the profile goes, absolute; "" under sampler-run */
};

extern struct session session;

SIGNAL_SAFE static inline uint32_t session_phase(void)
{
    return __atomic_load_n(&session.phase, __ATOMIC_SEQ_CST);
}

/* Opens the recording and makes the calling thread its first; registry lock held. False when there
 * is no recording to be had (said). SETUP; HOOK in a forked child */
bool session_begin(void);

/* In a forked child, or where the recording was removed for an exec that failed; only this thread
 * is there, and it holds the registry lock. Forgets the recording; begins another (a child only
 * when children are followed). HOOK */
void session_restart(bool is_child);

/* Settles all threads and writes the end; `status` < 0 is not known. Only the first call does
 * anything. Returns whether there is a recording to report. EXIT */
bool session_end(int status);

/* Ended for good, in a program that no system call of ours may reach any more: hooks step aside.
 * HOOK */
void session_leave(void);

/* Around exec: pause settles and marks; resume takes the mark back (exec failed). HOOK */
void session_pause_for_exec(void);
void session_resume(void);

/* What threads have used since their last sample is credited, and the header says how much CPU that
 * is all about, as it does at the end; unmark takes that back, for who gets killed later. HOOK */
uint64_t session_mark_so_far(void);
void session_unmark(uint64_t mark);

/* Samples taken so far. any context but SIGNAL */
uint64_t session_n_samples(void);

/* Whether the calling thread is the only one sampled. any context but SIGNAL */
bool session_has_one_thread(void);

/* Whether this process is the one that was started, and not a vfork child in its memory or a fork
 * child that came into being behind our back. any context */
SIGNAL_SAFE bool session_is_ours(void);

#endif
