/* thread.h - what the engines keep per thread, and the helpers they share.
 *
 * The inside of unwind.h; other rooms use that one. One mapping per thread, of which most is
 * touched only as far as stacks are deep and code is varied.
 *
 * Context    SIGNAL, by the thread that owns it. */
#ifndef SAMPLER_UNWIND_THREAD_H
#define SAMPLER_UNWIND_THREAD_H

#include "cfi/cfi.h"
#include "unwind/arch.h"
#include "unwind/credible.h"
#include "unwind/memory.h"
#include "unwind/rule_cache.h"
#include "unwind/step.h"
#include "unwind/unwind.h"

/* How a frame's step was made, kept next to the frame. A simple step: the caller follows from pc,
 * sp, fp, the word below the caller's sp and the one at fp_slot, both plain stack at or above sp.
 * The last frame of a complete stack counts as simple too: nothing follows it. */
struct unwind_slot {
    uint64_t sp; /* of the frame, before its step  */
    uint64_t fp;
    uint64_t fp_slot;     /* where the caller's fp was read, or UNWIND_SLOT_... */
    uint64_t interrupted; /* by a signal: the walk took its pc as it is; 0 or 1 */
};
#define UNWIND_SLOT_FP_SAME 0u
#define UNWIND_SLOT_NOT_SIMPLE 1u

/* A list of frames, leaf first, with their slots. */
struct unwind_list {
    struct unwind_frame frames[UNWIND_MAX_FRAMES];
    struct unwind_slot slots[UNWIND_MAX_FRAMES];
};

/* Where the code at `pc` has its return address: below sp + sp_offset, the caller's sp; and its
 * caller's frame pointer: at sp + fp_offset. */
struct unwind_exit {
    uint64_t pc; /* 0: nothing known */
    uint32_t generation;
    uint32_t sp_offset; /* 0: it cannot be told */
    uint32_t fp_offset;
    uint32_t kept;  /* registers it leaves alone: bits */
    uint32_t stops; /* it never returns; 0 or 1 */
};
#define UNWIND_EXIT_FP_SAME UINT32_MAX
#define UNWIND_EXIT_FP_UNKNOWN (UINT32_MAX - 1) /* of paths only */
#define UNWIND_EXITS 256u

/* Where code may go on, for unwind_epilogue. */
#define UNWIND_PATHS 128u
struct unwind_path {
    uint64_t pc;
    uint32_t n_bytes;  /* from pc to the last instruction followed in one line */
    int32_t sp_offset; /* from the frame's sp */
    uint32_t fp_offset;
    bool is_constant; /* sp_offset is the same always */
};

/* Pages of code of other modules or none, as they were in this walk: each took a system call. */
#define UNWIND_CODE_PAGES 4u
struct unwind_code {
    uint32_t n;
    uint32_t n_bytes[UNWIND_CODE_PAGES]; /* 0: it cannot be read */
    uint64_t pages[UNWIND_CODE_PAGES];   /* their addresses */
    uint8_t bytes[UNWIND_CODE_PAGES][MEMORY_PAGE_BYTES];
};

/* Room for libunwind's cursor, whose size its header gives (unwind/libunwind.c checks it). */
#define UNWIND_CURSOR_WORDS 256u

/* What is set before the first sample lies on one page: most threads of short processes have none. */
struct unwind_thread {
    bool is_other;            /* bound from outside: no thread-local storage to rely on */
    uint32_t kept_start;      /* of `kept` */
    uint32_t kept_generation; /* of the modules at that time; never 0 when something is kept */
    struct unwind_memory memory;
    struct unwind_registers base; /* of the last interrupted frame: the leaf, or under a signal */
    struct unwind_registers registers; /* of the current frame, where all are followed           */
    struct cfi_row row;
    struct cfi_workspace workspace;
    uint64_t cursor[UNWIND_CURSOR_WORDS];
    struct rule_cache rules;
    struct unwind_chain chain;
    /* unwind/epilogue.c */
    struct unwind_registers left; /* as the last callee followed leaves them to its caller ... */
    uint64_t left_sp;             /* ... whose sp this is; 0: there is none                    */
    uint32_t n_followed;          /* instructions in this walk                                 */
    struct unwind_exit exits[UNWIND_EXITS];
    struct unwind_path paths[UNWIND_PATHS];
    struct unwind_code code;
    struct unwind_list found; /* the walk in progress; the result of the engines but `table` */
    struct unwind_list kept;  /* previous result of `table`, in [kept_start, UNWIND_MAX_FRAMES) */
};

