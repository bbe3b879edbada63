/* hooks.h - what the files of this folder, with the functions of libc that we interpose, share.
 *
 *   start.c                    the constructor
 *   process.c, spawn.c         exit, fork, exec, dlclose; posix_spawn
 *   threads.c, thread_end.c    threads come and go; notify.c: those that libc makes by itself
 *   signals.c, signals_old.c   handlers; masks.c: masks; own_signal.c: waits for our signal
 *   waits.c, transfers.c       waits and transfers that a tick would shorten
 *   altstack.c, fds.c          small stacks; descriptors that the program closes
 *   clocks.c                   the CPU clock of the process
 *   rights.c                   setuid, chroot, setrlimit ...: what it takes to open files
 *   fences.c, syscall.c        prctl; syscall()
 *   api.c                      the functions of include/sampler.h
 *
 * A hook changes nothing the program can see except what its file states, and steps aside
 * altogether while there is no session. errno after it is what the real function left there. A hook
 * may run in a signal handler of the program, and in a vfork child, which shares our memory:
 * session_is_ours says no there.
 *
 * Context    HOOK, but where stated otherwise. */
#ifndef SAMPLER_HOOKS_H
#define SAMPLER_HOOKS_H

#include <stdbool.h>

#include "process/program_kind.h"
#include "state/run.h"
#include "sys/context.h"
#include "sys/libc_real.h"

struct thread;

#define HOOK_EXPORT __attribute__((visibility("default")))

/* Starts the library if its constructor has not run yet: another library's constructor calls a hook
 * that matters. start.c */
void start_once(void);

/* Sees to it that the recording is in its file, with what it says of the process, if this process has
 * one: what the program does next may make that impossible. rights.c */
void hooks_place(void);

/* The same, before the program gives up rights: the calling thread's clock is armed for good too
 * (clock/clock.h). rights.c */
void hooks_secure(void);

/* Before the process becomes another user's, whether or not it is recorded: what it is then, and what
 * it starts, needs the folder for other users' recordings (cli/run/others_dir.h). HOOK. rights.c */
void hooks_make_others_dir(void);

/* Whether there is a session, or was one whose late ticks may still come: our signal must be kept
 * out of things. */
static inline bool hooks_active(void)
{
    return session_phase() != SESSION_OFF;
}

/* Makes the key whose destructor reports the end of threads. False when no key is left. SETUP.
 * thread_end.c */
bool thread_end_setup(void);

/* The calling thread, which is `thread` or is about to be, will report its end. HOOK, SETUP.
 * thread_end.c */
void thread_end_await(struct thread *thread);

/* Registers the handlers around fork and at exit. False when that fails. SETUP. process.c */
bool hooks_process_setup(void);

/* Whether a clone with these flags copies the process as fork does. any context. process.c */
bool hooks_clone_is_fork(uint64_t flags);

/* Makes such a copy; the child goes on on the same stack, which is its own. As clone(2) by system call:
 * 0 in the child, -1 with errno. HOOK. process.c */
long hooks_fork_by_clone(unsigned long flags, pid_t *parent_tid, pid_t *child_tid);

/* What a program about to be started is by its file, which decides what environment it gets; all
 * zero for NULL. Why it cannot be recorded with that (enum capture_child), or 0. spawn.c */
struct program_kind hooks_kind_of(const char *path);
uint32_t hooks_why_missed(const struct program_kind *kind, char *const envp[]);

/* Whether our signal is to wait while handlers run on alternate stacks. altstack.c */
bool altstack_is_crowded(void);

/* A thread with a smaller stack may use nearly all of it. */
#define HOOKS_SMALL_STACK_BYTES 262144u

/* Lends the calling thread an alternate stack for our handler, since its own is small; takes it back
 * where the thread ends, our signal blocked for good. Without memory it gets none. altstack.c */
void altstack_lend(void);
void altstack_take_back(void);

/* To be called with a call by which rights go, its number and first arguments, before it is made.
 * fences.c */
void hooks_fence_check(long number, unsigned long first, unsigned long second, unsigned long third);

/* Makes system calls made through our syscall() recognisable. SETUP. syscall.c */
void hooks_syscall_setup(void);

/* Around a wait of `timeout_ms`, if that is > 0; `frame` is the calling hook's own. waits.c */
void wait_begin(const void *frame, int timeout_ms);
void wait_end(void);

#endif
