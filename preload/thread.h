/* thread.h - the threads of the program as we know them, and what each of them keeps.
 *
 *   reserve -> begin (by the thread) -> ticks -> end (by the thread, or at the process's end) ->
 * free
 *
 * Shape      Slots, made as needed and never unmapped; a slot keeps its stream, its stack table and
 * its unwinder state when it passes from a thread that ended to one that begins.
 * State      LIVE -> ENDING is a compare-and-swap; who wins it writes the end. LIVE -> HELD ->
 * LIVE: another thread writes to the stream meanwhile, and the end waits. A slot is freed only by
 * its own thread, after that thread has blocked our signal for good: no handler holds it then.
 * Context    stated at each function. */
#ifndef SAMPLER_THREAD_H
#define SAMPLER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "clock.h"
#include "context.h"
#include "grid.h"
#include "stack_table.h"
#include "stream.h"
#include "unwind.h"
#include "wall.h"

#define THREAD_CUTS 8u

enum thread_state { THREAD_FREE, THREAD_RESERVED, THREAD_LIVE, THREAD_ENDING, THREAD_HELD };

struct thread {
    struct thread *next_slot; /* all slots, from thread_slots; set once, before it is published   */
    struct thread *next_free; /* under the registry lock                                          */
    uint32_t state;           /* enum thread_state; atomic                                        */
    uint32_t in_handler; /* atomic: 1 while its handler may write to the stream, 2 while the watcher
                            does (wall.h); 0 = free. Read by who ends the thread or the process
                            (sequentially consistent, against state and session_phase) */
    uint32_t n_ticks;    /* handler runs for our clock; written by the thread alone, atomic */
    pid_t tid;
    struct clock clock;
    struct grid grid;
    struct stream stream;
    struct stack_table stacks;
    struct unwind_thread *unwind;
    struct wall *wall; /* NULL unless elapsed time is measured */
    char name[16];
    uint64_t start_cpu_ns;      /* of its CPU clock when sampling began                          */
    uint64_t n_samples;         /* of this thread                                                */
    uint64_t n_events_told;     /* of its events, those in the header's n_events                 */
    uint64_t sample_end_ns;     /* CLOCK_MONOTONIC when the last sample was done                */
    uint64_t sample_ns;         /* what it took */
    uint32_t last_node;         /* of its last sample, 0 = none                                  */
    uint32_t last_cut;          /* of its last stack                                             */
    uint32_t n_path;            /* valid entries in path                                         */
    uint32_t destructor_rounds; /* seen by the key's destructor                                  */
    uint32_t cut_nodes[THREAD_CUTS]; /* root nodes by enum capture_cut, 0 = not yet in the stream */
    uint32_t path[UNWIND_MAX_FRAMES]; /* nodes of the last stack, outermost first */
    bool is_held_back;      /* our signal is blocked in truth, as was seen at its end        */
    bool mask_blocked;      /* what the program believes: our signal is blocked here         */
    void *(*start)(void *); /* of a thread being created, and its argument                   */
    int (*start_c11)(void *);
    void *argument;
};

/* The calling thread's slot, NULL when it has none. */
extern __thread struct thread *thread_self;

/* The list of all slots; next_slot leads on. Acquire, then read freely. */
SIGNAL_SAFE struct thread *thread_slots(void);

/* A slot for a thread to come, NULL without memory. HOOK, SETUP */
struct thread *thread_reserve(void);
struct thread *thread_reserve_locked(void); /* the caller holds the registry lock */

/* Gives back what thread_reserve gave, when no thread came of it. HOOK */
void thread_unreserve(struct thread *thread);

/* The calling thread becomes `thread` and is sampled from now on. Its CPU time counts from
 * `start_cpu_ns` of its clock. SETUP, HOOK, with our signal blocked. */
void thread_begin(struct thread *thread, uint64_t start_cpu_ns);

/* A thread that existed before us, `tid`, is sampled from now on; it takes its slot at its first
 * tick (thread_adopt). SETUP */
void thread_begin_other(struct thread *thread, pid_t tid);

/* The slot that thread_begin_other made for the calling thread, or NULL. SIGNAL */
SIGNAL_SAFE struct thread *thread_adopt(void);

/* The calling thread is over: credits its tail, gives the slot back. Our signal stays blocked in
 * it. HOOK */
void thread_end(struct thread *thread);

/* The calling thread's clock, which was disarmed, runs again. HOOK */
void thread_rearm(struct thread *thread);

/* Credits what `thread` used since its last sample; `mine`: it is the calling thread. The caller
 * has seen to it that its handler does not run. HOOK, EXIT */
void thread_settle(struct thread *thread, bool mine);

/* Keeps `thread` from ending while its stream is written to by another; false when it is not live,
 * or ends already. HOOK */
bool thread_hold(struct thread *thread);
void thread_release(struct thread *thread);

/* Settles and writes the end of `thread`, unless it does that itself just now. EXIT */
void thread_finish(struct thread *thread);

/* A child of this process has begun: it took the place in the period that the next thread would
 * have had. HOOK */
void thread_phase_skip(void);

/* Keeps out thread_reserve and thread_unreserve; all signals are blocked meanwhile. HOOK */
void thread_registry_lock(void);
void thread_registry_unlock(void);

/* The same in a forked child, whose only thread the caller is: who held the lock at the fork is not
 * there to give it back. thread_registry_restart must follow, for what he left half done. HOOK */
void thread_registry_lock_alone(void);

/* In a forked child, lock held: only the calling thread is left; all slots are emptied. */
void thread_registry_restart(void);

/* The name the kernel has for the thread. `mine`: of the caller. any context but SIGNAL */
void thread_name_read(const struct thread *thread, bool mine, char name[16]);

#endif
