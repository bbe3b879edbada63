/* unwind_table.c - the default engine: rows of .eh_frame, found by pc, cached as short rules.
 *
 * The usual walk follows pc, sp and fp only. When a row needs another register (a cfa in rbx, an
 * expression), and that register was handed down through frames already walked, the walk goes back
 * to the last frame whose registers are all known - the interrupted one, or the one under a signal
 * frame - and comes again running whole rows. That happens at most once per such frame, so a walk
 * stays linear. */
#include "capture.h"
#include "modules.h"
#include "unwind_thread.h"

#define POINTERS_KNOWN (1u << ARCH_PC | 1u << ARCH_SP | 1u << ARCH_FP)

struct walk {
    struct unwind_thread *thread;
    struct unwind_state state; /* the current frame                                            */
    bool exact;                /* its pc was interrupted, not returned to                      */
    bool all_registers;        /* thread->registers are followed too                           */
    uint32_t generation;
    uint32_t n_frames;      /* found so far, the current one not included                    */
    uint32_t base_n_frames; /* the same when thread->base were the current frame's registers */
    uint32_t cut;
};

SIGNAL_SAFE static struct unwind_state state_of(const struct unwind_registers *registers)
{
    return (struct unwind_state){.pc = registers->value[ARCH_PC],
                                 .sp = registers->value[ARCH_SP],
                                 .fp = registers->value[ARCH_FP]};
}

/* thread->base holds the registers of an interrupted frame: go on from there. */
SIGNAL_SAFE static void walk_enter(struct walk *walk)
{
    walk->state = state_of(&walk->thread->base);
    walk->exact = true;
    walk->all_registers = false;
    walk->base_n_frames = walk->n_frames;
    memory_enter(&walk->thread->memory, walk->state.sp);
}

/* thread->registers from what the usual walk knows of the current frame. */
SIGNAL_SAFE static void registers_from_state(struct walk *walk)
{
    struct unwind_registers *registers = &walk->thread->registers;
    registers->known = POINTERS_KNOWN;
    registers->value[ARCH_PC] = walk->state.pc;
    registers->value[ARCH_SP] = walk->state.sp;
    registers->value[ARCH_FP] = walk->state.fp;
}

SIGNAL_SAFE static bool step_signal(struct walk *walk)
{
    if (!arch_signal_frame_read(&walk->thread->memory, walk->state.sp, &walk->thread->base)) {
        walk->cut = CAPTURE_CUT_BAD_MEMORY;
        return false;
    }
    walk_enter(walk);
    return true;
}

SIGNAL_SAFE static uint32_t cut_of(enum unwind_step_result result)
{
    if (result == UNWIND_STEP_BAD_MEMORY)
        return CAPTURE_CUT_BAD_MEMORY;
    return result == UNWIND_STEP_NO_PROGRESS ? CAPTURE_CUT_NO_PROGRESS : CAPTURE_CUT_NO_RULE;
}

/* Runs the whole row. */
SIGNAL_SAFE static bool step_full(struct walk *walk, uint64_t lookup)
{
    struct unwind_thread *thread = walk->thread;
    struct cfi_fde fde;
    if (!unwind_row_find(thread, lookup, &fde)) {
        walk->cut = CAPTURE_CUT_NO_RULE; /* unloaded since its rule was made */
        return false;
    }
    if (!walk->all_registers && walk->n_frames == walk->base_n_frames + 1)
        thread->registers = thread->base;
    else if (!walk->all_registers)
        registers_from_state(walk);
    enum unwind_step_result result = unwind_row_run(&thread->row, fde.ra_column, fde.signal_frame,
                                                    &thread->memory, &thread->registers);
    if (result == UNWIND_STEP_UNKNOWN && !walk->all_registers) {
        walk->n_frames = walk->base_n_frames;
        walk->state = state_of(&thread->base);
        walk->exact = true;
        walk->all_registers = true;
        thread->registers = thread->base;
        return true;
    }
    if (result != UNWIND_STEP_OK) {
        walk->cut = result == UNWIND_STEP_END ? 0 : cut_of(result);
        return false;
    }
    walk->state = state_of(&thread->registers);
    walk->exact = fde.signal_frame;
    if (fde.signal_frame)
        memory_enter(&thread->memory, walk->state.sp);
    return walk->state.pc != 0;
}

SIGNAL_SAFE static bool step_guess(struct walk *walk)
{
    enum unwind_guess_result result =
        unwind_guess(&walk->thread->memory, walk->exact, &walk->state);
    if (result == UNWIND_GUESS_SIGNAL_RETURN)
        return step_signal(walk);
    if (result == UNWIND_GUESS_BAD_PC) {
        walk->n_frames--; /* no frame at all */
        walk->cut = CAPTURE_CUT_BAD_MEMORY;
    } else if (result == UNWIND_GUESS_NONE) {
        walk->cut = CAPTURE_CUT_NO_RULE;
    }
    walk->exact = false;
    registers_from_state(walk);
    return result == UNWIND_GUESS_OK && walk->state.pc != 0;
}

/* The step for the frame just noted, by its entry. False: the walk is over. */
SIGNAL_SAFE static bool step_special(struct walk *walk, const struct rule_entry *entry)
{
    if (entry->rule.kind == UNWIND_RULE_END)
        return false;
    if (entry->rule.kind == UNWIND_RULE_SIGNAL)
        return step_signal(walk);
    if (entry->rule.kind == UNWIND_RULE_GUESS)
        return step_guess(walk);
    return step_full(walk, walk->state.pc - !entry->exact);
}

SIGNAL_SAFE static void walk_run(struct walk *walk)
{
    struct unwind_thread *thread = walk->thread;
    for (;;) {
        struct rule_entry spare;
        if (unlikely(walk->n_frames == UNWIND_MAX_FRAMES)) {
            walk->cut = CAPTURE_CUT_TOO_DEEP;
            return;
        }
        const struct rule_entry *entry =
            unwind_rule_find(thread, walk->state.pc, walk->exact, walk->generation, &spare);
        thread->frames[walk->n_frames++] = (struct unwind_frame){
            .pc = walk->state.pc, .module = entry->module, .exact = entry->exact};
        if (unlikely(entry->rule.kind > UNWIND_RULE_DEREF || walk->all_registers)) {
            if (!step_special(walk, entry))
                return;
            continue;
        }
        enum unwind_step_result result =
            unwind_rule_run(entry->rule, &thread->memory, &walk->state);
        if (unlikely(result != UNWIND_STEP_OK)) {
            walk->cut = cut_of(result);
            return;
        }
        walk->exact = false;
        if (unlikely(walk->state.pc == 0))
            return;
    }
}

struct unwind_result unwind_table_walk(struct unwind_thread *thread, const void *context,
                                       const struct unwind_frame **frames)
{
    struct walk walk = {.thread = thread, .generation = (uint32_t)modules_generation()};
    arch_registers_init(&thread->base, context);
    walk_enter(&walk);
    walk_run(&walk);
    *frames = thread->frames;
    return (struct unwind_result){.n_frames = walk.n_frames, .cut = walk.cut};
}
