/* credible.c - see credible.h. */
#include "unwind/credible.h"

#include "unwind/arch.h"
#include "unwind/modules.h"

#define WORD_BYTES sizeof(uint64_t)
#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)
#define LOWEST_PC 4096u
#define CHAIN_MAX 1024u
#define NO_CALL (1ull << 63) /* of an address remembered: generated code, no call before it */

SIGNAL_SAFE static uint64_t *behind_call_slot(struct unwind_memory *memory, uint64_t ra)
{
    return &memory->behind_call[(ra ^ ra >> 8) % MEMORY_BEHIND_CALL];
}

/* Whether generated code at `ra` has a call before it. */
SIGNAL_SAFE static bool generated_is_behind_call(struct unwind_memory *memory, uint64_t ra)
{
    uint8_t before[ARCH_CODE_BEFORE_BYTES];
    uint64_t *known = behind_call_slot(memory, ra);
    if (*known == ra || *known == (ra | NO_CALL))
        return *known == ra;
    if (!memory_copy(before, ra - sizeof before, sizeof before) ||
        !arch_is_after_call(before + sizeof before, sizeof before))
        return false;
    *known = ra;
    return true;
}

bool unwind_ra_is_known(struct unwind_memory *memory, uint64_t ra)
{
    return *behind_call_slot(memory, ra) == ra;
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

/* Whether `ra`, which has no call before it, may be code in no module. */
SIGNAL_SAFE static bool ra_is_generated(struct unwind_memory *memory, uint64_t ra)
{
    uint8_t byte;
    uint64_t *known = behind_call_slot(memory, ra);
    if (*known == (ra | NO_CALL))
        return true;
    if (ra < LOWEST_PC || modules_find(ra - 1) != NULL || modules_find(ra) != NULL ||
        !memory_copy(&byte, ra, sizeof byte))
        return false;
    *known = ra | NO_CALL;
    return true;
}

bool unwind_ra_is_in_module(uint64_t ra)
{
    const struct module *module = modules_find(ra);
    return module != NULL && segments_left(&module->segments, ra, SEGMENT_EXECUTE) > 0;
}

/* Whether frame pointer `fp` is one a frame at `sp` can have. */
SIGNAL_SAFE static bool fp_is_in_reach(const struct unwind_memory *memory, uint64_t sp, uint64_t fp)
{
    return fp >= sp && fp % WORD_BYTES == 0 &&
           (memory_is_plain(memory, fp + WORD_BYTES) || fp - sp < UNWIND_FP_DISTANCE_MAX);
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
        bool is_end = caller_fp == 0 && unwind_ra_is_in_module(ra);
        if (is_end || unwind_ra_is_credible(memory, ra)) {
            chain->n_left = n;
            return true;
        }
        if (!ra_is_generated(memory, ra))
            return false;
        state = (struct unwind_state){.pc = ra, .sp = state.fp + 2 * WORD_BYTES, .fp = caller_fp};
    }
    return false;
}

bool unwind_caller_is_credible(struct unwind_memory *memory, struct unwind_state caller,
                               struct unwind_chain *chain)
{
    if (unwind_ra_is_credible(memory, caller.pc))
        return true;
    if (!unwind_chain_is_credible(memory, caller, chain) || !ra_is_generated(memory, caller.pc)) {
        chain->n_left = 0;
        return false;
    }
    chain->fp = caller.fp; /* it begins with the caller itself */
    chain->n_left++;
    return true;
}
