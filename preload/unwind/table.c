/* table.c - the default engine: rows of .eh_frame, found by pc, cached as short rules.
 *
 * The usual walk follows pc, sp and fp only. When a row needs another register (a cfa in rbx, an
 * expression), and that register was handed down through frames already walked, the walk goes back
 * to the last frame whose registers are all known - the interrupted one, or the one under a signal
 * frame - and starts again from there running whole rows. That happens at most once per such frame,
 * so a walk stays linear.
 *
 * Reuse: the outer part of a stack seldom changes between two samples. The previous result is kept
 * with the state (pc, sp, fp) of each frame and the place its caller's fp was read from. Once the
 * walk stands in the same state as a kept frame, the frames outside of it are the same as long as
 * the words their steps read are the same, which is what kept_verify compares; the first step that
 * is of another kind, or reads another word, is made anew, and the walk may reach the kept list
 * again further out. Nothing is taken over unverified. */
#include <string.h>

#include "capture.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define POINTERS_KNOWN (1u << ARCH_PC | 1u << ARCH_SP | 1u << ARCH_FP)

#define KEPT_SEARCHES_MAX 8u /* searches of the kept list in one walk */
#define SWITCHES_MAX 8u      /* of the stack, by code without rows: a bound, as sp need not grow */
#define LIST_FEW 4u          /* frames copied one by one instead of by memcpy */

struct walk {
    struct unwind_thread *thread;
    struct unwind_state state; /* the current frame                                            */
    bool exact;                /* its pc was interrupted, not returned to                      */
    bool at_end;               /* the outermost frame was reached, by its rule                 */
    bool all_registers;        /* thread->registers are followed too                           */
    uint32_t generation;
    uint32_t n_frames;      /* found so far, the current one not included                    */
    uint32_t base_n_frames; /* the same when thread->base were the current frame's registers */
    uint32_t cut;
    uint32_t n_switches; /* of the stack, by code without rows                               */
    uint32_t n_entered;  /* interrupted frames reached                                       */
    uint32_t kept_next;  /* the kept frame the walk may reach next                           */
    uint64_t kept_sp;    /* its sp; UINT64_MAX: none                                         */
};

SIGNAL_SAFE static struct unwind_state state_of(const struct unwind_registers *registers)
{
    return (struct unwind_state){.pc = registers->value[ARCH_PC],
                                 .sp = registers->value[ARCH_SP],
                                 .fp = registers->value[ARCH_FP]};
}

/* The kept frame that walk_run_fast must stop at. */
SIGNAL_SAFE static void kept_move_to(struct walk *walk, uint32_t index)
{
    walk->kept_next = index;
    walk->kept_sp = index < UNWIND_MAX_FRAMES && !walk->all_registers
                        ? walk->thread->kept.slots[index].sp
                        : UINT64_MAX;
}

/* thread->base holds the registers of an interrupted frame: the walk continues from there. */
SIGNAL_SAFE static void walk_enter(struct walk *walk)
{
    walk->state = state_of(&walk->thread->base);
    walk->exact = true;
    walk->all_registers = false;
    walk->base_n_frames = walk->n_frames;
    walk->thread->chain.n_left = 0;
    walk->thread->left_sp = 0;
    walk->thread->n_followed = 0;
    walk->thread->code.n = 0;
    memory_enter(&walk->thread->memory, walk->state.sp);
    /* The kept list is searched again from its leaf; not for every frame of a stack full of signal
     * frames, or a walk would be quadratic. */
    kept_move_to(walk, walk->n_entered++ < KEPT_SEARCHES_MAX ? walk->thread->kept_start
                                                             : UNWIND_MAX_FRAMES);
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
    /* Interrupted hand-written code may be about to leave this stack, or stay where it is with the
     * return address in a register (setcontext, the end of an exception's unwinding). */
    bool leaves_stack = fde.signal_frame || walk->exact;
    enum unwind_step_result result = unwind_row_run(&thread->row, fde.ra_column, leaves_stack,
                                                    &thread->memory, &thread->registers);
    if (result == UNWIND_STEP_UNKNOWN && !walk->all_registers) {
        walk->n_frames = walk->base_n_frames;
        walk->state = state_of(&thread->base);
        walk->exact = true;
        walk->all_registers = true;
        kept_move_to(walk, UNWIND_MAX_FRAMES);
        thread->registers = thread->base;
        return true;
    }
    if (result != UNWIND_STEP_OK) {
        walk->cut = result == UNWIND_STEP_END ? 0 : cut_of(result);
        return false;
    }
    bool has_left = fde.signal_frame || thread->registers.value[ARCH_SP] < walk->state.sp;
    walk->state = state_of(&thread->registers);
    walk->exact = fde.signal_frame;
    if (has_left)
        memory_enter(&thread->memory, walk->state.sp);
    return walk->state.pc != 0;
}

