/* unwind.h - from the interrupted registers to a list of frames.
 *
 * Engines
 *   table      rows of .eh_frame found by pc and cached per thread: the default (unwind/table.c)
 *   fp         the chain of frame pointers (unwind/fp.c)
 *   libunwind  loaded at run time (unwind/libunwind.c); also what tests compare `table` with
 *
 * Result     frames leaf first, complete up to the outermost frame, or cut with a reason (enum
 *            capture_cut). A cut stack keeps the frames found so far. Never blocks, never faults:
 *            stack words are read only inside the thread's bounds or through a read that cannot
 *            fault. (libunwind promises neither: SIGNAL_UNSAFE_BY_CHOICE.)
 * Context    unwind_init: SETUP. unwind_thread_create, unwind_thread_bind_other: any.
 *            unwind_thread_bind: HOOK or SETUP, by the thread itself. unwind_stack: SIGNAL, by the
 *            thread; HOOK and EXIT with its own context and our signal blocked. */
#ifndef SAMPLER_UNWIND_H
#define SAMPLER_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/context.h"

#define UNWIND_MAX_FRAMES 4096u

enum unwind_engine { UNWIND_TABLE, UNWIND_LIBUNWIND, UNWIND_FP };

struct unwind_frame {
    uint64_t pc;
    uint32_t module; /* id of modules.h, 0 = code in no module */
    uint32_t exact;  /* 1: interrupted pc (leaf, or under a signal trampoline); 0: return address */
};

/* Per-thread state: stack bounds, row cache, the previous stack. Mapped once and never given back;
 * a thread that ends leaves it to a later one. */
struct unwind_thread;

/* n_same is about this thread's previous result: that many outermost frames are the same frames at
 * the same place, so their nodes are known. 0 is always right. */
struct unwind_result {
    uint32_t n_frames; /* 1 .. UNWIND_MAX_FRAMES; 0 only where libunwind fails at once */
    uint32_t n_same;   /* <= n_frames */
    uint32_t cut;      /* 0 = complete, else enum capture_cut */
};

/* Makes the engine ready (loads libunwind, walks once so that what initialises itself on first use
 * has done so). False, with the reason in *why, when it is not available; UNWIND_TABLE is used
 * then. */
bool unwind_init(enum unwind_engine engine, const char **why);

/* Storage for one thread; NULL when there is no memory. unwind_thread_bind ties it to the calling
 * thread (its stack bounds) and forgets the previous stack; the row cache stays. */
SIGNAL_SAFE struct unwind_thread *unwind_thread_create(void);
void unwind_thread_bind(struct unwind_thread *thread);

/* The same for a thread that is not the calling one, and of whose stack nothing is known: all of it
 * is read in ways that cannot fault, and by the engine `table`, which needs no thread-local storage
 * (`fp` is used where it was chosen). any context */
SIGNAL_SAFE void unwind_thread_bind_other(struct unwind_thread *thread);

/* Walks the stack of the interrupted code. `context` is the handler's ucontext_t, borrowed. The
 * frames belong to `thread` and are valid until its next call; *frames points at the leaf. */
SIGNAL_SAFE struct unwind_result unwind_stack(struct unwind_thread *thread, const void *context,
                                              const struct unwind_frame **frames);

#endif
