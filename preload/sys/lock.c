/* lock.c - see lock.h. The three states are those of Drepper's "Futexes Are Tricky" (2011): who
 * has slept may not be the last, and so takes the lock as one that is wanted. */
#include "sys/lock.h"

#include <linux/futex.h>
#include <signal.h>

#include "sys/os.h"

enum { LOCK_FREE, LOCK_HELD, LOCK_WANTED };

#define N_YIELDS 2u
#define NAP_NS 50000

/* Without errno, which is another thread's where the caller has no storage. any context */
SIGNAL_SAFE static void futex(struct lock *lock, int operation, uint32_t value)
{
    syscall_raw(SYS_futex, (long)&lock->state, operation, value, 0, 0, 0);
}

/* any context */
bool lock_try(struct lock *lock)
{
    uint32_t state = LOCK_FREE;
    return __atomic_compare_exchange_n(&lock->state, &state, LOCK_HELD, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* any context */
void lock_take(struct lock *lock)
{
    if (likely(lock_try(lock)))
        return;
    while (__atomic_exchange_n(&lock->state, LOCK_WANTED, __ATOMIC_ACQUIRE) != LOCK_FREE)
        futex(lock, FUTEX_WAIT_PRIVATE, LOCK_WANTED);
}

/* any context */
void lock_give(struct lock *lock)
{
    if (__atomic_exchange_n(&lock->state, LOCK_FREE, __ATOMIC_RELEASE) == LOCK_WANTED)
        futex(lock, FUTEX_WAKE_PRIVATE, 1);
}

/* any context */
uint64_t lock_take_masked(struct lock *lock)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask = 0;
    os_sigmask(SIG_BLOCK, &all, &mask);
    lock_take(lock);
    return mask;
}

/* any context */
void lock_give_masked(struct lock *lock, uint64_t mask)
{
    lock_give(lock);
    os_sigmask(SIG_SETMASK, &mask, NULL);
}

/* any context */
void lock_reset(struct lock *lock)
{
    __atomic_store_n(&lock->state, LOCK_FREE, __ATOMIC_RELAXED);
}

/* any context */
void wait_a_moment(unsigned n)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    syscall_raw(n <= N_YIELDS ? SYS_sched_yield : SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
}