/* A step by the frame pointer depends on nothing but the two words it reads, so the next walk may
 * verify it: code at the return address of a live frame does not change its kind. */
SIGNAL_SAFE static void slot_set_simple_fp(struct walk *walk, uint64_t fp)
{
    struct unwind_slot *slot = &walk->thread->found.slots[walk->n_frames - 1];
    const struct unwind_memory *memory = &walk->thread->memory;
    if (walk->exact || !memory_is_plain(memory, fp) || !memory_is_plain(memory, fp + 8))
        return;
    slot->fp_slot = fp;
}

SIGNAL_SAFE static bool step_guess(struct walk *walk)
{
    uint64_t fp = walk->state.fp;
    enum unwind_guess_result result =
        unwind_guess(walk->thread, walk->exact, walk->generation, &walk->state);
    if (result == UNWIND_GUESS_OK_FP)
        slot_set_simple_fp(walk, fp);
    if (result == UNWIND_GUESS_SIGNAL_RETURN)
        return step_signal(walk);
    if (result == UNWIND_GUESS_BAD_PC) {
        walk->n_frames--; /* no frame at all */
        walk->cut = CAPTURE_CUT_BAD_MEMORY;
    } else if (result == UNWIND_GUESS_NONE) {
        walk->cut = CAPTURE_CUT_NO_RULE;
    }
    if (result == UNWIND_GUESS_OTHER_STACK) {
        if (walk->n_switches++ == SWITCHES_MAX) {
            walk->cut = CAPTURE_CUT_NO_PROGRESS;
            return false;
        }
        memory_enter(&walk->thread->memory, walk->state.sp);
    }
    walk->exact = false;
    registers_from_state(walk);
    return walk->cut == 0 && result != UNWIND_GUESS_END && walk->state.pc != 0;
}

/* The step for the frame just noted, by its entry. False: the walk is over. */
SIGNAL_SAFE static bool step_special(struct walk *walk, const struct rule_entry *entry)
{
    if (entry->rule.kind == UNWIND_RULE_END) {
        walk->at_end = true;
        return false;
    }
    if (entry->rule.kind == UNWIND_RULE_SIGNAL)
        return step_signal(walk);
    if (entry->rule.kind == UNWIND_RULE_GUESS)
        return step_guess(walk);
    return step_full(walk, walk->state.pc - !entry->exact);
}

/* One frame by the long way: any rule, any memory. False: the walk is over. */
SIGNAL_SAFE static bool walk_step(struct walk *walk)
{
    struct unwind_thread *thread = walk->thread;
    struct rule_entry spare;
    const struct rule_entry *entry =
        unwind_rule_find(thread, walk->state.pc, walk->exact, walk->generation, &spare);
    thread->found.frames[walk->n_frames] =
        (struct unwind_frame){.pc = walk->state.pc, .module = entry->module, .exact = entry->exact};
    thread->found.slots[walk->n_frames] = (struct unwind_slot){
        .sp = walk->state.sp,
        .fp = walk->state.fp,
        .fp_slot =
            entry->rule.kind == UNWIND_RULE_END ? UNWIND_SLOT_FP_SAME : UNWIND_SLOT_NOT_SIMPLE,
        .interrupted = walk->exact};
    walk->n_frames++;
    if (entry->rule.kind > UNWIND_RULE_DEREF || walk->all_registers)
        return step_special(walk, entry);
    enum unwind_step_result result = unwind_rule_run(entry->rule, &thread->memory, &walk->state);
    if (result != UNWIND_STEP_OK)
        walk->cut = cut_of(result);
    walk->exact = false;
    return result == UNWIND_STEP_OK && walk->state.pc != 0;
}

/* Walks over frames whose rule is cached, is of one of the four common kinds, and reads plain stack
 * only. Stops at the first other one, at the limit, and at or beyond the kept frame
 * `walk->kept_next`. The same steps as walk_step, with everything in registers. */
