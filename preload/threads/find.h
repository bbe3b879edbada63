/* find.h - from a thread to its slot, without thread-local storage.
 *
 *   by pointer  the thread pointer of a thread whose storage is libc's own: a small cache, one load
 *               and one comparison; what it does not know must be looked up by id
 *   by id       pages of 1024 thread ids each, made as needed: an entry for every id there can be;
 *               that of the first thread is elsewhere, as most processes have no other
 *
 * An id's entry also remembers a thread that we gave up while the kernel still lists it, so that a
 * scan (scan.h) does not take it for a new one: by the CPU time it had used, since another thread
 * that gets its id has used less, at first.
 *
 * Owner      an id's entry is written by the thread itself, or by whoever begins or reaps it from
 *            outside, one at a time. Pages are never freed.
 * When full  without memory for a page a thread is not found by its id.
 * Context    any; thread_note_none: HOOK, a forked child, alone. */
#ifndef SAMPLER_THREAD_FIND_H
#define SAMPLER_THREAD_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"

struct thread;

#define THREAD_NOT_GONE 0u
#define THREAD_GONE_FOR_GOOD UINT64_MAX /* never to be looked at again */

/* The slot last noted in this pointer's place of the cache, or NULL; the caller checks that it is
 * the right one (thread->pointer). */
SIGNAL_SAFE struct thread *thread_of_pointer(uint64_t pointer);
SIGNAL_SAFE void thread_note_pointer(uint64_t pointer, struct thread *thread);

/* NULL when the thread is not known. */
SIGNAL_SAFE struct thread *thread_of_tid(pid_t tid);

/* What the last known thread of that id had used when it was given up, in ns of CPU, at least 1;
 * THREAD_NOT_GONE when there was none. */
SIGNAL_SAFE uint64_t thread_gone_cpu_ns(pid_t tid);

/* Notes the slot of `tid`, or (NULL) that it has none and what its last thread had used. False
 * without memory for the page: thread_of_tid will not find it. */
SIGNAL_SAFE bool thread_note_tid(pid_t tid, struct thread *thread, uint64_t gone_cpu_ns);

/* In a forked child, once none of its parent's threads is noted: the next one needs no page. */
void thread_note_none(void);

#endif
