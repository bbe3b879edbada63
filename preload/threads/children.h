/* children.h - programs that were started and cannot be recorded: CHILD records and their count.
 *
 *   exec, posix_spawn in a process of ours -> the record, at once
 *   exec in a vfork child, whose memory is its parent's -> a slot; the parent's next tick or the
 * end of its thread makes it a record
 *
 * In the vfork child nothing is written but a free slot, and nothing opened, so that its parent
 * finds all as it was. A child of a bare clone without shared memory writes its own copy of the
 * slot, which is lost: only the count, in the shared header, remains. When the slots are full the
 * same happens. */
#ifndef SAMPLER_PRELOAD_THREADS_CHILDREN_H
#define SAMPLER_PRELOAD_THREADS_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"
#include "threads/thread.h"

/* A program that cannot be recorded is about to be started (exec), or was (posix_spawn). HOOK */
void children_missed(const char *path, uint32_t why);

/* The exec of which children_missed was told came to nothing. HOOK */
void children_not_missed(void);

/* Whether there are slots to be emptied. */
SIGNAL_SAFE bool children_are_waiting(void);

/* Records of the slots, into the stream of the calling thread. SIGNAL; HOOK and EXIT with our
 * signal blocked. */
SIGNAL_SAFE void children_write(struct thread *thread);

#endif
