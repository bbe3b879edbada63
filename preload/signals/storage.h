/* storage.h - thread-local storage for a handler, whatever thread it runs in.
 *
 * Where libc made the thread, its storage is used as it is. Elsewhere (a raw clone, Go) a block of
 * ours stands in its place while the handler runs (sys/tls.h). The code that uses `errno` in
 * between must be in functions of its own, not inlined: the compiler may keep the address of
 * `errno` for a whole function, and would keep that of the other storage.
 *
 * Owner      a block made for a thread with a slot stays in the slot; one for any other thread is
 *            freed when the handler leaves.
 * Context    SIGNAL, and any other handler of ours. */
#ifndef SAMPLER_STORAGE_H
#define SAMPLER_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"
#include "threads/thread.h"

/* Whether the storage at thread pointer `pointer` is libc's for this very thread. `thread` may be
 * NULL: one we do not know. */
SIGNAL_SAFE static inline bool storage_is_own(const struct thread *thread, uint64_t pointer)
{
    return thread != NULL && pointer != 0 &&
           __atomic_load_n(&thread->pointer, __ATOMIC_ACQUIRE) == pointer;
}

/* Puts a block of ours in place of the thread's storage, if that is not its own. Returns what to
 * pass to storage_leave; 0 = none was needed, or there is no memory for it: then *ok is false, and
 * no thread-local storage may be touched. */
SIGNAL_SAFE uint64_t storage_enter(const struct thread *thread, uint64_t pointer, bool *ok);
SIGNAL_SAFE void storage_leave(struct thread *thread, uint64_t pointer, uint64_t block);

#endif
