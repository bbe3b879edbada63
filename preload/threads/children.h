/* children.h - programs that were started and cannot be recorded: CHILD records and their count.
 *
 *   exec, posix_spawn in a process of ours   the record, at once
 *   exec in a vfork child, whose memory      a slot; the parent's next tick, or the end of one of
 *   is its parent's                          its threads, makes it a record
 *
 * In the vfork child nothing is written but a free slot, and nothing opened, so that its parent
 * finds everything as it was. A child of a bare clone without shared memory writes its own copy of
 * the slot, which is lost: only the count, in the shared header, remains.
 *
 * When full  no slot free: the record is lost, the count remains. A long path keeps its end.
 * Context    stated at each function. */
#ifndef SAMPLER_CHILDREN_H
#define SAMPLER_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"
#include "threads/thread.h"

/* A program that cannot be recorded (`why`: enum capture_child) is about to be started (exec), or
 * was (posix_spawn). HOOK, a vfork child too */
void children_missed(const char *path, uint32_t why);

/* The exec that children_missed announced has failed: it is not counted after all. HOOK */
void children_not_missed(void);

/* Whether there may be slots to be emptied; a hint. any context */
SIGNAL_SAFE bool children_are_waiting(void);

/* Writes the slots' records into the stream of the calling thread, `thread`. SIGNAL; HOOK and EXIT
 * with our signal blocked */
SIGNAL_SAFE void children_write(struct thread *thread);

#endif
