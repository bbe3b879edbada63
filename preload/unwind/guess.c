/* guess.c - frames of code that has no row: JIT, hand-written assembly, jumps to nowhere.
 *
 *   interrupted:  code unreadable (call through a bad pointer)  ra = *sp
 *                 at entry, or at `ret`                         ra = *sp
 *                 between `push fp` and `mov sp, fp`            fp = *sp, ra = *(sp + 8)
 *   any frame:    frame pointer                                 fp = *fp, ra = *(fp + 8)
 *   interrupted:  leaf without a frame                          ra = *sp
 *                 leaf with one of unknown size                 ra is searched: unwind/scan.c
 *   returned to:  frame pointer left on another stack (Go: calls of C, its scheduler)
 *
 * Tried in this order. Each counts only if the return address it gives is credible
 * (unwind/credible.h): a wrong guess would put the rest of the stack below a wrong caller, so where
 * nothing is credible the stack is cut. */
#include <string.h>

#include "unwind/credible.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define WORD_BYTES sizeof(uint64_t)
#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)
#define OTHER_LINKS 3u

/* The frame pointer belongs to another stack, which hand-written code has left: the frames there
 * have not been walked yet. Nothing but the chain is evidence for it, so the next few links must
 * all be credible, up to its end or OTHER_LINKS of them. */
SIGNAL_SAFE static bool guess_by_other_stack(struct unwind_memory *memory,
                                             struct unwind_state *state)
{
    struct unwind_state caller = {.fp = state->fp};
    struct unwind_state first = {.pc = 0};
    if (state->fp % WORD_BYTES != 0 || memory_is_plain(memory, state->fp) ||
        state->fp - state->sp < UNWIND_FP_DISTANCE_MAX)
        return false;
    for (uint32_t n = 0; n < OTHER_LINKS; n++) {
        uint64_t fp = caller.fp;
        caller.sp = fp + 2 * WORD_BYTES;
        if (!memory_read(memory, fp, &caller.fp) ||
            !memory_read(memory, fp + WORD_BYTES, &caller.pc))
            return false;
        if (n == 0)
            first = caller;
        if (caller.fp == 0 && unwind_ra_is_in_module(caller.pc))
            break;
        if (!unwind_ra_is_credible(memory, caller.pc) || caller.fp % WORD_BYTES != 0 ||
            caller.fp < caller.sp || caller.fp - caller.sp >= UNWIND_FP_DISTANCE_MAX)
            return false;
    }
    *state = first;
    return true;
}

/* The return address is the word at sp + sp_offset; everything below it belongs to the callee. */
SIGNAL_SAFE static bool guess_by_sp(struct unwind_memory *memory, uint64_t sp_offset,
                                    struct unwind_state *state)
{
    struct unwind_state caller = {.sp = state->sp + sp_offset + WORD_BYTES, .fp = state->fp};
    if (!memory_read(memory, state->sp + sp_offset, &caller.pc) ||
        !unwind_ra_is_credible(memory, caller.pc))
        return false;
    *state = caller;
    return true;
}

SIGNAL_SAFE static bool guess_by_fp(struct unwind_memory *memory, struct unwind_chain *chain,
                                    struct unwind_state *state)
{
    struct unwind_state caller = {.sp = state->fp + 2 * WORD_BYTES};
    bool is_known = chain->n_left > 0 && chain->fp == state->fp;
    if (!is_known && !unwind_chain_is_credible(memory, *state, chain))
        return false;
    if (!memory_read(memory, state->fp, &caller.fp) ||
        !memory_read(memory, state->fp + WORD_BYTES, &caller.pc))
        return false;
    if (is_known) {
        chain->fp = caller.fp;
        chain->n_left--;
    }
    *state = caller;
    return true;
}

/* For interrupted code: what the instruction at pc shows. */
SIGNAL_SAFE static bool guess_by_code(struct unwind_memory *memory, enum arch_frame_hint hint,
                                      struct unwind_state *state)
{
    uint64_t fp = 0;
    if (hint == ARCH_FRAME_AT_ENTRY)
        return guess_by_sp(memory, 0, state);
    if (hint != ARCH_FRAME_PUSHED || !memory_read(memory, state->sp, &fp) ||
        !guess_by_sp(memory, WORD_BYTES, state))
        return false;
    state->fp = fp;
    return true;
}

/* Up to ARCH_CODE_FROM_BYTES at `pc`; how many could be read. */
SIGNAL_SAFE static size_t code_copy(uint8_t *code, uint64_t pc)
{
    size_t to_page_end = MEMORY_PAGE_BYTES - pc % MEMORY_PAGE_BYTES;
    const struct module *module = modules_find(pc);
    if (module != NULL &&
        segments_left(&module->segments, pc, EXECUTE_READ) >= ARCH_CODE_FROM_BYTES) {
        memcpy(code, address_pointer(pc), ARCH_CODE_FROM_BYTES);
        return ARCH_CODE_FROM_BYTES;
    }
    if (memory_copy(code, pc, ARCH_CODE_FROM_BYTES))
        return ARCH_CODE_FROM_BYTES;
    return to_page_end < ARCH_CODE_FROM_BYTES && memory_copy(code, pc, to_page_end) ? to_page_end
                                                                                    : 0;
}

enum unwind_guess_result unwind_guess(struct unwind_thread *thread, bool exact, uint32_t generation,
                                      struct unwind_state *state)
{
    struct unwind_memory *memory = &thread->memory;
    uint8_t code[ARCH_CODE_FROM_BYTES];
    /* An address after a call is neither a trampoline nor unreadable: no need to look. */
    bool is_behind_call = !exact && unwind_ra_is_known(memory, state->pc);
    size_t n_bytes = is_behind_call ? sizeof code : code_copy(code, state->pc);
    if (!is_behind_call && arch_is_signal_return(code, n_bytes))
        return UNWIND_GUESS_SIGNAL_RETURN;
    /* ld.so runs constructors from start-up code without rows, at the very end of the stack. */
    if (memory->stack_origin != 0 && state->sp + 2 * WORD_BYTES >= memory->stack_origin)
        return UNWIND_GUESS_END;
    if (n_bytes == 0) {
        if (!exact)
            return UNWIND_GUESS_BAD_PC;
        return guess_by_sp(memory, 0, state) ? UNWIND_GUESS_OK : UNWIND_GUESS_NONE;
    }
    if (exact && guess_by_code(memory, arch_frame_hint(code, n_bytes), state))
        return UNWIND_GUESS_OK;
    if (!exact && state->fp == 0)
        return UNWIND_GUESS_END; /* the ABI's mark of the outermost frame */
    /* Code that leaves the frame pointer alone must not lose its caller, where that can be
     * known. */
    if (exact && unwind_scan(thread, true, generation, state))
        return UNWIND_GUESS_OK;
    if (guess_by_fp(memory, &thread->chain, state))
        return UNWIND_GUESS_OK_FP;
    if (!exact && guess_by_other_stack(memory, state))
        return UNWIND_GUESS_OTHER_STACK;
    if (exact && (guess_by_sp(memory, 0, state) || unwind_scan(thread, false, generation, state)))
        return UNWIND_GUESS_OK;
    return UNWIND_GUESS_NONE;
}
