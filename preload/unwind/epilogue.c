/* epilogue.c - frames of code without rows, by what the code will do until it returns.
 *
 * Assembly and compiled code of runtimes that use the frame pointer for values of their own say in
 * one place only where the return address is: in their instructions. These are followed from pc on,
 * with sp and fp as they are: what they add, pop and load is done on copies; calls come back; at a
 * branch the next instruction is taken first, the other side later. Where they return, or jump to
 * another function with the frame taken down, the return address is at sp, and the frame pointer is
 * what has been put back. (HPCToolkit reads functions from their start to pc; where a function
 * starts is not known here, and there are fewer ways to take a frame down than to build it.)
 *
 * What lies below the frame's sp has not been written yet: a register saved there on the way and
 * loaded again keeps its value. A wrong path is possible (behind a call that never comes back the
 * next function begins), so the return address must be credible.
 *
 * Generated code may be long, full of calls that never come back, and left by a jump from its last
 * instructions only: its paths are followed by turns, and also on behind a jump. */
#include "unwind/credible.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define WORD_BYTES sizeof(uint64_t)
#define EXECUTE_READ (SEGMENT_EXECUTE | SEGMENT_READ)
#define INSTRUCTIONS_MAX 4096u      /* of a frame, in all paths together */
#define WALK_INSTRUCTIONS_MAX 8192u /* of all frames of a walk */
#define SLICE_INSTRUCTIONS 64u      /* of a path, before it is the turn of the others */
#define TAIL_DISTANCE_MIN (1 << 14) /* of a jump that leaves the function */
#define NO_SLOT 1u

/* The following of one frame's code. */
struct follower {
    struct unwind_thread *thread;
    struct unwind_memory *memory;
    const struct module *module; /* of the frame; NULL: its code is generated    */
    uint64_t low, fp;            /* sp and fp of the frame                       */
    uint32_t n_left;             /* instructions                                 */
    uint32_t n_paths;
    uint32_t n_returns; /* met, credible or not                         */
    bool only_stops;    /* every path so far ended where code stops     */
    /* The path. */
    struct unwind_registers registers;
    uint64_t fp_slot;   /* where fp was loaded from; 0: it is as it was */
    bool is_constant;   /* sp is the frame's and a number, each time    */
    uint32_t kept;      /* registers left alone: bits                   */
    uint64_t return_sp; /* the caller's, credible or not; else `low`    */
    /* The code that is read: what is at code_start is at `code`. */
    uint64_t code_start;
    uint64_t n_code_bytes;
    const uint8_t *code;
};

/* Code of no module, or of one without a frame here, which may be unloaded meanwhile: as a copy.
 * Returns how many bytes are at *code. */
SIGNAL_SAFE static size_t copied_code(struct unwind_thread *thread, uint64_t pc,
                                      const uint8_t **code)
{
    struct unwind_code *copies = &thread->code;
    uint64_t offset = pc % MEMORY_PAGE_BYTES;
    uint32_t i = 0;
    while (i < copies->n && copies->pages[i] != pc - offset)
        i++;
    if (i == UNWIND_CODE_PAGES)
        return 0;
    if (i == copies->n) {
        bool is_read = memory_copy(copies->bytes[i], pc - offset, MEMORY_PAGE_BYTES);
        copies->pages[i] = pc - offset;
        copies->n_bytes[i] = is_read ? MEMORY_PAGE_BYTES : 0;
        copies->n++;
    }
    *code = copies->bytes[i] + offset;
    return copies->n_bytes[i] == 0 ? 0 : MEMORY_PAGE_BYTES - offset;
}

/* Makes follower->code the code at `pc`. */
SIGNAL_SAFE static void code_find(struct follower *follower, uint64_t pc)
{
    const struct module *module = modules_find(pc);
    bool is_own = module != NULL && module == follower->module;
    follower->code_start = pc;
    follower->code = address_pointer(pc);
    follower->n_code_bytes = is_own ? segments_left(&module->segments, pc, EXECUTE_READ)
                                    : copied_code(follower->thread, pc, &follower->code);
}

