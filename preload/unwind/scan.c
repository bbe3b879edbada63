/* scan.c - leaf functions without rows that keep values in the frame pointer: assembly of libgmp
 * and the like, which pushes what it has to save and records that nowhere.
 *
 *   sp -> saved | saved | ... | return address | caller's frame
 *
 * The first word that passes is taken, and a word passes only if all of this holds: it is the
 * address after a call; that call leads to code without rows shortly before pc, or its target is
 * not known; and from there on rows lead outward through frames that were called, to the outermost
 * one or through VERIFY_FRAMES of them (if the call is known to lead here, a chain of frame
 * pointers may do so in code without rows). The caller's frame pointer is then what is still in the
 * register or one of the words in between: the one with which the walk outward succeeds. Any other
 * return address into code without rows ends the search: it may be the caller's. */
#include "unwind/modules.h"
#include "unwind/thread.h"

#define WORD_BYTES sizeof(uint64_t)
#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)
#define SCAN_WORDS 96u
#define CODE_BYTES_MAX (1ull << 14) /* from a function's start to pc */
#define JUMPS_MAX 4u
#define VERIFY_FRAMES 64u
#define VERIFY_FRAMES_MIN 3u
#define VERIFY_CALLS_MAX 32u
#define OUTSIDE_MAX 24u
#define LOWEST_POINTER 0x10000u

struct scan {
    struct unwind_thread *thread;
    uint32_t generation;
    uint32_t n_verified;
    bool is_called;     /* the call before the word looked at leads to the leaf */
    bool is_lost;       /* a return address that cannot be judged was passed */
    uint32_t n_outside; /* words that may point into generated code */
    uint64_t outside[OUTSIDE_MAX];
    struct unwind_state leaf;
};

/* Where a call of `target` ends up after jumps that only pass it on; 0 when that is not known. */
SIGNAL_SAFE static uint64_t target_follow(struct unwind_memory *memory, uint64_t target)
{
    for (unsigned i = 0; i < JUMPS_MAX; i++) {
        const struct module *module = modules_find(target);
        int64_t distance = 0;
        if (module == NULL)
            return 0;
        enum arch_jump jump =
            arch_jump_read(address_pointer(target),
                           segments_left(&module->segments, target, EXECUTE_READ), &distance);
        if (jump == ARCH_JUMP_NONE)
            return target;
        target += (uint64_t)distance;
        if (jump == ARCH_JUMP_THROUGH_MEMORY &&
            !memory_read_outside(memory, target, WORD_BYTES, &target))
            return 0;
    }
    return 0;
}

/* Whether a call of `target` leads to the code interrupted: a little before pc, without rows. */
SIGNAL_SAFE static bool target_is_leaf(const struct scan *scan, uint64_t target)
{
    struct cfi_fde fde;
    uint64_t start = target_follow(&scan->thread->memory, target);
    return scan->leaf.pc - start < CODE_BYTES_MAX &&
           modules_find(start) == modules_find(scan->leaf.pc) &&
           !unwind_row_find(scan->thread, start, &fde);
}

enum call_kind { CALL_NONE, CALL_OF_LEAF, CALL_UNKNOWN };

/* What the call before `ra` calls; ra is code of a module. */
SIGNAL_SAFE static enum call_kind call_before(const struct scan *scan, const struct module *module,
                                              uint64_t ra)
{
    uint64_t before = ra - ARCH_CODE_BEFORE_BYTES;
    int64_t distance = 0;
    if (segments_left(&module->segments, before, EXECUTE_READ) < ARCH_CODE_BEFORE_BYTES)
        return CALL_NONE;
    const uint8_t *code = address_pointer(ra);
    if (arch_is_after_direct_call(code, ARCH_CODE_BEFORE_BYTES, &distance) &&
        target_is_leaf(scan, ra + (uint64_t)distance))
        return CALL_OF_LEAF;
    return arch_is_after_indirect_call(code, ARCH_CODE_BEFORE_BYTES) ? CALL_UNKNOWN : CALL_NONE;
}

