/* syscall_number.c - see syscall_number.h.
 *
 * Two forms are known: a constant put into eax (mov $n, %eax), and a register copied there that the
 * call has left as it was (mov %r9d, %eax). Compilers put other instructions between that and
 * `syscall`; those are stepped over when they are of the few simple kinds below and leave eax
 * alone. The nearest place from which all instructions up to `syscall` can be read is taken.
 * Anything else is not known, and the call stays interrupted: better an EINTR than another call
 * than the one that was made. */
#include "signals/syscall_number.h"

#include <stddef.h>

const uint8_t *syscall_stub_return;

#if defined(__x86_64__)

#define LOOK_BACK_BYTES 40
#define PAGE_BYTES 4096u
#define NUMBER_MAX 1024u /* no call has a higher number */
#define REX_W 8u
#define REX_R 4u
#define REX_B 1u

/* An instruction begins at code[at]; all of it lies before code[end]. */
struct reader {
    const uint8_t *code;
    int at, end;
};

/* What an opcode with a modrm byte writes. */
enum target { TARGET_NONE, TARGET_REG, TARGET_RM };

struct form {
    uint8_t opcode;
    uint8_t target; /* enum target */
    uint8_t immediate_bytes;
};

static const struct form forms[] = {
    {0x01, TARGET_RM, 0},   {0x03, TARGET_REG, 0}, {0x09, TARGET_RM, 0},   {0x0b, TARGET_REG, 0},
    {0x21, TARGET_RM, 0},   {0x23, TARGET_REG, 0}, {0x29, TARGET_RM, 0},   {0x2b, TARGET_REG, 0},
    {0x31, TARGET_RM, 0},   {0x33, TARGET_REG, 0}, {0x39, TARGET_NONE, 0}, {0x3b, TARGET_NONE, 0},
    {0x63, TARGET_REG, 0},  {0x80, TARGET_RM, 1},  {0x81, TARGET_RM, 4},   {0x83, TARGET_RM, 1},
    {0x85, TARGET_NONE, 0}, {0x89, TARGET_RM, 0},  {0x8b, TARGET_REG, 0},  {0x8d, TARGET_REG, 0},
    {0xc1, TARGET_RM, 1},   {0xc7, TARGET_RM, 4},
};

/* SIGNAL */
SIGNAL_SAFE static const struct form *form_find(uint8_t opcode)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].opcode == opcode)
            return &forms[i];
    return NULL;
}

