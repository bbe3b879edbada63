/* thread.h - the threads of the program as we know them, and what each of them keeps.
 *
 *   reserve -> begin (by the thread) -> ticks -> end (by the thread, or at the process's end) ->
 * free
 *   a thread not made by pthread_create: reserve -> begin_other (by who found it, scan.h) -> ticks
 * -> reap (by who finds it dead) -> free
 *
 * Shape      Slots, made as needed and never unmapped; a slot keeps its stream, its stack table and
 * its unwinder state when it passes from a thread that ended to one that begins.
 * State      LIVE -> ENDING is a compare-and-swap; who wins it writes the end. LIVE -> HELD, too:
 * who wins that may write to the stream and change the clock (its handler leaves ticks alone then),
 * with all signals blocked, and puts LIVE back soon; everybody else waits for it. A slot is freed
 * only by its own thread, after that thread has blocked our signal for good, or when that thread is
 * no more: no handler holds it then.
 * Context    stated at each function. */
#ifndef SAMPLER_PRELOAD_THREADS_THREAD_H
#define SAMPLER_PRELOAD_THREADS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "clock/clock.h"
#include "clock/grid.h"
#include "record/stack_table.h"
#include "record/stream.h"
#include "sys/context.h"
#include "threads/watcher.h"
#include "unwind/unwind.h"

#define THREAD_CUTS 8u

#define THREAD_LABEL_BYTES 256u

enum thread_state { THREAD_FREE, THREAD_RESERVED, THREAD_LIVE, THREAD_ENDING, THREAD_HELD };

/* What the program calls the work of a thread (sampler.h). Written by the thread; its handler takes
 * it while is_new, before a sample. */
struct thread_label {
    uint32_t is_new; /* atomic; 0 while the text is being changed */
    char text[THREAD_LABEL_BYTES];
};

