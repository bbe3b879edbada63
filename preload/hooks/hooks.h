/* hooks.h - what the files with interposed functions (this folder) share.
 *
 * A hook changes nothing the program can see but what its file says, and steps aside altogether
 * while there is no session. errno after it is what the real function left there. */
#ifndef SAMPLER_PRELOAD_HOOKS_HOOKS_H
#define SAMPLER_PRELOAD_HOOKS_HOOKS_H

#include <stdbool.h>

#include "process/session.h"
#include "sys/context.h"
#include "sys/libc_real.h"

#define HOOK_EXPORT __attribute__((visibility("default")))

/* Starts the library if its constructor has not run yet: another library's constructor calls a hook
 * that matters. start.c */
void start_once(void);

/* Whether there was ever a session, so that our signal needs to be kept out of things. */
static inline bool hooks_active(void)
{
    return session_phase() != SESSION_OFF;
}

/* SETUP: the key that tells of the end of threads, the handlers around fork and at exit. False when
 * they cannot be had. */
bool hooks_threads_setup(void);

/* SETUP: the end of the first thread is told of, too. */
void hooks_threads_begin_first(void);

bool hooks_process_setup(void);

/* Why a program about to be started with `envp` cannot be recorded (enum capture_child), or 0.
 * spawn.c */
uint32_t hooks_kind_of(const char *path, char *const envp[]);

/* Whether our signal is to wait while handlers run on alternate stacks (altstack.c). */
bool altstack_is_crowded(void);

/* To be told of a prctl or seccomp, by its number and first arguments, before it is made
 * (seccomp.c). */
void hooks_seccomp_check(long number, unsigned long first, unsigned long second,
                         unsigned long third);

/* SETUP: how a system call made through our syscall() is known. */
void hooks_syscall_setup(void);

/* Around a wait of `timeout_ms`, if that is > 0: `frame` is the hook's own (waits.c). */
void wait_begin(const void *frame, int timeout_ms);
void wait_end(void);

/* The program's own reading of its mask: sets and returns what the calling thread believes about
 * our signal (masks.c). */
bool mask_believed(void);
void mask_believe(bool blocked);

#endif
