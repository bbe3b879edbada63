/* run.h - the state of this run: settings, recording, and the phase everything else asks for.
 *
 * One process has one `session`. Its steps (begin, pause, end) are process/session.h's; here is
 * what threads, clocks and handlers have to know of it, so that they need not know how it is made.
 *
 * Phase      whoever changes the phase stores it first and then looks for the marks of running
 *            handlers; a handler sets its mark first and then looks at the phase. So at least one
 *            of the two sees the other. Both are sequentially consistent.
 * Context    any; settings and recording are written in SETUP, and in a forked child. */
#ifndef SAMPLER_RUN_H
#define SAMPLER_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/recording.h"
#include "state/settings.h"
#include "sys/context.h"

enum session_phase {
    SESSION_OFF,     /* nothing is recorded (not started, switched off, failed)                */
    SESSION_RUNNING, /* ticks become samples                                                   */
    SESSION_PAUSED,  /* ticks are ignored: about to exec; what they stood for is counted later */
    SESSION_ENDED    /* ticks are ignored for good; memory stays for late ones                 */
};

/* What each process writes to comes before the paths, most of which is left alone. */
struct session {
    struct settings settings; /* constant after SETUP                                        */
    uint32_t phase;     /* enum session_phase; atomic, sequentially consistent               */
    uint32_t is_off;    /* sampling is stopped (threads/control.h); atomic, as phase         */
    uint64_t behind_ns; /* CPU time sampled after stops less that paused after resumes, modulo
                         * 2^64; atomic */
    pid_t pid;          /* of the process that is recorded                                   */
    bool is_fork_child; /* began in a forked child                                           */
    uint32_t n_streams; /* given out so far; atomic                                          */
    uint64_t n_samples; /* of all threads; atomic                                            */
    struct recording recording;
    char output[RECORDING_PATH_MAX]; /* where the profile goes, absolute; "" under sampler-run */
};

extern struct session session;

SIGNAL_SAFE static inline uint32_t session_phase(void)
{
    return __atomic_load_n(&session.phase, __ATOMIC_SEQ_CST);
}

/* Whether this process is the one that was started, and not a vfork child in its memory or a fork
 * child that no hook of ours noticed. Asks the kernel each time. any context */
SIGNAL_SAFE bool session_is_ours(void);

/* Samples taken so far, of all threads. any context but SIGNAL */
uint64_t session_n_samples(void);

#endif
