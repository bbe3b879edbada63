/* arch_x86_64_instruction.c - arch_instruction_read for x86-64: lengths of all instructions, and
 * the meaning of the few that move the stack pointer (Intel SDM volume 2, appendix A: the opcode
 * maps; AMD APM volume 3 for XOP).
 *
 *   prefixes | 0x40..0x4f (REX) | opcode      | modrm | sib | displacement | immediate
 *   c5, c4, 62, 8f (VEX, EVEX, XOP) ... opcode | modrm | sib | displacement | immediate
 *
 * An opcode map says, for each opcode, what follows it:
 *
 *   '.'  nothing              'm'  modrm                   'x'  not an instruction
 *   'b'  1 byte               'B'  modrm, 1 byte           'p'  a prefix
 *   'w'  2 bytes              'Z'  modrm, 4 bytes or 2     'e'  opcodes of another map
 *   'z'  4 bytes or 2 (66)    'g'  modrm, 1 byte if its register field is 0 or 1 (test)
 *   'v'  as z, or 8 (REX.W)   'G'  the same, 4 bytes or 2
 *   'f'  3 bytes (enter)      'a'  an address of 8 bytes, or 4 (67)
 *   'd'  4 bytes, always (distances of jumps)          'D'  modrm, 4 bytes (XOP only) */
#include "unwind/arch.h"

#define REX_B 1u
#define REX_X 2u
#define REX_R 4u
#define REX_W 8u

#define PREFIX_OPERAND 1u /* 66 */
#define PREFIX_ADDRESS 2u /* 67 */

/* Hardware numbers. */
#define HW_SP 4u
#define HW_FP 5u
#define RM_SIB 4u
#define RM_RIP 5u
#define SIB_NO_INDEX 4u

static const char map_1[] = "mmmmbzxxmmmmbzxe" /* 00 */
                            "mmmmbzxxmmmmbzxx"
                            "mmmmbzpxmmmmbzpx"
                            "mmmmbzpxmmmmbzpx"
                            "pppppppppppppppp" /* 40: REX */
                            "................"
                            "xxempppp" /* 62: EVEX */
                            "zZbB...."
                            "bbbbbbbbbbbbbbbb"
                            "BZxBmmmmmmmmmmmm" /* 80 */
                            "..........x....."
                            "aaaa....bz......"
                            "bbbbbbbbvvvvvvvv"
                            "BBw.eeBZf.w..bx." /* c0 */
                            "mmmmxxx.mmmmmmmm"
                            "bbbbbbbbddxb...."
                            "p.pp..gG......mm";

static const char map_0f[] = "mmmmx.....x.xm.B" /* 00 */
                             "mmmmmmmmmmmmmmmm"
                             "mmmmxxxxmmmmmmmm"
                             "......x.exexxxxx"
                             "mmmmmmmmmmmmmmmm" /* 40 */
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "BBBBmmm.mmmmmmmm"
                             "dddddddddddddddd" /* 80 */
                             "mmmmmmmmmmmmmmmm"
                             "...mBmmm...mBmmm"
                             "mmmmmmmmmmBmmmmm"
                             "mmBmBBBm........" /* c0 */
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm";

/* DWARF's number of each register (psABI, figure 3.36). */
static const uint8_t register_number[16] = {0, 2, 1,  3,  ARCH_SP, ARCH_FP, 4,  5,
                                            8, 9, 10, 11, 12,      13,      14, 15};

/* An instruction being read. `at` stays <= n_bytes + 16; whoever reads a byte beyond the end gets a
 * zero, and the whole is refused for its length. */
struct decoder {
    const uint8_t *code;
    size_t n_bytes;
    size_t at;
    unsigned prefixes;
    unsigned rex;
    char operands; /* of the opcode: a letter of the maps */
    bool is_vector;
    unsigned map; /* 1: one byte; 2: 0f; 3: 0f 38; 4: 0f 3a */
    uint8_t opcode;
    uint8_t modrm;
    bool has_sib;
    uint8_t sib;
    int64_t displacement;
    int64_t immediate;
};

SIGNAL_SAFE static uint8_t byte_at(const struct decoder *in, size_t at)
{
    return at < in->n_bytes ? in->code[at] : 0;
}

