/* wall_state.h - what is kept of a thread where elapsed time is measured.
 *
 *   elapsed time = CPU time + time off the processor
 *
 * Time off the processor has a grid of its own, `off`, on CLOCK_MONOTONIC minus the CPU clock minus
 * what the thread waited for a processor while it computed; that part has the grid `wait`. Who
 * looks, and what is made of it, is in watcher.h; how a place is recognised is in wall_place.h.
 *
 * Lock       thread->in_handler: 1 the thread itself, 2 the watcher; or whoever holds the slot.
 * Context    any, with the lock. */
#ifndef SAMPLER_WALL_STATE_H
#define SAMPLER_WALL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/grid.h"
#include "sys/context.h"

#define WALL_PLACES 16u
#define WALL_FRAMES_MAX 64u    /* a deeper stack is no place: it could not be compared */
#define WALL_STACK_WORDS 1024u /* nor is one whose return addresses reach further up */

struct wall_place {
    uint64_t sp;
    uint64_t pc;
    uint32_t node; /* 0 = no place here */
    uint32_t n_addresses;
    uint16_t word[WALL_FRAMES_MAX]; /* where each return address lies, in words from sp */
    uint64_t address[WALL_FRAMES_MAX];
};

/* In the thread's slot. "The last look" is the watcher's. Times off the processor are positions on
 * the clock of `off`. */
struct wall {
    struct grid off;       /* on the time it was off the processor */
    struct grid wait;      /* on the part of it that it waited to continue computing */
    uint64_t wait_ns;      /* that part, as far as it is known; it is not in `off` */
    uint64_t queued_ns;    /* what the kernel says it has waited in all, at the last look */
    uint64_t n_runs;       /* how often it got the processor, at the last look */
    bool ran;              /* it computed at the last look */
    uint64_t off_seen_ns;  /* the time off the processor at the last look */
    uint64_t off_saved_ns; /* the time off the processor that is in the recording */
    uint64_t cpu_ns;       /* of its CPU clock, at the last look that saw it move */
    uint64_t seen_ns;      /* CLOCK_MONOTONIC of the last look */
    uint64_t moved_ns;     /* CLOCK_MONOTONIC of the last look that saw it move */
    uint64_t next_look_ns; /* CLOCK_MONOTONIC: not before; atomic */
    uint64_t found_cpu_ns; /* of its CPU clock when it last sampled itself */
    bool found_in_call;    /* whether it was in a system call then */
    uint32_t stand_node;   /* where it stood at the last look; 0 = it ran, or samples itself */
    uint32_t next_place;   /* the one to be forgotten next */
    struct wall_place places[WALL_PLACES];
    uint64_t stack[WALL_STACK_WORDS]; /* copy of what is compared */
};

SIGNAL_SAFE struct wall *wall_create(void); /* NULL without memory */

/* A thread begins, or sampling resumes, with cpu_ns of CPU time at now_ns of CLOCK_MONOTONIC;
 * nothing is known of where it stands. */
SIGNAL_SAFE void wall_reset(struct wall *wall, uint64_t cpu_ns, uint64_t now_ns);

/* Steps of the time off the processor up to now_ns of CLOCK_MONOTONIC that no call counted before;
 * the CPU clock shows cpu_ns. */
SIGNAL_SAFE uint64_t wall_steps(struct wall *wall, uint64_t cpu_ns, uint64_t now_ns);

/* Steps of what it waited for a processor, as far as that is known, that no call counted before. */
SIGNAL_SAFE uint64_t wall_wait_steps(struct wall *wall);

#endif
