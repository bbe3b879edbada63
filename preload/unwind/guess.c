/* guess.c - frames of code that has no row: JIT, hand-written assembly, jumps to nowhere.
 *
 *   interrupted:  code unreadable (call through a bad pointer)  ra = *sp
 *                 at entry, or at `ret`                         ra = *sp
 *                 between `push fp` and `mov sp, fp`            fp = *sp, ra = *(sp + 8)
 *   any frame:    frame pointer                                 fp = *fp, ra = *(fp + 8)
 *   interrupted:  leaf without a frame                          ra = *sp
 *                 leaf with one of unknown size                 ra is searched: scan.c
 *   returned to:  frame pointer left on another stack (Go: calls of C, its scheduler)
 *
 * Each only if the return address it gives is credible: code of a module, or readable memory, with
 * a call right before it. Interpreters made of generated code push return addresses no call made:
 * those are credible if the chain of frame pointers goes on from there, through code of no module,
 * to an address that is. So is, in code of a module, what the last frame of a chain returns to,
 * whose saved frame pointer is 0: the ABI's mark of the outermost frame. A wrong guess would put
 * the rest of the stack at a wrong caller, so where nothing is credible the stack is cut. */
#include <string.h>

#include "unwind/modules.h"
#include "unwind/thread.h"

#define WORD_BYTES sizeof(uint64_t)
#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)
#define LOWEST_PC 4096u
#define FP_DISTANCE_MAX (1ull << 20) /* from sp, on a stack whose bounds are not known */
#define CHAIN_MAX 64u
#define OTHER_LINKS 3u

SIGNAL_SAFE static uint64_t *behind_call_slot(struct unwind_memory *memory, uint64_t ra)
{
    return &memory->behind_call[(ra ^ ra >> 8) % MEMORY_BEHIND_CALL];
}

/* Whether generated code at `ra` has a call before it. */
SIGNAL_SAFE static bool generated_is_behind_call(struct unwind_memory *memory, uint64_t ra)
{
    uint8_t before[ARCH_CODE_BEFORE_BYTES];
    uint64_t *known = behind_call_slot(memory, ra);
    if (*known == ra)
        return true;
    if (!memory_copy(before, ra - sizeof before, sizeof before) ||
        !arch_is_after_call(before + sizeof before, sizeof before))
        return false;
    *known = ra;
    return true;
}

bool unwind_ra_is_credible(struct unwind_memory *memory, uint64_t ra)
{
    if (ra < LOWEST_PC)
        return false;
    const struct module *module = modules_find(ra - 1);
    if (module == NULL)
        return generated_is_behind_call(memory, ra);
    if (segments_left(&module->segments, ra - 1, SEGMENT_EXECUTE) == 0)
        return false;
    if (segments_left(&module->segments, ra - ARCH_CODE_BEFORE_BYTES, EXECUTE_READ) <
        ARCH_CODE_BEFORE_BYTES)
        return true; /* code that may be run, not read */
    return arch_is_after_call(address_pointer(ra), ARCH_CODE_BEFORE_BYTES);
}

/* Whether `ra` may be code in no module. */
SIGNAL_SAFE static bool ra_is_generated(uint64_t ra)
{
    uint8_t byte;
    return ra >= LOWEST_PC && modules_find(ra - 1) == NULL && modules_find(ra) == NULL &&
           memory_copy(&byte, ra, sizeof byte);
}

/* Whether `ra` lies in code of a module. */
SIGNAL_SAFE static bool ra_is_in_module(uint64_t ra)
{
    const struct module *module = modules_find(ra);
    return module != NULL && segments_left(&module->segments, ra, SEGMENT_EXECUTE) > 0;
}

/* Whether frame pointer `fp` is one a frame at `sp` can have. */
SIGNAL_SAFE static bool fp_is_in_reach(const struct unwind_memory *memory, uint64_t sp, uint64_t fp)
{
    return fp >= sp && fp % WORD_BYTES == 0 &&
           (memory_is_plain(memory, fp + WORD_BYTES) || fp - sp < FP_DISTANCE_MAX);
}

/* The frame pointer is one of another stack, which hand-written code has left: the frames there
 * were not walked yet. Nothing but the chain speaks for it, so the next few links must all be
 * credible, up to its end or OTHER_LINKS of them. */
SIGNAL_SAFE static bool guess_by_other_stack(struct unwind_memory *memory,
                                             struct unwind_state *state)
{
    struct unwind_state caller = {.fp = state->fp};
    struct unwind_state first = {.pc = 0};
    if (state->fp % WORD_BYTES != 0 || memory_is_plain(memory, state->fp) ||
        state->fp - state->sp < FP_DISTANCE_MAX)
        return false;
    for (uint32_t n = 0; n < OTHER_LINKS; n++) {
        uint64_t fp = caller.fp;
        caller.sp = fp + 2 * WORD_BYTES;
        if (!memory_read(memory, fp, &caller.fp) ||
            !memory_read(memory, fp + WORD_BYTES, &caller.pc))
            return false;
        if (n == 0)
            first = caller;
        if (caller.fp == 0 && ra_is_in_module(caller.pc))
            break;
        if (!unwind_ra_is_credible(memory, caller.pc) || caller.fp % WORD_BYTES != 0 ||
            caller.fp < caller.sp || caller.fp - caller.sp >= FP_DISTANCE_MAX)
            return false;
    }
    *state = first;
    return true;
}

bool unwind_chain_is_credible(struct unwind_memory *memory, struct unwind_state state,
                              struct unwind_chain *chain)
{
    uint64_t ra = 0, caller_fp = 0;
    chain->n_left = 0;
    for (uint32_t n = 0; n < CHAIN_MAX; n++) {
        if (!fp_is_in_reach(memory, state.sp, state.fp) ||
            !memory_read(memory, state.fp, &caller_fp) ||
            !memory_read(memory, state.fp + WORD_BYTES, &ra))
            return false;
        if (n == 0)
            chain->fp = caller_fp;
        bool is_end = caller_fp == 0 && ra_is_in_module(ra);
        if (is_end || unwind_ra_is_credible(memory, ra)) {
            chain->n_left = n;
            return true;
        }
        if (!ra_is_generated(ra))
            return false;
        state = (struct unwind_state){.pc = ra, .sp = state.fp + 2 * WORD_BYTES, .fp = caller_fp};
    }
    return false;
}

/* The return address is the word at sp + sp_offset, and all up to it is the callee's. */
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
    /* What is behind a call is neither a trampoline nor nowhere. */
    bool is_behind_call = !exact && *behind_call_slot(memory, state->pc) == state->pc;
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
    /* Code that leaves the frame pointer alone must not lose its caller, if that can be told. */
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