/* The cache entry for a frame, made if need be; valid until the next call. Code in no module has
 * none: *spare is filled and returned.
 *
 * Which row is valid: that at pc if the frame was interrupted there; that at pc - 1 after a call,
 * which may be the last instruction of its function. A frame returned to at a place that is not
 * after a call was not left by one either: a landing pad the C++ runtime is about to enter, a
 * signal trampoline, a context's start. That too is looked up at pc, and entry->exact states so. */
SIGNAL_SAFE const struct rule_entry *unwind_rule_find(struct unwind_thread *thread, uint64_t pc,
                                                      bool exact, uint32_t generation,
                                                      struct rule_entry *spare);

/* The whole row for address `lookup` into thread->row, and its fde. False when there is none. */
SIGNAL_SAFE bool unwind_row_find(struct unwind_thread *thread, uint64_t lookup,
                                 struct cfi_fde *fde);

/* Code without a row: *state becomes the caller's by what the instructions at pc, the frame pointer
 * and the word at sp show, if that leads to a credible return address. thread->chain is empty where
 * a walk begins.
 *   OK             the caller's state
 *   OK_FP          the same, by the frame pointer, whatever the code at pc is
 *   OTHER_STACK    the same, and the caller's frame is on a stack that was left
 *   END            pc is in the outermost frame
 *   NONE           nothing credible: the stack is cut
 *   SIGNAL_RETURN  pc is a signal trampoline
 *   BAD_PC         a return address no code can be at */
enum unwind_guess_result {
    UNWIND_GUESS_OK,
    UNWIND_GUESS_OK_FP,
    UNWIND_GUESS_OTHER_STACK,
    UNWIND_GUESS_END,
    UNWIND_GUESS_NONE,
    UNWIND_GUESS_SIGNAL_RETURN,
    UNWIND_GUESS_BAD_PC,
};
SIGNAL_SAFE enum unwind_guess_result unwind_guess(struct unwind_thread *thread, bool exact,
                                                  uint32_t generation, struct unwind_state *state);

/* Code without rows: *state becomes the caller's by what the code at pc does until it returns
 * (`exact`: pc was interrupted, and thread->base are its registers), if that leads to a credible
 * return address.
 *   FOUND     the caller's state
 *   STOPS     there is no caller: the code never returns
 *   UNKNOWN   it cannot be told; *state is as it was, as with STOPS */
enum unwind_epilogue_result {
    UNWIND_EPILOGUE_FOUND,
    UNWIND_EPILOGUE_STOPS,
    UNWIND_EPILOGUE_UNKNOWN,
};
SIGNAL_SAFE enum unwind_epilogue_result unwind_epilogue(struct unwind_thread *thread, bool exact,
                                                        uint32_t generation,
                                                        struct unwind_state *state);

/* For interrupted code without rows that keeps no frame pointer: its return address is searched
 * above sp. *state becomes the caller's if one word is the address after a call that leads to code
 * at pc (or, unless `direct_only`, after a call whose target is not known), and the frames from
 * there on have rows that lead outward. False leaves *state alone. */
SIGNAL_SAFE bool unwind_scan(struct unwind_thread *thread, bool direct_only, uint32_t generation,
                             struct unwind_state *state);

/* The next walk starts from nothing but the rule cache. */
SIGNAL_SAFE static inline void unwind_thread_forget(struct unwind_thread *thread)
{
    thread->kept_start = UNWIND_MAX_FRAMES;
}

/* The engines: contract as unwind_stack. */
SIGNAL_SAFE struct unwind_result unwind_table_walk(struct unwind_thread *thread,
                                                   const void *context,
                                                   const struct unwind_frame **frames);
SIGNAL_SAFE struct unwind_result unwind_fp_walk(struct unwind_thread *thread, const void *context,
                                                const struct unwind_frame **frames);

/* Loads libunwind; false, with the reason in *why, when it is not there. SETUP */
bool unwind_libunwind_init(const char **why);
SIGNAL_UNSAFE_BY_CHOICE struct unwind_result
unwind_libunwind_walk(struct unwind_thread *thread, const void *context,
                      const struct unwind_frame **frames);

#endif
