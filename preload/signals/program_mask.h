/* program_mask.h - whether the program believes it has our signal blocked in the calling thread.
 *
 * In fact it is never blocked while a thread runs, so that the thread can be sampled. The hooks on
 * masks (hooks/masks.c) leave our signal out of what the program asks for and note it here;
 * program_signal.c holds the program's own signals of that number for as long.
 *
 * Shape      one bit a thread, in its slot; a thread that has none keeps it in thread-local
 *            storage.
 * Context    HOOK. */
#ifndef SAMPLER_PROGRAM_MASK_H
#define SAMPLER_PROGRAM_MASK_H

#include <stdbool.h>

bool mask_believed(void);

/* Changes nothing in a vfork child: it has a mask to itself, but shares the memory of its
 * parent. */
void mask_believe(bool blocked);

#endif
