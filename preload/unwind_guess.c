/* unwind_guess.c - frames of code that has no row: JIT, hand-written assembly, jumps to nowhere.
 *
 *   interrupted:  code unreadable (call through a bad pointer)  ra = *sp
 *                 at entry, or at `ret`                         ra = *sp
 *                 between `push fp` and `mov sp, fp`            fp = *sp, ra = *(sp + 8)
 *   any frame:    frame pointer                                 fp = *fp, ra = *(fp + 8)
 *   interrupted:  leaf without a frame                          ra = *sp
 *
 * Each only if the return address it gives is credible: code of a module, or readable memory, with
 * a call right before it. A wrong guess would put the rest of the stack at a wrong caller, so where
 * nothing is credible the stack is cut. */
#include "modules.h"
#include "unwind_thread.h"

#define WORD_BYTES sizeof(uint64_t)
#define LOWEST_PC 4096u
#define FP_DISTANCE_MAX (1ull << 20) /* from sp, on a stack whose bounds are not known */

/* Whether a call may have pushed `ra`. */
SIGNAL_SAFE static bool ra_is_credible(uint64_t ra)
{
    uint8_t before[ARCH_CODE_BEFORE_BYTES];
    if (ra < LOWEST_PC)
        return false;
    const struct module *module = modules_find(ra - 1);
    if (module != NULL && segments_left(&module->segments, ra - 1, SEGMENT_EXECUTE) == 0)
        return false;
    if (module != NULL && segments_left(&module->segments, ra - 1, SEGMENT_READ) == 0)
        return true; /* code that may be run, not read */
    return memory_copy(before, ra - sizeof before, sizeof before) &&
           arch_is_after_call(before + sizeof before, sizeof before);
}

/* The return address is the word at sp + sp_offset, and all up to it is the callee's. */
SIGNAL_SAFE static bool guess_by_sp(struct unwind_memory *memory, uint64_t sp_offset,
                                    struct unwind_state *state)
{
    struct unwind_state caller = {.sp = state->sp + sp_offset + WORD_BYTES, .fp = state->fp};
    if (!memory_read(memory, state->sp + sp_offset, &caller.pc) || !ra_is_credible(caller.pc))
        return false;
    *state = caller;
    return true;
}

SIGNAL_SAFE static bool guess_by_fp(struct unwind_memory *memory, struct unwind_state *state)
{
    struct unwind_state caller = {.sp = state->fp + 2 * WORD_BYTES};
    bool in_reach =
        memory_is_plain(memory, state->fp + WORD_BYTES) || state->fp - state->sp < FP_DISTANCE_MAX;
    if (state->fp < state->sp || state->fp % WORD_BYTES != 0 || !in_reach)
        return false;
    if (!memory_read(memory, state->fp, &caller.fp) ||
        !memory_read(memory, state->fp + WORD_BYTES, &caller.pc) || !ra_is_credible(caller.pc))
        return false;
    *state = caller;
    return true;
}

/* For interrupted code: what the instruction at pc tells. */
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
    if (memory_copy(code, pc, ARCH_CODE_FROM_BYTES))
        return ARCH_CODE_FROM_BYTES;
    return to_page_end < ARCH_CODE_FROM_BYTES && memory_copy(code, pc, to_page_end) ? to_page_end
                                                                                    : 0;
}

enum unwind_guess_result unwind_guess(struct unwind_memory *memory, bool exact,
                                      struct unwind_state *state)
{
    uint8_t code[ARCH_CODE_FROM_BYTES];
    size_t n_bytes = code_copy(code, state->pc);
    if (arch_is_signal_return(code, n_bytes))
        return UNWIND_GUESS_SIGNAL_RETURN;
    /* ld.so runs constructors from start-up code without rows, at the very end of the stack. */
    if (memory->stack_origin != 0 && state->sp + 2 * WORD_BYTES >= memory->stack_origin)
        return UNWIND_GUESS_END;
    if (n_bytes == 0) {
        if (!exact)
            return UNWIND_GUESS_BAD_PC;
        return guess_by_sp(memory, 0, state) ? UNWIND_GUESS_OK : UNWIND_GUESS_NONE;
    }
    bool found = (exact && guess_by_code(memory, arch_frame_hint(code, n_bytes), state)) ||
                 guess_by_fp(memory, state) || (exact && guess_by_sp(memory, 0, state));
    return found ? UNWIND_GUESS_OK : UNWIND_GUESS_NONE;
}