/* A signed little-endian number. */
SIGNAL_SAFE static int64_t number_read(struct decoder *in, unsigned n_bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        value |= (uint64_t)byte_at(in, in->at++) << 8 * i;
    unsigned unused = 64 - 8 * n_bytes;
    return n_bytes == 0 ? 0 : (int64_t)(value << unused) >> unused;
}

SIGNAL_SAFE static void prefixes_read(struct decoder *in)
{
    for (; in->at < ARCH_INSTRUCTION_BYTES_MAX; in->at++) {
        uint8_t byte = byte_at(in, in->at);
        if (map_1[byte] != 'p')
            return;
        in->rex = (byte & 0xf0) == 0x40 ? byte & 0xfu : 0; /* counts only right before the opcode */
        if (byte == 0x66)
            in->prefixes |= PREFIX_OPERAND;
        if (byte == 0x67)
            in->prefixes |= PREFIX_ADDRESS;
    }
}

/* Vector instructions with a prefix of their own: all have a modrm, but for vzeroupper. */
SIGNAL_SAFE static void vector_opcode_read(struct decoder *in, unsigned n_prefix_bytes,
                                           unsigned map, bool is_xop)
{
    in->at += n_prefix_bytes;
    in->is_vector = true;
    in->map = map + 1;
    in->opcode = byte_at(in, in->at++);
    bool has_number = map == 3 || (map == 1 && map_0f[in->opcode] == 'B');
    in->operands = 'm';
    if (is_xop && map == 10)
        in->operands = 'D';
    else if (is_xop ? map == 8 : has_number)
        in->operands = 'B';
    else if (map == 1 && in->opcode == 0x77)
        in->operands = '.';
}

SIGNAL_SAFE static void opcode_read(struct decoder *in)
{
    uint8_t byte = byte_at(in, in->at++);
    uint8_t next = byte_at(in, in->at);
    in->map = 1;
    in->opcode = byte;
    in->operands = map_1[byte];
    if (byte == 0xc5) {
        vector_opcode_read(in, 1, 1, false);
    } else if (byte == 0xc4) {
        vector_opcode_read(in, 2, next & 0x1f, false);
    } else if (byte == 0x62) {
        vector_opcode_read(in, 3, next & 7, false);
    } else if (byte == 0x8f && (next & 0x1f) >= 8) {
        vector_opcode_read(in, 2, next & 0x1f, true);
    } else if (byte == 0x0f) {
        in->at++;
        in->map = 2;
        in->opcode = next;
        in->operands = map_0f[next];
    }
    if (byte == 0x0f && (next == 0x38 || next == 0x3a)) {
        in->map = next == 0x38 ? 3 : 4;
        in->opcode = byte_at(in, in->at++);
        in->operands = 'm';
        if (in->map == 4)
            in->operands = 'B';
    }
}

SIGNAL_SAFE static void modrm_read(struct decoder *in)
{
    in->modrm = byte_at(in, in->at++);
    unsigned mod = in->modrm >> 6;
    unsigned rm = in->modrm & 7;
    if (mod == 3 || (in->map == 2 && in->opcode >= 0x20 && in->opcode < 0x24)) /* mov cr, dr */
        return;
    in->has_sib = rm == RM_SIB;
    if (in->has_sib)
        in->sib = (uint8_t)number_read(in, 1);
    bool is_wide = mod == 2 || (mod == 0 && (rm == RM_RIP || (in->has_sib && (in->sib & 7) == 5)));
    in->displacement = number_read(in, mod == 1 ? 1 : is_wide ? 4 : 0);
}

/* How many bytes of immediate follow. */
SIGNAL_SAFE static unsigned immediate_bytes(const struct decoder *in)
{
    bool is_word = (in->prefixes & PREFIX_OPERAND) != 0 && (in->rex & REX_W) == 0;
    bool is_test = (in->modrm >> 3 & 7) < 2;
    switch (in->operands) {
    case 'b':
    case 'B':
        return 1;
    case 'w':
        return 2;
    case 'f':
        return 3;
    case 'd':
    case 'D':
        return 4;
    case 'z':
    case 'Z':
        return is_word ? 2 : 4;
    case 'v':
        return (in->rex & REX_W) != 0 ? 8 : is_word ? 2 : 4;
    case 'g':
        return is_test ? 1 : 0;
    case 'G':
        return !is_test ? 0 : is_word ? 2 : 4;
    case 'a':
        return (in->prefixes & PREFIX_ADDRESS) != 0 ? 4 : 8;
    default:
        return 0;
    }
}

