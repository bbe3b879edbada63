/* slots.h - the slots of all threads: a list that only grows, and who may write to which.
 *
 *   thread_reserve -> (life.h begins the thread) -> thread_go_live -> thread_hold and _release,
 *   any number of times -> thread_claim for ENDING -> thread_give_back
 *
 * Lock       the list is read without a lock: a slot is complete when it is published and never
 *            goes away. What changes is the free list, under the registry lock. That is held for a
 *            few instructions with all signals blocked, so no handler can want it while its holder
 *            is interrupted.
 * When full  without memory thread_reserve returns NULL and counts the thread as missed
 *            (n_threads_missed).
 * Context    any, but where stated otherwise. */
#ifndef SAMPLER_SLOTS_H
#define SAMPLER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"
#include "threads/thread.h"

/* The calling thread's slot, NULL when it has none. Not for handlers: they may run without
 * thread-local storage (sys/tls.h); find.h is for them. */
extern __thread struct thread *thread_self;

/* How many slots are in use, by state; atomic. A thread is counted in at least one of the first two
 * while it passes from reserved to known. */
struct thread_counts {
    uint32_t n_reserved; /* of threads about to begin    */
    uint32_t n_known;    /* LIVE, HELD or ENDING         */
    uint32_t n_found;    /* of those, is_found           */
};
extern struct thread_counts thread_counts;

/* The first of all slots; next_slot leads to the next. Slots in every state, FREE ones too. */
SIGNAL_SAFE struct thread *thread_slots(void);

/* ---- taking a slot and giving it back ---- */

/* A slot for a thread about to begin, RESERVED; NULL without memory. _locked: the caller holds the
 * registry lock. */
SIGNAL_SAFE struct thread *thread_reserve(void);
SIGNAL_SAFE struct thread *thread_reserve_locked(void);

/* RESERVED -> FREE: no thread began with it. */
SIGNAL_SAFE void thread_unreserve(struct thread *thread);

/* HELD by whoever begins it -> LIVE: known by its id, and counted. */
SIGNAL_SAFE void thread_go_live(struct thread *thread);

/* ENDING -> FREE: no longer counted. The id is remembered as that of a thread on its way out, which
 * had used gone_cpu_ns (find.h). */
SIGNAL_SAFE void thread_give_back(struct thread *thread, uint64_t gone_cpu_ns);

/* ---- taking hold of a slot in use ---- */

/* LIVE -> `to` (HELD or ENDING), waiting while another holds it; false when it is neither LIVE nor
 * HELD. The caller must not hold a slot already. */
SIGNAL_SAFE bool thread_claim(struct thread *thread, enum thread_state to);

/* LIVE -> HELD, and back. All signals are blocked meanwhile, by the caller. */
SIGNAL_SAFE bool thread_hold(struct thread *thread);
SIGNAL_SAFE void thread_release(struct thread *thread);

/* Waits, but not beyond give_up_ns of CLOCK_MONOTONIC, until the handler of `thread` is not at
 * work. It does not begin again while the thread is held or the phase is not RUNNING. False when it
 * is still at work (it waits for a processor, or is stopped): its stream must not be touched
 * then. */
SIGNAL_SAFE bool thread_handler_is_done(const struct thread *thread, uint64_t give_up_ns);

/* ---- the registry lock ---- */

/* Keeps out thread_reserve, thread_unreserve and thread_give_back; all signals are blocked
 * meanwhile. */
SIGNAL_SAFE void thread_registry_lock(void);
SIGNAL_SAFE void thread_registry_unlock(void);

/* thread_registry_lock in a forked child, where the caller is the only thread: whoever held it at
 * the fork does not exist here. thread_registry_restart must follow, for what was left half done.
 * HOOK */
void thread_registry_lock_alone(void);

/* In a forked child, lock held: only the calling thread is left; all slots are emptied. HOOK */
void thread_registry_restart(void);

#endif
