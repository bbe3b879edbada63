/* lock.h - locks of our own, and waiting for what another thread is about to do.
 *
 * A holder has all signals blocked, so that no handler can want the lock on top of it, and is done
 * within microseconds; but it may lose the processor meanwhile. Whoever waits sleeps until the lock
 * is given back: threads that yield instead burn CPU time of the program (of 50 threads that ended
 * at once beside other work up to 200 ms). libc's locks are no choice: a program may interpose
 * them.
 *
 * A forked child is without the thread that may have held a lock: lock_reset comes first there.
 *
 * Context    any, all of it. */
#ifndef SAMPLER_LOCK_H
#define SAMPLER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"

/* All zero: nobody holds it. */
struct lock {
    uint32_t state; /* atomic: 0 free, 1 held, 2 held and perhaps wanted */
};

/* The caller has all signals blocked. */
SIGNAL_SAFE bool lock_try(struct lock *lock);
SIGNAL_SAFE void lock_take(struct lock *lock);
SIGNAL_SAFE void lock_give(struct lock *lock);

/* Blocks all signals and takes the lock; returns the mask as it was, for lock_give_masked. */
SIGNAL_SAFE uint64_t lock_take_masked(struct lock *lock);
SIGNAL_SAFE void lock_give_masked(struct lock *lock, uint64_t mask);

/* Nobody holds it. Only where no other thread is. */
SIGNAL_SAFE void lock_reset(struct lock *lock);

/* Where there is no lock, only a word that another thread is about to change: waits a moment, for
 * the n-th time (from 1). Yields at first, then sleeps: a thread that only yields burns CPU time,
 * and with real-time priority may keep the other from the processor. */
SIGNAL_SAFE void wait_a_moment(unsigned n);

#endif
