/* arch_x86_64.c - unwind/arch.h for x86-64 (System V psABI; instruction bytes from the Intel SDM,
 * volume 2). */
#include <ucontext.h>

#include "unwind/arch.h"
#include "unwind/memory.h"

/* Index in gregs of each DWARF register (psABI, figure 3.36; <sys/ucontext.h>). */
static const uint8_t greg_of_register[ARCH_N_REGISTERS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

void arch_registers_init(struct unwind_registers *registers, const void *context)
{
    const ucontext_t *user = context;
    for (unsigned i = 0; i < ARCH_N_REGISTERS; i++)
        registers->value[i] = (uint64_t)user->uc_mcontext.gregs[greg_of_register[i]];
    registers->known = ARCH_ALL_KNOWN;
}

bool arch_signal_frame_read(struct unwind_memory *memory, uint64_t sp,
                            struct unwind_registers *registers)
{
    /* The handler's `ret` has popped the trampoline's address; sp points at the ucontext_t. */
    uint64_t gregs = sp + offsetof(ucontext_t, uc_mcontext.gregs);
    for (unsigned i = 0; i < ARCH_N_REGISTERS; i++) {
        uint64_t address = gregs + sizeof(greg_t) * greg_of_register[i];
        if (!memory_read(memory, address, &registers->value[i]))
            return false;
    }
    registers->known = ARCH_ALL_KNOWN;
    return true;
}

SIGNAL_SAFE static bool code_begins(const uint8_t *code, size_t n_bytes, const uint8_t *begin,
                                    size_t begin_bytes)
{
    if (n_bytes < begin_bytes)
        return false;
    for (size_t i = 0; i < begin_bytes; i++) {
        if (code[i] != begin[i])
            return false;
    }
    return true;
}

/* The bytes of an endbr64 at `code`, which marks the target of a call or jump through a pointer; 0
 * if there is none. */
SIGNAL_SAFE static size_t endbr_bytes(const uint8_t *code, size_t n_bytes)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return code_begins(code, n_bytes, endbr64, sizeof endbr64) ? sizeof endbr64 : 0;
}

bool arch_is_signal_return(const uint8_t *code, size_t n_bytes)
{
    /* mov $15 (rt_sigreturn), %rax; syscall */
    static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    return code_begins(code, n_bytes, restorer, sizeof restorer);
}

/* Length of a `ff /2` (call through register or memory) by its ModRM and SIB bytes, opcode
 * included; 0 if it is none. */
SIGNAL_SAFE static unsigned indirect_call_bytes(uint8_t opcode, uint8_t modrm, uint8_t sib)
{
    unsigned mod = modrm >> 6;
    bool has_sib = (modrm & 7) == 4 && mod != 3;
    unsigned length = has_sib ? 3 : 2;
    if (opcode != 0xff || (modrm & 0x38) != 0x10)
        return 0;
    if (mod == 1)
        length += 1;
    if (mod == 2 || (mod == 0 && ((modrm & 7) == 5 || (has_sib && (sib & 7) == 5))))
        length += 4;
    return length;
}

bool arch_is_after_indirect_call(const uint8_t *code_end, size_t n_bytes)
{
    for (unsigned length = 2; length <= 7 && length <= n_bytes; length++) {
        const uint8_t *at = code_end - length;
        uint8_t sib = length > 2 ? at[2] : 0;
        if (indirect_call_bytes(at[0], at[1], sib) == length)
            return true;
    }
    return false;
}

/* The signed number of four bytes, little-endian. */
SIGNAL_SAFE static int64_t distance_read(const uint8_t *bytes)
{
    return (int32_t)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                     (uint32_t)bytes[3] << 24);
}

bool arch_is_after_direct_call(const uint8_t *code_end, size_t n_bytes, int64_t *distance)
{
    if (n_bytes < 5 || code_end[-5] != 0xe8) /* call rel32 */
        return false;
    *distance = distance_read(code_end - 4);
    return true;
}

bool arch_is_after_call(const uint8_t *code_end, size_t n_bytes)
{
    int64_t distance;
    return arch_is_after_direct_call(code_end, n_bytes, &distance) ||
           arch_is_after_indirect_call(code_end, n_bytes);
}

enum arch_jump arch_jump_read(const uint8_t *code, size_t n_bytes, int64_t *distance)
{
    size_t at = endbr_bytes(code, n_bytes);
    if (n_bytes > at && code[at] == 0xf2)
        at++;                                    /* bnd */
    if (n_bytes >= at + 5 && code[at] == 0xe9) { /* jmp rel32 */
        *distance = distance_read(code + at + 1) + (int64_t)at + 5;
        return ARCH_JUMP_DIRECT;
    }
    if (n_bytes >= at + 6 && code[at] == 0xff && code[at + 1] == 0x25) { /* jmp *rel32(%rip) */
        *distance = distance_read(code + at + 2) + (int64_t)at + 6;
        return ARCH_JUMP_THROUGH_MEMORY;
    }
    return ARCH_JUMP_NONE;
}

bool arch_is_return(const uint8_t *code, size_t n_bytes)
{
    bool is_bnd_or_rep = n_bytes >= 2 && (code[0] == 0xf2 || code[0] == 0xf3);
    return n_bytes >= 1 && code[is_bnd_or_rep ? 1 : 0] == 0xc3;
}

bool arch_is_context_start(const uint8_t *code, size_t n_bytes)
{
    /* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi: the context to go on with, if there is
     * one (glibc's __start_context; before 2.27: pop %rdi) */
    static const uint8_t by_load[] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff};
    static const uint8_t by_pop[] = {0x48, 0x89, 0xdc, 0x5f, 0x48, 0x85, 0xff};
    size_t at = endbr_bytes(code, n_bytes);
    return code_begins(code + at, n_bytes - at, by_load, sizeof by_load) ||
           code_begins(code + at, n_bytes - at, by_pop, sizeof by_pop);
}

enum arch_frame_hint arch_frame_hint(const uint8_t *code, size_t n_bytes)
{
    if (endbr_bytes(code, n_bytes) != 0)
        return ARCH_FRAME_AT_ENTRY;
    if (n_bytes >= 4 && code[0] == 0x55 && code[1] == 0x48 &&
        ((code[2] == 0x89 && code[3] == 0xe5) || (code[2] == 0x8b && code[3] == 0xec)))
        return ARCH_FRAME_AT_ENTRY; /* push %rbp; mov %rsp, %rbp */
    if (n_bytes >= 3 && code[0] == 0x48 &&
        ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec)))
        return ARCH_FRAME_PUSHED; /* mov %rsp, %rbp */
    if (arch_is_return(code, n_bytes))
        return ARCH_FRAME_AT_ENTRY;
    return ARCH_FRAME_UNKNOWN;
}