/* The instruction at `pc`. */
SIGNAL_SAFE static struct arch_instruction instruction_at(struct follower *follower, uint64_t pc)
{
    uint8_t across[ARCH_INSTRUCTION_BYTES_MAX];
    if (pc - follower->code_start + sizeof across > follower->n_code_bytes)
        code_find(follower, pc);
    uint64_t offset = pc - follower->code_start;
    size_t n_bytes = follower->n_code_bytes - offset;
    if (n_bytes == 0)
        return (struct arch_instruction){.effect = ARCH_UNKNOWN};
    /* Copied code may go on in the next page. */
    if (n_bytes < sizeof across && memory_copy(across, pc, sizeof across))
        return arch_instruction_read(across, sizeof across);
    return arch_instruction_read(follower->code + offset, n_bytes);
}

/* Where the caller's fp is, as struct unwind_exit has it. */
SIGNAL_SAFE static uint32_t exit_fp_offset(const struct follower *follower)
{
    if (follower->fp_slot == 0 || follower->fp_slot == NO_SLOT)
        return follower->fp_slot == 0 ? UNWIND_EXIT_FP_SAME : UNWIND_EXIT_FP_UNKNOWN;
    return (uint32_t)(follower->fp_slot - follower->low);
}

/* The code at `pc` may run next: followed later, once, with no registers but sp and fp. */
SIGNAL_SAFE static void path_add(struct follower *follower, uint64_t pc)
{
    for (uint32_t i = 0; i < follower->n_paths; i++) {
        const struct unwind_path *path = &follower->thread->paths[i];
        if (pc - path->pc <= path->n_bytes)
            return;
    }
    if (follower->n_paths == UNWIND_PATHS) {
        follower->n_left = 0;
        return;
    }
    int64_t sp_offset = (int64_t)(follower->registers.value[ARCH_SP] - follower->low);
    if (sp_offset != (int32_t)sp_offset)
        return;
    follower->thread->paths[follower->n_paths++] =
        (struct unwind_path){.pc = pc,
                             .sp_offset = (int32_t)sp_offset,
                             .fp_offset = exit_fp_offset(follower),
                             .is_constant = follower->is_constant};
}

SIGNAL_SAFE static void register_set(struct unwind_registers *registers, unsigned to,
                                     uint64_t value)
{
    registers->value[to] = value;
    registers->known |= 1u << to;
}

/* to = *address. What is below the frame was put there on the way: a register to be kept. */
SIGNAL_SAFE static void register_load(struct follower *follower, unsigned to, uint64_t address)
{
    uint64_t value = 0;
    bool is_below = address < follower->low && follower->low - address < UNWIND_FP_DISTANCE_MAX;
    if (to == ARCH_FP)
        follower->fp_slot = is_below ? 0 : address;
    if (is_below && to == ARCH_FP)
        register_set(&follower->registers, to, follower->fp);
    if (is_below)
        return;
    follower->registers.known &= ~(1u << to);
    if (address - follower->low < UNWIND_FP_DISTANCE_MAX &&
        memory_read(follower->memory, address, &value))
        register_set(&follower->registers, to, value);
}

SIGNAL_SAFE static void pop(struct follower *follower, unsigned to)
{
    uint64_t sp = follower->registers.value[ARCH_SP];
    register_load(follower, to, sp);
    follower->is_constant &= to != ARCH_SP;
    if (to != ARCH_SP)
        follower->registers.value[ARCH_SP] = sp + WORD_BYTES;
}

