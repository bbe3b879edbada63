/* fp.c - the frame-pointer engine: cheap, for programs built with frame pointers throughout.
 *
 * The chain must lie on the thread's own stack, aligned, and lead outward; nothing else is checked,
 * so code without frame pointers is skipped silently (its caller is missing, not wrong), and cut
 * where it is interrupted with a frame pointer of 0, which leads nowhere. Rules are
 * looked up only for the module of a pc and to recognise the outermost frame. */
#include "capture.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define WORD_BYTES sizeof(uint64_t)

/* One step; why it cannot be made (enum capture_cut), or 0. */
SIGNAL_SAFE static uint32_t step_fp(const struct unwind_memory *memory, struct unwind_state *state)
{
    uint64_t fp = state->fp;
    if (!memory_is_plain(memory, fp) || !memory_is_plain(memory, fp + WORD_BYTES))
        return CAPTURE_CUT_BAD_MEMORY;
    if (fp % WORD_BYTES != 0 || fp < state->sp)
        return CAPTURE_CUT_NO_PROGRESS;
    *state = (struct unwind_state){
        .pc = memory_load(fp + WORD_BYTES), .sp = fp + 2 * WORD_BYTES, .fp = memory_load(fp)};
    return 0;
}

struct unwind_result unwind_fp_walk(struct unwind_thread *thread, const void *context,
                                    const struct unwind_frame **frames)
{
    uint32_t generation = (uint32_t)modules_generation();
    struct unwind_result result = {.n_frames = 0};
    struct unwind_state state;
    arch_registers_init(&thread->base, context);
    state.pc = thread->base.value[ARCH_PC];
    state.sp = thread->base.value[ARCH_SP];
    state.fp = thread->base.value[ARCH_FP];
    memory_enter(&thread->memory, state.sp);
    for (bool exact = true;; exact = false) {
        struct rule_entry spare;
        if (result.n_frames == UNWIND_MAX_FRAMES) {
            result.cut = CAPTURE_CUT_TOO_DEEP;
            break;
        }
        const struct rule_entry *entry =
            unwind_rule_find(thread, state.pc, exact, generation, &spare);
        thread->found.frames[result.n_frames++] =
            (struct unwind_frame){.pc = state.pc, .module = entry->module, .exact = entry->exact};
        if (entry->rule.kind == UNWIND_RULE_END)
            break;
        if (state.fp == 0) {
            /* The ABI's mark of the outermost frame; in the code interrupted, a mere value. */
            if (exact && !memory_is_at_origin(&thread->memory, state.sp))
                result.cut = CAPTURE_CUT_NO_RULE;
            break;
        }
        result.cut = step_fp(&thread->memory, &state);
        if (result.cut == 0 && state.pc == 0)
            result.cut = CAPTURE_CUT_NO_RULE; /* the frame pointer was a mere value */
        if (result.cut != 0)
            break;
    }
    *frames = thread->found.frames;
    return result;
}
