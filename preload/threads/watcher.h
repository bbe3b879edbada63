/* watcher.h - elapsed time: every thread, running and blocked, with the stack it stands at.
 *
 *   elapsed time = CPU time + time off the processor
 *
 * CPU time is measured as for -e cpu, by ticks of the thread's own. For the time off the processor
 * a thread of ours, the watcher, wakes once a period (at a random moment of it) and looks at each
 * thread's CPU clock:
 *     has not moved     it still stands where it was last seen; nothing is done, its time is
 * written down later moved, and blocks in a system call at a place that is known a sample of that
 * stack is written for it moved, and blocks elsewhere it gets a signal and samples itself is on a
 * processor, or waits for one nothing: what it was off goes to where it blocks next, but for what
 * it waited while it computed (/proc/self/task/TID/schedstat), and what a hypervisor took; that
 * goes to its next tick So a thread is disturbed once for each place it blocks at, not once for
 * each time, and one that stays blocked is not even looked at often. A watcher that is late,
 * because all processors are busy, takes nothing from those that keep them busy.
 *
 * A place is a stack pointer and a pc that /proc/self/task/TID/syscall shows, together with every
 * return address between them and the end of the stack: all have to be the same. Where that file
 * cannot be read, a thread that has hardly run since it was found in a system call is taken to be
 * there still.
 *
 * Who writes: thread.in_handler is the lock of a thread's stream and of its struct wall: 1 the
 * thread itself, 2 the watcher.
 * Context    wall_start, wall_stop: SETUP, HOOK. wall_is_watcher: any. wall_note_place, wall_steps,
 * wall_wait_steps: SIGNAL, by the thread. wall_reset, wall_settle: any, by whom nobody else may
 * write beside. */
#ifndef SAMPLER_PRELOAD_THREADS_WATCHER_H
#define SAMPLER_PRELOAD_THREADS_WATCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "clock/grid.h"
#include "sys/context.h"
#include "unwind/unwind.h"

#define WALL_PLACES 16u
#define WALL_FRAMES_MAX 64u    /* a deeper stack is no place: it could not be compared */
#define WALL_STACK_WORDS 1024u /* likewise one whose return addresses reach farther up */

struct wall_place {
    uint64_t sp;
    uint64_t pc;
    uint32_t node; /* 0 = no place here */
    uint32_t n_addresses;
    uint16_t word[WALL_FRAMES_MAX]; /* where each return address lies, in words from sp */
    uint64_t address[WALL_FRAMES_MAX];
};

/* What is kept of a thread for elapsed time; in its slot. */
struct wall {
    struct grid off;       /* on the time it was off the processor                                */
    struct grid wait;      /* on the part of it that it waited to go on computing                 */
    uint64_t wait_ns;      /* that part, as far as it is known; it is not in `off`                */
    uint64_t queued_ns;    /* what the kernel says it has waited in all, at the last look         */
    uint64_t n_runs;       /* how often it got the processor, likewise                            */
    bool ran;              /* it computed at the last look                                        */
    uint64_t off_seen_ns;  /* that time at the last look                                          */
    uint64_t off_saved_ns; /* and up to where it is in the recording                              */
    uint64_t cpu_ns;       /* of its CPU clock, at the last look that saw it move                 */
    uint64_t seen_ns;      /* CLOCK_MONOTONIC of the last look                                    */
    uint64_t moved_ns;     /* of the last look that saw it move                                   */
    uint64_t next_look_ns; /* not before; atomic */
    uint64_t found_cpu_ns; /* of its CPU clock when it last sampled itself                        */
    bool found_in_call;    /* whether it was in a system call then                                */
    uint32_t stand_node;   /* where it stood at the last look; 0 = it ran, or samples itself */
    uint32_t next_place;   /* the one to be forgotten next */
    struct wall_place places[WALL_PLACES];
    uint64_t stack[WALL_STACK_WORDS]; /* copy of what is compared */
};

struct thread;

SIGNAL_SAFE struct wall *wall_create(void); /* NULL without memory */

/* A thread begins, with cpu_ns of CPU time; nothing is known of it. */
SIGNAL_SAFE void wall_reset(struct wall *wall, uint64_t cpu_ns);

/* Steps of the time off the processor up to a moment at which the CPU clock shows cpu_ns, and of
 * what it waited. */
SIGNAL_SAFE uint64_t wall_steps(struct wall *wall, uint64_t cpu_ns);
SIGNAL_SAFE uint64_t wall_wait_steps(struct wall *wall);

/* Credits what the thread was off the processor; it ends, or the process does. */
SIGNAL_SAFE void wall_settle(struct thread *thread, uint64_t cpu_ns);

/* Starts the watcher of this process; it does nothing before the session runs. False, with errno,
 * when there is no thread to be had. */
bool wall_start(void);

/* In a forked child: there is no watcher. Otherwise: waits until it does not look at any thread. */
void wall_stop(bool is_child);

SIGNAL_SAFE bool wall_is_watcher(pid_t tid);

/* The calling thread's stack has just been found (thread->last_node): remembers it as a place, if
 * it is in a system call. */
SIGNAL_SAFE void wall_note_place(struct thread *thread, const void *context,
                                 const struct unwind_frame *frames, uint32_t n_frames);

/* The place the thread stands at: blocked, with the stack pointer and pc that the kernel shows for
 * it. Its node, or 0. By the watcher, with the thread's lock. */
uint32_t wall_find_place(struct wall *wall, uint64_t sp, uint64_t pc);

#endif