SIGNAL_SAFE static unsigned reg_of(const struct decoder *in)
{
    return (in->modrm >> 3 & 7u) + ((in->rex & REX_R) != 0 ? 8 : 0);
}

SIGNAL_SAFE static unsigned rm_of(const struct decoder *in)
{
    return (in->modrm & 7u) + ((in->rex & REX_B) != 0 ? 8 : 0);
}

/* The one register that the memory operand is relative to; false where it is none or several. */
SIGNAL_SAFE static bool base_of(const struct decoder *in, unsigned *base)
{
    unsigned mod = in->modrm >> 6;
    bool has_index = in->has_sib && ((in->sib >> 3 & 7) != SIB_NO_INDEX || (in->rex & REX_X) != 0);
    *base = ((in->has_sib ? in->sib : in->modrm) & 7u) + ((in->rex & REX_B) != 0 ? 8 : 0);
    return !has_index && (mod != 0 || (*base & 7) != RM_RIP);
}

SIGNAL_SAFE static void effect_set(struct arch_instruction *out, enum arch_effect effect,
                                   unsigned to, unsigned from, int64_t offset)
{
    out->effect = effect;
    out->to = register_number[to];
    out->from = register_number[from];
    out->offset = offset;
}

/* Group 5 (ff): inc, dec, call, jmp, push. */
SIGNAL_SAFE static void group_read(const struct decoder *in, struct arch_instruction *out)
{
    unsigned operation = in->modrm >> 3 & 7;
    bool is_by_pc = in->modrm >> 6 == 0 && (in->modrm & 7) == RM_RIP;
    if (operation == 4 && is_by_pc) {
        out->effect = ARCH_JUMPS_BY;
        out->offset = in->displacement;
    } else if (operation == 4 || operation == 5) {
        out->effect = ARCH_UNKNOWN;
    } else if (operation == 6) {
        out->effect = ARCH_PUSHES;
    }
}

/* add, sub, and, others with a number. */
SIGNAL_SAFE static void arithmetic_read(const struct decoder *in, struct arch_instruction *out)
{
    unsigned operation = in->modrm >> 3 & 7;
    if (in->modrm >> 6 != 3 || rm_of(in) != HW_SP || operation == 7) /* cmp */
        return;
    bool is_known = operation == 0 || operation == 4 || operation == 5;
    if (!is_known || (in->rex & REX_W) == 0)
        out->effect = ARCH_UNKNOWN;
    else if (operation == 4)
        out->effect = ARCH_ALIGNS;
    else
        effect_set(out, ARCH_ADDS, HW_SP, HW_SP, operation == 0 ? in->immediate : -in->immediate);
}

/* mov between registers or from memory, lea. */
SIGNAL_SAFE static void move_read(const struct decoder *in, struct arch_instruction *out)
{
    bool is_to_rm = in->opcode == 0x89;
    unsigned base = 0;
    if (in->modrm >> 6 == 3) {
        unsigned to = is_to_rm ? rm_of(in) : reg_of(in);
        unsigned from = is_to_rm ? reg_of(in) : rm_of(in);
        if ((in->rex & REX_W) != 0 && in->opcode != 0x8d)
            effect_set(out, ARCH_ADDS, to, from, 0);
        else if (to == HW_SP)
            out->effect = ARCH_UNKNOWN;
    } else if (!is_to_rm) {
        bool is_plain = base_of(in, &base) && (in->rex & REX_W) != 0;
        if (is_plain)
            effect_set(out, in->opcode == 0x8d ? ARCH_ADDS : ARCH_LOADS, reg_of(in), base,
                       in->displacement);
        else if (reg_of(in) == HW_SP)
            out->effect = ARCH_UNKNOWN;
    }
}

