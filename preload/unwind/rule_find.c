/* rule_find.c - lookup: from an address in some module to its rule.
 *
 *   cache -> module -> signal trampoline? -> fde -> row -> short rule -> cache */
#include <string.h>

#include "unwind/modules.h"
#include "unwind/thread.h"

#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)

/* Whether the code at `pc` is a signal trampoline. */
SIGNAL_SAFE static bool code_is_signal_return(const struct module *module, uint64_t pc)
{
    return arch_is_signal_return(address_pointer(pc),
                                 segments_left(&module->segments, pc, EXECUTE_READ));
}

SIGNAL_SAFE static bool module_row_find(struct unwind_thread *thread, const struct module *module,
                                        uint64_t lookup, struct cfi_fde *fde)
{
    return module->eh_frame_hdr != 0 &&
           cfi_fde_find(&module->segments, module->eh_frame_hdr, lookup, fde) &&
           cfi_row_find(fde, lookup, &thread->workspace, &thread->row);
}

bool unwind_row_find(struct unwind_thread *thread, uint64_t lookup, struct cfi_fde *fde)
{
    const struct module *module = modules_find(lookup);
    return module != NULL && module_row_find(thread, module, lookup, fde);
}

SIGNAL_SAFE static bool code_is_return(const struct module *module, uint64_t pc)
{
    return arch_is_return(address_pointer(pc), segments_left(&module->segments, pc, EXECUTE_READ));
}

SIGNAL_SAFE static bool code_is_context_start(const struct module *module, uint64_t start)
{
    return arch_is_context_start(address_pointer(start),
                                 segments_left(&module->segments, start, EXECUTE_READ));
}

SIGNAL_SAFE static bool code_is_after_call(const struct module *module, uint64_t pc)
{
    uint64_t before = pc - ARCH_CODE_BEFORE_BYTES;
    if (segments_left(&module->segments, before, EXECUTE_READ) < ARCH_CODE_BEFORE_BYTES)
        return true; /* cannot be seen: the usual case is assumed */
    return arch_is_after_call(address_pointer(pc), ARCH_CODE_BEFORE_BYTES);
}

SIGNAL_SAFE static struct unwind_rule
module_rule_make(struct unwind_thread *thread, const struct module *module, uint64_t pc, bool exact)
{
    struct cfi_fde fde;
    /* The handler returns to the trampoline's first instruction; the trampoline itself may be
     * interrupted at that one or at its second. */
    if (code_is_signal_return(module, pc) ||
        (exact && code_is_signal_return(module, pc - ARCH_SIGNAL_RETURN_SYSCALL)))
        return (struct unwind_rule){.kind = UNWIND_RULE_SIGNAL};
    if (!module_row_find(thread, module, pc - !exact, &fde))
        return (struct unwind_rule){.kind = UNWIND_RULE_GUESS};
    if (code_is_context_start(module, fde.pc_start))
        return (struct unwind_rule){.kind = UNWIND_RULE_END};
    struct unwind_rule rule = unwind_rule_make(&thread->row, fde.ra_column);
    /* Compilers that get the row of the last instruction wrong do so with rules of the rarer kinds
     * (gcc 12: realigned functions with stack arguments, __builtin_eh_return). */
    if (exact && rule.kind == UNWIND_RULE_FULL && code_is_return(module, pc))
        return (struct unwind_rule){.cfa_offset = -ARCH_RA_OFFSET, .kind = UNWIND_RULE_SP};
    if (fde.signal_frame && rule.kind != UNWIND_RULE_END)
        rule.kind = UNWIND_RULE_FULL; /* the caller was interrupted: its pc is exact */
    return rule;
}

const struct rule_entry *unwind_rule_find(struct unwind_thread *thread, uint64_t pc, bool exact,
                                          uint32_t generation, struct rule_entry *spare)
{
    uint64_t key = rule_key(pc, exact);
    struct rule_entry *entry = rule_cache_slot(&thread->rules, pc);
    if (likely(rule_entry_holds(entry, key, generation)))
        return entry;
    const struct module *module = modules_find(pc - !exact);
    if (module == NULL && !exact)
        module = modules_find(pc); /* the first byte of a module, returned to */
    if (module == NULL) {
        /* Not kept: a module may be loaded here without the generation going up. */
        *spare = (struct rule_entry){.key = key, .exact = exact, .rule.kind = UNWIND_RULE_GUESS};
        return spare;
    }
    bool at_pc = exact || !code_is_after_call(module, pc);
    *entry = (struct rule_entry){.key = key,
                                 .generation = generation,
                                 .module = module->id,
                                 .rule = module_rule_make(thread, module, pc, at_pc),
                                 .exact = at_pc};
    return entry;
}