/* Does what `instruction` does with registers. False: sp is not known after it. */
SIGNAL_SAFE static bool instruction_run(struct follower *follower,
                                        const struct arch_instruction *instruction)
{
    struct unwind_registers *registers = &follower->registers;
    bool is_set = instruction->effect == ARCH_POPS || instruction->effect == ARCH_ADDS ||
                  instruction->effect == ARCH_LOADS;
    if (is_set)
        follower->kept &= ~(1u << instruction->to);
    bool is_known = (registers->known >> instruction->from & 1) != 0;
    uint64_t value = registers->value[instruction->from] + (uint64_t)instruction->offset;
    switch (instruction->effect) {
    case ARCH_PUSHES:
        registers->value[ARCH_SP] -= WORD_BYTES;
        break;
    case ARCH_POPS:
        pop(follower, instruction->to);
        break;
    case ARCH_ADDS:
        registers->known &= ~(1u << instruction->to);
        if (is_known)
            register_set(registers, instruction->to, value);
        if (instruction->to == ARCH_FP)
            follower->fp_slot = NO_SLOT;
        follower->is_constant &= instruction->to != ARCH_SP || instruction->from == ARCH_SP;
        break;
    case ARCH_ALIGNS:
        follower->is_constant = false;
        registers->value[ARCH_SP] &= (uint64_t)instruction->offset;
        break;
    case ARCH_LOADS:
        follower->is_constant &= instruction->to != ARCH_SP;
        if (is_known)
            register_load(follower, instruction->to, value);
        else
            registers->known &= ~(1u << instruction->to);
        break;
    case ARCH_LEAVES:
        follower->is_constant = false;
        if ((registers->known >> ARCH_FP & 1) == 0)
            return false;
        registers->value[ARCH_SP] = registers->value[ARCH_FP];
        pop(follower, ARCH_FP);
        break;
    case ARCH_NO_EFFECT:
    case ARCH_BRANCHES:
    case ARCH_JUMPS:
    case ARCH_JUMPS_BY:
    case ARCH_RETURNS:
    case ARCH_STOPS:
    case ARCH_UNKNOWN:
        break;
    }
    return (registers->known >> ARCH_SP & 1) != 0;
}

/* The code returns with the registers as they are: the caller, if one may be there. */
SIGNAL_SAFE static bool caller_read(struct follower *follower, int64_t n_arguments_bytes,
                                    struct unwind_state *caller)
{
    uint64_t sp = follower->registers.value[ARCH_SP];
    struct unwind_state found = {.sp = sp + WORD_BYTES + (uint64_t)n_arguments_bytes,
                                 .fp = follower->registers.value[ARCH_FP]};
    follower->return_sp = found.sp;
    follower->n_returns++;
    if ((follower->registers.known >> ARCH_FP & 1) == 0 || sp % WORD_BYTES != 0 ||
        sp - follower->low >= UNWIND_FP_DISTANCE_MAX ||
        !memory_read(follower->memory, sp, &found.pc) ||
        !unwind_caller_is_credible(follower->memory, found, &follower->thread->chain))
        return false;
    *caller = found;
    return true;
}

/* Whether the jump calls another function, to return to the caller of this
 * one: it leads far away, and the frame has been taken down. */
SIGNAL_SAFE static bool is_tail_jump(const struct follower *follower,
                                     const struct arch_instruction *jump)
{
    bool is_far = jump->offset >= TAIL_DISTANCE_MIN || jump->offset <= -TAIL_DISTANCE_MIN;
    return jump->effect == ARCH_JUMPS && is_far &&
           follower->registers.value[ARCH_SP] > follower->low;
}

/* What runs after `instruction`, which ends at `next`: at *pc. False: the path ends. */
SIGNAL_SAFE static bool instruction_follow(struct follower *follower,
                                           const struct arch_instruction *instruction,
                                           uint64_t next, uint64_t *pc)
{
    uint64_t target = next + (uint64_t)instruction->offset;
    bool goes_on = false;
    *pc = next;
    switch (instruction->effect) {
    case ARCH_STOPS:
        return false;
    case ARCH_BRANCHES:
        path_add(follower, target);
        return true;
    case ARCH_JUMPS:
        if (instruction->offset >= 0 && instruction->offset < TAIL_DISTANCE_MIN) {
            *pc = target;
            return true;
        }
        path_add(follower, target); /* a loop, perhaps: what leaves it comes first */
        if (follower->module == NULL)
            path_add(follower, next);
        return false;
    case ARCH_JUMPS_BY:
        goes_on = memory_read(follower->memory, target, pc);
        break;
    case ARCH_RETURNS:
    case ARCH_UNKNOWN:
        break;
    case ARCH_NO_EFFECT:
    case ARCH_PUSHES:
    case ARCH_POPS:
    case ARCH_ADDS:
    case ARCH_ALIGNS:
    case ARCH_LOADS:
    case ARCH_LEAVES:
        goes_on = instruction_run(follower, instruction);
        break;
    }
    follower->only_stops &= goes_on;
    return goes_on;
}