/* Whether rows lead outward from `state`, a frame returned to. */
SIGNAL_SAFE static bool state_is_verified(struct scan *scan, struct unwind_state state)
{
    struct rule_entry spare;
    if (scan->n_verified++ >= VERIFY_CALLS_MAX)
        return false;
    for (uint32_t n = 0; n < VERIFY_FRAMES; n++) {
        const struct rule_entry *entry =
            unwind_rule_find(scan->thread, state.pc, false, scan->generation, &spare);
        if (entry->rule.kind == UNWIND_RULE_END)
            return true;
        if (entry->rule.kind > UNWIND_RULE_DEREF) {
            struct unwind_chain chain;
            bool may_lead_on = scan->is_called && entry->rule.kind == UNWIND_RULE_GUESS;
            return n >= VERIFY_FRAMES_MIN || (may_lead_on && n > 0 && state.fp == 0) ||
                   (may_lead_on && unwind_chain_is_credible(&scan->thread->memory, state, &chain));
        }
        if (unwind_rule_run(entry->rule, &scan->thread->memory, &state) != UNWIND_STEP_OK ||
            !unwind_ra_is_credible(&scan->thread->memory, state.pc))
            return false;
    }
    return true;
}

/* The caller whose return address `ra` is at `slot`, with the frame pointer that fits. */
SIGNAL_SAFE static bool caller_find(struct scan *scan, uint64_t slot, uint64_t ra,
                                    struct unwind_state *caller)
{
    *caller = (struct unwind_state){.pc = ra, .sp = slot + WORD_BYTES, .fp = scan->leaf.fp};
    if (state_is_verified(scan, *caller))
        return true;
    for (uint64_t at = slot; at > scan->leaf.sp; at -= WORD_BYTES) {
        uint64_t fp = 0;
        if (!memory_read(&scan->thread->memory, at - WORD_BYTES, &fp) || fp % WORD_BYTES != 0 ||
            (fp != 0 && fp - slot >= UNWIND_FP_DISTANCE_MAX))
            continue;
        caller->fp = fp;
        if (state_is_verified(scan, *caller))
            return true;
    }
    return false;
}

/* Whether a word passed on the way is a return address into generated code. */
SIGNAL_SAFE static bool passed_generated_code(struct scan *scan)
{
    for (uint32_t i = 0; i < scan->n_outside; i++) {
        if (unwind_ra_is_credible(&scan->thread->memory, scan->outside[i]))
            return true;
    }
    return false;
}

/* `word` at `slot`: whether it is the return address, its frame then in *caller. */
SIGNAL_SAFE static bool word_is_return(struct scan *scan, bool direct_only, uint64_t slot,
                                       uint64_t word, struct unwind_state *caller)
{
    const struct module *module = modules_find(word - 1);
    if (module == NULL) {
        if (word >= LOWEST_POINTER && !memory_is_plain(&scan->thread->memory, word) &&
            word >> 47 == 0 && scan->n_outside < OUTSIDE_MAX)
            scan->outside[scan->n_outside++] = word;
        return false;
    }
    enum call_kind kind = call_before(scan, module, word);
    if (kind == CALL_NONE || (direct_only && kind != CALL_OF_LEAF))
        return false;
    scan->is_called = kind == CALL_OF_LEAF;
    if (caller_find(scan, slot, word, caller))
        return true;
    struct cfi_fde fde;
    scan->is_lost = !unwind_row_find(scan->thread, word - 1, &fde);
    return false;
}

/* Whether the frame pointer is the leaf's own: the call before the address it leads to calls it. */
SIGNAL_SAFE static bool fp_is_of_leaf(const struct scan *scan)
{
    struct unwind_memory *memory = &scan->thread->memory;
    uint64_t ra = 0;
    if (scan->leaf.fp < scan->leaf.sp || !memory_is_plain(memory, scan->leaf.fp + WORD_BYTES) ||
        !memory_read(memory, scan->leaf.fp + WORD_BYTES, &ra))
        return false;
    const struct module *module = modules_find(ra - 1);
    return module != NULL && call_before(scan, module, ra) == CALL_OF_LEAF;
}

bool unwind_scan(struct unwind_thread *thread, bool direct_only, uint32_t generation,
                 struct unwind_state *state)
{
    struct scan scan;
    scan.thread = thread;
    scan.generation = generation;
    scan.n_verified = 0;
    scan.n_outside = 0;
    scan.is_lost = false;
    scan.leaf = *state;
    if (state->sp % WORD_BYTES != 0 ||
        (direct_only && (modules_find(state->pc) == NULL || fp_is_of_leaf(&scan))))
        return false;
    for (uint32_t i = 0; i < SCAN_WORDS && scan.n_outside < OUTSIDE_MAX && !scan.is_lost; i++) {
        uint64_t slot = state->sp + i * WORD_BYTES;
        uint64_t word = 0;
        struct unwind_state caller;
        if (!memory_read(&thread->memory, slot, &word))
            return false;
        if (word < LOWEST_POINTER || !word_is_return(&scan, direct_only, slot, word, &caller))
            continue;
        if (passed_generated_code(&scan))
            return false;
        *state = caller;
        return true;
    }
    return false;
}