SIGNAL_SAFE static bool is_branch(const struct decoder *in)
{
    if (in->map == 2)
        return in->opcode >> 4 == 0x8;
    return in->map == 1 && (in->opcode >> 4 == 0x7 || in->opcode >> 2 == 0xe0 >> 2);
}

SIGNAL_SAFE static void effect_read(const struct decoder *in, struct arch_instruction *out)
{
    unsigned low = (in->opcode & 7u) + ((in->rex & REX_B) != 0 ? 8 : 0);
    out->offset = in->immediate;
    if (in->is_vector || in->map > 2)
        return;
    if (is_branch(in))
        out->effect = ARCH_BRANCHES;
    else if (in->map == 1 && in->opcode >> 3 == 0x50 >> 3)
        out->effect = ARCH_PUSHES;
    else if (in->map == 1 && in->opcode >> 3 == 0x58 >> 3)
        effect_set(out, ARCH_POPS, low, HW_SP, 0);
    switch (in->map == 2 ? 0x0f00u | in->opcode : in->opcode) {
    case 0xe9:
    case 0xeb:
        out->effect = ARCH_JUMPS;
        break;
    case 0x68:
    case 0x6a:
    case 0x9c: /* pushf */
    case 0x0fa0:
    case 0x0fa8: /* fs, gs */
        out->effect = ARCH_PUSHES;
        break;
    case 0x8f: /* into memory, mostly */
    case 0x9d: /* popf */
    case 0x0fa1:
    case 0x0fa9:
        effect_set(out, ARCH_ADDS, HW_SP, HW_SP, 8);
        break;
    case 0x81:
    case 0x83:
        arithmetic_read(in, out);
        break;
    case 0x89:
    case 0x8b:
    case 0x8d:
        move_read(in, out);
        break;
    case 0x01:
    case 0x21:
    case 0x29: /* add, and, sub of a register */
        if (in->modrm >> 6 == 3 && rm_of(in) == HW_SP)
            out->effect = ARCH_UNKNOWN;
        break;
    case 0x03:
    case 0x23:
    case 0x2b:
        if (reg_of(in) == HW_SP)
            out->effect = ARCH_UNKNOWN;
        break;
    case 0x87: /* xchg */
        if (reg_of(in) == HW_SP || (in->modrm >> 6 == 3 && rm_of(in) == HW_SP))
            out->effect = ARCH_UNKNOWN;
        break;
    case 0xc2:
    case 0xc3:
        out->effect = ARCH_RETURNS;
        out->offset = in->immediate & 0xffff;
        break;
    case 0xc9:
        out->effect = ARCH_LEAVES;
        break;
    case 0xf4:
    case 0x0f0b:
    case 0x0fb9:
    case 0x0fff: /* hlt; ud2, ud1, ud0 */
        out->effect = ARCH_STOPS;
        break;
    case 0xc8: /* enter */
    case 0xca:
    case 0xcb:
    case 0xcc: /* int3, which fills gaps */
    case 0xcf:
    case 0x0f07:
    case 0x0f35: /* far returns, sysret, sysexit */
        out->effect = ARCH_UNKNOWN;
        break;
    case 0xff:
        group_read(in, out);
        break;
    default:
        break;
    }
}

struct arch_instruction arch_instruction_read(const uint8_t *code, size_t n_bytes)
{
    struct decoder in = {.code = code, .n_bytes = n_bytes};
    struct arch_instruction out = {.effect = ARCH_NO_EFFECT};
    prefixes_read(&in);
    opcode_read(&in);
    bool has_modrm = in.operands == 'm' || in.operands == 'B' || in.operands == 'Z' ||
                     in.operands == 'g' || in.operands == 'G' || in.operands == 'D';
    if (has_modrm)
        modrm_read(&in);
    in.immediate = number_read(&in, immediate_bytes(&in));
    if (in.operands == 'x' || in.operands == 'p' || in.operands == 'e' || in.at > n_bytes ||
        in.at > ARCH_INSTRUCTION_BYTES_MAX)
        return (struct arch_instruction){.effect = ARCH_UNKNOWN};
    out.n_bytes = (uint8_t)in.at;
    effect_read(&in, &out);
    return out;
}