/* One path to its end. True: it returns, to *caller. */
SIGNAL_SAFE static bool path_follow(struct follower *follower, struct unwind_path *path,
                                    struct unwind_state *caller)
{
    uint64_t pc = path->pc;
    bool is_straight = true;
    follower->return_sp = follower->low;
    for (uint32_t n = 0; follower->n_left > 0; n++) {
        if (n == SLICE_INSTRUCTIONS && follower->module == NULL) {
            path_add(follower, pc);
            return false;
        }
        struct arch_instruction instruction = instruction_at(follower, pc);
        uint64_t next = pc + instruction.n_bytes;
        follower->n_left--;
        if (is_straight)
            path->n_bytes = (uint32_t)(pc - path->pc);
        if (instruction.effect == ARCH_RETURNS && caller_read(follower, instruction.offset, caller))
            return true;
        if (is_tail_jump(follower, &instruction) && caller_read(follower, 0, caller))
            return true;
        if (!instruction_follow(follower, &instruction, next, &pc))
            return false;
        is_straight &= pc == next;
    }
    follower->only_stops = false;
    return false;
}

/* The registers at the beginning of `path`; those of the frame, if it is the first. Subroutines
 * within hand-written code leave registers alone that functions may change, so a caller is followed
 * with those its callee left. */
SIGNAL_SAFE static void path_begin(struct follower *follower, const struct unwind_path *path,
                                   bool is_first, bool exact)
{
    const struct unwind_thread *thread = follower->thread;
    struct unwind_registers *registers = &follower->registers;
    registers->known = 0;
    if (is_first && exact)
        *registers = thread->base;
    else if (is_first && thread->left_sp == follower->low)
        *registers = thread->left;
    register_set(registers, ARCH_SP, follower->low + (uint64_t)(int64_t)path->sp_offset);
    follower->is_constant = path->is_constant;
    follower->kept = is_first ? ARCH_ALL_KNOWN : 0;
    registers->known &= ~(1u << ARCH_FP);
    follower->fp_slot = NO_SLOT;
    if (path->fp_offset == UNWIND_EXIT_FP_SAME) {
        follower->fp_slot = 0;
        register_set(registers, ARCH_FP, follower->fp);
    } else if (path->fp_offset != UNWIND_EXIT_FP_UNKNOWN) {
        register_load(follower, ARCH_FP, follower->low + path->fp_offset);
    }
}

/* The same code is met again and again, and how far above its sp the return address lies is mostly
 * the same each time: that is remembered, of generated code also where it led nowhere. */
SIGNAL_SAFE static struct unwind_exit *exit_slot(struct unwind_thread *thread, uint64_t pc)
{
    return &thread->exits[(pc ^ pc >> 7) % UNWIND_EXITS];
}

/* What the path just followed to its return shows. */
SIGNAL_SAFE static struct unwind_exit exit_make(const struct follower *follower, uint64_t caller_sp)
{
    if (!follower->is_constant || follower->fp_slot == NO_SLOT)
        return (struct unwind_exit){.sp_offset = 0};
    return (struct unwind_exit){.sp_offset = (uint32_t)(caller_sp - follower->low),
                                .fp_offset = exit_fp_offset(follower),
                                .kept = follower->kept};
}

/* The caller by what is remembered of the code at state->pc. */
SIGNAL_SAFE static enum unwind_epilogue_result
exit_take(struct unwind_thread *thread, const struct unwind_exit *known, struct unwind_state *state)
{
    struct unwind_state caller = {.sp = state->sp + known->sp_offset, .fp = state->fp};
    if (known->sp_offset == 0)
        return known->stops ? UNWIND_EPILOGUE_STOPS : UNWIND_EPILOGUE_UNKNOWN;
    if (!memory_read(&thread->memory, caller.sp - WORD_BYTES, &caller.pc) ||
        (known->fp_offset != UNWIND_EXIT_FP_SAME &&
         !memory_read(&thread->memory, state->sp + known->fp_offset, &caller.fp)) ||
        !unwind_caller_is_credible(&thread->memory, caller, &thread->chain))
        return UNWIND_EPILOGUE_UNKNOWN;
    *state = caller;
    return UNWIND_EPILOGUE_FOUND;
}

