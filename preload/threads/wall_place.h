/* wall_place.h - recognises the stack of a blocked thread without walking it.
 *
 * A place is the stack pointer and the pc that /proc/self/task/TID/syscall shows, together with
 * every return address between them and the end of the stack: all have to be the same. A thread
 * remembers the last places at which it sampled itself; the watcher compares. So a thread in a loop
 * of calls is disturbed once for each of them, not each time round.
 *
 * Not here: threads whose file cannot be read (watcher.h assumes that those that have hardly run
 * are where they were).
 *
 * When full  the place noted first is forgotten. A stack of more frames, or one that reaches
 *            further up, than fits a struct wall_place is no place: its thread is signalled each
 *            time.
 * Context    wall_note_place: SIGNAL, by the thread. wall_find_place: the watcher, with the
 *            thread's lock. */
#ifndef SAMPLER_WALL_PLACE_H
#define SAMPLER_WALL_PLACE_H

#include <stdint.h>

#include "sys/context.h"
#include "threads/wall_state.h"
#include "unwind/unwind.h"

struct thread;

/* The calling thread's stack has just been found (thread->last_node): remembers it as a place, if
 * the thread is in a system call. */
SIGNAL_SAFE void wall_note_place(struct thread *thread, const void *context,
                                 const struct unwind_frame *frames, uint32_t n_frames);

/* The node of the place where a thread is blocked, with the stack pointer and pc that the kernel
 * shows; 0 = not known. */
uint32_t wall_find_place(struct wall *wall, uint64_t sp, uint64_t pc);

#endif
