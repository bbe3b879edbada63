/* thread.h - what is kept of a thread of the program: its slot.
 *
 *   slots.h   the slots: finding a free one, taking hold of one in use, giving it back
 *   life.h    a thread's beginning, its settling in between, its end
 *   find.h    from an id or a thread pointer to the slot
 *
 * Shape      made as needed and never unmapped, so that a late tick finds one; a slot keeps its
 *            stream, its stack table and its unwinder state when it passes from a thread that ended
 *            to one that begins.
 * States
 *            FREE      on the free list
 *            RESERVED  for a thread that is about to begin
 *            LIVE      its handler takes samples
 *            HELD      another writes its stream or changes its clock; its handler leaves ticks
 *                      alone
 *            ENDING    its end is being written, by whoever won LIVE -> ENDING
 *
 *            FREE <-> RESERVED -> HELD -> LIVE <-> HELD, LIVE -> ENDING -> FREE
 *
 *            LIVE -> HELD and LIVE -> ENDING are compare-and-swaps: one wins, everybody else waits
 *            for LIVE or gives up at ENDING. Whoever holds a slot has all signals blocked and puts
 *            LIVE back soon.
 *            A slot becomes FREE by its own thread, after that has blocked our signal for good, or
 *            when that thread has ended: no handler uses it then. */
#ifndef SAMPLER_THREAD_H
#define SAMPLER_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "clock/clock.h"
#include "clock/grid.h"
#include "record/stack_table.h"
#include "record/stream.h"
#include "sys/context.h"
#include "threads/held_back.h"
#include "unwind/unwind.h"

struct wall;

#define THREAD_CUTS 8u

#define THREAD_LABEL_BYTES 256u

enum thread_state { THREAD_FREE, THREAD_RESERVED, THREAD_LIVE, THREAD_ENDING, THREAD_HELD };

/* What the program calls the work of a thread (sampler.h). Written by the thread; its handler takes
 * it while is_new, before a sample. */
struct thread_label {
    uint32_t is_new; /* atomic; 0 while the text is being changed */
    char text[THREAD_LABEL_BYTES];
};

/* Steps that passed in the kernel unseen (kernel_time.h). By the thread, or whoever settles it. */
struct kernel_time {
    uint64_t aside;      /* steps that wait for a tick at the end of a call */
    uint64_t n_left_out; /* ticks of the event that got no sample */
    uint64_t n_faults;   /* page faults of the thread when last counted */
};

/* The timeout of a call that was made again since a tick interrupted it (signals/restart.c). By the
 * thread's handler. In the slot, since the call reads it, on whatever storage it is made. */
struct thread_again {
    uint64_t until_ns;    /* CLOCK_MONOTONIC */
    struct timespec left; /* when it was made again */
};

/* A switch of sampling that the thread has not followed yet (control.h). */
enum thread_behind {
    THREAD_NOT_BEHIND,
    THREAD_BEHIND_STOP,   /* it is sampled still, or not settled yet */
    THREAD_BEHIND_RESUME, /* its clock is not armed yet */
};

struct thread {
    /* The slot. */
    struct thread *next_slot; /* all slots; set once, before it is published */
    struct thread *next_free; /* under the registry lock */
    uint32_t state;           /* enum thread_state; atomic */
    uint32_t in_handler; /* atomic: 1 = its handler may write to the stream, 2 = the watcher does
                            (watcher.h), 0 = neither. Read by whoever ends the thread or the
                            process; sequentially consistent, against state and session_phase */
    pid_t tid;
    bool is_found;    /* not made by pthread_create: nothing will report its end */
    bool is_paused;   /* takes no samples, since sampling is stopped (control.h); by its holder */
    uint32_t behind;  /* enum thread_behind; by its holder */
    uint64_t pointer; /* its thread pointer if its storage is libc's, else 0; atomic */
    uint64_t tls;     /* what its handler puts in place of that (sys/tls.h), 0 = nothing yet */

    /* Lasting parts, which the next thread of the slot gets. */
    struct stream stream;
    struct stack_table stacks;
    struct unwind_thread *unwind;
    struct wall *wall;               /* NULL unless elapsed time is measured */
    uint32_t cut_nodes[THREAD_CUTS]; /* root nodes by enum capture_cut, 0 = not yet recorded */

    /* What is measured. */
    struct clock clock;
    struct grid grid;
    uint64_t start_cpu_ns;  /* of its CPU clock when sampling began */
    uint64_t switch_cpu_ns; /* of its CPU clock when sampling was stopped or resumed */
    uint64_t n_samples;     /* of this thread */
    uint64_t n_events_told; /* of its events, those that are in the header's n_events */
    struct kernel_time kernel_time;
    uint64_t sample_end_ns;   /* CLOCK_MONOTONIC when the last sample was done */
    uint64_t sample_ns;       /* what that sample took */
    enum held_back held_back; /* by its real mask, when it ended or was settled */

    /* What its hooks and its handler know of each other. Written by the thread alone; atomic, as
     * one may interrupt the other. */
    uint32_t n_ticks;    /* handler runs for our clock */
    uint32_t n_arrived;  /* signals of our number that are neither our clock's nor a poke */
    uint32_t n_handlers; /* handlers of the program that ran in it */
    uint64_t rest_frame; /* address in the frame of the hook that moves the rest of a transfer
                            (hooks/transfers.c), 0 = none */
    struct thread_again again;
    uint64_t repeat_pc; /* of the call that its handler makes be repeated while a signal of our
                            number is pending, which comes next; 0 = none (signals/restart.c) */
    bool mask_blocked;  /* what the program believes: our signal is blocked here */
    struct thread_label label;
    char name[16]; /* as in the recording */

    /* Its beginning and end, by the hooks. */
    void *(*start)(void *); /* of a thread being created, and its argument */
    int (*start_c11)(void *);
    void *argument;
    bool has_small_stack;       /* in memory of the program's: its handler gets another one */
    uint32_t destructor_rounds; /* seen by the key's destructor */

    /* Its last stack. */
    uint32_t last_node; /* 0 = none */
    uint32_t last_cut;
    uint32_t n_path; /* valid entries in path */
    uint32_t *path;  /* its nodes, outermost first: room for UNWIND_MAX_FRAMES */
};

/* A signal of ours has come to the thread, and may have interrupted a call of the program. By the
 * thread, in its handler. */
SIGNAL_SAFE static inline void thread_count_tick(struct thread *thread)
{
    __atomic_store_n(&thread->n_ticks, thread->n_ticks + 1, __ATOMIC_RELAXED);
}

#endif