SIGNAL_SAFE static void walk_run_fast(struct walk *walk)
{
    struct unwind_thread *thread = walk->thread;
    struct unwind_list *found = &thread->found;
    const uint64_t start = thread->memory.start;
    const uint64_t n_plain = thread->memory.n_plain;
    const uint64_t kept_sp = walk->kept_sp;
    const uint32_t generation = walk->generation;
    struct unwind_state state = walk->state;
    uint64_t exact = walk->exact;
    uint32_t n = walk->n_frames;
    while (n < UNWIND_MAX_FRAMES && state.sp < kept_sp && state.pc != 0) {
        uint64_t key = rule_key(state.pc, exact);
        const struct rule_entry *entry = rule_cache_slot(&thread->rules, state.pc);
        uint32_t kind = entry->rule.kind;
        if (!rule_entry_holds(entry, key, generation) || kind > UNWIND_RULE_FP_FP)
            break;
        uint64_t base = (kind & UNWIND_RULE_FP) != 0 ? state.fp : state.sp;
        uint64_t cfa = base + (uint64_t)(int64_t)entry->rule.cfa_offset;
        uint64_t ra_slot = cfa + (uint64_t)ARCH_RA_OFFSET;
        uint64_t fp_slot = UNWIND_SLOT_FP_SAME;
        uint64_t fp = state.fp;
        if (cfa <= state.sp || ra_slot - start >= n_plain)
            break;
        if ((kind & UNWIND_RULE_SP_FP) != 0) {
            fp_slot = cfa + (uint64_t)(int64_t)entry->rule.fp_offset;
            if (fp_slot - start >= n_plain)
                break;
            fp = memory_load(fp_slot);
            if (unlikely(fp_slot < state.sp))
                fp_slot = UNWIND_SLOT_NOT_SIMPLE;
        }
        if (unlikely(ra_slot < state.sp))
            fp_slot = UNWIND_SLOT_NOT_SIMPLE;
        found->frames[n] =
            (struct unwind_frame){.pc = state.pc, .module = entry->module, .exact = entry->exact};
        found->slots[n] = (struct unwind_slot){
            .sp = state.sp, .fp = state.fp, .fp_slot = fp_slot, .interrupted = exact};
        n++;
        state = (struct unwind_state){.pc = memory_load(ra_slot), .sp = cfa, .fp = fp};
        exact = 0;
    }
    walk->state = state;
    walk->exact = exact != 0;
    walk->n_frames = n;
}

/* From kept frame `index`, whose state is the walk's: the first kept frame whose step cannot be
 * shown to lead where it led before; UNWIND_MAX_FRAMES if all lead there. Every word looked at is
 * plain stack above the walk's sp, so it can be loaded. */
SIGNAL_SAFE static uint32_t kept_verify(const struct unwind_list *kept, uint32_t index)
{
#pragma GCC unroll 4
    for (; index + 1 < UNWIND_MAX_FRAMES; index++) {
        const struct unwind_slot *slot = &kept->slots[index];
        const struct unwind_slot *caller = &kept->slots[index + 1];
        if (unlikely(slot->fp_slot == UNWIND_SLOT_NOT_SIMPLE))
            return index;
        uint64_t changed =
            memory_load(caller->sp + (uint64_t)ARCH_RA_OFFSET) ^ kept->frames[index + 1].pc;
        if (slot->fp_slot != UNWIND_SLOT_FP_SAME)
            changed |= memory_load(slot->fp_slot) ^ caller->fp;
        if (unlikely(changed != 0))
            return index;
    }
    return kept->slots[index].fp_slot != UNWIND_SLOT_NOT_SIMPLE ? UNWIND_MAX_FRAMES : index;
}

SIGNAL_SAFE static void list_copy(struct unwind_list *to, uint32_t to_index,
                                  const struct unwind_list *from, uint32_t from_index, uint32_t n)
{
    if (n <= LIST_FEW) { /* the new frames of a stack that is otherwise the same */
        for (uint32_t i = 0; i < n; i++) {
            to->frames[to_index + i] = from->frames[from_index + i];
            to->slots[to_index + i] = from->slots[from_index + i];
        }
        return;
    }
    memcpy(&to->frames[to_index], &from->frames[from_index], n * sizeof to->frames[0]);
    memcpy(&to->slots[to_index], &from->slots[from_index], n * sizeof to->slots[0]);
}

/* The walk has reached the sp of the next kept frame, or passed it. True: the rest is as it was,
 * from kept frame walk->kept_next on. */