/* Follows the code of the frame, path by path. */
SIGNAL_SAFE static enum unwind_epilogue_result code_follow(struct follower *follower, bool exact,
                                                           struct unwind_state *state,
                                                           struct unwind_exit *found)
{
    follower->thread->paths[0] = (struct unwind_path){
        .pc = state->pc, .fp_offset = UNWIND_EXIT_FP_SAME, .is_constant = true};
    follower->n_paths = 1;
    follower->only_stops = true;
    for (uint32_t i = 0; i < follower->n_paths; i++) {
        struct unwind_path *path = &follower->thread->paths[i];
        path_begin(follower, path, i == 0, exact);
        bool is_found = path_follow(follower, path, state);
        if (is_found || i == 0)
            *found = exit_make(follower, is_found ? state->sp : follower->return_sp);
        if (is_found)
            return UNWIND_EPILOGUE_FOUND;
    }
    found->stops = follower->only_stops;
    return follower->only_stops ? UNWIND_EPILOGUE_STOPS : UNWIND_EPILOGUE_UNKNOWN;
}

/* What the frame's registers, or those its callee left it, are in its caller, of which only `kept`
 * are the same. */
SIGNAL_SAFE static void left_pass(struct unwind_thread *thread, bool exact, uint64_t sp,
                                  uint64_t caller_sp, uint32_t kept)
{
    if (exact)
        thread->left = thread->base;
    else if (thread->left_sp != sp)
        thread->left.known = 0;
    thread->left.known &= kept;
    thread->left_sp = caller_sp;
}

enum unwind_epilogue_result unwind_epilogue(struct unwind_thread *thread, bool exact,
                                            uint32_t generation, struct unwind_state *state)
{
    const uint64_t pc = state->pc, sp = state->sp;
    struct unwind_exit *known = exit_slot(thread, pc);
    const struct module *module = modules_find(pc);
    bool is_generated = module == NULL;
    if (known->pc == pc && known->generation == generation) {
        enum unwind_epilogue_result taken = exit_take(thread, known, state);
        if (taken == UNWIND_EPILOGUE_FOUND)
            left_pass(thread, exact, sp, state->sp, known->kept);
        if (is_generated || taken == UNWIND_EPILOGUE_FOUND || known->sp_offset == 0)
            return taken;
    }
    struct follower follower;
    struct unwind_exit found = {.sp_offset = 0};
    uint32_t n_max = WALK_INSTRUCTIONS_MAX - thread->n_followed;
    if (n_max > INSTRUCTIONS_MAX)
        n_max = INSTRUCTIONS_MAX;
    follower.thread = thread;
    follower.memory = &thread->memory;
    follower.module = module;
    follower.low = sp;
    follower.fp = state->fp;
    follower.n_left = n_max;
    follower.n_returns = 0;
    follower.code_start = 0;
    follower.code = NULL;
    follower.n_code_bytes = 0;
    enum unwind_epilogue_result result = code_follow(&follower, exact, state, &found);
    thread->n_followed += n_max - follower.n_left;
    if (result == UNWIND_EPILOGUE_FOUND && found.sp_offset != 0) {
        left_pass(thread, exact, sp, state->sp, found.kept);
    } else if (result == UNWIND_EPILOGUE_FOUND) {
        thread->left = follower.registers;
        thread->left_sp = state->sp;
    }
    /* That there is no way out may have to do with this stack, but where no return was met. To look
     * in vain is dear in generated code. */
    bool is_limited = n_max < INSTRUCTIONS_MAX || thread->code.n == UNWIND_CODE_PAGES;
    bool is_worth = result == UNWIND_EPILOGUE_FOUND
                        ? found.sp_offset != 0
                        : !is_limited && (is_generated || follower.n_returns == 0);
    if (is_worth) {
        found.pc = pc;
        found.generation = generation;
        *known = found;
    }
    return result;
}
