/* credible.h - whether a word can be a return address: what keeps guesses from being wrong.
 *
 *   code of a module    it is executable, with a call right before the address; where the code
 *                       is executable but not readable, executable has to do
 *   code of no module   readable, and a call stands right before it
 *   chain               interpreters made of generated code push return addresses that no call
 *                       made: credible if the chain of frame pointers leads from there, through
 *                       code of no module, to an address that is. So is, in code of a module, what
 *                       the last frame of a chain returns to, whose saved frame pointer is 0: the
 *                       ABI's mark of the outermost frame
 *
 * Which addresses of generated code have a call before them, and which have none, is remembered in
 * `memory`, since looking takes a system call. Code generated anew at the same place is not
 * noticed.
 *
 * Context    SIGNAL, by the thread that owns `memory`. */
#ifndef SAMPLER_UNWIND_CREDIBLE_H
#define SAMPLER_UNWIND_CREDIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"
#include "unwind/memory.h"
#include "unwind/step.h"

/* How far above sp a frame pointer may lie on a stack whose bounds are not known. */
#define UNWIND_FP_DISTANCE_MAX (1ull << 20)

/* The credible part of a chain of frame pointers. */
struct unwind_chain {
    uint64_t fp;     /* of its next frame                         */
    uint32_t n_left; /* frames whose frame pointer needs no check */
};

/* Whether a call may have pushed `ra`: executable code with a call right before it. */
SIGNAL_SAFE bool unwind_ra_is_credible(struct unwind_memory *memory, uint64_t ra);

/* Whether `ra`, in generated code, is remembered to have a call before it. No system call. */
SIGNAL_SAFE bool unwind_ra_is_known(struct unwind_memory *memory, uint64_t ra);

/* Whether `ra` lies in code of a module. */
SIGNAL_SAFE bool unwind_ra_is_in_module(uint64_t ra);

/* Whether `caller`, with all that its callee left it, can be a frame: its pc is credible, or that
 * of an interpreter's chain, which *chain is then, else empty or as it was. */
SIGNAL_SAFE bool unwind_caller_is_credible(struct unwind_memory *memory, struct unwind_state caller,
                                           struct unwind_chain *chain);

/* Whether the chain of frame pointers from state.fp on leads to a credible return address; *chain
 * is then the part of it after the first frame, else empty. */
SIGNAL_SAFE bool unwind_chain_is_credible(struct unwind_memory *memory, struct unwind_state state,
                                          struct unwind_chain *chain);

#endif