SIGNAL_SAFE static bool kept_meet(struct walk *walk)
{
    struct unwind_thread *thread = walk->thread;
    const struct unwind_list *kept = &thread->kept;
    uint32_t index = walk->kept_next;
    while (index < UNWIND_MAX_FRAMES && kept->slots[index].sp < walk->state.sp)
        index++;
    bool met = index < UNWIND_MAX_FRAMES && kept->slots[index].sp == walk->state.sp &&
               kept->slots[index].fp == walk->state.fp &&
               kept->frames[index].pc == walk->state.pc &&
               (kept->slots[index].interrupted != 0) == walk->exact && walk->n_frames <= index;
    if (!met) {
        bool here = index < UNWIND_MAX_FRAMES && kept->slots[index].sp == walk->state.sp;
        kept_move_to(walk, index + here);
        return false;
    }
    uint32_t stop = kept_verify(kept, index);
    if (stop == UNWIND_MAX_FRAMES) {
        walk->kept_next = index;
        return true;
    }
    /* Good up to `stop`, whose own step has to be made anew. */
    list_copy(&thread->found, walk->n_frames, kept, index, stop - index);
    walk->n_frames += stop - index;
    walk->exact = kept->slots[stop].interrupted != 0;
    walk->state = (struct unwind_state){
        .pc = kept->frames[stop].pc, .sp = kept->slots[stop].sp, .fp = kept->slots[stop].fp};
    kept_move_to(walk, stop + 1);
    return false;
}

/* Walks until the stack ends (false) or continues as kept (true). */
SIGNAL_SAFE static bool walk_run(struct walk *walk)
{
    for (;;) {
        if (!walk->all_registers)
            walk_run_fast(walk);
        if (walk->state.sp >= walk->kept_sp) {
            if (kept_meet(walk))
                return true;
            continue; /* kept_next has moved on */
        }
        if (unlikely(walk->n_frames == UNWIND_MAX_FRAMES)) {
            walk->cut = CAPTURE_CUT_TOO_DEEP;
            return false;
        }
        if ((walk->state.pc == 0 && !walk->exact) || !walk_step(walk))
            return false;
    }
}

/* How many outermost frames of the list found are those kept, at the same place. */
SIGNAL_SAFE static uint32_t kept_count_same(const struct unwind_thread *thread, uint32_t n_found)
{
    uint32_t n_same = 0;
    uint32_t n_kept = UNWIND_MAX_FRAMES - thread->kept_start;
    while (n_same < n_found && n_same < n_kept) {
        uint32_t a = n_found - 1 - n_same;
        uint32_t b = UNWIND_MAX_FRAMES - 1 - n_same;
        const struct unwind_frame *found = &thread->found.frames[a];
        const struct unwind_frame *kept = &thread->kept.frames[b];
        bool same = found->pc == kept->pc && found->module == kept->module &&
                    found->exact == kept->exact &&
                    thread->found.slots[a].sp == thread->kept.slots[b].sp;
        if (!same)
            break;
        n_same++;
    }
    return n_same;
}

struct unwind_result unwind_table_walk(struct unwind_thread *thread, const void *context,
                                       const struct unwind_frame **frames)
{
    struct walk walk = {.thread = thread, .generation = (uint32_t)modules_generation()};
    struct unwind_result result;
    if (thread->kept_generation != walk.generation)
        unwind_thread_forget(thread);
    thread->kept_generation = walk.generation;
    arch_registers_init(&thread->base, context);
    walk_enter(&walk);
    bool is_kept = walk_run(&walk);
    if (is_kept) {
        result.n_same = UNWIND_MAX_FRAMES - walk.kept_next;
        result.cut = 0;
        thread->kept_start = walk.kept_next - walk.n_frames;
    } else {
        result.n_same = kept_count_same(thread, walk.n_frames);
        result.cut = walk.cut;
        thread->kept_start = UNWIND_MAX_FRAMES - walk.n_frames;
    }
    list_copy(&thread->kept, thread->kept_start, &thread->found, 0, walk.n_frames);
    /* A last frame that is not the outermost one must not be taken for it next time, even if its
     * own step was simple (it led to no frame: a zero, or a pc where no code is). */
    if (!is_kept && !walk.at_end)
        thread->kept.slots[UNWIND_MAX_FRAMES - 1].fp_slot = UNWIND_SLOT_NOT_SIMPLE;
    result.n_frames = UNWIND_MAX_FRAMES - thread->kept_start;
    *frames = &thread->kept.frames[thread->kept_start];
    return result;
}
