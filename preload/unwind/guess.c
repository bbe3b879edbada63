/* guess.c - frames of code that has no row: JIT, hand-written assembly, jumps to nowhere.
 *
 *   interrupted:  code unreadable (call through a bad pointer)  ra = *sp
 *                 at entry, or at `ret`                         ra = *sp
 *                 between `push fp` and `mov sp, fp`            fp = *sp, ra = *(sp + 8)
 *   any frame:    what the code does until it returns           unwind/epilogue.c
 *                 frame pointer                                 fp = *fp, ra = *(fp + 8)
 *   interrupted:  leaf without a frame                          ra = *sp
 *                 leaf with one of unknown size                 ra is searched: unwind/scan.c
 *   returned to:  frame pointer left on another stack (Go: calls of C, its scheduler)
 *
 * Tried in this order, but that generated code, which takes a system call to read, is followed only
 * where frame pointers do not lead on. Each counts only if the return address it gives is credible
 * (unwind/credible.h): a wrong guess would put the rest of the stack below a wrong caller, so where
 * nothing is credible the stack is cut. */
#include <string.h>

#include "unwind/credible.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define WORD_BYTES sizeof(uint64_t)
#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)
#define OTHER_LINKS 3u
#define EXTENSION_MAX (256 * WORD_BYTES) /* a method has 255 words of arguments at most */

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

/* HotSpot's interpreter, called by compiled code, moves its caller's sp down to make room for
 * arguments; what it was is in the word below the interpreter's frame pointer (OpenJDK,
 * frame_x86.hpp: interpreter_frame_sender_sp_offset). */
SIGNAL_SAFE static uint64_t sp_before_extension(struct unwind_memory *memory,
                                                const struct unwind_state *state,
                                                const struct unwind_state *caller)
{
    uint64_t before = 0;
    if (modules_find(state->pc) != NULL || modules_find(caller->pc) != NULL ||
        state->fp - WORD_BYTES < state->sp || !memory_read(memory, state->fp - WORD_BYTES, &before))
        return caller->sp;
    bool is_above = before > caller->sp && before - caller->sp <= EXTENSION_MAX;
    return is_above && before % WORD_BYTES == 0 ? before : caller->sp;
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
    caller.sp = sp_before_extension(memory, state, &caller);
    *state = caller;
    return true;
}

/* For interrupted code: what the instruction at pc shows. */
SIGNAL_SAFE static bool guess_by_code(struct unwind_thread *thread, enum arch_frame_hint hint,
                                      struct unwind_state *state)
{
    struct unwind_memory *memory = &thread->memory;
    uint64_t fp = state->fp;
    if (hint == ARCH_FRAME_UNKNOWN ||
        (hint == ARCH_FRAME_PUSHED && !memory_read(memory, state->sp, &fp)) ||
        !guess_by_sp(memory, hint == ARCH_FRAME_PUSHED ? WORD_BYTES : 0, state))
        return false;
    state->fp = fp;
    thread->left = thread->base;
    thread->left_sp = state->sp;
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

/* Code returned to, with a frame pointer of 0: the ABI's mark of the outermost frame, or a mere
 * value. Its caller by what the code does next, if there is one; else whether it is the mark: the
 * callee was not called from here but begun, or keeps a frame pointer and saved the mark first
 * thing; or the code never returns, on another stack than the thread's, which began elsewhere. */
SIGNAL_SAFE static enum unwind_guess_result
guess_behind_zero(struct unwind_thread *thread, uint32_t generation, struct unwind_state *state)
{
    struct unwind_memory *memory = &thread->memory;
    uint64_t saved_fp = 1;
    if (!unwind_ra_is_credible(memory, state->pc))
        return UNWIND_GUESS_END;
    enum unwind_epilogue_result epilogue = unwind_epilogue(thread, false, generation, state);
    if (epilogue == UNWIND_EPILOGUE_FOUND)
        return UNWIND_GUESS_OK;
    if (epilogue == UNWIND_EPILOGUE_STOPS && !memory_is_plain(memory, state->sp))
        return UNWIND_GUESS_END;
    bool is_mark = memory_read(memory, state->sp - 2 * WORD_BYTES, &saved_fp) && saved_fp == 0;
    return is_mark ? UNWIND_GUESS_END : UNWIND_GUESS_NONE;
}

/* Whether generated code returned to keeps a frame pointer (its callee saved it first thing), the
 * first of its stack (0 was saved there), and returns to where no call was made: a runtime begins
 * such a stack so, Erlang's for one. */
SIGNAL_SAFE static bool fp_is_first(struct unwind_memory *memory, const struct unwind_state *state)
{
    uint64_t saved_fp = 0, outer_fp = 1, ra = 0;
    return memory_read(memory, state->sp - 2 * WORD_BYTES, &saved_fp) && saved_fp == state->fp &&
           memory_read(memory, state->fp, &outer_fp) && outer_fp == 0 &&
           memory_read(memory, state->fp + WORD_BYTES, &ra) && modules_find(ra) == NULL &&
           !unwind_ra_is_credible(memory, ra);
}

/* The caller of code that can be read and is no trampoline; pc was interrupted, or `hint` says
 * nothing. */
SIGNAL_SAFE static enum unwind_guess_result guess_caller(struct unwind_thread *thread, bool exact,
                                                         enum arch_frame_hint hint,
                                                         uint32_t generation,
                                                         struct unwind_state *state)
{
    struct unwind_memory *memory = &thread->memory;
    if (guess_by_code(thread, hint, state))
        return UNWIND_GUESS_OK;
    if (!exact && state->fp == 0)
        return guess_behind_zero(thread, generation, state);
    bool is_of_module = modules_find(state->pc) != NULL;
    if (!exact && !is_of_module && fp_is_first(memory, state))
        return UNWIND_GUESS_END;
    if (is_of_module && unwind_epilogue(thread, exact, generation, state) == UNWIND_EPILOGUE_FOUND)
        return UNWIND_GUESS_OK;
    /* Code that leaves the frame pointer alone must not lose its caller, where that can be
     * known. */
    if (exact && unwind_scan(thread, true, generation, state))
        return UNWIND_GUESS_OK;
    uint64_t usual_sp = state->fp + 2 * WORD_BYTES;
    if (guess_by_fp(memory, &thread->chain, state))
        return state->sp == usual_sp ? UNWIND_GUESS_OK_FP : UNWIND_GUESS_OK;
    if (!is_of_module && unwind_epilogue(thread, exact, generation, state) == UNWIND_EPILOGUE_FOUND)
        return UNWIND_GUESS_OK;
    if (!exact && guess_by_other_stack(memory, state))
        return UNWIND_GUESS_OTHER_STACK;
    if (exact && (guess_by_sp(memory, 0, state) || unwind_scan(thread, false, generation, state)))
        return UNWIND_GUESS_OK;
    return UNWIND_GUESS_NONE;
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
    if (memory_is_at_origin(memory, state->sp))
        return UNWIND_GUESS_END;
    if (n_bytes == 0) {
        if (!exact)
            return UNWIND_GUESS_BAD_PC;
        return guess_by_sp(memory, 0, state) ? UNWIND_GUESS_OK : UNWIND_GUESS_NONE;
    }
    enum arch_frame_hint hint = exact ? arch_frame_hint(code, n_bytes) : ARCH_FRAME_UNKNOWN;
    return guess_caller(thread, exact, hint, generation, state);
}