struct thread {
    struct thread *next_slot; /* all slots, from thread_slots; set once, before it is published   */
    struct thread *next_free; /* under the registry lock                                          */
    uint32_t state;           /* enum thread_state; atomic                                        */
    uint32_t in_handler; /* atomic: 1 while its handler may write to the stream, 2 while the watcher
                            does (watcher.h); 0 = free. Read by who ends the thread or the process
                            (sequentially consistent, against state and session_phase) */
    uint32_t n_ticks;    /* handler runs for our clock; written by the thread alone, atomic */
    uint32_t n_arrived;  /* signals of our number that are not our clock's, by its handler;
                            atomic, as the thread reads it beside that */
    uint32_t n_handlers; /* handlers of the program that ran in it; likewise */
    uint64_t rest_frame; /* address in the frame of the hook that moves the rest of a transfer
                            (hooks/transfers.c), 0 = none; written by the thread alone, atomic */
    pid_t tid;
    bool is_found;    /* not made by pthread_create: nobody tells of its end                      */
    bool is_paused;   /* has no clock since sampling is stopped (control.h); by who holds it      */
    uint64_t pointer; /* its thread pointer if its thread-local storage is libc's, else 0; atomic */
    uint64_t tls;     /* what its handler has in place of that (tls.h), 0 = nothing yet          */
    struct clock clock;
    struct grid grid;
    struct stream stream;
    struct stack_table stacks;
    struct unwind_thread *unwind;
    struct wall *wall; /* NULL unless elapsed time is measured */
    char name[16];
    struct thread_label label;
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

/* The calling thread's slot, NULL when it has none. Not for handlers: they may run without
 * thread-local storage (tls.h). */
extern __thread struct thread *thread_self;

/* How many slots are in use, by state; atomic. A thread is counted in one of them at least while it
 * passes from reserved to known. */
struct thread_counts {
    uint32_t n_reserved; /* of threads about to begin                                            */
    uint32_t n_known;    /* LIVE, HELD or ENDING                                                 */
    uint32_t n_found;    /* of them, is_found                                                    */
};
extern struct thread_counts thread_counts;

/* The list of all slots; next_slot leads on. Acquire, then read freely. */
SIGNAL_SAFE struct thread *thread_slots(void);

/* A slot for a thread to come, NULL without memory. any context */
SIGNAL_SAFE struct thread *thread_reserve(void);
SIGNAL_SAFE struct thread *thread_reserve_locked(void); /* the caller holds the registry lock */

/* Gives back what thread_reserve gave, when no thread came of it. any context */
SIGNAL_SAFE void thread_unreserve(struct thread *thread);

/* The calling thread becomes `thread` and is sampled from now on. Its CPU time counts from
 * `start_cpu_ns` of its clock. SETUP, HOOK, with our signal blocked. */
void thread_begin(struct thread *thread, uint64_t start_cpu_ns);

/* Thread `tid`, which did not come by pthread_create, is sampled from now on, its CPU time from
 * `start_cpu_ns` of its clock; false, and the slot is free again, when it is no more. all signals
 * blocked; any context */
SIGNAL_SAFE bool thread_begin_other(struct thread *thread, pid_t tid, uint64_t start_cpu_ns);

/* The kernel knows thread `tid` no more, which did not tell of its end: writes it, gives the slot
 * back, unless that is another thread's by now. (What it used since its last sample is not known
 * any more.) all signals blocked; any context */
SIGNAL_SAFE void thread_reap(struct thread *thread, pid_t tid);

/* LIVE -> HELD, waiting for another holder; false when it is neither. All signals are to be blocked
 * before. any context */
SIGNAL_SAFE bool thread_hold(struct thread *thread);
SIGNAL_SAFE void thread_release(struct thread *thread);

/* Waits, but not beyond give_up_ns of CLOCK_MONOTONIC, until the handler of `thread` is not at
 * work. It does not begin again while the thread is held or the phase is not RUNNING. False when it
 * is still there (it waits for a processor, or is stopped): its stream is not to be touched then.
 * any context */
SIGNAL_SAFE bool thread_handler_is_done(const struct thread *thread, uint64_t give_up_ns);

/* The clock of a thread held, or begun, is armed, and its CPU time counts from the grid's next
 * point on. `mine`: it is the calling thread. any context */
SIGNAL_SAFE void thread_arm(struct thread *thread, bool mine);

/* The calling thread is over: credits its tail, gives the slot back. Our signal stays blocked in
 * it. HOOK */
void thread_end(struct thread *thread);

/* The calling thread's clock, which was disarmed, runs again. HOOK */
void thread_rearm(struct thread *thread);

/* Credits what `thread` used since its last sample; `mine`: it is the calling thread. The caller
 * has seen to it that its handler does not run. HOOK, EXIT */
void thread_settle(struct thread *thread, bool mine);

/* The same of a thread that is held. any context */
SIGNAL_SAFE void thread_settle_other(struct thread *thread);

/* Settles and writes the end of `thread`, unless it does that itself just now. EXIT */
void thread_finish(struct thread *thread);

/* A child of this process has begun: it took the place in the period that the next thread would
 * have had. HOOK */
void thread_phase_skip(void);

/* Keeps out thread_reserve and thread_unreserve; all signals are blocked meanwhile. any context */
SIGNAL_SAFE void thread_registry_lock(void);
SIGNAL_SAFE void thread_registry_unlock(void);

/* Waits a moment for another thread, the n-th time. Sleeps at times: a thread of real-time priority
 * that only yields may keep the other from the processor. any context */
SIGNAL_SAFE void thread_wait_a_moment(unsigned n);

/* The same in a forked child, whose only thread the caller is: who held the lock at the fork is not
 * there to give it back. thread_registry_restart must follow, for what he left half done. HOOK */
void thread_registry_lock_alone(void);

/* In a forked child, lock held: only the calling thread is left; all slots are emptied. */
void thread_registry_restart(void);

/* The name the kernel has for the thread. `mine`: of the caller. any context */
SIGNAL_SAFE void thread_name_read(const struct thread *thread, bool mine, char name[16]);

#endif