/* Bytes of a modrm with what belongs to it, 0 when they do not fit. SIGNAL */
SIGNAL_SAFE static int modrm_bytes(const struct reader *reader, int at)
{
    if (at >= reader->end)
        return 0;
    unsigned mod = reader->code[at] >> 6, rm = reader->code[at] & 7u;
    int n = 1;
    if (mod == 3)
        return n;
    if (rm == 4) {
        if (at + 1 >= reader->end)
            return 0;
        if (mod == 0 && (reader->code[at + 1] & 7u) == 5)
            n += 4;
        n++;
    } else if (mod == 0 && rm == 5) {
        n += 4;
    }
    return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Steps over one instruction that leaves eax alone; false when it is not known to. SIGNAL */
SIGNAL_SAFE static bool step_over(struct reader *reader)
{
    int at = reader->at;
    unsigned rex = 0;
    if (reader->code[at] == 0x64)
        at++; /* fs: */
    if (at < reader->end && (reader->code[at] & 0xf0u) == 0x40)
        rex = reader->code[at++];
    if (at >= reader->end)
        return false;
    uint8_t opcode = reader->code[at++];
    if ((opcode & 0xf8u) == 0xb8) { /* mov $imm32, %reg */
        reader->at = at + 4;
        return (opcode != 0xb8 || (rex & REX_B) != 0) && (rex & REX_W) == 0 &&
               reader->at <= reader->end;
    }
    const struct form *form = form_find(opcode);
    int n = form != NULL ? modrm_bytes(reader, at) : 0;
    if (n == 0)
        return false;
    unsigned modrm = reader->code[at];
    bool writes_eax =
        (form->target == TARGET_REG && (modrm >> 3 & 7u) == 0 && (rex & REX_R) == 0) ||
        (form->target == TARGET_RM && modrm >> 6 == 3 && (modrm & 7u) == 0 && (rex & REX_B) == 0);
    reader->at = at + n + form->immediate_bytes;
    return !writes_eax && reader->at <= reader->end;
}

/* Whether simple instructions, one after another, lead from `at` to the end. SIGNAL */
SIGNAL_SAFE static bool leads_to_end(const struct reader *whole, int at)
{
    struct reader reader = {.code = whole->code, .at = at, .end = whole->end};
    while (reader.at < reader.end)
        if (!step_over(&reader))
            return false;
    return true;
}

/* The general registers by their number in an instruction; -1: the call has changed it, or it
 * cannot be relied on. */
static const int register_of[16] = {-1,      -1,      REG_RDX, REG_RBX, -1,      REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, -1,
                                    REG_R12, REG_R13, REG_R14, REG_R15};

/* SIGNAL */
SIGNAL_SAFE static bool is_rex(uint8_t byte)
{
    return (byte & 0xf0u) == 0x40;
}

/* An instruction at `at` that puts a value into eax which is still known: its length, 0 = none.
 * SIGNAL */
SIGNAL_SAFE static int sets_eax(const struct reader *reader, int at, const greg_t *registers,
                                uint32_t *number)
{
    const uint8_t *code = reader->code;
    if (code[at] == 0xb8 && at + 5 <= reader->end) {
        *number = (uint32_t)code[at + 1] | (uint32_t)code[at + 2] << 8 |
                  (uint32_t)code[at + 3] << 16 | (uint32_t)code[at + 4] << 24;
        return 5;
    }
    unsigned rex = is_rex(code[at]) ? code[at] : 0;
    int opcode_at = rex != 0 ? at + 1 : at;
    if (opcode_at + 2 > reader->end || code[opcode_at] != 0x89 || (rex & REX_B) != 0 ||
        (code[opcode_at + 1] & 0xc7u) != 0xc0 || (rex == 0 && at > 0 && is_rex(code[at - 1])))
        return 0;
    unsigned low = code[opcode_at + 1] >> 3 & 7u;
    int source = register_of[low | ((rex & REX_R) != 0 ? 8u : 0)];
    /* The prefix may be the last byte of the instruction before: then the register is another one.
     * Only if that other one cannot hold the number of a call is the case clear. */
    int other = (rex & REX_R) != 0 ? register_of[low] : -1;
    if (source < 0 || (other >= 0 && (uint64_t)registers[other] < NUMBER_MAX))
        return 0;
    *number = (uint32_t)registers[source];
    return opcode_at + 2 - at;
}

/* Whether a register the number was copied from still holds it: only the instruction right before
 * `syscall` is sure of that. SIGNAL */
SIGNAL_SAFE static bool is_sure(const struct reader *reader, int at, int length)
{
    return reader->code[at] == 0xb8 || at + length == reader->end;
}

/* SIGNAL */
bool syscall_number(const greg_t *registers, uint32_t *number)
{
    uint64_t pc = (uint64_t)registers[REG_RIP];
    /* NOLINTBEGIN(performance-no-int-to-ptr): addresses from registers */
    const uint8_t *behind = (const uint8_t *)(uintptr_t)pc;
    if (syscall_stub_return != NULL && behind == syscall_stub_return) {
        *number = ((const uint32_t *)(uintptr_t)registers[REG_RSP])[-2];
        return true;
    }
    /* NOLINTEND(performance-no-int-to-ptr) */
    int room = (int)((pc - 1) % PAGE_BYTES) + 1; /* the page before need not be there */
    int back = room - 2 < LOOK_BACK_BYTES ? room - 2 : LOOK_BACK_BYTES;
    if (back < 2 || behind[-2] != 0x0f || behind[-1] != 0x05)
        return false;
    const struct reader reader = {.code = behind - 2 - back, .at = 0, .end = back};
    for (int at = back - 2; at >= 0; at--) {
        int length = sets_eax(&reader, at, registers, number);
        if (length != 0 && is_sure(&reader, at, length) && leads_to_end(&reader, at + length))
            return true;
    }
    return false;
}

#else

/* SIGNAL */
bool syscall_number(const greg_t *registers, uint32_t *number)
{
    (void)registers;
    (void)number;
    return false;
}

#endif
